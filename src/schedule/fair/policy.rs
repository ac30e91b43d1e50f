//! The scheduler's settings and answers.
//! Owns plain data only.

use crate::inbound::queue::{Dropped, Kind, QueueKey};
use crate::schedule::bucket::{Rate, Tick};
use crate::schedule::lane::{LANES, Lane};
use std::time::Duration;

/// What happens to a message that finds its queue full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The oldest waiting entries of the same queue are dropped and counted.
    #[default]
    DropOldest,
    /// The new one is refused.
    DropNewest,
    /// Nothing is dropped: the new one stays in the journal until there is room.
    Block,
}

/// The scheduler's settings. Numbers out of range are brought into it by the scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Waiting entries of one queue, at least 1.
    pub max_queue_size: u32,
    /// Waiting entries of all queues, 1 to 2³⁰.
    pub max_total: u32,
    /// Bytes of all waiting bodies; beyond it only ids are kept.
    pub max_bytes: usize,
    /// What happens beyond `max_queue_size` and `max_total`.
    pub overflow: Overflow,
    /// Entries that waited this long in memory expire. Zero: never.
    pub max_age: Duration,
    /// Messages of one turn, 1 to 256.
    pub messages_per_request: u32,
    /// Each person's bucket, in messages and commands.
    pub user: Rate,
    /// One bucket for all message turns, in messages.
    pub manual: Option<Rate>,
    /// Turns of one person at a time, beside his slot for commands; at least 1.
    pub max_turns_per_user: u32,
    /// Waiting this long is worth one priority step; seventeen steps lead into the next lane.
    /// Zero: whoever waits longest is next, whatever his lane.
    pub aging_interval: Duration,
    /// A run of messages starts after a pause of this length. Zero: at once.
    pub debounce: Duration,
    /// ... or this long after its first message.
    pub debounce_max: Duration,
}

impl Policy {
    pub(super) fn within_limits(mut self) -> Self {
        self.max_queue_size = self.max_queue_size.max(1);
        self.max_total = self.max_total.clamp(1, 1 << 30);
        self.messages_per_request = self.messages_per_request.clamp(1, 256);
        self.max_turns_per_user = self.max_turns_per_user.max(1);
        self
    }
}

/// An entry that was dropped for a newer one. Where people share a queue it may be anybody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Displaced {
    /// Its id.
    pub id: i64,
    /// Its conversation's row.
    pub conversation: i64,
    /// Its sender's row.
    pub person: i64,
}

/// What has no room left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// The entry's own queue, or its sender's slot for commands.
    Queue,
    /// All queues together.
    Total,
}

/// Why an entry that could be the next of its queue does not run yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Its sender may go on writing.
    Pause,
    /// A bucket has too few tokens.
    Token,
    /// An earlier turn of its queue or its sender runs, or is to run before it.
    Turn,
    /// No model is free.
    Model,
}

/// What became of a pushed entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// It waits.
    Queued,
    /// It waits, and these of the same queue, oldest first, were dropped for it.
    Displaced(Vec<Displaced>),
    /// It does not wait: the queue drops the newest, its sender has too many commands waiting, or
    /// there is no room at all.
    Refused(Full),
    /// It stays in the journal until [`Scheduler::refill`](super::Scheduler::refill).
    Held,
}

/// The answer of [`Scheduler::next`](super::Scheduler::next).
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Start this turn.
    Run(Batch),
    /// Nothing can start now. The earliest tick at which something could without a push, a `done`
    /// or a free model; `None` if nothing could.
    Wait(Option<Tick>),
}

/// The right to end one turn, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TurnToken(pub(super) u64);

/// One turn: one command, or messages of one sender in one conversation, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch {
    /// To be given to [`Scheduler::done`](super::Scheduler::done).
    pub token: TurnToken,
    /// The queue.
    pub key: QueueKey,
    /// The bot account's row.
    pub account: u32,
    /// The conversation's row.
    pub conversation: i64,
    /// The sender's row.
    pub person: i64,
    /// Of all entries.
    pub kind: Kind,
    /// The highest lane of its entries.
    pub lane: Lane,
    /// At least one, oldest first.
    pub entries: Vec<Taken>,
    /// What the queue lost since its last message turn; only message turns are told.
    pub dropped: Option<Dropped>,
}

/// An entry that left its queue for a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The journal's id.
    pub id: i64,
    /// The stored body, or `None`: read it from the journal.
    pub body: Option<Box<str>>,
    /// How long it waited in memory.
    pub waited: Duration,
}

/// An entry that waited too long and left without a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// The journal's id.
    pub id: i64,
    /// The queue it left.
    pub key: QueueKey,
    /// The bot account's row.
    pub account: u32,
    /// The conversation's row.
    pub conversation: i64,
    /// The sender's row.
    pub person: i64,
    /// An expired command is answered with why.
    pub kind: Kind,
    /// Its lane.
    pub lane: Lane,
    /// How long it waited in memory.
    pub waited: Duration,
}

/// A queue with room for messages that `block` left in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The queue.
    pub key: QueueKey,
    /// Read entries with larger ids, smallest first.
    pub after: i64,
    /// More than this many find no room.
    pub room: u32,
}

/// Figures for metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Waiting entries of each lane, in the order of [`Lane::ALL`].
    pub waiting: [usize; LANES],
    /// Bytes of waiting bodies.
    pub bytes: usize,
    /// Queues in memory.
    pub queues: usize,
    /// People in memory.
    pub users: usize,
    /// Turns under way.
    pub turns: usize,
    /// How long the oldest waiting entry has waited.
    pub oldest: Duration,
}
