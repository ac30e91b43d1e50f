//! The gateway's clock: one source of time for scheduling and for what is stored.
//!
//! Owns the mapping between the monotonic time that decides (ticks) and the wall time that is written
//! down. Steps of the system clock never reach the core; under a paused runtime both are virtual.

pub mod plan;
mod span;
mod zone;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use weirgate_sdk::Timestamp;

pub use span::{begins_like_span, span, trailing_span};
pub use zone::{Zone, compact, minute, minute_in};

/// Microseconds since the clock was made; monotonic.
pub type Tick = u64;

/// Ticks and wall time that move together.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    wall: Timestamp,
}

impl Clock {
    /// A clock that starts at the system's wall time.
    #[must_use]
    pub fn system() -> Self {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self::starting_at(i64::try_from(wall.as_millis()).unwrap_or(i64::MAX))
    }

    /// A clock that starts at a given wall time, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn starting_at(wall: Timestamp) -> Self {
        Self {
            start: Instant::now(),
            wall,
        }
    }

    /// Microseconds since the clock was made.
    #[must_use]
    pub fn tick(&self) -> Tick {
        micros(self.start.elapsed())
    }

    /// The wall time of now, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.start.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.wall.saturating_add(elapsed)
    }

    /// The instant of a tick, for timers.
    #[must_use]
    pub fn instant(&self, tick: Tick) -> Instant {
        self.start + Duration::from_micros(tick.min(MAX_AHEAD))
    }
}

/// Timers further ahead than thirty years are as good as never; larger values overflow an instant.
const MAX_AHEAD: Tick = 30 * 365 * 24 * 3600 * 1_000_000;

/// The pause after so many failures in a row, at least one: the first, twice as long after each, never longer than the
/// longest.
#[must_use]
pub fn doubled((first, longest): (Duration, Duration), failures: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures.saturating_sub(1));
    first
        .saturating_mul(factor.unwrap_or(u32::MAX))
        .min(longest)
}

/// A duration in ticks, at most `u64::MAX`.
#[must_use]
pub fn micros(duration: Duration) -> Tick {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A duration in milliseconds as stored, at most `i64::MAX`.
#[must_use]
pub fn millis(duration: Duration) -> Timestamp {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
