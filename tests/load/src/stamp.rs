//! Words that say when they were written.
//!
//! Owns their form, and how the newest is found in what a client is shown. Writer and reader are on one machine, so
//! that they have one clock. Pure but for that clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The digits of a stamp: microseconds since 1970.
const DIGITS: usize = 16;
/// The digits that must be there: milliseconds. A gateway may hold the end of a text back, and so cut a stamp.
const LEAST_DIGITS: usize = 13;
/// What stands before them.
const MARK: &str = "at-";

/// A word of this moment. It is longer than what a gateway waits for before it shows a piece.
#[must_use]
pub fn word() -> String {
    let now = since_1970().as_micros();
    format!(" {MARK}{now:0DIGITS$}-words")
}

/// When the newest word of a text was written, in time since 1970. Of a word whose stamp is cut it is too early by less
/// than a millisecond; one that is cut even shorter does not count.
#[must_use]
pub fn newest(text: &str) -> Option<Duration> {
    text.rsplit(MARK).find_map(|rest| {
        let digits = rest.bytes().take(DIGITS).take_while(u8::is_ascii_digit);
        let digits = rest.get(..digits.count())?;
        if digits.len() < LEAST_DIGITS {
            return None;
        }
        let micros: u64 = format!("{digits:0<DIGITS$}").parse().ok()?;
        Some(Duration::from_micros(micros))
    })
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
        let at = Duration::from_micros;
        let cut = "<p>at-1796182661842270-words at-179618266194280</p>";
        assert_eq!(newest(cut), Some(at(1_796_182_661_942_800)));
        let shorter = "<p>at-1796182661842270-words at-179618</p>";
        assert_eq!(newest(shorter), Some(at(1_796_182_661_842_270)));
        assert_eq!(newest("no word"), None);
        assert_eq!(newest("at-12"), None);
    }
}
