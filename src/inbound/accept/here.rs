//! What was set where something is said, as far as acceptance depends on it.
//!
//! Owns the look-up of a group's own addressing, and what becomes of whoever is blocked: nothing of it is journaled. It writes
//! nothing; private chats cost no look.

use std::{borrow::Cow, sync::Arc};

use weirgate_sdk::{ChatKind, Event, InboundMessage, Outcome};

use super::{AccountRules, Shared, Step};
use crate::{inbound::addressing::Addressing, reason::Reason, telemetry::metrics::Queue};

/// People who are told at once that they are blocked; of others it is only counted.
pub(super) const TOLD_AT_ONCE: usize = 16;

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

    /// Whether whoever sent something is blocked.
    pub(super) async fn shuts_out(&self, event: &Event) -> bool {
        match event {
            Event::Message(message) => self.parts.agent.shuts_out(message).await,
            _ => false,
        }
    }

    /// Somebody who is blocked means the bot: only counted, but that he is told once in a while.
    pub(super) fn turn_away(self: &Arc<Self>, message: Box<InboundMessage>) -> Step {
        self.parts.traces.count(Reason::Blocked);
        Queue::Intake.dropped(Reason::Blocked, 1);
        let agent = Arc::clone(&self.parts.agent);
        let place = Arc::clone(&self.telling).try_acquire_owned();
        match place {
            Ok(place) if agent.is_to_be_told(&message) => {
                self.runtime.spawn(async move {
                    let _place = place;
                    if let Err(error) = agent.turn_away(&message).await {
                        tracing::warn!(%error, "somebody who is blocked was not told");
                        agent.leave_unanswered(&message);
                    }
                });
            }
            _ => agent.leave_unanswered(&message),
        }
        Step::Ended(Outcome::Refused)
    }
}
