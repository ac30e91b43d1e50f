//! When something is to happen that a person asked for: once, or again and again.
//!
//! Owns how such a time is written, in both languages, and when the next one is. A pattern is read on the clock of a
//! zone; an hour that a change of clocks leaves out or repeats is met once. Pure.

use std::time::Duration;

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Timestamp, Zoned, civil};

use super::{Zone, millis, span};

/// The shortest time between two times of a pattern.
pub const SHORTEST: Duration = Duration::from_secs(600);
/// Times of a pattern that are looked at for the shortest pause between two.
const LOOKED_AT: usize = 24;
/// Words of a pattern: minute, hour, day of the month, month, day of the week.
const FIELDS: usize = 5;
/// The longest pattern, in bytes.
const LONGEST: usize = 100;

/// A time that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The first time, in milliseconds since the Unix epoch.
    pub first: weirgate_sdk::Timestamp,
    /// The pattern of the times after it; `None` if there are none.
    pub pattern: Option<String>,
}

/// Why a time was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misread {
    /// There is none.
    NoTime,
    /// It is over.
    Over,
    /// It would come again within less than [`SHORTEST`].
    TooOften,
}

impl Plan {
    /// Takes a time off the front of what was written; gives it, and what stands behind it.
    ///
    /// A span from now (`10m`, `2小时`), a time of the day (`18:30`), a day and a time (`2026-12-24 18:30`), each day
    /// (`daily 08:00`, `每天 8:00`), or a pattern (`cron 0 9 * * 1-5`).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read<'a>(
        written: &'a str,
        now: weirgate_sdk::Timestamp,
        zone: &Zone,
    ) -> Result<(Self, &'a str), Misread> {
        let (word, rest) = word(written);
        if let Some(span) = span(word) {
            return Ok((Self::once(now.saturating_add(millis(span))), rest));
        }
        let here = local(now, zone).ok_or(Misread::NoTime)?;
        match word.to_ascii_lowercase().as_str() {
            "daily" | "每天" | "每日" => {
                let (time, rest) = self::word(rest);
                let time = time_of_day(time).ok_or(Misread::NoTime)?;
                let pattern = format!("{} {} * * *", time.minute(), time.hour());
                Ok((Self::again(pattern, now, zone)?, rest))
            }
            "cron" => {
                let (pattern, rest) = words(rest, FIELDS).ok_or(Misread::NoTime)?;
                Ok((Self::again(pattern, now, zone)?, rest))
            }
            _ => {
                if let Some(time) = time_of_day(word) {
                    let today = here.date().to_datetime(time);
                    let today = at(today, zone).ok_or(Misread::NoTime)?;
                    if today > now {
                        return Ok((Self::once(today), rest));
                    }
                    let tomorrow = here.date().tomorrow().map_err(|_| Misread::NoTime)?;
                    let tomorrow = at(tomorrow.to_datetime(time), zone);
                    return Ok((Self::once(tomorrow.ok_or(Misread::NoTime)?), rest));
                }
                let day: civil::Date = word.parse().map_err(|_| Misread::NoTime)?;
                let (time, rest) = self::word(rest);
                let time = time_of_day(time).ok_or(Misread::NoTime)?;
                let then = at(day.to_datetime(time), zone).ok_or(Misread::NoTime)?;
                if then <= now {
                    return Err(Misread::Over);
                }
                Ok((Self::once(then), rest))
            }
        }
    }

    fn once(first: weirgate_sdk::Timestamp) -> Self {
        let pattern = None;
        Self { first, pattern }
    }

    fn again(pattern: String, now: weirgate_sdk::Timestamp, zone: &Zone) -> Result<Self, Misread> {
        let cron = cron(&pattern).ok_or(Misread::NoTime)?;
        let here = local(now, zone).ok_or(Misread::NoTime)?;
        let mut times = cron
            .iter_after(here)
            .map(|time| time.timestamp().as_millisecond())
            .take(LOOKED_AT);
        let first = times.next().ok_or(Misread::NoTime)?;
        let mut before = first;
        for time in times {
            if time.saturating_sub(before) < millis(SHORTEST) {
                return Err(Misread::TooOften);
            }
            before = time;
        }
        let pattern = Some(pattern);
        Ok(Self { first, pattern })
    }
}

/// The first time of a pattern after this one; `None` if there is none.
#[must_use]
pub fn next(
    pattern: &str,
    after: weirgate_sdk::Timestamp,
    zone: &Zone,
) -> Option<weirgate_sdk::Timestamp> {
    let next = cron(pattern)?.find_next_occurrence(&local(after, zone)?, false);
    Some(next.ok()?.timestamp().as_millisecond())
}

fn cron(pattern: &str) -> Option<Cron> {
    if pattern.len() > LONGEST {
        return None;
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(pattern).ok()
}

fn local(at: weirgate_sdk::Timestamp, zone: &Zone) -> Option<Zoned> {
    let at = Timestamp::from_millisecond(at).ok()?;
    Some(at.to_zoned(zone.zone()))
}

/// The time at which the clocks of a zone show this; where they leave it out, as much later.
fn at(time: civil::DateTime, zone: &Zone) -> Option<weirgate_sdk::Timestamp> {
    let zoned = time.to_zoned(zone.zone()).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

/// A time of the day as people write it: `18:30`, `8:00`, `18：30`.
fn time_of_day(written: &str) -> Option<civil::Time> {
    let (hour, minute) = written.split_once([':', '：'])?;
    let digits = |text: &str| text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(hour) || !digits(minute) || minute.len() != 2 {
        return None;
    }
    civil::Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// The first word, and what stands behind it.
fn word(written: &str) -> (&str, &str) {
    let written = written.trim_start();
    let (word, rest) = written
        .split_once(char::is_whitespace)
        .unwrap_or((written, ""));
    (word, rest.trim_start())
}

/// So many words, one space between two, and what stands behind them.
fn words(written: &str, count: usize) -> Option<(String, &str)> {
    let (mut found, mut rest) = (Vec::with_capacity(count), written);
    for _ in 0..count {
        let (next, behind) = word(rest);
        if next.is_empty() {
            return None;
        }
        found.push(next);
        rest = behind;
    }
    Some((found.join(" "), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tuesday, 2026-12-01 12:00 in UTC, 20:00 in Shanghai.
    const NOW: i64 = 1_796_126_400_000;
    const HOUR: i64 = 3_600_000;

    fn shanghai() -> Zone {
        Zone::named("Asia/Shanghai").unwrap()
    }

    fn read(written: &str) -> Result<(i64, Option<String>, String), Misread> {
        let (plan, rest) = Plan::read(written, NOW, &shanghai())?;
        Ok((plan.first - NOW, plan.pattern, rest.to_owned()))
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        let once = |after: i64, rest: &str| Ok((after, None, rest.to_owned()));
        assert_eq!(read("10m tea"), once(600_000, "tea"));
        assert_eq!(read("2小时 开会\n带电脑"), once(2 * HOUR, "开会\n带电脑"));
        assert_eq!(read("20:30 tea"), once(HOUR / 2, "tea"));
        assert_eq!(read("20：30 喝茶"), once(HOUR / 2, "喝茶"));
        // What is over today is tomorrow.
        assert_eq!(read("8:00 up"), once(12 * HOUR, "up"));
        assert_eq!(read("20:00 up"), once(24 * HOUR, "up"));
        assert_eq!(read("2026-12-02 20:00 x"), once(24 * HOUR, "x"));
    }

    #[test]
    fn patterns_are_read_on_the_clock_of_the_zone() {
        let (after, pattern, rest) = read("daily 09:00 stand up").unwrap();
        assert_eq!((after, &*rest), (13 * HOUR, "stand up"));
        let pattern = pattern.unwrap();
        assert_eq!(pattern, "0 9 * * *");
        let second = next(&pattern, NOW + after, &shanghai());
        assert_eq!(second, Some(NOW + 37 * HOUR));
        // Friday 20:00 is followed by Monday.
        let (after, pattern, _) = read("cron 0 20 * * 5 beer").unwrap();
        assert_eq!((after, pattern.as_deref()), (72 * HOUR, Some("0 20 * * 5")));
        assert_eq!(read("每天 9:00 早").unwrap().0, 13 * HOUR);
    }

    #[test]
    fn a_change_of_the_clocks_neither_doubles_nor_drops_a_day() {
        // The night of 2026-10-25 has two o'clock twice in Warsaw, that of 2026-03-29 not at all.
        let warsaw = Zone::named("Europe/Warsaw").unwrap();
        for start in [1_792_800_000_000, 1_774_569_600_000] {
            let (mut at, mut times) = (start, Vec::new());
            while times.len() < 4 {
                at = next("30 2 * * *", at, &warsaw).unwrap();
                times.push(at);
            }
            for pair in times.windows(2) {
                let apart = (pair[1] - pair[0]) / HOUR;
                assert!((23..=25).contains(&apart), "{times:?}");
            }
        }
    }

    #[test]
    fn what_is_no_time_is_told_from_what_is_over_or_too_often() {
        for written in [
            "",
            "tea",
            "25:00 x",
            "8:0 x",
            "2026-02-30 8:00 x",
            "2026-12-24 x",
            "daily x",
            "cron 0 9 * * ",
            "cron 99 9 * * * x",
            "cron 0 9 31 2 * x",
            "+8:00 x",
        ] {
            assert_eq!(read(written), Err(Misread::NoTime), "{written}");
        }
        assert_eq!(read("2026-11-30 8:00 x"), Err(Misread::Over));
        assert_eq!(read("cron * * * * * x"), Err(Misread::TooOften));
        assert_eq!(read("cron 0,5 9 * * * x"), Err(Misread::TooOften));
        let long = format!("cron {} 9 * * * x", "1,".repeat(100));
        assert_eq!(read(&long), Err(Misread::NoTime));
    }
}
