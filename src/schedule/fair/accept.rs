//! What changes the waiting entries from outside: push, recall, edit.
//! Owns the overflow rules. Never drops what was taken, and never drops without counting.

use super::Scheduler;
use super::policy::{Displaced, Full, Overflow, Pushed, Wait};
use crate::inbound::queue::{Entry, Kind, QueueKey, Room, State, shrink};
use crate::schedule::bucket::Tick;

impl Scheduler {
    /// Takes in one accepted entry. Its age counts from now.
    pub fn push(&mut self, now: Tick, entry: Entry) -> Pushed {
        self.admit(now, entry, self.policy.overflow)
    }

    /// Takes in one that may not be dropped: where there is no room it stays in the journal.
    pub fn push_kept(&mut self, now: Tick, entry: Entry) -> Pushed {
        self.admit(now, entry, Overflow::Block)
    }

    /// Takes in one that must neither be dropped nor stay in the journal behind newer ones.
    ///
    /// # Errors
    /// The entry, if there is no room now.
    pub fn offer(&mut self, now: Tick, entry: Entry) -> Result<(), Entry> {
        let found = self.backlog.find(&entry.key);
        let queue = found.map(|queue| &self.backlog.queues[queue]);
        let room = queue.is_none_or(|queue| {
            queue.hold().is_none() && queue.list.len < self.policy.max_queue_size
        });
        if !room || self.total_full() {
            return Err(entry);
        }
        let copy = (entry.kind == Kind::Now).then(|| entry.clone());
        match (self.push_kept(now, entry), copy) {
            // The sender's own slot is full.
            (Pushed::Refused(_), Some(copy)) => Err(copy),
            _ => Ok(()),
        }
    }

    fn admit(&mut self, now: Tick, entry: Entry, overflow: Overflow) -> Pushed {
        self.advance(now);
        if entry.kind == Kind::Now {
            return self.push_command(entry);
        }
        let found = self.backlog.find(&entry.key);
        if let Some(hold) = found.and_then(|queue| self.backlog.queues[queue].hold_mut()) {
            // Order: what came before it is still in the journal.
            hold.last = hold.last.max(entry.id);
            return Pushed::Held;
        }
        let waiting = found.map_or(0, |queue| self.backlog.queues[queue].list.len);
        let mut displaced = Vec::new();
        if waiting >= self.policy.max_queue_size || self.total_full() {
            match (overflow, found) {
                (Overflow::Block, _) => return self.hold(entry.key, entry.id),
                (Overflow::DropOldest, Some(queue)) if waiting > 0 => {
                    displaced = self.drop_oldest(queue);
                }
                (Overflow::DropOldest | Overflow::DropNewest, _) => {
                    let own = waiting >= self.policy.max_queue_size;
                    return Pushed::Refused(if own { Full::Queue } else { Full::Total });
                }
            }
        }
        let queue = self.backlog.open(entry.key);
        let record = &self.backlog.queues[queue];
        let run_is_closed = match record.state {
            State::Running => true,
            State::Ready { .. } => {
                record.run < record.list.len || record.run >= self.policy.messages_per_request
            }
            State::Idle | State::Quiet(_) => false,
        };
        let node = self.append(queue, entry);
        if run_is_closed {
            self.waits(node, Wait::Turn);
        }
        if !displaced.is_empty() || !run_is_closed {
            self.settle(queue);
        }
        if displaced.is_empty() {
            Pushed::Queued
        } else {
            Pushed::Displaced(displaced)
        }
    }

    fn push_command(&mut self, entry: Entry) -> Pushed {
        if self.total_full() {
            return Pushed::Refused(Full::Total);
        }
        let user = self.people.open(entry.person);
        let mut list = self.people.users[user].commands;
        if list.len >= self.policy.max_queue_size {
            return Pushed::Refused(Full::Queue);
        }
        let queue = self.backlog.open(entry.key);
        self.backlog.queues[queue].now += 1;
        self.slots.insert(entry.id, (user, queue));
        let room = self.room();
        let behind = list.len > 0;
        let node = self.backlog.append(&mut list, queue, entry, room);
        if behind {
            self.waits(node, Wait::Turn);
        }
        self.people.users[user].commands = list;
        self.seat_commands(user);
        Pushed::Queued
    }

    /// Appends to a queue's own list; gives the node.
    pub(super) fn append(&mut self, queue: u32, entry: Entry) -> u32 {
        let mut list = self.backlog.queues[queue].list;
        let room = self.room();
        let node = self.backlog.append(&mut list, queue, entry, room);
        self.backlog.queues[queue].list = list;
        node
    }

    fn room(&self) -> Room {
        Room {
            now: self.now,
            max_bytes: self.policy.max_bytes,
        }
    }

    /// Makes room for one entry: drops one, or as many as a smaller limit asks for.
    fn drop_oldest(&mut self, queue: u32) -> Vec<Displaced> {
        let mut dropped = Vec::new();
        let mut list = self.backlog.queues[queue].list;
        while dropped.is_empty() || list.len >= self.policy.max_queue_size {
            let Some(node) = self.backlog.pop(&mut list) else {
                break;
            };
            self.backlog.queues[queue].count_dropped(self.now);
            dropped.push(Displaced {
                id: node.id,
                conversation: node.conversation,
                person: node.person,
            });
        }
        self.backlog.queues[queue].list = list;
        dropped
    }

    /// Recalls one waiting entry. False if it does not wait in memory: it runs, has run, or was
    /// left in the journal by `block`.
    pub fn remove(&mut self, key: &QueueKey, id: i64) -> bool {
        let Some(queue) = self.backlog.find(key) else {
            return false;
        };
        let mut list = self.backlog.queues[queue].list;
        if self.backlog.take_out(&mut list, id).is_some() {
            self.backlog.queues[queue].list = list;
            self.settle(queue);
            return true;
        }
        let Some(user) = self.slot_of(queue, id) else {
            return false;
        };
        let mut list = self.people.users[user].commands;
        if self.backlog.take_out(&mut list, id).is_none() {
            return false;
        }
        self.people.users[user].commands = list;
        self.forget_command(queue, id);
        self.seat_commands(user);
        true
    }

    /// Puts an edited body in the place of a waiting entry's body. If only its id is in memory it
    /// stays so. False if it does not wait in memory.
    pub fn replace(&mut self, key: &QueueKey, id: i64, body: Box<str>) -> bool {
        let Some(queue) = self.backlog.find(key) else {
            return false;
        };
        let list = match self.slot_of(queue, id) {
            Some(user) => self.people.users[user].commands,
            None => self.backlog.queues[queue].list,
        };
        self.backlog.replace(&list, id, body, self.policy.max_bytes)
    }

    /// The person in whose slot a command of this queue waits.
    fn slot_of(&self, queue: u32, id: i64) -> Option<u32> {
        self.slots
            .get(&id)
            .filter(|slot| slot.1 == queue)
            .map(|slot| slot.0)
    }

    /// Clears what is remembered of a command that left its slot.
    pub(super) fn forget_command(&mut self, queue: u32, id: i64) {
        self.slots.remove(&id);
        shrink(&mut self.slots);
        self.backlog.queues[queue].now -= 1;
        self.backlog.release(queue);
    }
}
