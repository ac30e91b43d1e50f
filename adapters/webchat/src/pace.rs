//! How fast one socket is read.
//!
//! Owns the rate: a burst, then so many lines a second. A client that sends faster is not refused and loses nothing;
//! it is read later, so that its own network makes it wait. Pure: the time is an argument.

use std::time::Duration;

use tokio::time::Instant;

/// Lines that are read at once.
const BURST: u32 = 256;
/// The time that each line takes of it back: 50 a second.
const EACH: Duration = Duration::from_millis(20);

/// The pace of one socket.
#[derive(Debug)]
pub(crate) struct Pace {
    /// When all lines so far are paid for.
    paid: Instant,
}

impl Pace {
    /// Nothing was read yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self { paid: now }
    }

    /// Counts lines that were read.
    pub(crate) fn count(&mut self, lines: usize, now: Instant) {
        let lines = u32::try_from(lines).unwrap_or(u32::MAX);
        self.paid = self.paid.max(now) + EACH.saturating_mul(lines);
    }

    /// When it may be read again; `None` for now.
    pub(crate) fn waits_until(&self, now: Instant) -> Option<Instant> {
        let free = self.paid.checked_sub(EACH * BURST)?;
        (free > now).then_some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_window_lets_more_through_than_burst_and_rate() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let mut read = 0;
        for milliseconds in 0..10_000 {
            let now = start + Duration::from_millis(milliseconds);
            while pace.waits_until(now).is_none() {
                pace.count(1, now);
                read += 1;
            }
        }
        assert!(
            (750..=760).contains(&read),
            "256 at once, then 50 a second: {read}"
        );
    }

    #[test]
    fn a_frame_of_many_lines_counts_as_many() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        for _ in 0..4 {
            assert_eq!(pace.waits_until(start), None);
            pace.count(64, start);
        }
        pace.count(64, start);
        assert_eq!(pace.waits_until(start), Some(start + EACH * 64));
        let later = start + Duration::from_secs(60);
        assert_eq!(pace.waits_until(later), None);
    }
}
