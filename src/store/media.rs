//! Rows about files in the media store, as values.
//!
//! Owns their shape and the questions that are asked of them. It never touches a database or a file.

use weirgate_sdk::{AttachmentKind, Timestamp};

/// A file in the media store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaRow {
    /// Its name in the store, which nobody can guess.
    pub id: String,
    /// The conversation that it belongs to.
    pub conversation: i64,
    /// A hash of where it came from, with [`SENT`] before it if the gateway sent it; empty if there is nothing to ask for
    /// it by.
    pub source: String,
    /// What it is, by its content.
    pub kind: AttachmentKind,
    /// Its media type, by its content.
    pub mime: String,
    /// The name that its sender gave it; untrusted.
    pub name: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// When it was kept.
    pub created_at: Timestamp,
    /// When it goes.
    pub expires_at: Timestamp,
}

/// Before the hash of a file that the gateway sent.
pub const SENT: &str = "o";

/// A change of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaChange {
    /// A file was kept; its bytes are on the disk already.
    Keep(MediaRow),
    /// These files are gone, or go.
    Forget(Vec<String>),
}

/// Which rows are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaQuestion {
    /// Those of these files, in no order.
    Files(Vec<String>),
    /// The newest that came from there.
    Source(String),
    /// The newest of a conversation, at most so many.
    Newest {
        /// The conversation's number.
        conversation: i64,
        /// The most rows.
        limit: usize,
    },
    /// Those that expire first, up to a time, at most so many.
    Expiring {
        /// The time.
        until: Timestamp,
        /// The most rows.
        limit: usize,
    },
}

/// The names of the kinds in the database; never changed.
const KINDS: [(&str, AttachmentKind); 4] = [
    ("image", AttachmentKind::Image),
    ("audio", AttachmentKind::Audio),
    ("video", AttachmentKind::Video),
    ("file", AttachmentKind::File),
];

/// The name of a kind, as it is stored.
#[must_use]
pub fn kind_name(kind: AttachmentKind) -> &'static str {
    KINDS
        .iter()
        .find(|(_, known)| *known == kind)
        .map_or("file", |(name, _)| name)
}

/// The kind of this name; one of a later version is any other file.
#[must_use]
pub fn kind_named(name: &str) -> AttachmentKind {
    KINDS
        .iter()
        .find(|(known, _)| *known == name)
        .map_or(AttachmentKind::File, |(_, kind)| *kind)
}

/// A row as the databases give it: id, conversation, source, kind, mime, name, size, created_at, expires_at.
pub(super) type MediaColumns = (
    String,
    i64,
    String,
    String,
    String,
    Option<String>,
    i64,
    i64,
    i64,
);

/// A row from its columns.
pub(super) fn media_row(columns: MediaColumns) -> MediaRow {
    let (id, conversation, source, kind, mime, name, size, created_at, expires_at) = columns;
    MediaRow {
        id,
        conversation,
        source,
        kind: kind_named(&kind),
        mime,
        name,
        size: size.unsigned_abs(),
        created_at,
        expires_at,
    }
}
