//! Spans of time as people write them.
//!
//! Owns the units in both languages and the longest span, and what is so near to one that it must not be taken for
//! something else. Pure.

use std::time::Duration;

/// The longest span that can be written, ten years.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);
/// Characters at the end of a text in which a span is looked for.
const TAIL: usize = 24;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The units and their seconds. A month has 30 days, a year 365. `月` is none: `3月` is March.
const UNITS: [(&[&str], u64); 7] = [
    (
        &[
            "s", "sec", "secs", "second", "seconds", "秒", "秒钟", "秒鐘",
        ],
        1,
    ),
    (
        &[
            "m", "min", "mins", "minute", "minutes", "分", "分钟", "分鐘",
        ],
        MINUTE,
    ),
    (
        &[
            "h",
            "hr",
            "hrs",
            "hour",
            "hours",
            "时",
            "時",
            "小时",
            "小時",
            "个小时",
            "個小時",
            "钟头",
            "鐘頭",
            "个钟头",
            "個鐘頭",
        ],
        HOUR,
    ),
    (&["d", "day", "days", "天", "日"], DAY),
    (
        &[
            "w",
            "wk",
            "wks",
            "week",
            "weeks",
            "周",
            "週",
            "星期",
            "个星期",
            "個星期",
            "礼拜",
            "禮拜",
            "个礼拜",
            "個禮拜",
        ],
        7 * DAY,
    ),
    (&["mo", "mos", "month", "months", "个月", "個月"], 30 * DAY),
    (&["y", "yr", "yrs", "year", "years", "年"], 365 * DAY),
];
/// Units that mean something else behind a number in words: `十分` is "very", `一时` "for a moment".
const TERSE: [&str; 3] = ["分", "时", "時"];
/// Numbers in words; one is written in several ways.
const IN_WORDS: [(&str, u64); 13] = [
    ("a", 1),
    ("an", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twelve", 12),
];
/// Numerals; `半` is half of one.
const NUMERALS: &str = "一二三四五六七八九十两兩半";

/// Reads a span such as `90s`, `10m`, `2h`, `7d`, `1w`, `7 days`, `a week`, `1y`, also in Chinese (`10分钟`, `2小時`, `三天`,
/// `1个月`). A blank may stand in front of the unit.
#[must_use]
pub fn span(text: &str) -> Option<Duration> {
    let (halves, unit, in_words) = counted(text.trim())?;
    if in_words && TERSE.contains(&unit) {
        return None;
    }
    let time = Duration::from_secs(halves.checked_mul(seconds(unit)?)? / 2);
    (!time.is_zero() && time <= LONGEST).then_some(time)
}

/// Whether a text begins as a span does, although it may be none: a number comes first, perhaps with a sign, or one in
/// Chinese numerals with a unit.
#[must_use]
pub fn begins_like_span(text: &str) -> bool {
    let sign = |c: char| matches!(c, '+' | '-' | '−' | '–' | '~' | '～' | '.' | ',');
    let number = text.trim_start_matches(sign);
    if number.starts_with(|c| digit(c).is_some()) {
        return true;
    }
    let unit = number.trim_start_matches(|c| NUMERALS.contains(c));
    let mut units = UNITS.iter().flat_map(|(names, _)| names.iter());
    unit.len() < number.len()
        && units.any(|name| !name.is_ascii() && !TERSE.contains(name) && unit.starts_with(name))
}

/// The span that a text ends with, as it is written; `None` if it ends with none.
#[must_use]
pub fn trailing_span(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    let mut joined = true;
    let from = text.char_indices().rev().nth(TAIL).map_or(0, |(at, _)| at);
    let tail = text.get(from..)?;
    for (at, c) in tail.char_indices() {
        // In the middle of a Latin word or of a number nothing begins.
        let begins = at == 0 && from == 0 || !joined;
        joined = c.is_ascii_alphanumeric() || digit(c).is_some();
        let rest = tail.get(at..)?;
        if begins && !c.is_whitespace() && span(rest).is_some() {
            return Some(rest);
        }
    }
    None
}

/// The halves of a count, the unit behind it, and whether the count is in words.
fn counted(text: &str) -> Option<(u64, &str, bool)> {
    let unit = text.trim_start_matches(|c| digit(c).is_some());
    if unit.len() < text.len() {
        let digits = text.strip_suffix(unit)?.chars();
        let count = digits.filter_map(digit).try_fold(0_u64, |count, digit| {
            count.checked_mul(10)?.checked_add(u64::from(digit))
        })?;
        return Some((count.checked_mul(2)?, unit.trim_start(), false));
    }
    let unit = text.trim_start_matches(|c| NUMERALS.contains(c));
    if unit.len() < text.len() {
        let halves = numeral(text.strip_suffix(unit)?)?;
        return Some((halves, unit.trim_start(), true));
    }
    let (word, unit) = text.split_once(char::is_whitespace)?;
    let word = word.to_ascii_lowercase();
    let (_, count) = IN_WORDS.iter().find(|(known, _)| *known == word)?;
    Some((2 * count, unit.trim_start(), true))
}

/// A digit, also one as wide as a Chinese character.
fn digit(c: char) -> Option<u32> {
    let wide = u32::from(c).checked_sub(u32::from('０'));
    c.to_digit(10).or_else(|| wide.filter(|digit| *digit < 10))
}

/// The halves of a Chinese number below a hundred.
fn numeral(text: &str) -> Option<u64> {
    let one = |c: char| {
        Some(match c {
            '一' => 1,
            '二' | '两' | '兩' => 2,
            '三' => 3,
            '四' => 4,
            '五' => 5,
            '六' => 6,
            '七' => 7,
            '八' => 8,
            '九' => 9,
            _ => return None,
        })
    };
    let signs: Vec<char> = text.chars().collect();
    let count = match *signs.as_slice() {
        ['半'] => return Some(1),
        ['十'] => 10,
        ['十', ones] => 10 + one(ones)?,
        [tens, '十'] => 10 * one(tens)?,
        [tens, '十', ones] => 10 * one(tens)? + one(ones)?,
        [ones] => one(ones)?,
        _ => return None,
    };
    Some(2 * count)
}

/// The seconds of a unit.
fn seconds(unit: &str) -> Option<u64> {
    let same = |name: &&str| name.eq_ignore_ascii_case(unit);
    let found = UNITS.iter().find(|(names, _)| names.iter().any(same));
    found.map(|(_, seconds)| *seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_a_span_is_told_from_other_words() {
        for text in [
            "10m",
            "-5m",
            "−5m",
            "1.5h",
            "0s",
            "99999999999999999999d",
            "3天",
            "30",
            "5x",
            "７天",
            "3dprint",
            "三天刷屏",
            "-5",
        ] {
            assert!(begins_like_span(text), "{text}");
        }
        for text in [
            "",
            "m",
            "spam",
            "-",
            "v2.0m!",
            "十分讨厌",
            "一时冲动",
            "天",
            "一直",
        ] {
            assert!(!begins_like_span(text), "{text}");
        }
    }

    #[test]
    fn a_span_behind_other_words_is_found() {
        let cases = [
            ("spam 7d", "7d"),
            ("spam 7 days.", "7 days"),
            ("for a week", "a week"),
            ("刷屏7天", "7天"),
            ("刷屏三天。", "三天"),
            ("7d", "7d"),
        ];
        for (text, found) in cases {
            assert_eq!(trailing_span(text), Some(found), "{text}");
        }
        for text in [
            "",
            "spam",
            "7d spam",
            "x7d",
            "covid 19",
            "在2024年",
            "态度十分",
            "17",
            "banana day",
        ] {
            assert_eq!(trailing_span(text), None, "{text}");
        }
        let long = "很".repeat(10_000);
        assert_eq!(trailing_span(&format!("{long}7天")), Some("7天"));
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
            ("7days", 7 * DAY),
            ("30mins", 30 * MINUTE),
            ("2hours", 2 * HOUR),
            ("7 days", 7 * DAY),
            ("1 Week", 7 * DAY),
            ("a week", 7 * DAY),
            ("two hours", 2 * HOUR),
            ("1y", 365 * DAY),
            ("1mo", 30 * DAY),
            ("1个月", 30 * DAY),
            ("1 個月", 30 * DAY),
            ("7日", 7 * DAY),
            ("2小時", 2 * HOUR),
            ("１０分鐘", 600),
            ("三天", 3 * DAY),
            ("两个星期", 14 * DAY),
            ("二十四小时", DAY),
            ("半小时", 1_800),
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
            "11y",
            "3月",
            "十分",
            "a",
            "week",
            "十十天",
            "7 d a y s",
        ] {
            assert_eq!(span(text), None, "{text}");
        }
    }
}
