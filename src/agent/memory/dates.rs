//! The day that a text speaks of.
//!
//! Owns the words for days in both languages and how a date is written. Pure: now and the zone are arguments.

use jiff::{Span, Timestamp as Moment, civil::Date};
use weirgate_sdk::Timestamp;

use crate::clock::Zone;

/// A day in a zone, as times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Day {
    /// Its first moment.
    pub begin: Timestamp,
    /// The first moment of the next one.
    pub end: Timestamp,
}

/// Words for days, and how many days before today they are.
const WORDS: [(&str, i64); 8] = [
    ("today", 0),
    ("yesterday", 1),
    ("今天", 0),
    ("今日", 0),
    ("昨天", 1),
    ("昨日", 1),
    ("前天", 2),
    ("day before", 2),
];

impl Day {
    /// The day of a time; `None` if no calendar has it.
    #[must_use]
    pub fn of(at: Timestamp, zone: &Zone) -> Option<Self> {
        Self::on(date(at, zone)?, zone)
    }

    fn on(date: Date, zone: &Zone) -> Option<Self> {
        let begin = |date: Date| {
            Some(
                date.to_zoned(zone.zone())
                    .ok()?
                    .timestamp()
                    .as_millisecond(),
            )
        };
        Some(Self {
            begin: begin(date)?,
            end: begin(date.tomorrow().ok()?)?,
        })
    }
}

fn date(at: Timestamp, zone: &Zone) -> Option<Date> {
    let at = Moment::from_millisecond(at).ok()?;
    Some(at.to_zoned(zone.zone()).date())
}

/// The day that a text names, by a word or as `2026-11-30`, `2026/11/30`, `11月30日`.
#[must_use]
pub fn mentioned(text: &str, now: Timestamp, zone: &Zone) -> Option<Day> {
    let today = date(now, zone)?;
    let lower = text.to_lowercase();
    let word = WORDS.iter().find(|(word, _)| lower.contains(word));
    if let Some((_, ago)) = word {
        let day = today.checked_sub(Span::new().days(*ago)).ok()?;
        return Day::on(day, zone);
    }
    Day::on(written(&lower, today)?, zone)
}

/// A date of digits; one without a year is the last that was.
fn written(text: &str, today: Date) -> Option<Date> {
    let mut numbers: Vec<(i16, char)> = Vec::new();
    let mut digits = String::new();
    for sign in text.chars().chain(std::iter::once(' ')) {
        if sign.is_ascii_digit() && digits.len() < 4 {
            digits.push(sign);
            continue;
        }
        if !digits.is_empty() {
            numbers.push((digits.parse().ok()?, sign));
            digits.clear();
        }
    }
    let whole = numbers.windows(3).find_map(|part| match part {
        [
            (year, '-' | '/' | '年'),
            (month, '-' | '/' | '月'),
            (day, _),
        ] if *year >= 1970 => {
            Date::new(*year, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?).ok()
        }
        _ => None,
    });
    whole.or_else(|| {
        numbers.windows(2).find_map(|part| match part {
            [(month, '月'), (day, '日' | '号')] => {
                let on = |year| {
                    Date::new(year, i8::try_from(*month).ok()?, i8::try_from(*day).ok()?).ok()
                };
                let this = on(today.year())?;
                if this > today {
                    on(today.year() - 1)
                } else {
                    Some(this)
                }
            }
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-12-01 01:00 in Shanghai, still November in Greenwich.
    const NOW: Timestamp = 1_796_058_000_000;

    fn begins(text: &str) -> Option<String> {
        let zone = Zone::named("Asia/Shanghai").unwrap();
        let day = mentioned(text, NOW, &zone)?;
        assert_eq!(day.end - day.begin, 86_400_000);
        Some(date(day.begin, &zone)?.to_string())
    }

    #[test]
    fn days_are_named_by_words_and_by_dates() {
        let cases = [
            ("what did we say Yesterday?", Some("2026-11-30")),
            ("今天的安排", Some("2026-12-01")),
            ("前天说的那件事", Some("2026-11-29")),
            ("on 2026-11-02 we met", Some("2026-11-02")),
            ("2025年3月4日的会", Some("2025-03-04")),
            ("11月28日说了什么", Some("2026-11-28")),
            ("12月25日呢", Some("2025-12-25")),
            ("2026-13-45", None),
            ("I have 3 cats and 12 dogs", None),
            ("", None),
        ];
        for (text, day) in cases {
            assert_eq!(begins(text).as_deref(), day, "{text}");
        }
    }
}
