//! `storage`: where the database is, what it survives, how long rows stay.
//!
//! Owns the section's keys, defaults and limits. It never opens the database.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use weirgate_sdk::settings::{Fields, Secret};

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
    /// The database.
    pub database: Database,
    /// What a committed message survives.
    pub durability: Durability,
    /// How long finished rows stay.
    pub retention: Retention,
}

/// Which database. The default is a file under the folder for a user's data, whose address stands here
/// unexpanded until it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// A file, by the address `sqlite:` with a path.
    Sqlite(PathBuf),
    /// A server, by an address that may hold a password.
    Postgres(Secret),
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
    /// Files that people sent.
    pub media: Duration,
}

impl Default for Storage {
    fn default() -> Self {
        Self {
            database: Database::Sqlite(path(Self::DEFAULT_URL)),
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
            media: days(30),
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
            database: Database::read(&mut fields)
                .unwrap_or_else(|| Database::Sqlite(path(&default_url))),
            durability: fields.choice("durability", default.durability, &durabilities),
            retention: Retention::read(fields.section("retention")),
        };
        fields.finish();
        read
    }

    /// The database file; a server has none here.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.database {
            Database::Sqlite(path) => Some(path),
            Database::Postgres(_) => None,
        }
    }

    /// The data folder: that of the database file; a server has none here.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.file()?.parent();
        let named = folder.filter(|folder| !folder.as_os_str().is_empty());
        Some(named.map_or_else(|| PathBuf::from("."), Path::to_owned))
    }
}

/// A part of an address without its `%XX`.
fn decoded(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = (*byte == b'%')
            .then(|| part.get(at + 1..at + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The path in an address of a file.
fn path(url: &str) -> PathBuf {
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    PathBuf::from(path.strip_prefix("//").unwrap_or(path))
}

/// How the address of a server begins.
fn is_server(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

impl Database {
    /// Reads `url` or `url_file`. A server's address is a secret; it is never shown.
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (here, file) = (fields.get("url"), fields.get("url_file"));
        let (setting, file) = match (here, file) {
            (Some(here), Some(file)) if here.describes() => {
                // What is read means nothing; that it is read describes the keys.
                let _ = (here.word(), file.secret_file());
                return None;
            }
            (Some(_), Some(file)) => {
                file.invalid("url and url_file are both set", Some("keep one of them"));
                return None;
            }
            (Some(here), None) => (here, false),
            (None, Some(file)) => (file, true),
            (None, None) => return None,
        };
        let word = if file { None } else { Some(setting.word()?) };
        let url = match word {
            Some(word) if is_server(word) => setting.secret()?,
            Some(word) => Secret::new(word.to_owned()),
            None => setting.secret_file()?,
        };
        match Self::parse(url.expose()) {
            Ok(Self::Sqlite(_)) if file => setting.invalid(UNREADABLE.what, Some(UNREADABLE.hint)),
            Ok(database) => return Some(database),
            Err(fault) => setting.invalid(fault.what, Some(fault.hint)),
        }
        None
    }

    /// Reads an address as `storage.url` takes it.
    ///
    /// # Errors
    /// What is wrong with it. It is never quoted, because it may hold a password.
    pub fn parse(url: &str) -> Result<Self, AddressFault> {
        let fault = |what| Err(AddressFault { what, hint: FORMS });
        if is_server(url) {
            return match reqwest::Url::parse(url) {
                Ok(_) => Ok(Self::Postgres(Secret::new(url.to_owned()))),
                Err(_) => Err(UNREADABLE),
            };
        }
        let Some(rest) = url.strip_prefix("sqlite:") else {
            return fault("the address begins with neither sqlite: nor postgres://");
        };
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        if rest.is_empty() || rest.ends_with('/') || rest.starts_with(':') {
            return fault("the address names no file");
        }
        if rest.contains(['?', '#']) {
            return fault("the address takes no parameters");
        }
        Ok(Self::Sqlite(path(url)))
    }

    /// The secrets in the address that stand there by themselves, for the redactor: what a server says may
    /// name one without the rest.
    #[must_use]
    pub fn secrets(&self) -> Vec<(String, Secret)> {
        let Self::Postgres(url) = self else {
            return Vec::new();
        };
        let Ok(url) = reqwest::Url::parse(url.expose()) else {
            return Vec::new();
        };
        let written = url.password().map(str::to_owned);
        let decoded = written.as_deref().map(decoded);
        let in_query = url
            .query_pairs()
            .filter(|(key, _)| key == "password")
            .map(|(_, value)| value.into_owned());
        let mut found: Vec<String> = in_query.chain(written).chain(decoded).collect();
        found.sort();
        found.dedup();
        found
            .into_iter()
            .filter(|secret| !secret.is_empty())
            .map(|secret| ("storage.url".to_owned(), Secret::new(secret)))
            .collect()
    }
}

/// What is wrong with an address, and how one is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what}\n  hint: {hint}")]
pub struct AddressFault {
    /// What is wrong.
    pub what: &'static str,
    /// How it is written.
    pub hint: &'static str,
}

/// The forms of an address.
const FORMS: &str = "write sqlite:///path/to/weirgate.db or postgres://user:password@host/name";
/// The address of a server that is none.
const UNREADABLE: AddressFault = AddressFault {
    what: "the address cannot be read",
    hint: "write postgres://user:password@host:5432/database, with special characters of the \
           password as %XX",
};

impl Retention {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let mut days = |key, default| fields.days(key, default, 0.05..=36_500.0);
        let read = Self {
            inbox: days("inbox", default.inbox),
            outbox: days("outbox", default.outbox),
            history: days("history", default.history),
            audit: days("audit", default.audit),
            media: days("media", default.media),
        };
        fields.finish();
        read
    }
}
