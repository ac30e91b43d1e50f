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

#[derive(Debug, Clone, Copy)]
struct Budget {
    bucket: Gcra,
    /// At which it was last spent.
    rate: Rate,
    frozen_until: Tick,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bucket: Gcra::default(),
            rate: Rate::UNLIMITED,
            frozen_until: 0,
        }
    }
}

/// The budget of one account. The rates come with each call: they differ between its conversations, and a reload
/// may change them. What was spent and what the platform demanded stays.
#[derive(Debug)]
pub struct Governor {
    account: Budget,
    conversations: HashMap<i64, Budget>,
    sweep_at: usize,
}

impl Default for Governor {
    fn default() -> Self {
        Self {
            account: Budget::default(),
            conversations: HashMap::new(),
            sweep_at: SWEEP_AT,
        }
    }
}

/// The rates of the account and of the conversation.
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
    /// Takes a token for a send into a conversation.
    ///
    /// # Errors
    /// When to ask again; nothing was taken.
    pub fn take(&mut self, conversation: i64, rates: Rates, now: Tick) -> Result<(), Wait> {
        self.check(conversation, rates, 1, now)?;
        self.spend(conversation, rates, now);
        Ok(())
    }

    /// Takes a token for something cosmetic, such as a preview, but only if one is left afterwards: a
    /// final text never waits for a preview.
    pub fn take_cosmetic(&mut self, conversation: i64, rates: Rates, now: Tick) -> bool {
        // Where only one token fits there is never one to spare.
        let lone = |rate: Rate| rate.per_second > 0.0 && rate.burst < 2;
        let (account, place) = pair(rates);
        let spare =
            !lone(account) && !lone(place) && self.check(conversation, rates, 2, now).is_ok();
        if spare {
            self.spend(conversation, rates, now);
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

    fn check(&self, conversation: i64, rates: Rates, tokens: u32, now: Tick) -> Result<(), Wait> {
        let (account_rate, rate) = pair(rates);
        let place = self
            .conversations
            .get(&conversation)
            .copied()
            .unwrap_or_default();
        let frozen = self.account.frozen_until.max(place.frozen_until);
        if frozen > now {
            return Err(Wait::Frozen(frozen));
        }
        let account = self.account.bucket.ready_at(account_rate, tokens, now);
        let ready = account.max(place.bucket.ready_at(rate, tokens, now));
        if ready > now {
            Err(Wait::Pace(ready))
        } else {
            Ok(())
        }
    }

    fn spend(&mut self, conversation: i64, rates: Rates, now: Tick) {
        let (account_rate, rate) = pair(rates);
        // Checked just before; nothing came in between.
        let _ = self.account.bucket.take(account_rate, 1, now);
        if rate.per_second > 0.0 {
            self.sweep(now);
            let place = self.conversations.entry(conversation).or_default();
            place.rate = rate;
            let _ = place.bucket.take(rate, 1, now);
        }
    }

    /// Forgets conversations whose budget is full again; doubling the threshold keeps the cost of
    /// looking for them constant a send.
    fn sweep(&mut self, now: Tick) {
        if self.conversations.len() < self.sweep_at {
            return;
        }
        self.conversations
            .retain(|_, place| place.frozen_until > now || place.bucket.full_at(place.rate) > now);
        self.conversations.shrink_to(SWEEP_AT);
        self.sweep_at = SWEEP_AT.max(self.conversations.len() * 2);
    }
}

#[cfg(test)]
mod tests;
