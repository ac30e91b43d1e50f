//! What somebody is where he speaks, before anything of what he says is kept.
//!
//! Owns whose words the model is not told as context, and who is turned away at the door: whoever is blocked. It asks no
//! platform: what stands with the message counts, and what was heard since. In doubt a message goes its way, and its turn
//! decides.

use weirgate_sdk::{ChatKind, InboundMessage, Via};

use crate::{
    agent::Agent,
    directory::standings::{Newest, is_more},
    permission::{
        BuiltIn, Capability, Role,
        standing::{Known, standing},
    },
    store::StoreError,
};

impl Agent {
    /// Whether a message that is not for the bot may be context of what the model is asked there. What somebody says who
    /// is blocked, or not answered at all, would else come to the model by whoever is answered.
    ///
    /// # Errors
    /// The store's.
    pub async fn overhears(&self, message: &InboundMessage) -> Result<bool, StoreError> {
        let role = self.as_it_stands(message).await?;
        Ok(role.capabilities().contains(Capability::SEND_MESSAGE))
    }

    /// Whether whoever sent a message is blocked where he sent it.
    pub async fn shuts_out(&self, message: &InboundMessage) -> bool {
        if message.sender.is_bot || message.via == Via::Request {
            return false;
        }
        match self.as_it_stands(message).await {
            Ok(role) => {
                let speaks = role.capabilities().contains(Capability::SEND_MESSAGE);
                role.is(BuiltIn::Blocked) && !speaks
            }
            Err(error) => {
                tracing::warn!(%error, "who is blocked cannot be read: each turn asks again");
                false
            }
        }
    }

    pub(super) async fn as_it_stands(&self, message: &InboundMessage) -> Result<Role, StoreError> {
        let directory = &self.desk.directory;
        let (place, sender) = (&message.conversation, &message.sender);
        let here = match message.chat {
            ChatKind::Group => directory.rules_at(place).await?,
            // Nobody sets anything there against whose it is, and a look for each would be dear.
            ChatKind::Private => None,
        };
        let here = here.unwrap_or_default();
        let settings = self.rules.get();
        let terms = settings.terms(place);
        let marks = directory.marks(&sender.key).await?;
        let platform_role = match directory.standings().newest(place, &sender.key.id) {
            Newest::Known(role) if !is_more(sender.role) => role,
            _ => sender.role,
        };
        let known = Known {
            user: &sender.key,
            kind: sender.kind,
            platform_role,
            claimed: marks.claimed,
            blocked: marks.blocked,
            grant: here.grants.get(sender.key.id.as_str()),
            policy: &here.policy,
            of_account: terms.default_role.as_deref(),
            now: self.clock.now(),
        };
        Ok(standing(&known, &settings.settings.permissions).role)
    }
}
