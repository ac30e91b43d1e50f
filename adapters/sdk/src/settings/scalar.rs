//! Reads numbers, truth values and ids from a scalar's text, and shows a wrong one without telling
//! secrets.
//!
//! Pure. Nothing is guessed: forms that YAML dialects read differently (`0123`, `1_000`, `1e5`, `yes`)
//! are refused with a hint.

use super::node::Scalar;

/// Why a text was refused: what was expected, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// What was expected, after "expected".
    pub(super) expected: &'static str,
    /// What to write instead, where that is known.
    pub(super) hint: Option<&'static str>,
}

fn refused<T>(expected: &'static str, hint: Option<&'static str>) -> Result<T, Refused> {
    Err(Refused { expected, hint })
}

/// A whole number from 0 to 2^64 - 1.
pub(super) fn whole(text: &str) -> Result<u64, Refused> {
    const EXPECTED: &str = "a whole number";
    if text.starts_with('-') && digits(text.trim_start_matches('-')) {
        return refused("a whole number that is not negative", None);
    }
    if digits(text) {
        if text.len() > 1 && text.starts_with('0') {
            return refused(EXPECTED, Some("write it without leading zeros"));
        }
        return text
            .parse()
            .or_else(|_| refused(EXPECTED, Some("it is too large")));
    }
    refused(EXPECTED, odd_form(text))
}

/// A finite decimal number.
pub(super) fn decimal(text: &str) -> Result<f64, Refused> {
    const EXPECTED: &str = "a number";
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (left, right) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    if digits(left) && digits(right) && text.len() <= 64 {
        return text.parse().or_else(|_| refused(EXPECTED, None));
    }
    refused(EXPECTED, odd_form(text))
}

/// `true` or `false`.
pub(super) fn truth(text: &str) -> Result<bool, Refused> {
    match text {
        "true" | "True" | "TRUE" => Ok(true),
        "false" | "False" | "FALSE" => Ok(false),
        _ => refused("true or false", None),
    }
}

/// An id of a platform: a number without loss, or any text without control characters. Number forms
/// that another reader would take for a different number are refused unless they are quoted.
pub(super) fn id(scalar: &Scalar) -> Result<String, Refused> {
    const EXPECTED: &str = "an id";
    let text = scalar.text.as_str();
    if text.is_empty() || text.trim() != text || text.chars().any(char::is_control) {
        return refused(
            EXPECTED,
            Some("an id is not empty and has no white space around it"),
        );
    }
    if text.len() > 256 {
        return refused(EXPECTED, Some("an id has at most 256 bytes"));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if scalar.quoted || scalar.variable.is_some() || !numeric {
        return Ok(text.to_owned());
    }
    let exact = if text.starts_with('-') {
        text.parse::<i64>().is_ok_and(|n| n.to_string() == text)
    } else {
        text.parse::<u64>().is_ok_and(|n| n.to_string() == text)
    };
    if exact {
        return Ok(text.to_owned());
    }
    refused(
        "an id in plain digits",
        Some("write ids as plain digits or in quotes"),
    )
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// What is unusual about a text that should have been a number.
fn odd_form(text: &str) -> Option<&'static str> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return None;
    }
    if text.contains(['_', ',']) {
        return Some("write the digits without separators");
    }
    if text.starts_with(['+', '.']) {
        return Some("write it as digits, such as 0.5");
    }
    if text.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%') {
        return Some("write the bare number; the unit is fixed");
    }
    Some("write it in plain decimal digits")
}

/// A scalar for a message: shortened and without control characters; never what came from a variable.
pub(super) fn shown(scalar: &Scalar) -> String {
    match &scalar.variable {
        Some(name) => format!("the value of ${{{name}}}"),
        None => shorten(&scalar.text, 24),
    }
}

/// A text in quotes with control characters escaped, cut to `most` characters.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let mut out: String = text
        .chars()
        .take(most)
        .map(|c| {
            if c.is_control() {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        })
        .collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    format!("\"{out}\"")
}
