//! The pause before the next attempt to connect.
//!
//! Owns growth and jitter. Pure: the randomness is an argument.

use std::time::Duration;

/// The first pause, unless the longest is shorter.
const FIRST: Duration = Duration::from_secs(1);

/// Pauses that double up to a longest one, for ever.
#[derive(Debug)]
pub struct Backoff {
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses of at most `longest`.
    #[must_use]
    pub fn new(longest: Duration) -> Self {
        Self {
            longest,
            next: FIRST.min(longest),
        }
    }

    /// The next pause: `random` (0 to 1) chooses it between half of the present step and all of it, so
    /// that many clients of one restarted server do not come back at one moment.
    pub fn pause(&mut self, random: f64) -> Duration {
        let step = self.next;
        self.next = step.saturating_mul(2).min(self.longest);
        step.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
    }

    /// The connection held: the next failure begins anew.
    pub fn reset(&mut self) {
        self.next = FIRST.min(self.longest);
    }
}

#[cfg(test)]
mod tests;
