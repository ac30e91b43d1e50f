//! Whose words the model is told although they were not for it.
//!
//! Owns who is not overheard: whoever is not answered where he speaks. It asks no platform: what stands with the message
//! counts.

use weirgate_sdk::InboundMessage;

use crate::{
    agent::Agent,
    permission::{
        Capability,
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
        let directory = &self.desk.directory;
        let (place, sender) = (&message.conversation, &message.sender);
        let here = directory.rules_at(place).await?.unwrap_or_default();
        let settings = self.rules.get();
        let terms = settings.terms(place);
        let marks = directory.marks(&sender.key).await?;
        let known = Known {
            user: &sender.key,
            kind: sender.kind,
            platform_role: sender.role,
            claimed: marks.claimed,
            blocked: marks.blocked,
            grant: here.grants.get(sender.key.id.as_str()),
            policy: &here.policy,
            of_account: terms.default_role.as_deref(),
            now: self.clock.now(),
        };
        let role = standing(&known, &settings.settings.permissions).role;
        Ok(role.capabilities().contains(Capability::SEND_MESSAGE))
    }
}
