//! So many in a minute: what was taken in the last sixty seconds.
//!
//! Owns the count. Whatever minute is looked at, no more were taken in it than the limit says, but for what had waited for
//! longer than that: it was not said in one. It never reads a clock.

use std::collections::VecDeque;

use crate::clock::Tick;

/// Seconds of a minute, and ticks of a second.
const MINUTE: u64 = 60;
const SECOND: Tick = 1_000_000;

/// What one of them did lately. It remembers at most one number for each second of a minute.
#[derive(Debug, Clone, Default)]
pub struct Minute {
    /// Seconds in which something was taken, oldest first, and how many.
    taken: VecDeque<(u64, u32)>,
}

impl Minute {
    /// Takes `count` at once, or nothing, if there were `most` in a minute with them; says whether it did. `waited` is since
    /// when the first of them is there: each whole minute of it is another in which they were said.
    pub fn take(&mut self, most: u32, (count, waited): (u32, Tick), now: Tick) -> bool {
        let second = now / SECOND;
        // Of a second that began within the last sixty a part is in this minute.
        while self
            .taken
            .front()
            .is_some_and(|(then, _)| then.saturating_add(MINUTE) < second)
        {
            self.taken.pop_front();
        }
        let used: u64 = self.taken.iter().map(|(_, count)| u64::from(*count)).sum();
        let minutes = 1 + waited / (MINUTE * SECOND);
        if used + u64::from(count) > u64::from(most).saturating_mul(minutes) {
            return false;
        }
        match self.taken.back_mut() {
            Some((last, taken)) if *last >= second => *taken = taken.saturating_add(count),
            _ => self.taken.push_back((second, count)),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_limit_is_for_any_minute() {
        let mut minute = Minute::default();
        let mut take = |count, at: u64| minute.take(3, (count, 0), at * SECOND);
        assert!(take(2, 0) && take(1, 30) && !take(1, 59) && !take(1, 60));
        // The two of the beginning are over, the one of the middle is not.
        assert!(!take(3, 61) && take(2, 61) && !take(1, 62));
        assert!(take(1, 91) && !take(1, 92));
        assert!(!take(4, 300), "more than a minute has");
        assert!(take(3, 300));
    }

    #[test]
    fn what_waited_for_minutes_was_not_said_in_one() {
        let mut minute = Minute::default();
        let mut take =
            |count, waited: u64, at: u64| minute.take(2, (count, waited * SECOND), at * SECOND);
        assert!(!take(3, 59, 100) && take(3, 60, 100));
        assert!(!take(1, 0, 130), "they count from when they were taken");
        assert!(take(1, 0, 161));
    }

    proptest! {
        #[test]
        fn no_minute_has_more_and_little_is_remembered(
            most in 1_u32..9,
            steps in prop::collection::vec((0_u64..20_000_000, 1_u32..4), 1..200),
        ) {
            let (mut minute, mut now, mut taken) = (Minute::default(), 0, Vec::new());
            for (pause, count) in steps {
                now += pause;
                if minute.take(most, (count, 0), now) {
                    taken.push((now, count));
                }
                prop_assert!(minute.taken.len() <= 62);
            }
            for (from, _) in &taken {
                let within = taken.iter().filter(|(at, _)| (*from..*from + 60 * SECOND).contains(at));
                prop_assert!(within.map(|(_, count)| count).sum::<u32>() <= most);
            }
        }
    }
}
