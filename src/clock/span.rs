//! Spans of time as people write them.
//!
//! Owns the units in both languages and the longest span. Pure.

use std::time::Duration;

/// The longest span that can be written, ten years.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Reads a span such as `90s`, `10m`, `2h`, `7d`, `1w`, also in Chinese (`10分钟`, `2小时`, `7天`).
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at_checked(digits)?;
    let seconds: u64 = match unit.to_ascii_lowercase().as_str() {
        "s" | "sec" | "秒" => 1,
        "m" | "min" | "分" | "分钟" => 60,
        "h" | "hour" | "时" | "小时" => 3_600,
        "d" | "day" | "天" => 86_400,
        "w" | "week" | "周" => 7 * 86_400,
        _ => return None,
    };
    let count: u64 = count.parse().ok()?;
    let time = Duration::from_secs(count.checked_mul(seconds)?);
    (!time.is_zero() && time <= LONGEST).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

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
