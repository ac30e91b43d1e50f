//! The token bucket: a rate and a burst, kept as one time value (generic cell rate algorithm).
//! Owns the arithmetic of tokens and of ticks. Never reads a clock and never sleeps: it answers
//! when something may happen.

use std::time::Duration;

/// A moment, in microseconds since the process started.
pub type Tick = u64;

/// Fractions of a tick in which a bucket counts: 1/65,536 microsecond. Fine enough that a third of
/// a second, rounded up, is late by less than two ticks after a day; coarse enough that 64 bits
/// last for almost nine years.
const FINE_BITS: u32 = 16;

/// A duration in ticks, at most the largest tick.
#[must_use]
pub fn ticks(duration: Duration) -> Tick {
    Tick::try_from(duration.as_micros()).unwrap_or(Tick::MAX)
}

/// How much a bucket lets through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Tokens a second. Zero (or anything that is not a positive number) means no limit.
    pub per_second: f64,
    /// Tokens that a full bucket holds; zero counts as one.
    pub burst: u32,
}

impl Rate {
    /// No limit at all.
    pub const UNLIMITED: Self = Self {
        per_second: 0.0,
        burst: 1,
    };

    /// The price of one token in fractions of a tick, rounded up so that the rate is never
    /// exceeded; `None` without a limit.
    fn price(self) -> Option<u64> {
        let limited = self.per_second > 0.0 && self.per_second.is_finite();
        // A float cast saturates: a rate of next to nothing is "never", not a wrapped number.
        limited.then(|| (1e6 * f64::from(1_u32 << FINE_BITS) / self.per_second).ceil() as u64)
    }

    fn burst(self) -> u32 {
        self.burst.max(1)
    }
}

/// A token bucket as the one time at which it will be full again ("theoretical arrival time").
/// A new bucket is full. The rate is given with each call, so that a reload needs no conversion.
///
/// No window of length T lets through more than `max(burst, largest take) + rate × T` tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gcra {
    full: u64,
}

impl Gcra {
    /// The first tick, not before `now`, at which `tokens` can be taken if nobody takes any until
    /// then. More tokens than the burst need a full bucket.
    #[must_use]
    pub fn ready_at(&self, rate: Rate, tokens: u32, now: Tick) -> Tick {
        let Some(price) = rate.price() else {
            return now;
        };
        let spare = rate.burst().saturating_sub(tokens);
        let at = self
            .full
            .saturating_sub(price.saturating_mul(u64::from(spare)));
        coarse(at).max(now)
    }

    /// The first tick, not before `now`, at which one token can be taken if `ahead` others are taken
    /// before it, each as soon as it is there.
    #[must_use]
    pub fn ready_behind(&self, rate: Rate, ahead: usize, now: Tick) -> Tick {
        let Some(price) = rate.price() else {
            return now;
        };
        let ahead = u64::try_from(ahead).unwrap_or(u64::MAX);
        let full = self.full.max(fine(now));
        let full = full.saturating_add(price.saturating_mul(ahead));
        let spare = price.saturating_mul(u64::from(rate.burst() - 1));
        coarse(full.saturating_sub(spare)).max(now)
    }

    /// Takes `tokens` if they are there and says whether it did. More than the burst are taken
    /// from a full bucket, which then owes the rest.
    #[must_use]
    pub fn take(&mut self, rate: Rate, tokens: u32, now: Tick) -> bool {
        let Some(price) = rate.price() else {
            return true;
        };
        if self.ready_at(rate, tokens, now) > now {
            return false;
        }
        let start = self.full.max(fine(now));
        self.full = start.saturating_add(price.saturating_mul(u64::from(tokens)));
        true
    }

    /// The tick at which the bucket is full again: from then on it is the same as a new one.
    #[must_use]
    pub fn full_at(&self, rate: Rate) -> Tick {
        if rate.price().is_some() {
            coarse(self.full)
        } else {
            0
        }
    }
}

fn fine(tick: Tick) -> u64 {
    tick.saturating_mul(1 << FINE_BITS)
}

fn coarse(fine: u64) -> Tick {
    fine.div_ceil(1 << FINE_BITS)
}

#[cfg(test)]
mod tests;
