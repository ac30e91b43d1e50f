//! Who pays for what models were asked, and what each has used of a day.
//!
//! Owns how the tokens of a day are known, counted and stored, for turns and for what is done behind them. What the limits
//! are is in [`super::limits`]; what tokens cost in [`super::choice`]. It asks no model and tells nobody.

use std::sync::Arc;

use super::{
    charge::{counted, usage_of},
    limits::{Spent, Used, Whose},
    model::{ChatRequest, Completion},
    rules::Rules,
    turn::{Input, Turn},
};
use crate::{
    clock::Clock,
    current::Current,
    store::{Effect, Finish, Store, StoreError, Write, commit},
    trace::turn_id,
};

/// Who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payers {
    account: u32,
    conversation: i64,
    /// Nobody where several people are heard at once.
    person: Option<i64>,
}

impl Payers {
    /// Those of a turn.
    #[must_use]
    pub fn of(input: &Input) -> Self {
        Self {
            account: input.account,
            conversation: input.conversation,
            person: Some(input.person),
        }
    }

    /// Those of what is done with the history of a turn behind it: of what a group shares nobody pays in particular.
    #[must_use]
    pub fn behind(input: &Input, turn: &Turn) -> Self {
        let alone = !turn.body().group || turn.scope.person != 0;
        Self {
            person: alone.then_some(input.person),
            ..Self::of(input)
        }
    }

    fn each(self) -> impl Iterator<Item = Whose> {
        let person = self.person.map(Whose::User);
        let others = [
            Whose::Conversation(self.conversation),
            Whose::Account(self.account),
        ];
        person.into_iter().chain(others)
    }
}

/// What was used, by whom.
pub struct Ledger {
    /// What was used lately.
    pub used: Used,
    store: Arc<dyn Store>,
    rules: Arc<Current<Rules>>,
    clock: Clock,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").finish_non_exhaustive()
    }
}

impl Ledger {
    /// A ledger in which nothing is known yet but by the store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, rules: Arc<Current<Rules>>, clock: Clock) -> Self {
        Self {
            used: Used::default(),
            store,
            rules,
            clock,
        }
    }

    /// The first who has used up his tokens of today.
    ///
    /// # Errors
    /// The store's.
    pub async fn used_up(&self, payers: Payers) -> Result<Option<Whose>, StoreError> {
        let limits = self.rules.get().settings.limits;
        for whose in payers.each() {
            let most = whose.quota(&limits).tokens_per_day;
            if most == 0 {
                continue;
            }
            let spent = self.known(whose).await?;
            if !Used::has_left(spent, most, self.clock.now()) {
                return Ok(Some(whose));
            }
        }
        Ok(None)
    }

    /// Counts tokens and what they cost; gives what is to be stored: of those who have a limit, or of all if it cost
    /// something.
    ///
    /// # Errors
    /// The store's.
    pub async fn spend(
        &self,
        payers: Payers,
        (tokens, price): (u64, u64),
    ) -> Result<Vec<Effect>, StoreError> {
        let limits = self.rules.get().settings.limits;
        let mut effects = Vec::new();
        for whose in payers.each() {
            // Where nothing is limited and nothing costs anything, nobody would look at it.
            let limited = whose.quota(&limits).tokens_per_day > 0;
            if tokens == 0 || (price == 0 && !limited) {
                continue;
            }
            self.known(whose).await?;
            let spent = self.used.spend(whose, (tokens, price), self.clock.now());
            let (of, key) = whose.place();
            effects.push(Effect::Set {
                of,
                key: key.into(),
                value: Some(spent.encode()),
            });
        }
        Ok(effects)
    }

    /// Counts a request that was made behind a turn, and stores it at once. What cannot be stored is stored with the
    /// next.
    pub async fn charge(
        &self,
        payers: Payers,
        turn: i64,
        (request, completion): (&ChatRequest, &Completion),
    ) {
        let usage = usage_of(request, completion);
        let price = counted(&self.rules.get().choices, completion, usage);
        let tokens = usage.prompt.saturating_add(usage.completion);
        let stored = async {
            let effects = self.spend(payers, (tokens, price)).await?;
            if effects.is_empty() {
                return Ok(());
            }
            let finish = Finish::of_no_turn(payers.conversation, effects, self.clock.now());
            let finish = Arc::new(finish);
            let written = commit(&self.store, |then| Write::Finish(finish, then)).await;
            written.map(drop)
        };
        let stored: Result<(), StoreError> = stored.await;
        if let Err(error) = stored {
            tracing::warn!(turn = %turn_id(turn), %error, "what a request took is not stored yet");
        }
    }

    /// What somebody used. After a start only the store knows what was used before on this day.
    async fn known(&self, whose: Whose) -> Result<Spent, StoreError> {
        if let Some(spent) = self.used.spent(whose) {
            return Ok(spent);
        }
        let (place, key) = whose.place();
        let rows = self.store.settings(place).await?;
        let row = rows.iter().find(|(name, _)| *name == key);
        let stored = Spent::read(row.map(|(_, value)| value.as_str()));
        Ok(self.used.learn(whose, stored))
    }
}
