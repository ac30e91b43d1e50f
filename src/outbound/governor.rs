//! The budget of everything that one account sends.
//!
//! Owns the token buckets of an account and of its conversations, and the pauses that the platform
//! demands. Pure: time is an argument. It never sleeps; the deliverer asks when it may go on.

use std::{collections::HashMap, time::Duration};

use weirgate_sdk::{Freeze, Rates};

use crate::{
    clock::{Tick, micros},
    schedule::bucket::{Gcra, Rate},
};

/// Conversations that are kept before idle ones are looked for.
const SWEEP_AT: usize = 512;

#[derive(Debug, Default, Clone, Copy)]
struct Budget {
    bucket: Gcra,
    frozen_until: Tick,
}

/// The budget of one account.
#[derive(Debug)]
pub struct Governor {
    account_rate: Rate,
    conversation_rate: Rate,
    account: Budget,
    conversations: HashMap<i64, Budget>,
    sweep_at: usize,
}

/// The rates of the account and of each conversation.
fn pair(rates: Rates) -> (Rate, Rate) {
    let rate = |per_second, burst: u32| Rate {
        per_second,
        burst: burst.max(1),
    };
    (
        rate(rates.account, rates.account_burst),
        rate(rates.conversation, rates.conversation_burst),
    )
}

/// Why a send has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// For its turn at the configured pace.
    Pace(Tick),
    /// Because the platform demanded a pause.
    Frozen(Tick),
}

impl Governor {
    /// A budget with these rates, full.
    #[must_use]
    pub fn new(rates: Rates) -> Self {
        let (account_rate, conversation_rate) = pair(rates);
        Self {
            account_rate,
            conversation_rate,
            account: Budget::default(),
            conversations: HashMap::new(),
            sweep_at: SWEEP_AT,
        }
    }

    /// Takes over other rates. What was spent and what the platform demanded stays.
    pub fn set_rates(&mut self, rates: Rates) {
        (self.account_rate, self.conversation_rate) = pair(rates);
    }

    /// Takes a token for a send into a conversation.
    ///
    /// # Errors
    /// When to ask again; nothing was taken.
    pub fn take(&mut self, conversation: i64, now: Tick) -> Result<(), Wait> {
        self.check(conversation, 1, now)?;
        self.spend(conversation, now);
        Ok(())
    }

    /// Takes a token for something cosmetic, such as a preview, but only if one is left afterwards: a
    /// final text never waits for a preview.
    pub fn take_cosmetic(&mut self, conversation: i64, now: Tick) -> bool {
        // Where only one token fits there is never one to spare.
        let lone = |rate: Rate| rate.per_second > 0.0 && rate.burst < 2;
        let spare = !lone(self.account_rate)
            && !lone(self.conversation_rate)
            && self.check(conversation, 2, now).is_ok();
        if spare {
            self.spend(conversation, now);
        }
        spare
    }

    /// The platform demands a pause.
    pub fn freeze(&mut self, conversation: i64, scope: Freeze, after: Duration, now: Tick) {
        self.sweep(now);
        let until = now.saturating_add(micros(after));
        let budget = match scope {
            Freeze::Account => &mut self.account,
            // A route is one kind of call in one place; for text that is the conversation.
            Freeze::Conversation | Freeze::Route => {
                self.conversations.entry(conversation).or_default()
            }
        };
        budget.frozen_until = budget.frozen_until.max(until);
    }

    fn check(&self, conversation: i64, tokens: u32, now: Tick) -> Result<(), Wait> {
        let place = self
            .conversations
            .get(&conversation)
            .copied()
            .unwrap_or_default();
        let frozen = self.account.frozen_until.max(place.frozen_until);
        if frozen > now {
            return Err(Wait::Frozen(frozen));
        }
        let account = self.account.bucket.ready_at(self.account_rate, tokens, now);
        let ready = account.max(place.bucket.ready_at(self.conversation_rate, tokens, now));
        if ready > now {
            Err(Wait::Pace(ready))
        } else {
            Ok(())
        }
    }

    fn spend(&mut self, conversation: i64, now: Tick) {
        // Checked just before; nothing came in between.
        let _ = self.account.bucket.take(self.account_rate, 1, now);
        if self.conversation_rate.per_second > 0.0 {
            self.sweep(now);
            let place = self.conversations.entry(conversation).or_default();
            let _ = place.bucket.take(self.conversation_rate, 1, now);
        }
    }

    /// Forgets conversations whose budget is full again; doubling the threshold keeps the cost of
    /// looking for them constant a send.
    fn sweep(&mut self, now: Tick) {
        if self.conversations.len() < self.sweep_at {
            return;
        }
        let rate = self.conversation_rate;
        self.conversations
            .retain(|_, place| place.frozen_until > now || place.bucket.full_at(rate) > now);
        self.conversations.shrink_to(SWEEP_AT);
        self.sweep_at = SWEEP_AT.max(self.conversations.len() * 2);
    }
}

#[cfg(test)]
mod tests;
