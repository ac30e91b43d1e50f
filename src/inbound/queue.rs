//! The waiting messages: one slab of message nodes in linked lists, one record for each queue that
//! has something to say, and the order of age over all of them.
//! Owns lists, counts and bytes. Never decides when a queue runs (that is `schedule::fair`), and
//! never touches the journal: an entry that leaves here is still there.

mod key;
mod lost;
mod marks;
mod shrink;
pub(crate) mod slab;

pub use key::{Dropped, Entry, Kind, QueueKey};
pub(crate) use marks::Marks;
pub(crate) use shrink::shrink;

use crate::schedule::bucket::Tick;
use crate::schedule::lane::{LANES, Lane, level};
use lost::Lost;
use slab::{NONE, Slab};
use std::collections::HashMap;

/// A waiting message or command. 72 bytes beside its body.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) body: Option<Box<str>>,
    pub(crate) id: i64,
    pub(crate) at: Tick,
    pub(crate) conversation: i64,
    pub(crate) person: i64,
    pub(crate) account: u32,
    /// The record of its queue.
    pub(crate) queue: u32,
    next: u32,
    older: u32,
    newer: u32,
    pub(crate) kind: Kind,
    pub(crate) lane: Lane,
    pub(crate) priority: i8,
    pub(crate) marks: Marks,
}

impl Node {
    pub(crate) fn level(&self) -> u8 {
        level(self.lane, self.priority)
    }

    /// Whether both may be parts of one turn.
    fn joins(&self, head: &Self) -> bool {
        self.kind == Kind::Message
            && !self.marks.is_single()
            && (self.account, self.conversation, self.person)
                == (head.account, head.conversation, head.person)
    }
}

/// A list of nodes, first in, first out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    pub(crate) head: u32,
    tail: u32,
    pub(crate) len: u32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }
}

/// What a queue is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing to run, or not looked at yet.
    #[default]
    Idle,
    /// Waits for its sender to pause, at most until this tick.
    Quiet(Tick),
    /// Competes: its line, and its neighbours in the line.
    Ready { line: u32, before: u32, after: u32 },
    /// A turn is under way.
    Running,
}

/// One queue. It exists while it has entries, a turn, a command in a slot of its own, or more in
/// the journal.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) key: QueueKey,
    pub(crate) list: List,
    pub(crate) state: State,
    /// Entries in the run at its head, when last looked at.
    pub(crate) run: u32,
    /// Commands that wait in their senders' slots.
    pub(crate) now: u32,
    pub(crate) extra: Option<Box<Extra>>,
}

/// What few queues have.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    pub(crate) dropped: Option<Dropped>,
    pub(crate) hold: Option<Hold>,
}

/// The part of a queue that stayed in the journal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    /// Everything up to this id has been in memory.
    pub(crate) after: i64,
    /// The newest id known to be in the journal only.
    pub(crate) last: i64,
    /// `last` when the caller was asked to read on.
    pub(crate) asked: Option<i64>,
    /// Whether the queue stands in line to be read on.
    pub(crate) wanted: bool,
}

impl Queue {
    pub(crate) fn hold(&self) -> Option<Hold> {
        self.extra.as_ref().and_then(|extra| extra.hold)
    }

    pub(crate) fn hold_mut(&mut self) -> Option<&mut Hold> {
        self.extra.as_mut().and_then(|extra| extra.hold.as_mut())
    }

    pub(crate) fn set_hold(&mut self, hold: Option<Hold>) {
        self.extra.get_or_insert_default().hold = hold;
        self.trim();
    }

    pub(crate) fn count_dropped(&mut self, now: Tick) {
        let dropped = &mut self.extra.get_or_insert_default().dropped;
        let dropped = dropped.get_or_insert(Dropped {
            count: 0,
            first: now,
            last: now,
        });
        dropped.count += 1;
        dropped.last = now;
    }

    pub(crate) fn take_dropped(&mut self) -> Option<Dropped> {
        let dropped = self.extra.as_mut().and_then(|extra| extra.dropped.take());
        self.trim();
        dropped
    }

    fn trim(&mut self) {
        if self
            .extra
            .as_ref()
            .is_some_and(|extra| extra.dropped.is_none() && extra.hold.is_none())
        {
            self.extra = None;
        }
    }
}

/// What the head of a queue would run as: one command, or the longest run of messages that belong
/// together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) len: u32,
    pub(crate) kind: Kind,
    /// The highest in the run.
    pub(crate) lane: Lane,
    pub(crate) level: u8,
    pub(crate) person: i64,
    /// Nothing that comes later can join.
    pub(crate) complete: bool,
    pub(crate) first: Tick,
    pub(crate) last: Tick,
}

/// All waiting entries and their queues.
#[derive(Debug)]
pub(crate) struct Backlog {
    pub(crate) nodes: Slab<Node>,
    pub(crate) queues: Slab<Queue>,
    index: HashMap<QueueKey, u32>,
    /// Ends of the list of all nodes by age.
    pub(crate) oldest: u32,
    newest: u32,
    pub(crate) waiting: [usize; LANES],
    pub(crate) bytes: usize,
    lost: Lost,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            nodes: Slab::default(),
            queues: Slab::default(),
            index: HashMap::new(),
            oldest: NONE,
            newest: NONE,
            waiting: [0; LANES],
            bytes: 0,
            lost: Lost::default(),
        }
    }
}

impl Backlog {
    /// Slots of the tables.
    #[cfg(test)]
    pub(crate) fn tables(&self) -> usize {
        self.index.capacity() + self.lost.len()
    }

    pub(crate) fn find(&self, key: &QueueKey) -> Option<u32> {
        self.index.get(key).copied()
    }

    /// The record of the queue, made if there is none.
    pub(crate) fn open(&mut self, key: QueueKey) -> u32 {
        if let Some(queue) = self.find(&key) {
            return queue;
        }
        let mut queue = Queue {
            key,
            ..Queue::default()
        };
        if self.lost.len() > 0
            && let Some(dropped) = self.lost.take(&key)
        {
            queue.extra = Some(Box::new(Extra {
                dropped: Some(dropped),
                hold: None,
            }));
        }
        let queue = self.queues.insert(queue);
        self.index.insert(key, queue);
        queue
    }

    /// Removes the record if nothing needs it; what it dropped is remembered for a while.
    pub(crate) fn release(&mut self, queue: u32) {
        let record = &mut self.queues[queue];
        let idle = record.list.len == 0 && record.now == 0 && record.state == State::Idle;
        if !idle || record.hold().is_some() {
            return;
        }
        let record = self.queues.remove(queue);
        self.index.remove(&record.key);
        shrink(&mut self.index);
        if let Some(dropped) = record.extra.and_then(|extra| extra.dropped) {
            self.lost.put(record.key, dropped);
        }
    }

    pub(crate) fn queue_records(&self) -> Vec<u32> {
        self.index.values().copied().collect()
    }

    /// Appends an entry; its body is kept while all bodies fit into `max_bytes`. Gives its node.
    pub(crate) fn append(&mut self, list: &mut List, queue: u32, entry: Entry, room: Room) -> u32 {
        let fits = |body: &str| self.bytes.saturating_add(body.len()) <= room.max_bytes;
        let body = entry.body.filter(|body| fits(body));
        self.bytes += body.as_ref().map_or(0, |body| body.len());
        self.waiting[entry.lane.index()] += 1;
        let node = self.nodes.insert(Node {
            body,
            id: entry.id,
            at: room.now,
            conversation: entry.conversation,
            person: entry.person,
            account: entry.account,
            queue,
            next: NONE,
            older: self.newest,
            newer: NONE,
            kind: entry.kind,
            lane: entry.lane,
            priority: entry.priority,
            marks: Marks::new(entry.single),
        });
        match self.newest {
            NONE => self.oldest = node,
            newest => self.nodes[newest].newer = node,
        }
        self.newest = node;
        match list.tail {
            NONE => list.head = node,
            tail => self.nodes[tail].next = node,
        }
        list.tail = node;
        list.len += 1;
        node
    }

    pub(crate) fn pop(&mut self, list: &mut List) -> Option<Node> {
        let head = (list.head != NONE).then_some(list.head)?;
        Some(self.unlink(list, NONE, head))
    }

    /// Takes the entry with this id out of the list, wherever it stands: a walk.
    pub(crate) fn take_out(&mut self, list: &mut List, id: i64) -> Option<Node> {
        let (before, node) = self.seek(list, id)?;
        Some(self.unlink(list, before, node))
    }

    /// Replaces the body of a waiting entry whose body is in memory; one that is not is read from
    /// the journal anyway. False if the entry does not wait in this list.
    pub(crate) fn replace(
        &mut self,
        list: &List,
        id: i64,
        body: Box<str>,
        max_bytes: usize,
    ) -> bool {
        let Some((_, node)) = self.seek(list, id) else {
            return false;
        };
        if let Some(old) = self.nodes[node].body.take() {
            self.bytes -= old.len();
            if self.bytes.saturating_add(body.len()) <= max_bytes {
                self.bytes += body.len();
                self.nodes[node].body = Some(body);
            }
        }
        true
    }

    /// The node with this id and the one before it (or `NONE`).
    fn seek(&self, list: &List, id: i64) -> Option<(u32, u32)> {
        let (mut before, mut node) = (NONE, list.head);
        while node != NONE {
            if self.nodes[node].id == id {
                return Some((before, node));
            }
            (before, node) = (node, self.nodes[node].next);
        }
        None
    }

    fn unlink(&mut self, list: &mut List, before: u32, node: u32) -> Node {
        let record = self.nodes.remove(node);
        match before {
            NONE => list.head = record.next,
            before => self.nodes[before].next = record.next,
        }
        if list.tail == node {
            list.tail = before;
        }
        list.len -= 1;
        match record.older {
            NONE => self.oldest = record.newer,
            older => self.nodes[older].newer = record.newer,
        }
        match record.newer {
            NONE => self.newest = record.older,
            newer => self.nodes[newer].older = record.older,
        }
        self.waiting[record.lane.index()] -= 1;
        self.bytes -= record.body.as_ref().map_or(0, |body| body.len());
        record
    }

    /// Looks at the head of a queue: a walk over at most `most` nodes.
    pub(crate) fn run(&self, queue: u32, most: u32) -> Option<Run> {
        let list = self.queues[queue].list;
        let first = (list.head != NONE).then(|| &self.nodes[list.head])?;
        let mut run = Run {
            len: 1,
            kind: first.kind,
            lane: first.lane,
            level: first.level(),
            person: first.person,
            complete: first.kind != Kind::Message || first.marks.is_single() || list.len > 1,
            first: first.at,
            last: first.at,
        };
        if first.kind != Kind::Message || first.marks.is_single() {
            return Some(run);
        }
        let mut next = first.next;
        while next != NONE && run.len < most {
            let node = &self.nodes[next];
            if !node.joins(first) {
                break;
            }
            run.len += 1;
            run.last = node.at;
            if node.level() > run.level {
                (run.level, run.lane) = (node.level(), node.lane);
            }
            next = node.next;
        }
        run.complete = run.len < list.len || run.len >= most;
        Some(run)
    }
}

/// The moment, and how many bytes all bodies may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) now: Tick,
    pub(crate) max_bytes: usize,
}

#[cfg(test)]
mod tests;
