//! How long an answer may take.
//!
//! Owns the time in which it must be finished so that it can still be sent as an answer. Pure.

use std::time::Duration;

use weirgate_sdk::{ReplyContext, Timestamp};

/// What is left for sending of the time in which the platform takes an answer.
const SENDING: Duration = Duration::from_secs(30);

/// The time for an answer, of which `longest` is the most. Where the platform counts what answers a message and for how
/// long, it is sent before that is over, as far as it has come. When it is over already, the answer cannot be one any
/// more, whenever it comes.
#[must_use]
pub fn window(longest: Duration, context: Option<&ReplyContext>, now: Timestamp) -> Duration {
    let counted = context.filter(|context| context.uses_left.is_some());
    let Some(until) = counted.and_then(|context| context.expires_at) else {
        return longest;
    };
    let left = u64::try_from(until.saturating_sub(now)).unwrap_or(0);
    let left = Duration::from_millis(left).checked_sub(SENDING);
    left.map_or(longest, |left| longest.min(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_counted_leaves_in_time() {
        let longest = Duration::from_secs(300);
        let context = |expires_at, uses_left| ReplyContext {
            data: String::new(),
            expires_at,
            uses_left,
        };
        let cases = [
            (context(Some(300_000), Some(4)), 270),
            (context(Some(31_000), Some(1)), 1),
            (context(Some(900_000), Some(4)), 300),
            // Too late for an answer.
            (context(Some(29_000), Some(4)), 300),
            (context(Some(-5), Some(4)), 300),
            // Not counted: afterwards it is an ordinary message.
            (context(Some(60_000), None), 300),
            (context(None, Some(4)), 300),
        ];
        for (context, seconds) in cases {
            let left = window(longest, Some(&context), 0);
            assert_eq!(left, Duration::from_secs(seconds), "{context:?}");
        }
        assert_eq!(window(longest, None, 0), longest);
    }
}
