//! `observability`: logs, metrics and traces.
//!
//! Owns the section's keys and defaults. It never installs a logger.

use super::traces::AVAILABLE;
use crate::config::address;
use std::path::PathBuf;
use tracing_subscriber::EnvFilter;
use weirgate_sdk::settings::{Fields, Secret, Setting, nearest};

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The section `observability`.
#[derive(Debug, Clone, PartialEq)]
pub struct Observability {
    /// The log.
    pub log: Log,
    /// Serve /metrics.
    pub metrics: bool,
    /// Where traces go; `None` for nowhere.
    pub traces: Option<Traces>,
}

/// The section `observability.traces`.
#[derive(Debug, Clone, PartialEq)]
pub struct Traces {
    /// The collector's address.
    pub endpoint: String,
    /// The part of the turns that is traced, from 0 to 1.
    pub sample_ratio: f64,
    /// Headers of each request, by name.
    pub headers: Vec<(String, Secret)>,
}

/// The section `observability.log.file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Where it is.
    pub path: PathBuf,
    /// When it is set aside, in bytes.
    pub max_size: u64,
    /// How many files there are at most, the one that is written included.
    pub keep: u32,
}

/// The section `observability.log`.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// What is logged: a level, or levels by part such as `info,weirgate::store=debug`. It parses.
    pub level: String,
    /// A file for it, beside standard error.
    pub file: Option<LogFile>,
}

impl Default for Observability {
    fn default() -> Self {
        Self {
            log: Log::default(),
            metrics: true,
            traces: None,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".to_owned(),
            file: None,
        }
    }
}

impl Observability {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            log: Log::read(fields.section("log")),
            metrics: fields.bool("metrics", default.metrics),
            traces: Traces::read(&mut fields, AVAILABLE),
        };
        fields.finish();
        read
    }
}

impl Log {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        let read = Self {
            format: fields.choice("format", default.format, &formats),
            level: fields
                .get("level")
                .and_then(|s| level(&s))
                .unwrap_or(default.level),
            file: LogFile::read(fields.section("file")),
        };
        fields.finish();
        read
    }
}

impl LogFile {
    /// Smallest file: some of the longest lines have room in it.
    const MIN_SIZE: u64 = 64 * 1024;
    /// Largest file.
    const MAX_SIZE: u64 = 64 * 1024 * 1024 * 1024;
    /// Most files.
    const MAX_KEEP: u32 = 100;

    fn read(mut fields: Fields<'_>) -> Option<Self> {
        let path = fields.optional_text("path");
        let max_size = fields.optional_u64("max_size", Self::MIN_SIZE..=Self::MAX_SIZE);
        let keep = fields.optional_u32("keep", 1..=Self::MAX_KEEP);
        if path.is_none() && (max_size.is_some() || keep.is_some()) {
            fields.missing("path", Some("write where the file is to be"));
        }
        fields.finish();
        path.map(|path| Self {
            path: path.into(),
            max_size: max_size.unwrap_or(10 * 1024 * 1024),
            keep: keep.unwrap_or(5),
        })
    }
}

impl Traces {
    /// Most headers.
    const MAX_HEADERS: usize = 16;

    fn read(around: &mut Fields<'_>, available: bool) -> Option<Self> {
        if !available {
            around.refused(
                "traces",
                "is not part of this build: build with the feature otel",
            );
            return None;
        }
        let mut fields = around.section("traces");
        let endpoint = fields.get("endpoint");
        let ratio = fields.optional_f64("sample_ratio", 0.0..=1.0);
        let written = fields.map("headers");
        if endpoint.is_none() && (ratio.is_some() || !written.is_empty()) {
            fields.missing("endpoint", Some("write where the collector is"));
        }
        if written.len() > Self::MAX_HEADERS {
            fields.invalid("headers", "there are more than 16 headers", None);
        }
        let headers = written
            .iter()
            .take(Self::MAX_HEADERS)
            .filter_map(|(name, value)| header(name, value))
            .collect();
        fields.finish();
        Some(Self {
            endpoint: endpoint.and_then(|endpoint| address::base_url(&endpoint))?,
            sample_ratio: ratio.unwrap_or(1.0),
            headers,
        })
    }
}

/// A header. Only one whose name says so is a secret: an ordinary word, such as a tenant's, must not be
/// struck out of answers.
fn header(name: &str, value: &Setting<'_>) -> Option<(String, Secret)> {
    let lower = name.to_ascii_lowercase();
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_|~".contains(c);
    if lower.is_empty() || !lower.chars().all(token) {
        value.invalid("not the name of a header", None);
        return None;
    }
    let secret = ["auth", "token", "key", "secret", "cookie", "pass"]
        .iter()
        .any(|word| lower.contains(word));
    let value_read = if secret {
        value.secret()?
    } else {
        Secret::new(value.word()?)
    };
    if value_read.expose().chars().any(char::is_control) {
        value.invalid(
            "the value has a character that cannot stand in a header",
            None,
        );
        return None;
    }
    Some((lower, value_read))
}

/// Directives for the log. A bare word must be a level: taken as the name of a part, a misspelt level
/// would silence the rest.
fn level(setting: &Setting<'_>) -> Option<String> {
    const LEVELS: [&str; 6] = ["trace", "debug", "info", "warn", "error", "off"];
    let text = setting.word()?;
    for part in text.split(',').map(str::trim) {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        if LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level)) {
            continue;
        }
        let hint = nearest(level, LEVELS).map(|known| format!("did you mean {known}?"));
        let hint = hint.unwrap_or_else(|| format!("levels are {}", LEVELS.join(", ")));
        setting.invalid("not a level of the log", Some(&hint));
        return None;
    }
    if EnvFilter::builder().parse(text).is_err() {
        setting.invalid(
            "not a level of the log",
            Some("write info or info,weirgate::store=debug"),
        );
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
