//! Limits in front of a turn, and what a turn used of them.
//!
//! Owns what somebody is told who has had enough. What the limits are is in [`crate::agent::limits`], what was used of them
//! in [`crate::agent::ledger`].

use super::{
    super::{
        Agent,
        ending::Ending,
        history::Cost,
        ledger::Payers,
        limits::{Heard, Whose, Wish},
        turn::{Input, Turn},
    },
    Rights,
};
use crate::{
    reason::Reason,
    store::{Effect, StoreError},
};

impl Agent {
    /// Why a turn is not to begin, because somebody has had enough or talks in circles.
    pub(super) fn over_limit(&self, input: &Input, turn: &Turn, wish: Wish) -> Option<Ending> {
        let limits = self.rules.get().settings.limits;
        let of = Whose::of(input.person, input.conversation, input.account);
        let now = self.clock.tick();
        if let Err(most) = self.ledger.used.take(of, wish, &limits, now) {
            let text = match wish {
                Wish::Messages(..) => Rights::TooManyMessages { most },
                Wish::Command => Rights::TooManyCommands { most },
            };
            return Some(self.refused(input, turn, Some(&text), Reason::TooMany));
        }
        if wish == Wish::Command {
            return None;
        }
        let who = (input.conversation, input.person);
        let limit = (limits.loops, turn.body().chat());
        match self.ledger.used.heard(who, input.since, limit, now) {
            Heard::Answer => None,
            Heard::Loop => {
                let text = Rights::Loop {
                    pause: limits.loops.pause,
                };
                Some(self.refused(input, turn, Some(&text), Reason::BotLoop))
            }
            Heard::Paused => Some(Ending::failed(String::new(), Reason::BotLoop)),
        }
    }

    /// Why no model is asked, because the tokens of today are used up.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn out_of_tokens(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Option<Ending>, StoreError> {
        let out = self.ledger.used_up(Payers::of(input)).await?;
        Ok(out.map(|whose| {
            let own = matches!(whose, Whose::User(_));
            let text = Rights::NoTokens { own };
            self.refused(input, turn, Some(&text), Reason::TokenBudget)
        }))
    }

    /// What a turn used, to be stored with its end.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn spend(
        &self,
        input: &Input,
        cost: &Cost,
    ) -> Result<Vec<Effect>, StoreError> {
        let tokens = cost.prompt.saturating_add(cost.completion);
        let used = (tokens, cost.price);
        self.ledger.spend(Payers::of(input), used).await
    }
}
