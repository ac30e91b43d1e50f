//! Measures the security layer on labelled lines: what is found, and what is found by mistake.
//!
//! Owns the reading of lines: `text` and `label` for injection, `line` and perhaps `value` for secrets. It prints
//! numbers and names, never a text.

mod injection;
mod secrets;

use std::io::BufRead;

use serde::Deserialize;

use super::config::Security;
use injection::Injection;
use secrets::Secrets;

/// Longest line that is read, in bytes.
const MAX_LINE: usize = 1 << 20;

/// A labelled line. Other keys are passed over.
#[derive(Deserialize)]
struct Line {
    text: Option<String>,
    label: Option<String>,
    line: Option<String>,
    value: Option<String>,
    rule: Option<String>,
}

/// What came of a measurement.
#[derive(Debug)]
pub struct Measured {
    injection: Injection,
    secrets: Secrets,
}

impl Measured {
    /// Measures lines.
    ///
    /// # Errors
    /// Which line cannot be used, and why.
    pub fn of(lines: impl BufRead, security: &Security) -> Result<Self, String> {
        let mut measured = Self {
            injection: Injection::new(security),
            secrets: Secrets::new(security)?,
        };
        for (index, line) in lines.lines().enumerate() {
            let line = line.map_err(|error| error.to_string());
            let added = line.and_then(|line| measured.add(&line));
            added.map_err(|what| format!("line {}: {what}", index + 1))?;
        }
        Ok(measured)
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        if line.trim().is_empty() {
            return Ok(());
        }
        if line.len() > MAX_LINE {
            return Err("it is too long".to_owned());
        }
        let read: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (read.text, read.label, read.line) {
            (Some(text), Some(label), None) => self.injection.add(&text, is_attack(&label)?),
            (None, None, Some(line)) => {
                let rule = read.rule.unwrap_or_default();
                self.secrets.add(&line, read.value.as_deref(), rule);
            }
            _ => return Err("expected the keys text and label, or line and value".to_owned()),
        }
        Ok(())
    }

    /// The tables for people.
    #[must_use]
    pub fn table(&self) -> String {
        let tables = [self.injection.table(), self.secrets.table()];
        tables
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n\n")
    }
}

fn is_attack(label: &str) -> Result<bool, String> {
    match label {
        "injection" | "malicious" | "attack" | "1" => Ok(true),
        "benign" | "safe" | "0" => Ok(false),
        _ => Err("the label is neither injection nor benign".to_owned()),
    }
}

/// A part of a whole; `-` where there is no whole.
fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of lines are small")]
    let percent = part as f64 * 100.0 / whole as f64;
    format!("{percent:.1} %")
}

#[cfg(test)]
mod tests;
