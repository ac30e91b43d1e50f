//! Spans of time as people write them.
//!
//! Owns the units in both languages and the longest span. Pure.

use std::time::Duration;

/// The longest span that can be written, ten years.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Reads a span such as `90s`, `10m`, `2h`, `7d`, `1w`, also in Chinese (`10分钟`, `2小时`, `7天`).
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let time = Duration::from_secs(count.checked_mul(seconds(unit)?)?);
    (!time.is_zero() && time <= LONGEST).then_some(time)
}

/// Whether a word is meant as a span, although it may be none: negative, a fraction, too long.
#[must_use]
pub fn is_meant_as_span(text: &str) -> bool {
    let count = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '−' | '.' | ',');
    let unit = text.trim_start_matches(count);
    let has_digit = text.chars().any(|c| c.is_ascii_digit());
    has_digit && seconds(unit).is_some()
}

/// The seconds of a unit.
fn seconds(unit: &str) -> Option<u64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "秒" => 1,
        "m" | "min" | "分" | "分钟" => 60,
        "h" | "hour" | "时" | "小时" => 3_600,
        "d" | "day" | "天" => 86_400,
        "w" | "week" | "周" => 7 * 86_400,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_as_a_span_is_told_from_other_words() {
        for text in [
            "10m",
            "-5m",
            "−5m",
            "1.5h",
            "0s",
            "99999999999999999999d",
            "3天",
        ] {
            assert!(is_meant_as_span(text), "{text}");
        }
        for text in ["", "m", "spam", "-", "5", "5x", "10 m", "v2.0m!", "3dprint"] {
            assert!(!is_meant_as_span(text), "{text}");
        }
    }

    #[test]
    fn times_are_read_in_both_languages() {
        let cases = [
            ("90s", 90),
            ("10m", 600),
            ("2h", 7_200),
            ("7d", 604_800),
            ("10分钟", 600),
            ("3天", 259_200),
        ];
        for (text, seconds) in cases {
            assert_eq!(span(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "10",
            "m",
            "0m",
            "-1h",
            "1.5h",
            "99999999999999999999d",
            "9999w",
            "1y",
        ] {
            assert_eq!(span(text), None, "{text}");
        }
    }
}
