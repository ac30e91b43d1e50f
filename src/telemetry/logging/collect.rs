//! Takes the fields out of events and spans: redacted, then bounded, in this order, since a cut
//! secret would not be recognised any more. Work and memory for a value are bounded as well, however
//! long the value is.

use super::entry::{CUT, Field, Value};
use crate::security::redact::{Filter, Redactor};
use std::borrow::Cow;
use std::error::Error;
use std::fmt::{self, Debug, Write};
use tracing::field::Visit;

/// Most of a message that is kept, in bytes.
const MESSAGE_BYTES: usize = 4 * 1024;

/// Most of a field of an event that is kept, in bytes.
pub(super) const FIELD_BYTES: usize = 2 * 1024;

/// Most of a field of a span that is kept, in bytes: it is repeated in each line of the span.
pub(super) const SPAN_FIELD_BYTES: usize = 256;

/// Causes of an error that are written after it.
const CAUSES: usize = 8;

/// Redacts piece by piece, so that a value of any length is never read beyond what is kept.
const PIECE_BYTES: usize = 1024;

/// Visits the fields of one event or span.
pub(super) struct Collector<'a> {
    redactor: &'a Redactor,
    field_bytes: usize,
    /// The field `message`.
    pub(super) message: String,
    /// All other fields.
    pub(super) fields: Vec<Field>,
    /// The target of a record that came through the `log` crate.
    pub(super) target: Option<String>,
}

impl<'a> Collector<'a> {
    /// A collector that keeps at most `field_bytes` of each field.
    pub(super) fn new(redactor: &'a Redactor, field_bytes: usize) -> Self {
        let (message, fields, target) = (String::new(), Vec::new(), None);
        Self {
            redactor,
            field_bytes,
            message,
            fields,
            target,
        }
    }

    /// The text of the event's error, if it has one.
    pub(super) fn error(&self) -> Option<&str> {
        self.fields
            .iter()
            .find(|field| field.is_error())
            .map(|field| field.value.text())
    }

    fn text(&mut self, name: &'static str, value: fmt::Arguments<'_>) {
        let limit = if name == "message" {
            MESSAGE_BYTES
        } else {
            self.field_bytes
        };
        let text = bounded(self.redactor, limit, value);
        match name {
            "message" => self.message = text,
            "log.target" => self.target = Some(text),
            name if name.starts_with("log.") => {}
            name => self.fields.push(Field {
                name,
                value: Value::Text(text),
            }),
        }
    }

    /// A number or truth value: bare, unless it is a secret.
    fn bare(&mut self, name: &'static str, value: String) {
        if name == "message" || name.starts_with("log.") {
            return self.text(name, format_args!("{value}"));
        }
        let value = match self.redactor.redact(&value) {
            Cow::Borrowed(_) => Value::Bare(value),
            Cow::Owned(redacted) => Value::Text(redacted),
        };
        self.fields.push(Field { name, value });
    }
}

impl Visit for Collector<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.text(field.name(), format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.text(field.name(), format_args!("{value}"));
    }

    fn record_i64(&mut self, field: &tracing::field::Field, value: i64) {
        self.bare(field.name(), value.to_string());
    }

    fn record_u64(&mut self, field: &tracing::field::Field, value: u64) {
        self.bare(field.name(), value.to_string());
    }

    fn record_bool(&mut self, field: &tracing::field::Field, value: bool) {
        self.bare(field.name(), value.to_string());
    }

    fn record_f64(&mut self, field: &tracing::field::Field, value: f64) {
        if value.is_finite() {
            self.bare(field.name(), value.to_string());
        } else {
            self.text(field.name(), format_args!("{value}"));
        }
    }

    /// The error and its causes. One that says nothing is shown by its structure instead.
    fn record_error(&mut self, field: &tracing::field::Field, value: &(dyn Error + 'static)) {
        self.text(field.name(), format_args!("{}", Causes(value)));
        if let Some(last) = self.fields.last().filter(|last| last.name == field.name())
            && last.value.text().trim().is_empty()
        {
            self.fields.pop();
            self.text(field.name(), format_args!("{value:?}"));
        }
    }
}

/// An error with its causes as text.
pub(crate) fn causes(error: &(dyn Error + 'static)) -> String {
    Causes(error).to_string()
}

/// An error followed by its causes.
struct Causes<'a>(&'a (dyn Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        for _ in 0..CAUSES {
            let Some(error) = cause else { break };
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// The value as text: redacted, at most `limit` bytes, marked if it was longer.
fn bounded(redactor: &Redactor, limit: usize, value: fmt::Arguments<'_>) -> String {
    let mut writer = Bounded {
        filter: redactor.filter(),
        out: String::new(),
        limit,
    };
    // An error means full, or a value that fails to show itself: what it wrote is kept either way.
    let complete = writer.write_fmt(value).is_ok();
    let Bounded {
        mut filter,
        mut out,
        ..
    } = writer;
    if out.len() <= limit {
        filter.finish(&mut out);
    }
    if out.len() > limit {
        out.truncate(out.floor_char_boundary(limit));
        out.push_str(CUT);
    } else if !complete && out.is_empty() {
        out.push_str("(not shown)");
    }
    out
}

/// Stops the formatting of a value when enough of it is there.
struct Bounded {
    filter: Filter,
    out: String,
    limit: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        while !text.is_empty() {
            let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE_BYTES));
            self.filter.push(piece, &mut self.out);
            if self.out.len() > self.limit {
                return Err(fmt::Error);
            }
            text = rest;
        }
        Ok(())
    }
}
