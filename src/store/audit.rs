//! The audit log as a chain: what a record looks like, and what its hash covers.
//!
//! Owns the encoding of a record for its hash, which never changes, and the records that the store makes by itself. It
//! never touches a database; `docs/decisions/0013-audit-chain.md` says why the chain is as it is.

mod verify;

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::{Timestamp, UserKey};

pub use verify::{Fault, MOST_FAULTS, Verdict, Verifier};

/// What retention leaves in place of the records that it removed: the last of them, by number and hash.
pub const CHECKPOINT: &str = "audit_checkpoint";
/// The personal fields of all earlier records of a conversation were removed.
pub const ERASED: &str = "audit_erased";

/// How long a record stays at most after its time is over, in milliseconds: many are removed at once, because each
/// removal leaves a record of its own.
pub const SLACK: i64 = 3_600_000;

/// What became of what a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditResult {
    /// It was done.
    Done,
    /// It was not allowed.
    Denied,
    /// It was allowed, tried, and not done.
    Failed,
}

impl AuditResult {
    /// The stored text.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Denied => "denied",
            Self::Failed => "failed",
        }
    }
}

/// A record of the audit log. Made only by [`crate::permission`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The event, one of the audit's event values.
    pub event: &'static str,
    /// What became of it.
    pub result: AuditResult,
    /// The person's number.
    pub operator: i64,
    /// Whom or what it concerns, as text.
    pub target: String,
    /// The conversation's number.
    pub conversation: i64,
    /// The turn, or 0.
    pub turn: i64,
    /// More, as JSON.
    pub details: String,
    /// When.
    pub at: Timestamp,
}

impl Audit {
    /// A record of what the store itself did.
    #[must_use]
    pub fn of_store(
        event: &'static str,
        conversation: i64,
        details: String,
        at: Timestamp,
    ) -> Self {
        Self {
            event,
            result: AuditResult::Done,
            operator: 0,
            target: String::new(),
            conversation,
            turn: 0,
            details,
            at,
        }
    }
}

/// A SHA-256, written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Hash([u8; 32]);

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no SHA-256 in lower-case hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not 64 hexadecimal digits")]
pub struct NoHash;

impl FromStr for Hash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        let nibble = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(NoHash),
        };
        let mut hash = [0; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != hash.len() || !rest.is_empty() {
            return Err(NoHash);
        }
        for (byte, [high, low]) in hash.iter_mut().zip(pairs) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Ok(Self(hash))
    }
}

/// The newest record of a chain; number 0 and a hash of zeros before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The number of the record, from 1.
    pub seq: i64,
    /// Its hash.
    pub hash: Hash,
}

/// A record as it is stored. What is personal in it is operator, target and details: once those are removed they are 0
/// and empty, and there is no salt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAudit {
    /// Its number in the chain, from 1.
    pub seq: i64,
    /// The id from the journal's counter.
    pub id: i64,
    /// The start of the gateway that wrote it; 0 for those of before there was a chain.
    pub writer: i64,
    /// When, in milliseconds since 1970.
    pub at: Timestamp,
    /// The event.
    pub event: String,
    /// What became of it: `done`, `denied`, `failed`, or nothing for those of before there was a chain.
    pub result: String,
    /// The conversation's number, or 0.
    pub conversation: i64,
    /// The turn, or 0.
    pub turn: i64,
    /// The person's number, or 0.
    pub operator: i64,
    /// Whom or what it concerns.
    pub target: String,
    /// More, as JSON.
    pub details: String,
    /// What the personal fields are hashed with, in hexadecimal.
    pub salt: Option<String>,
    /// The hash of the personal fields.
    pub personal: String,
    /// The hash of everything, and of the record before.
    pub hash: String,
}

impl StoredAudit {
    /// A record that has no place in a chain yet.
    #[must_use]
    pub fn new(id: i64, writer: i64, audit: &Audit) -> Self {
        Self {
            seq: 0,
            id,
            writer,
            at: audit.at,
            event: audit.event.to_owned(),
            result: audit.result.code().to_owned(),
            conversation: audit.conversation,
            turn: audit.turn,
            operator: audit.operator,
            target: clean(&audit.target).into_owned(),
            details: clean(&audit.details).into_owned(),
            salt: None,
            personal: String::new(),
            hash: String::new(),
        }
    }

    /// Puts the record behind `head`, which moves to it. `salt` is random.
    pub fn seal(&mut self, head: &mut Head, salt: u128) {
        self.seq = head.seq.saturating_add(1);
        let salt = format!("{salt:032x}");
        self.personal = self.hash_personal(&salt).to_string();
        self.salt = Some(salt);
        let hash = self.hash_after(head.hash);
        self.hash = hash.to_string();
        *head = Head {
            seq: self.seq,
            hash,
        };
    }

    /// Whether the personal fields were removed, all of them.
    fn is_erased(&self) -> bool {
        let empty = self.target.is_empty() && self.details.is_empty();
        self.salt.is_none() && self.operator == 0 && empty
    }

    fn hash_personal(&self, salt: &str) -> Hash {
        let mut sha = Sha256::new_with_prefix(b"weirgate audit personal 1\0");
        text(&mut sha, salt);
        sha.update(self.operator.to_be_bytes());
        text(&mut sha, &self.target);
        text(&mut sha, &self.details);
        Hash(sha.finalize().into())
    }

    fn hash_after(&self, before: Hash) -> Hash {
        let mut sha = Sha256::new_with_prefix(b"weirgate audit record 1\0");
        sha.update(before.0);
        let numbers = [
            self.seq,
            self.id,
            self.writer,
            self.at,
            self.conversation,
            self.turn,
        ];
        for number in numbers {
            sha.update(number.to_be_bytes());
        }
        text(&mut sha, &self.event);
        text(&mut sha, &self.result);
        text(&mut sha, &self.personal);
        Hash(sha.finalize().into())
    }
}

/// A text with its length in front, so that no two rows of texts are one.
fn text(sha: &mut Sha256, text: &str) {
    sha.update((text.len() as u64).to_be_bytes());
    sha.update(text);
}

/// A text as every database keeps it: without NUL.
fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The details of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Checkpoint {
    seq: i64,
    hash: String,
    removed: usize,
}

/// The record that retention leaves for the oldest `removed` records, of which `last` was the newest.
#[must_use]
pub fn checkpoint(last: i64, hash: &str, removed: usize, at: Timestamp) -> Audit {
    let details = Checkpoint {
        seq: last,
        hash: hash.to_owned(),
        removed,
    };
    // A struct of numbers and texts always has a JSON form.
    let details = serde_json::to_string(&details).unwrap_or_default();
    Audit::of_store(CHECKPOINT, 0, details, at)
}

/// How many of these records, which are the oldest (their times in order of the chain), retention removes now: those of
/// before `before`, once it is a full page or the oldest is over for long enough to be worth a record.
#[must_use]
pub fn removable(times: &[Timestamp], before: Timestamp, page: usize) -> usize {
    let over = times.iter().take_while(|at| **at < before).count();
    let long_over = times
        .first()
        .is_some_and(|at| *at < before.saturating_sub(SLACK));
    if over >= page || long_over { over } else { 0 }
}

/// Which records are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditFilter {
    /// All of them with ids above this, oldest first.
    After(i64),
    /// The newest, newest first.
    Newest {
        /// Only of this conversation.
        conversation: Option<i64>,
        /// Only those that this person did or approved, or that concern him.
        person: Option<UserKey>,
    },
}

/// Records, and the newest of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The records.
    pub rows: Vec<StoredAudit>,
    /// The head of the chain.
    pub head: Head,
}

#[cfg(test)]
mod tests;
