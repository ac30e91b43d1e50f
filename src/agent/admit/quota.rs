//! Limits in front of a turn, and what a turn used of them.
//!
//! Owns how the tokens of a day are read and stored. What the limits are is in [`crate::agent::limits`].

use weirgate_sdk::ChatKind;

use super::{
    super::{
        Agent,
        ending::Ending,
        history::Cost,
        limits::{Heard, Spent, Used, Whose, Wish},
        turn::{Input, Turn},
    },
    Rights,
};
use crate::{
    reason::Reason,
    store::{Effect, Place, StoreError},
};

impl Agent {
    /// Why a turn is not to begin, because somebody has had enough or talks in circles.
    pub(super) fn over_limit(&self, input: &Input, turn: &Turn, wish: Wish) -> Option<Ending> {
        let limits = self.rules.get().settings.limits;
        let of = Whose::of(input.person, input.conversation, input.account);
        let now = self.clock.tick();
        if let Err(most) = self.used.take(of, wish, &limits, now) {
            let text = match wish {
                Wish::Messages(_) => Rights::TooManyMessages { most },
                Wish::Command => Rights::TooManyCommands { most },
            };
            return Some(self.refused(input, turn, Some(&text), Reason::TooMany));
        }
        if wish == Wish::Command || turn.body().chat() == ChatKind::Private {
            return None;
        }
        let who = (input.conversation, input.person);
        match self.used.heard(who, input.since, limits.loops, now) {
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
        let limits = self.rules.get().settings.limits;
        for whose in Whose::of(input.person, input.conversation, input.account) {
            let most = whose.quota(&limits).tokens_per_day;
            if most == 0 {
                continue;
            }
            let spent = match self.used.spent(whose) {
                Some(spent) => spent,
                None => self.used.learn(whose, self.stored(whose).await?),
            };
            if !Used::has_left(spent, most, self.clock.now()) {
                let text = match whose {
                    Whose::User(_) => Rights::NoTokens { own: true },
                    Whose::Conversation(_) | Whose::Account(_) => Rights::NoTokens { own: false },
                };
                let ending = self.refused(input, turn, Some(&text), Reason::TokenBudget);
                return Ok(Some(ending));
            }
        }
        Ok(None)
    }

    async fn stored(&self, whose: Whose) -> Result<Spent, StoreError> {
        let (place, key) = whose.place();
        let rows = self.store.settings(place).await?;
        let row = rows.iter().find(|(name, _)| *name == key);
        Ok(Spent::read(row.map(|(_, value)| value.as_str())))
    }

    /// What a turn used, to be stored with its end: of those who have a limit, or of all if it cost something.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn spend(
        &self,
        input: &Input,
        cost: &Cost,
    ) -> Result<Vec<Effect>, StoreError> {
        let tokens = cost.prompt.saturating_add(cost.completion);
        let limits = self.rules.get().settings.limits;
        let mut effects = Vec::new();
        for whose in Whose::of(input.person, input.conversation, input.account) {
            // Where nothing is limited and nothing costs anything, nobody would look at it.
            let limited = whose.quota(&limits).tokens_per_day > 0;
            if tokens == 0 || (cost.price == 0 && !limited) {
                continue;
            }
            // After a start only the store knows what was used before on this day.
            if self.used.spent(whose).is_none() {
                self.used.learn(whose, self.stored(whose).await?);
            }
            let now = self.clock.now();
            let spent = self.used.spend(whose, (tokens, cost.price), now);
            let (of, key): (Place, String) = whose.place();
            effects.push(Effect::Set {
                of,
                key: key.into(),
                value: Some(spent.encode()),
            });
        }
        Ok(effects)
    }
}
