//! One line of the log: how an entry looks as text and as JSON, and how long it may be.
//! Values come from outside, so line ends, control and direction characters are written as escapes;
//! no value can begin a line of its own or change how a terminal shows it.

use super::super::config::LogFormat;
use super::LINE_BYTES;
use std::fmt::Write;
use tracing::Level;

/// Stands at the end of a value that was cut.
pub(super) const CUT: &str = "\u{2026}[cut]";

/// Kept free for marks and closing brackets, in bytes.
const RESERVE: usize = 64;

/// Where values end at the latest, in bytes of the line.
const ROOM: usize = LINE_BYTES - RESERVE;

/// Most of a target that is written, in bytes.
const TARGET_BYTES: usize = 256;

/// Most of a value that is written, in bytes, escapes included: the error, the context and some
/// fields always have a place beside a long message.
const VALUE_BYTES: usize = 2 * 1024;

/// A value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Text, written with quotes where needed.
    Text(String),
    /// A number or truth value as JSON writes it.
    Bare(String),
}

impl Value {
    /// The value without quotes.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Bare(text) => text,
        }
    }
}

/// A named value of an event or span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) value: Value,
}

impl Field {
    /// Whether it holds what went wrong.
    pub(super) fn is_error(&self) -> bool {
        matches!(self.name, "error" | "err" | "panic")
    }

    /// Whether it stands beside the message and not among the other fields: what went wrong and which
    /// turn it is about. Such fields are written first, so that they are never cut off.
    fn is_first(&self) -> bool {
        self.is_error() || self.name == "turn"
    }
}

/// What a line tells. All texts are redacted already.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// RFC 3339.
    pub(super) time: &'a str,
    pub(super) level: Level,
    pub(super) target: &'a str,
    pub(super) message: &'a str,
    /// Fields of the event.
    pub(super) fields: &'a [Field],
    /// Fields of the spans around it, such as the turn.
    pub(super) context: &'a [Field],
}

impl Entry<'_> {
    /// The line, without a line end, at most [`LINE_BYTES`] long.
    pub(super) fn render(&self, format: LogFormat) -> String {
        let mut out = String::with_capacity(256);
        match format {
            LogFormat::Text => self.text(&mut out),
            LogFormat::Json => self.json(&mut out),
        }
        out
    }

    fn text(&self, out: &mut String) {
        let _ = write!(out, "{} {:>5} ", self.time, self.level.as_str());
        let end = (out.len() + TARGET_BYTES).min(ROOM);
        push(out, self.target, end, false);
        out.push_str(": ");
        push(out, self.message, LINE_BYTES / 2, false);
        let (first, others): (Vec<_>, Vec<_>) = self.fields.iter().partition(|f| f.is_first());
        for field in first.into_iter().chain(self.context).chain(others) {
            let name = plain(field.name);
            if !fits(out, name) {
                out.push(' ');
                out.push_str(CUT);
                break;
            }
            let _ = write!(out, " {name}=");
            match &field.value {
                Value::Bare(bare) => push(out, bare, value_end(out), false),
                Value::Text(text) if needs_quotes(text) => {
                    out.push('"');
                    push(out, text, value_end(out), true);
                    out.push('"');
                }
                Value::Text(text) => push(out, text, value_end(out), false),
            }
        }
    }

    fn json(&self, out: &mut String) {
        let _ = write!(
            out,
            r#"{{"time":"{}","level":"{}","target":""#,
            self.time, self.level
        );
        let end = (out.len() + TARGET_BYTES).min(ROOM);
        push(out, self.target, end, true);
        out.push_str(r#"","message":""#);
        push(out, self.message, LINE_BYTES / 2, true);
        out.push('"');
        let (first, others): (Vec<_>, Vec<_>) = self.fields.iter().partition(|f| f.is_first());
        let mut complete = members(out, ",", first);
        complete &= object(out, "context", self.context);
        complete &= object(out, "fields", others);
        out.push_str(if complete { "}" } else { r#","cut":true}"# });
    }
}

/// Appends a member that is an object, unless it would be empty; false if fields had to be left out.
fn object<'a>(out: &mut String, name: &str, fields: impl IntoIterator<Item = &'a Field>) -> bool {
    let before = out.len();
    let _ = write!(out, ",\"{name}\":{{");
    let opened = out.len();
    let complete = members(out, "", fields);
    if out.len() == opened {
        out.truncate(before);
    } else {
        out.push('}');
    }
    complete
}

/// Appends the fields as members, `comma` before the first; false if some had to be left out.
fn members<'a>(
    out: &mut String,
    mut comma: &str,
    fields: impl IntoIterator<Item = &'a Field>,
) -> bool {
    for field in fields {
        let name = plain(field.name);
        if !fits(out, name) {
            return false;
        }
        let _ = write!(out, "{comma}\"{name}\":");
        comma = ",";
        match &field.value {
            Value::Bare(bare) if out.len() + bare.len() < ROOM => out.push_str(bare),
            value => {
                out.push('"');
                push(out, value.text(), value_end(out), true);
                out.push('"');
            }
        }
    }
    true
}

/// Where a value that begins now must end, in bytes of the line.
fn value_end(out: &str) -> usize {
    (out.len() + VALUE_BYTES).min(ROOM)
}

/// Whether a field of this name still has a place in the line.
fn fits(out: &str, name: &str) -> bool {
    out.len() + name.len() + RESERVE < ROOM
}

/// The name of a field, without the mark of a raw identifier.
fn plain(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Whether a value would not be read back as one word.
fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text
            .chars()
            .any(|c| c.is_whitespace() || matches!(c, '"' | '=') || hidden(c))
}

/// Appends `text` with escapes, up to `end` bytes of the line; cut at a character and marked if longer.
fn push(out: &mut String, text: &str, end: usize, quoted: bool) {
    let mut escape = String::new();
    for letter in text.chars() {
        escape.clear();
        match letter {
            '\n' => escape.push_str("\\n"),
            '\r' => escape.push_str("\\r"),
            '\t' => escape.push_str("\\t"),
            '"' | '\\' if quoted => escape.extend(['\\', letter]),
            // All of them are below U+10000, so the escape is one that JSON has, too.
            _ if hidden(letter) => {
                let _ = write!(escape, "\\u{:04x}", u32::from(letter));
            }
            _ => escape.push(letter),
        }
        if out.len() + escape.len() > end {
            out.push_str(CUT);
            return;
        }
        out.push_str(&escape);
    }
}

/// Control characters, line and paragraph separators, and what changes the direction of writing.
fn hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests;
