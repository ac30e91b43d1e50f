//! `observability`: logs and metrics.
//!
//! Owns the section's keys and defaults. It never installs a logger.

use tracing_subscriber::EnvFilter;
use weirgate_sdk::settings::{Fields, Setting, nearest};

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
}

/// The section `observability.log`.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// How lines look.
    pub format: LogFormat,
    /// What is logged: a level, or levels by part such as `info,weirgate::store=debug`. It parses.
    pub level: String,
}

impl Default for Observability {
    fn default() -> Self {
        Self {
            log: Log::default(),
            metrics: true,
        }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self {
            format: LogFormat::Text,
            level: "info".to_owned(),
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
        };
        fields.refused("traces", "is not available in this version");
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
        };
        fields.finish();
        read
    }
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
