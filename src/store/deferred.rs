//! What is to be done later, as rows of the outbox: it has a time, survives a crash, and is done by the process that
//! has its account.
//!
//! Owns the shapes. What is done, and how often it is tried, decides whoever does it.

use weirgate_sdk::Timestamp;

use super::{Effect, NewReply, Receipt};

/// Something that is to be done later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deferred {
    /// In which conversation.
    pub conversation: i64,
    /// The turn in which it was asked for.
    pub turn: i64,
    /// What it is about, such as `ban:42`: later changes of mind find it by that.
    pub subject: String,
    /// Not before this.
    pub due_at: Timestamp,
    /// What is to be done, as JSON.
    pub body: String,
}

/// Something that is to be done later and is not done yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The outbox id.
    pub id: i64,
    /// In which conversation.
    pub conversation: i64,
    /// The turn in which it was asked for.
    pub turn: i64,
    /// What it is about.
    pub subject: String,
    /// Not before this.
    pub due_at: Timestamp,
    /// What is to be done, as JSON.
    pub body: String,
}

/// What became of it (T5), with everything that goes with that.
#[derive(Debug, Clone)]
pub struct Performed {
    /// The outcome.
    pub receipt: Receipt,
    /// Its audit record, and what else it changes.
    pub effects: Vec<Effect>,
    /// What reports it.
    pub notices: Vec<NewReply>,
}
