//! What an operator sees of the journal and changes in it, as values.
//!
//! Owns the pages, the rows on them, and the four things that can be done. It never decides who may.

use weirgate_sdk::Timestamp;

use super::{Effect, PendingReply, Waiting};

/// A page of rows, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows. There may be none although there is a next page: one question looks at a bounded part of
    /// a table.
    pub rows: Vec<T>,
    /// After which id the next page begins; `None` if nothing can follow.
    pub next: Option<i64>,
}

/// Which conversations are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationFilter {
    /// Those with numbers above this.
    pub after: i64,
    /// If given, only those in which something is set whose key begins with one of these.
    pub set: Option<[&'static str; 2]>,
}

impl ConversationFilter {
    /// All with numbers above `after`.
    #[must_use]
    pub fn after(after: i64) -> Self {
        Self { after, set: None }
    }
}

/// Which replies are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyFilter {
    /// Those that are to be sent: `ready` and `sending`.
    pub waiting: bool,
    /// Those that are not sent any more by themselves: `unknown`, `failed` and `expired`.
    pub given_up: bool,
}

/// A reply in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredReply {
    /// The outbox id.
    pub id: i64,
    /// Where to.
    pub conversation: i64,
    /// The turn that made it; `None` for a notice.
    pub turn: Option<i64>,
    /// `ready`, `sending`, `sent`, `unknown`, `failed`, `expired` or `dropped`.
    pub state: &'static str,
    /// The part that is next, or at which it was given up, from 0.
    pub part: u32,
    /// How often that part was in doubt after a crash.
    pub attempts: u32,
    /// The reason code of its state, if it has one.
    pub reason: Option<String>,
    /// Not before this.
    pub due_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// The [`super::ReplyBody`] as JSON.
    pub body: Box<str>,
}

/// A message whose turn failed, or of which nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedMessage {
    /// The journal id of the turn's first message.
    pub id: i64,
    /// The account's number.
    pub account: u32,
    /// The conversation's number.
    pub conversation: i64,
    /// The person's number.
    pub person: i64,
    /// When it was received.
    pub at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// The reason code.
    pub reason: Option<String>,
    /// How often its turn began.
    pub attempts: u32,
    /// The [`super::Body`] as JSON.
    pub body: Box<str>,
}

/// Something that an operator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A reply that is unknown, failed or expired is to be sent: from the part at which it was given up, or
    /// from its beginning if it is not known which part is missing.
    RetryReply(i64),
    /// A reply that is unknown, failed or expired is not wanted any more.
    DropReply {
        /// The outbox id.
        id: i64,
        /// Also if it waits to be sent: only for a caller who knows that nobody is sending it.
        waiting: bool,
    },
    /// The messages of a failed turn are accepted anew, as messages of their own behind all others.
    RetryMessage(i64),
    /// A failed message needs no more care.
    DropMessage(i64),
}

/// An action with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operate {
    /// What is done.
    pub action: Action,
    /// Now.
    pub at: Timestamp,
    /// Written with it, and only if it is done: its audit record.
    pub effects: Vec<Effect>,
}

/// What became of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operated {
    /// Nothing was changed: there is nothing of this id, or what there is is in this state.
    Refused(Option<&'static str>),
    /// Nothing was changed: it belongs to another process that is at work on the database.
    Elsewhere,
    /// The reply is ready again.
    Ready(PendingReply),
    /// The messages under their new ids, in order; at most 1,000 of one turn.
    Accepted(Vec<Waiting>),
    /// It is settled.
    Dropped,
}
