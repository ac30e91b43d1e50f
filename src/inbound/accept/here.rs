//! What was set where something is said, as far as acceptance depends on it.
//!
//! Owns the look-up of a group's own addressing. It decides nothing and writes nothing; private chats cost no look.

use std::borrow::Cow;

use weirgate_sdk::{ChatKind, Event};

use super::{AccountRules, Shared};
use crate::inbound::addressing::Addressing;

impl Shared {
    /// When the bot feels addressed where something is said: what was set there, else what the account says.
    pub(super) async fn addressing<'a>(
        &self,
        event: &Event,
        rules: &'a AccountRules,
    ) -> Cow<'a, Addressing> {
        let of_account = Cow::Borrowed(&rules.addressing);
        let Event::Message(message) = event else {
            return of_account;
        };
        if message.chat != ChatKind::Group {
            return of_account;
        }
        match self.parts.directory.rules_at(&message.conversation).await {
            Ok(Some(here)) => rules.addressing.within(&here.settings),
            Ok(None) => of_account,
            Err(error) => {
                tracing::warn!(%error, "what addresses the bot in a group cannot be read");
                of_account
            }
        }
    }
}
