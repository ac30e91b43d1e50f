//! Signs of life of one connection.
//!
//! Owns the moment at which a silent connection counts as dead. Pure: the time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Missed heartbeats after which a connection is dead; the half leaves room for a late one.
const MISSED: f64 = 3.5;
/// Bounds of what is believed of an announced interval.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(600);
/// A connection that does not even answer pings, sent every [`PING`], for so long is dead.
const SILENCE: Duration = Duration::from_secs(90);
/// Pause between two pings.
pub const PING: Duration = Duration::from_secs(30);

/// While a message that was sent waits for its answer, a ping is sent so often: there are implementations that hold an answer back
/// until they have something else to write, and they answer pings.
pub const CALLING_PING: Duration = Duration::from_secs(1);

/// When something was last heard.
#[derive(Debug)]
pub struct Life {
    heard: Instant,
    spoken: Instant,
    allowed: Option<Duration>,
    fixed: bool,
}

impl Life {
    /// A connection that began `now`. `fixed` is the silence that the settings allow; without it the
    /// heartbeats announce it.
    #[must_use]
    pub fn new(now: Instant, fixed: Option<Duration>) -> Self {
        Self {
            heard: now,
            spoken: now,
            allowed: fixed,
            fixed: fixed.is_some(),
        }
    }

    /// Any frame came, such as the answer to a ping.
    pub fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// A message of the implementation came. Its transport may live on when it does not, so only this
    /// counts as a heartbeat.
    pub fn spoken(&mut self, now: Instant) {
        self.heard = now;
        self.spoken = now;
    }

    /// A heartbeat told the pause until the next one.
    pub fn announced(&mut self, interval: Duration) {
        if !self.fixed {
            self.allowed = Some(interval.clamp(SHORTEST, LONGEST).mul_f64(MISSED));
        }
    }

    /// Whether the implementation should have spoken since, by what it announced or the settings say.
    #[must_use]
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.allowed
            .is_some_and(|allowed| now > self.spoken + allowed)
    }

    /// When the connection is dead if nothing comes.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let silent = self.heard + SILENCE;
        self.allowed
            .map_or(silent, |allowed| silent.min(self.spoken + allowed))
    }
}

#[cfg(test)]
mod tests;
