//! `storage`: where the database is, what it survives, how long rows stay.
//!
//! Owns the section's keys, defaults and limits. It never opens the database.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use weirgate_sdk::settings::{Fields, Setting};

/// What a committed message survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A killed process.
    #[default]
    Process,
    /// A loss of power as well; each commit waits for the disk.
    Full,
}

/// The section `storage`.
#[derive(Debug, Clone, PartialEq)]
pub struct Storage {
    /// The database: `sqlite:` with a path. Its default is under the folder for a user's data and
    /// stands here unexpanded until it is read.
    pub url: String,
    /// What a committed message survives.
    pub durability: Durability,
    /// How long finished rows stay.
    pub retention: Retention,
}

/// The section `storage.retention`, written in days.
/// A dedupe key stays as long as it counts, whatever is said here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Received messages.
    pub inbox: Duration,
    /// Sent answers.
    pub outbox: Duration,
    /// What the model is told of past turns.
    pub history: Duration,
    /// The audit log.
    pub audit: Duration,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            url: Self::DEFAULT_URL.to_owned(),
            durability: Durability::Process,
            retention: Retention::default(),
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            inbox: days(7),
            outbox: days(7),
            history: days(90),
            audit: days(365),
        }
    }
}

const fn days(days: u64) -> Duration {
    Duration::from_secs(days * 86_400)
}

impl Storage {
    /// Where the database is unless the file says so, before expansion.
    pub const DEFAULT_URL: &'static str = "sqlite://$XDG_DATA_HOME/weirgate/weirgate.db";

    /// Reads the section; `default_url` is [`Storage::DEFAULT_URL`] after expansion.
    #[must_use]
    pub fn read(mut fields: Fields<'_>, default_url: String) -> Self {
        let default = Self::default();
        let durabilities = [("process", Durability::Process), ("full", Durability::Full)];
        let read = Self {
            url: fields
                .get("url")
                .and_then(|setting| url(&setting))
                .unwrap_or(default_url),
            durability: fields.choice("durability", default.durability, &durabilities),
            retention: Retention::read(fields.section("retention")),
        };
        fields.finish();
        read
    }

    /// The path of the database file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let path = self.url.strip_prefix("sqlite:").unwrap_or(&self.url);
        PathBuf::from(path.strip_prefix("//").unwrap_or(path))
    }

    /// The data folder: that of the database file.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let path = self.path();
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        folder.map_or_else(|| PathBuf::from("."), Path::to_owned)
    }
}

/// An address that we can open. It is never shown: an address of a server may hold a password.
fn url(setting: &Setting<'_>) -> Option<String> {
    const HINT: Option<&str> = Some("write sqlite:///path/to/weirgate.db");
    let url = setting.word()?;
    let Some(rest) = url.strip_prefix("sqlite:") else {
        if url.starts_with("postgres:") || url.starts_with("postgresql:") {
            setting.not_available("PostgreSQL is not available in this version: use sqlite");
        } else {
            setting.invalid("the address does not begin with sqlite:", HINT);
        }
        return None;
    };
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path.ends_with('/') || path.starts_with(':') {
        setting.invalid("the address names no file", HINT);
        return None;
    }
    if path.contains(['?', '#']) {
        setting.invalid("the address takes no parameters", HINT);
        return None;
    }
    Some(url.to_owned())
}

impl Retention {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let mut days = |key, default| fields.days(key, default, 0.05..=36_500.0);
        let read = Self {
            inbox: days("inbox", default.inbox),
            outbox: days("outbox", default.outbox),
            history: days("history", default.history),
            audit: days("audit", default.audit),
        };
        fields.refused(
            "media",
            "is not available in this version: no media are stored",
        );
        fields.finish();
        read
    }
}
