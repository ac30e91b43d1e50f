//! Words that say when they were written.
//!
//! Owns their form, and how the newest is found in what a client is shown. Writer and reader are on one machine, so
//! that they have one clock. Pure but for that clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The digits of a stamp: microseconds since 1970.
const DIGITS: usize = 16;
/// What stands before them.
const MARK: &str = "at-";

/// A word of this moment. It is longer than what a gateway waits for before it shows a piece.
#[must_use]
pub fn word() -> String {
    let now = since_1970().as_micros();
    format!(" {MARK}{now:0DIGITS$}-words")
}

/// When the newest word of a text was written, in time since 1970.
#[must_use]
pub fn newest(text: &str) -> Option<Duration> {
    let (_, rest) = text.rsplit_once(MARK)?;
    let micros = rest.get(..DIGITS)?.parse().ok()?;
    Some(Duration::from_micros(micros))
}

/// The time since 1970.
#[must_use]
pub fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_word_is_found() {
        let before = since_1970();
        let text = format!("<p>#x{}{} and</p>", word(), word());
        let found = newest(&text).unwrap();
        assert!(found + Duration::from_millis(1) > before && found <= since_1970());
        assert!(word().chars().count() > 21);
        assert_eq!(newest("no word"), None);
        assert_eq!(newest("at-12"), None);
    }
}
