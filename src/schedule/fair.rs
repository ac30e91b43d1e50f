//! The scheduler: what waits, and whose turn is next. People compete, not queues.
//! Owns the waiting entries, each person's bucket and turns, and the order between people. Never
//! reads a clock, never waits, and never touches the journal or the model. Nothing here scans: a
//! step costs the same with ten queues and with a hundred thousand.
//!
//! A queue with something to run stands in a *line* of the person at its head: one line for each
//! kind and level, queues served in turn. A line competes on the ladder (`lane`) only while its
//! person has a free slot and enough tokens for its first queue; otherwise it is looked at again
//! when a turn ends or when the tokens are there.

mod accept;
mod choose;
mod people;
mod policy;
mod refill;
mod settle;
mod sweep;
mod waits;

pub use policy::{
    Batch, Displaced, Expired, Full, Next, Overflow, Policy, Pushed, Stats, Taken, TurnToken, Wait,
    Wanted,
};

use super::bucket::{Gcra, Tick, ticks};
use super::lane::Ladder;
use crate::inbound::queue::slab::NONE;
use crate::inbound::queue::{Backlog, QueueKey};
use people::People;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;
use waits::Waits;

/// Chooses the next turn.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    /// The latest tick seen: a clock that steps back stands still here.
    now: Tick,
    backlog: Backlog,
    people: People,
    /// Lines of commands, and lines of messages, that can run now.
    commands: Ladder,
    messages: Ladder,
    /// People who wait for tokens, by when they have them.
    short: BTreeSet<(Tick, u32)>,
    /// People who wait for nothing but a full bucket, by when it is full.
    idle: BTreeSet<(Tick, u32)>,
    /// Queues whose sender may still be typing, by when that is over.
    quiet: BTreeSet<(Tick, u32)>,
    turns: HashMap<u64, Turn>,
    serial: u64,
    manual: Gcra,
    /// Expired when their turn came; handed over by the sweep. They count as waiting until then.
    expired: VecDeque<Expired>,
    /// Commands that wait in slots of their own, by id: the person's record and the queue's.
    slots: HashMap<i64, (u32, u32)>,
    /// Queues to be read on from the journal.
    wanted: VecDeque<u32>,
    waits: Waits,
}

#[derive(Debug, Clone, Copy)]
struct Turn {
    user: u32,
    /// The queue it holds, or `NONE` for a command in a slot of its own.
    queue: u32,
}

impl Scheduler {
    /// An empty scheduler.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy: policy.within_limits(),
            now: 0,
            backlog: Backlog::default(),
            people: People::default(),
            commands: Ladder::default(),
            messages: Ladder::default(),
            short: BTreeSet::new(),
            idle: BTreeSet::new(),
            quiet: BTreeSet::new(),
            turns: HashMap::new(),
            serial: 0,
            manual: Gcra::default(),
            expired: VecDeque::new(),
            slots: HashMap::new(),
            wanted: VecDeque::new(),
            waits: Waits::default(),
        }
    }

    /// Takes over reloaded settings. Looks at every queue once. Nothing is dropped: what is over a
    /// smaller limit drains.
    pub fn set_policy(&mut self, now: Tick, policy: Policy) {
        self.advance(now);
        self.policy = policy.within_limits();
        for queue in self.backlog.queue_records() {
            self.settle(queue);
        }
        for user in self.people.user_records() {
            self.refresh(user);
        }
    }

    /// Entries that wait in one queue, without commands in slots of their own and without what
    /// stayed in the journal.
    #[must_use]
    pub fn depth(&self, key: &QueueKey) -> usize {
        let list = self
            .backlog
            .find(key)
            .map(|queue| self.backlog.queues[queue].list);
        list.map_or(0, |list| list.len as usize)
    }

    /// Entries that wait in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.backlog.nodes.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the bodies that wait.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.backlog.bytes
    }

    /// People in memory.
    #[must_use]
    pub fn users(&self) -> usize {
        self.people.users.len()
    }

    /// Figures for metrics.
    #[must_use]
    pub fn stats(&self, now: Tick) -> Stats {
        let oldest = self.backlog.oldest;
        let oldest = (oldest != NONE).then(|| waited(self.backlog.nodes[oldest].at, now));
        Stats {
            waiting: self.backlog.waiting,
            bytes: self.backlog.bytes,
            queues: self.backlog.queues.len(),
            users: self.people.users.len(),
            turns: self.turns.len(),
            oldest: oldest.unwrap_or_default(),
        }
    }

    fn advance(&mut self, now: Tick) {
        self.now = self.now.max(now);
    }

    /// What counts against `max_total`.
    fn total(&self) -> usize {
        self.backlog.nodes.len() + self.expired.len()
    }

    fn total_full(&self) -> bool {
        self.total() >= self.policy.max_total as usize
    }

    fn aging(&self) -> Tick {
        ticks(self.policy.aging_interval)
    }

    fn is_expired(&self, at: Tick) -> bool {
        let max_age = ticks(self.policy.max_age);
        max_age > 0 && self.now.saturating_sub(at) >= max_age
    }
}

fn waited(at: Tick, now: Tick) -> Duration {
    Duration::from_micros(now.saturating_sub(at))
}

#[cfg(test)]
mod tests;
