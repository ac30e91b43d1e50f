//! What the tools of the command line say.
//!
//! Owns the list of texts; each language is one exhaustive `match` in a file of its own.

mod en;
mod zh;

use std::{path::Path, time::Duration};

use super::Language;
use crate::{
    operate::ask::{Answer, Refusal},
    store::audit::{Fault, Verdict},
};

/// The heading of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// The id.
    Id,
    /// The state.
    State,
    /// How old it is.
    Age,
    /// Where.
    Conversation,
    /// Who.
    From,
    /// How it is queued.
    Lane,
    /// How often it was tried.
    Attempts,
    /// The part of a reply.
    Part,
    /// Why.
    Reason,
    /// The beginning of the text.
    Text,
}

/// A text of a tool.
#[derive(Debug, Clone, Copy)]
pub enum Console<'a> {
    /// A heading.
    Head(Heading),
    /// A time that has passed.
    Age(Duration),
    /// A list has no rows.
    Nothing,
    /// There is more behind an id.
    More {
        /// The id.
        after: i64,
    },
    /// Not an id.
    BadId {
        /// What was written.
        text: &'a str,
    },
    /// Something was done.
    Done {
        /// With what.
        id: &'a str,
        /// What.
        answer: &'a Answer,
    },
    /// Something was not done.
    Refused {
        /// With what; empty for a question.
        id: &'a str,
        /// Why not.
        refusal: &'a Refusal,
    },
    /// There is no database.
    NoDatabase {
        /// Where it would be.
        path: &'a Path,
    },
    /// The database is on a server, which has tools of its own for copies.
    OnServer,
    /// The socket belongs to somebody else.
    SocketForbidden {
        /// The data folder.
        folder: &'a Path,
    },
    /// The gateway was reached and the conversation broke.
    SocketFailed {
        /// What the system said.
        error: &'a str,
    },
    /// The data folder is locked and nobody answers.
    NoAnswer,
    /// A copy was made.
    BackedUp {
        /// Where it is.
        path: &'a Path,
        /// Its size.
        bytes: u64,
    },
    /// A copy could not be made or put back.
    CopyFailed {
        /// Why.
        error: &'a str,
    },
    /// A copy was put back.
    Restored {
        /// Where the database is.
        path: &'a Path,
        /// Where the one before is kept, if there was one.
        kept: Option<&'a Path>,
    },
    /// The audit log is as it was written.
    AuditWhole(&'a Verdict),
    /// Something is wrong with the audit log.
    AuditFault(Fault),
    /// The audit log is not as it was written.
    AuditBroken {
        /// How many records it has.
        records: u64,
    },
    /// There is no way between databases of these kinds.
    NoSuchMove,
    /// A table is on its way.
    MovedTable {
        /// Its name.
        table: &'a str,
        /// Its rows.
        rows: u64,
    },
    /// Texts had a character that the target does not know.
    MovedReplaced {
        /// How many.
        texts: u64,
    },
    /// Everything could be moved.
    MoveRehearsed {
        /// How many rows.
        rows: u64,
    },
    /// Everything is moved.
    Moved {
        /// How many rows.
        rows: u64,
        /// Where they were.
        from: &'a Path,
    },
}

impl Console<'_> {
    /// The text in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => zh::render(self),
            Language::En => en::render(self),
        }
    }
}
