//! The model's own token bucket.

use super::super::*;

/// A bucket that counts tokens, in millionths; exact for rates that divide a second evenly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens {
    level: i64,
    at: Tick,
}

impl Tokens {
    pub(super) fn full(rate: Rate) -> Self {
        Self {
            level: i64::from(rate.burst) * 1_000_000,
            at: 0,
        }
    }

    fn level(&self, rate: Rate, now: Tick) -> i64 {
        let grown = self.level + rate.per_second as i64 * i64::try_from(now - self.at).unwrap();
        grown.min(i64::from(rate.burst) * 1_000_000)
    }

    pub(super) fn has(&self, rate: Rate, tokens: usize, now: Tick) -> bool {
        let tokens = i64::try_from(tokens).unwrap().min(i64::from(rate.burst));
        rate.per_second == 0.0 || self.level(rate, now) >= tokens * 1_000_000
    }

    /// When there are so many, if nobody takes any.
    pub(super) fn ready_at(&self, rate: Rate, tokens: usize, now: Tick) -> Tick {
        let tokens = i64::try_from(tokens).unwrap().min(i64::from(rate.burst));
        let missing = tokens * 1_000_000 - self.level(rate, now);
        let rate = rate.per_second as u64;
        now + u64::try_from(missing).unwrap_or(0).div_ceil(rate.max(1))
    }

    pub(super) fn take(&mut self, rate: Rate, tokens: usize, now: Tick) {
        self.level = self.level(rate, now) - i64::try_from(tokens).unwrap() * 1_000_000;
        self.at = now;
    }
}
