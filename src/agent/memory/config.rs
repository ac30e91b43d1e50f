//! `memory`: what is remembered over conversations, where and for how long.
//!
//! Owns the section's keys, defaults and limits. It never opens anything.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::Fields;

use crate::store::redis;

/// Where memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// In the gateway's own database.
    Store,
    /// In a file of its own.
    Sqlite,
    /// On a Redis server.
    Redis,
    /// In the process: gone with it.
    Memory,
}

/// In which conversations a model looks for what is worth remembering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extract {
    /// In none.
    Off,
    /// Where somebody talks with the bot alone.
    Private,
    /// Everywhere.
    All,
}

/// The section `memory`.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Things are remembered at all.
    pub enable: bool,
    /// Where.
    pub backend: Backend,
    /// The file of its own; `None` for beside the database.
    pub sqlite: Option<PathBuf>,
    /// The server.
    pub redis: redis::Options,
    /// In which conversations a model looks for what is worth remembering.
    pub extract: Extract,
    /// How long a conversation is silent before it does.
    pub extract_after: Duration,
    /// What of it a turn is told.
    pub recall: Recall,
    /// For how long.
    pub retention: Retention,
    /// What of a conversation stays word for word.
    pub context_window: ContextWindow,
}

/// The section `memory.recall`.
#[derive(Debug, Clone, PartialEq)]
pub struct Recall {
    /// Most entries of one turn.
    pub max_entries: usize,
    /// Most tokens of them.
    pub max_tokens: usize,
}

/// The section `memory.retention`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// How long what only mattered for a while is kept.
    pub working_memory: Duration,
    /// The time in which the freshness of an entry halves.
    pub long_term: Duration,
    /// Rounds of a conversation from which on its middle is summarised.
    pub auto_summary_threshold: usize,
    /// Points under each heading of a summary.
    pub summary_keep_key_points: usize,
}

/// The section `memory.context_window`.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextWindow {
    /// The newest rounds that stay word for word.
    pub recent_rounds: usize,
    /// What is older may be summarised.
    pub summarize_beyond: bool,
}

/// The word for what is decided here.
const AUTO: &str = "auto";
const DAY: Duration = Duration::from_secs(86_400);

impl Default for Memory {
    fn default() -> Self {
        Self {
            enable: true,
            backend: Backend::Store,
            sqlite: None,
            redis: redis::Options::default(),
            extract: Extract::Private,
            extract_after: Duration::from_secs(600),
            recall: Recall::default(),
            retention: Retention::default(),
            context_window: ContextWindow::default(),
        }
    }
}

impl Default for Recall {
    fn default() -> Self {
        Self {
            max_entries: 8,
            max_tokens: 1_000,
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            working_memory: DAY * 7,
            long_term: DAY * 30,
            auto_summary_threshold: 50,
            summary_keep_key_points: 5,
        }
    }
}

impl Default for ContextWindow {
    fn default() -> Self {
        Self {
            recent_rounds: 10,
            summarize_beyond: true,
        }
    }
}

impl Memory {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let backends = [
            ("store", Backend::Store),
            ("sqlite", Backend::Sqlite),
            ("redis", Backend::Redis),
            ("memory", Backend::Memory),
        ];
        let extract = [
            ("off", Extract::Off),
            ("private", Extract::Private),
            ("all", Extract::All),
        ];
        let mut sqlite = fields.section("sqlite");
        let path = sqlite.text("path", AUTO);
        sqlite.finish();
        let read = Self {
            enable: fields.bool("enable", default.enable),
            backend: fields.choice("backend", default.backend, &backends),
            sqlite: (path != AUTO).then(|| PathBuf::from(path)),
            redis: server(fields.section("redis")),
            extract: fields.choice("extract", default.extract, &extract),
            extract_after: fields.seconds("extract_after", default.extract_after, 1.0..=86_400.0),
            recall: Recall::read(fields.section("recall")),
            retention: Retention::read(fields.section("retention")),
            context_window: ContextWindow::read(fields.section("context_window")),
        };
        fields.finish();
        read
    }
}

/// The keys that an address has in itself.
const IN_ADDRESS: [&str; 5] = ["host", "port", "db", "username", "password"];

fn server(mut fields: Fields<'_>) -> redis::Options {
    let default = redis::Options::default();
    let url = fields.secret("url");
    if let Some(url) = &url {
        if !redis::Options::is_address(url.expose()) {
            let hint = "write redis://user:password@host:6379/0";
            fields.invalid("url", "the address cannot be read", Some(hint));
        }
        for key in IN_ADDRESS {
            if fields.get(key).is_some_and(|setting| !setting.describes()) {
                fields.invalid(
                    key,
                    "the address in url says this already",
                    Some("keep one of them"),
                );
            }
        }
    }
    let username = fields.text("username", "");
    let read = redis::Options {
        url,
        host: fields.text("host", &default.host),
        port: small(fields.u32("port", default.port.into(), 1..=65_535)),
        db: small(fields.u32("db", default.db.into(), 0..=65_535)),
        username: Some(username).filter(|name| !name.is_empty()),
        password: fields.secret("password"),
        prefix: fields.text("prefix", &default.prefix),
    };
    fields.finish();
    read
}

/// A number that was checked to be one of 16 bits.
fn small(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

impl Recall {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            max_entries: fields.usize("max_entries", default.max_entries, 0..=100),
            max_tokens: fields.usize("max_tokens", default.max_tokens, 0..=100_000),
        };
        fields.finish();
        read
    }
}

impl Retention {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            working_memory: fields.days(
                "working_memory_days",
                default.working_memory,
                0.01..=36_500.0,
            ),
            long_term: fields.days(
                "long_term_threshold_days",
                default.long_term,
                0.01..=36_500.0,
            ),
            auto_summary_threshold: fields.usize(
                "auto_summary_threshold",
                default.auto_summary_threshold,
                4..=500,
            ),
            summary_keep_key_points: fields.usize(
                "summary_keep_key_points",
                default.summary_keep_key_points,
                1..=100,
            ),
        };
        fields.finish();
        read
    }
}

impl ContextWindow {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            recent_rounds: fields.usize("recent_rounds", default.recent_rounds, 1..=500),
            summarize_beyond: fields.bool("summarize_beyond", default.summarize_beyond),
        };
        fields.finish();
        read
    }
}
