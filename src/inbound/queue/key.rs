//! What enters a queue: its key, its kind, the entry, and the count of what was dropped.
//! Owns plain data only.

use crate::schedule::bucket::Tick;
use crate::schedule::lane::Lane;

/// Which queue. A field is 0 where the keying ignores it: one queue for each person in each
/// conversation, for each person, for each conversation, or for each account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueKey {
    /// The bot account's row.
    pub account: u32,
    /// The conversation's row, or 0.
    pub conversation: i64,
    /// The person's row, or 0.
    pub person: i64,
}

/// How an entry runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A message to the model; may share a turn with its neighbours.
    #[default]
    Message,
    /// A command that keeps its place in the queue; runs alone.
    InOrder,
    /// A command in its sender's slot of its own, beside a running turn.
    Now,
}

/// One accepted message or command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The journal's id; grows in order of acceptance.
    pub id: i64,
    /// The queue.
    pub key: QueueKey,
    /// The bot account's row.
    pub account: u32,
    /// The conversation's row.
    pub conversation: i64,
    /// The sender's row: whose bucket it takes from.
    pub person: i64,
    /// How it runs.
    pub kind: Kind,
    /// The lane.
    pub lane: Lane,
    /// The place inside the lane, −8 to 8; beyond that it is cut.
    pub priority: i8,
    /// Recovered after an unclean stop: never shares a turn.
    pub single: bool,
    /// The stored body, or `None` to read it from the journal when the entry is taken.
    pub body: Option<Box<str>>,
}

/// How many entries a queue lost (to overflow or age) since its last message turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// How many, exactly.
    pub count: u64,
    /// When the first was dropped.
    pub first: Tick,
    /// When the last was dropped.
    pub last: Tick,
}
