//! Patience with questions that are asked while events wait behind them.
//!
//! Owns when they are not asked: for a while after one that got no answer, so that a platform which does not answer
//! holds up one message and not every message. Pure: the time is an argument.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How long nothing is asked after a question without an answer.
const PAUSE: Duration = Duration::from_secs(60);

/// Until when nothing is asked.
#[derive(Debug, Default)]
pub struct Patience(Mutex<Option<Instant>>);

impl Patience {
    /// Whether nothing is to be asked now.
    #[must_use]
    pub fn is_lost(&self, now: Instant) -> bool {
        self.0.lock().is_some_and(|until| now < until)
    }

    /// A question got no answer.
    pub fn lose(&self, now: Instant) {
        *self.0.lock() = Some(now + PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_an_answer_is_followed_by_none_for_a_while() {
        let (patience, now) = (Patience::default(), Instant::now());
        assert!(!patience.is_lost(now));
        patience.lose(now);
        assert!(patience.is_lost(now + PAUSE / 2));
        assert!(!patience.is_lost(now + PAUSE));
    }
}
