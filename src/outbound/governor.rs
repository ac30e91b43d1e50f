//! The budget of everything that one account sends.
//!
//! Owns the token buckets of an account and of its conversations, the pauses that the platform demands, and
//! the line of conversations that wait for the account: whoever has something to send gets its token before
//! anybody gets a second one. Pure: time is an argument. It never sleeps; the deliverer asks when it may go on.

mod line;

use std::{collections::HashMap, time::Duration};

use weirgate_sdk::{Freeze, Rates};

use crate::{
    clock::{Tick, micros},
    schedule::bucket::{Gcra, Rate},
};

use line::Line;

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
    line: Line,
    sweep_at: usize,
}

impl Default for Governor {
    fn default() -> Self {
        Self {
            account: Budget::default(),
            conversations: HashMap::new(),
            line: Line::default(),
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
    /// Takes a token for a send into a conversation. Who has to wait for the account stands in line until he
    /// takes it, or [leaves](Self::leave).
    ///
    /// # Errors
    /// When to ask again; nothing was taken.
    pub fn take(&mut self, conversation: i64, rates: Rates, now: Tick) -> Result<(), Wait> {
        let (account_rate, rate) = pair(rates);
        let place = self.place(conversation);
        // A place that cannot take anything now holds nobody up.
        if place.frozen_until > now {
            self.line.leave(conversation);
        }
        let frozen = self.account.frozen_until.max(place.frozen_until);
        if frozen > now {
            return Err(Wait::Frozen(frozen));
        }
        let ready = place.bucket.ready_at(rate, 1, now);
        if ready > now {
            self.line.leave(conversation);
            return Err(Wait::Pace(ready));
        }
        let ahead = self.line.ahead_of(conversation);
        let ready = self.account.bucket.ready_behind(account_rate, ahead, now);
        if ready > now {
            self.line.enter(conversation);
            return Err(Wait::Pace(self.ask_again(account_rate, ready, now)));
        }
        self.line.leave(conversation);
        self.spend(conversation, rates, now);
        Ok(())
    }

    /// A conversation does not wait for a token any more.
    pub fn leave(&mut self, conversation: i64) {
        self.line.leave(conversation);
    }

    /// When somebody asks again whose token comes at `ready`: half-way, as those ahead of him may leave; exactly then
    /// if it is near.
    fn ask_again(&self, rate: Rate, ready: Tick, now: Tick) -> Tick {
        let next = self.account.bucket.ready_behind(rate, 0, now);
        let after = self.account.bucket.ready_behind(rate, 1, now);
        let half = now.saturating_add(ready.saturating_sub(now) / 2);
        if half <= after.max(next) { ready } else { half }
    }

    /// Takes a token for something cosmetic, such as a preview, but only if one is left afterwards: a
    /// final text never waits for a preview.
    pub fn take_cosmetic(&mut self, conversation: i64, rates: Rates, now: Tick) -> bool {
        // Where only one token fits there is never one to spare.
        let lone = |rate: Rate| rate.per_second > 0.0 && rate.burst < 2;
        let (account, place) = pair(rates);
        let spare = !lone(account)
            && !lone(place)
            && self.line.is_empty()
            && self.has_two(conversation, rates, now);
        if spare {
            self.spend(conversation, rates, now);
        }
        spare
    }

    /// The platform demands a pause. Says by how much longer it is than the one under way.
    pub fn freeze(&mut self, conversation: i64, scope: Freeze, after: Duration, now: Tick) -> Tick {
        self.sweep(now);
        let until = now.saturating_add(micros(after));
        let budget = match scope {
            Freeze::Account => &mut self.account,
            // A route is one kind of call in one place; for text that is the conversation.
            Freeze::Conversation | Freeze::Route => {
                self.conversations.entry(conversation).or_default()
            }
        };
        let before = budget.frozen_until.max(now);
        budget.frozen_until = before.max(until);
        budget.frozen_until - before
    }

    fn place(&self, conversation: i64) -> Budget {
        let found = self.conversations.get(&conversation).copied();
        found.unwrap_or_default()
    }

    /// Whether two tokens are there.
    fn has_two(&self, conversation: i64, rates: Rates, now: Tick) -> bool {
        let (account_rate, rate) = pair(rates);
        let place = self.place(conversation);
        self.account.frozen_until.max(place.frozen_until) <= now
            && self.account.bucket.ready_at(account_rate, 2, now) <= now
            && place.bucket.ready_at(rate, 2, now) <= now
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
