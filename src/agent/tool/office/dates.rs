//! Numbers of a workbook that are dates by their format.
//!
//! Owns which formats mean a date or a time, and from which day days are counted. Pure.

use std::collections::HashMap;

use jiff::{ToSpan as _, civil::date};

use super::{
    package::Error,
    xml::{Piece, Pieces},
};

/// Days are counted up to here: the end of the year 9999.
const LAST: f64 = 2_958_466.0;

/// The formats of a workbook.
pub(super) struct Dates {
    /// For each style whether it means a date.
    styles: Vec<bool>,
    since_1904: bool,
}

/// How a number is shown.
pub(super) enum Shown {
    /// As this date or time.
    Date(String),
    /// As it is.
    AsIs,
}

impl Dates {
    /// Reads the styles of a workbook.
    pub(super) fn read(text: &str, since_1904: bool) -> Result<Self, Error> {
        let (mut formats, mut styles, mut inside) = (HashMap::new(), Vec::new(), false);
        let mut pieces = Pieces::of(text);
        while let Some(piece) = pieces.next()? {
            match piece {
                Piece::Open(element) if element.name == "numFmt" => {
                    let id = element.get("numFmtId").unwrap_or_default().to_owned();
                    let code = element.get("formatCode").unwrap_or_default();
                    formats.insert(id, means_date(code));
                }
                Piece::Open(element) if element.name == "cellXfs" => inside = true,
                Piece::Close(name) if name == "cellXfs" => inside = false,
                Piece::Open(element) if inside && element.name == "xf" => {
                    let id = element.get("numFmtId").unwrap_or_default();
                    let known = formats.get(id).copied();
                    styles.push(known.unwrap_or_else(|| is_built_in_date(id)));
                }
                _ => {}
            }
        }
        Ok(Self { styles, since_1904 })
    }

    /// How a number of this style is shown.
    pub(super) fn shown(&self, style: Option<&str>, value: &str) -> Shown {
        let style = style.and_then(|style| style.parse::<usize>().ok());
        let is_date = style.and_then(|style| self.styles.get(style)).copied();
        let number = value.trim().parse::<f64>().ok();
        match (is_date, number) {
            (Some(true), Some(number)) => self.date(number).map_or(Shown::AsIs, Shown::Date),
            _ => Shown::AsIs,
        }
    }

    fn date(&self, number: f64) -> Option<String> {
        if !(0.0..LAST).contains(&number) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked above to be a count of days"
        )]
        let seconds = (number * 86_400.0).round() as i64;
        let (mut days, rest) = (seconds / 86_400, seconds % 86_400);
        let first = if self.since_1904 {
            date(1904, 1, 1)
        } else {
            // The program that began this took 1900 for a leap year: until its 29 February days are one off.
            days += i64::from(days < 60 && days > 0);
            date(1899, 12, 30)
        };
        let time = (rest != 0).then(|| {
            let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
            format!("{hours:02}:{minutes:02}:{seconds:02}")
        });
        if number < 1.0 && !self.since_1904 {
            // A time of day alone.
            return Some(time.unwrap_or_else(|| "00:00:00".to_owned()));
        }
        let day = first.checked_add(days.days()).ok()?;
        Some(match time {
            Some(time) => format!("{day} {time}"),
            None => day.to_string(),
        })
    }
}

/// Whether a format that needs no description is one of a date or a time.
fn is_built_in_date(id: &str) -> bool {
    matches!(id.parse::<u32>(), Ok(14..=22 | 27..=36 | 45..=47 | 50..=58))
}

/// Whether a format shows parts of a date or a time: not in quotes, brackets or behind a backslash.
fn means_date(code: &str) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    // What stands in brackets: a colour, a country, or hours that run on.
    let mut bracket: Option<String> = None;
    for sign in code.chars() {
        match (&mut bracket, sign) {
            _ if escaped => escaped = false,
            (_, '\\' | '_' | '*') => escaped = true,
            (_, '"') => quoted = !quoted,
            _ if quoted => {}
            (None, '[') => bracket = Some(String::new()),
            (Some(inside), ']') => {
                let running = |sign: char| matches!(sign, 'h' | 'H' | 'm' | 'M' | 's' | 'S');
                if !inside.is_empty() && inside.chars().all(running) {
                    return true;
                }
                bracket = None;
            }
            (Some(inside), sign) => inside.push(sign),
            (None, 'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S') => return true,
            (None, _) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_dates_from_numbers() {
        for code in ["yyyy-mm-dd", "h:mm", "[h]:mm:ss", "[$-409]d mmm", "m\\/d"] {
            assert!(means_date(code), "{code}");
        }
        for code in [
            "0.00",
            "#,##0",
            "\"days\" 0",
            "0\\d",
            "[Magenta]0",
            "[$€-407]0",
            "General",
            "",
        ] {
            assert!(!means_date(code), "{code}");
        }
    }

    #[test]
    fn days_are_counted_as_the_first_program_did() {
        let of = |number, since_1904| {
            Dates {
                styles: Vec::new(),
                since_1904,
            }
            .date(number)
        };
        assert_eq!(of(1.0, false).as_deref(), Some("1900-01-01"));
        assert_eq!(of(59.0, false).as_deref(), Some("1900-02-28"));
        assert_eq!(of(61.0, false).as_deref(), Some("1900-03-01"));
        assert_eq!(of(45_658.75, false).as_deref(), Some("2025-01-01 18:00:00"));
        assert_eq!(of(0.5, false).as_deref(), Some("12:00:00"));
        assert_eq!(of(1.0, true).as_deref(), Some("1904-01-02"));
        assert_eq!(of(-1.0, false), None);
        assert_eq!(of(9e9, false), None);
        assert_eq!(of(f64::NAN, false), None);
    }
}
