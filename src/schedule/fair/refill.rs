//! The overflow strategy `block`: what is held in the journal, and how it comes back in order.
//! Owns the marks of how far each such queue was read. Never reads the journal itself.

use super::Scheduler;
use super::policy::{Full, Pushed, Wanted};
use crate::inbound::queue::{Entry, Hold, Kind, QueueKey};
use crate::schedule::bucket::Tick;

impl Scheduler {
    /// Leaves an entry in the journal and remembers that its queue goes on there.
    pub(super) fn hold(&mut self, key: QueueKey, id: i64) -> Pushed {
        // The records of such queues are bounded like entries.
        let most = 2 * self.policy.max_total as usize;
        if self.backlog.find(&key).is_none() && self.backlog.queues.len() >= most {
            return Pushed::Refused(Full::Total);
        }
        let queue = self.backlog.open(key);
        let hold = Hold {
            after: id.saturating_sub(1),
            last: id,
            asked: None,
            wanted: false,
        };
        self.backlog.queues[queue].set_hold(Some(hold));
        self.want(queue);
        Pushed::Held
    }

    /// Whether the entry is one that its queue left in the journal.
    #[must_use]
    pub fn holds(&self, key: &QueueKey, id: i64) -> bool {
        let queue = self.backlog.find(key);
        let hold = queue.and_then(|queue| self.backlog.queues[queue].hold());
        hold.is_some_and(|hold| id > hold.after)
    }

    /// Puts a queue in line to be read on once half of it is free.
    pub(super) fn want(&mut self, queue: u32) {
        let record = &mut self.backlog.queues[queue];
        let has_room = record.list.len <= self.policy.max_queue_size / 2;
        if let Some(hold) = record.hold_mut()
            && hold.asked.is_none()
            && !hold.wanted
            && has_room
        {
            hold.wanted = true;
            self.wanted.push_back(queue);
        }
    }

    /// A queue that has room again for what stayed in the journal; to be asked after each `next`,
    /// `done`, `remove` and sweep until it says `None`. Each answer must be followed by
    /// one [`refill`](Self::refill) of the same key, also if reading failed.
    pub fn refill_wanted(&mut self) -> Option<Wanted> {
        let total_room = (self.policy.max_total as usize).saturating_sub(self.total());
        if total_room == 0 {
            return None;
        }
        let queue = self.wanted.pop_front()?;
        let record = &mut self.backlog.queues[queue];
        let room = self.policy.max_queue_size.saturating_sub(record.list.len);
        let room = room.min(u32::try_from(total_room).unwrap_or(u32::MAX));
        let key = record.key;
        let hold = record.hold_mut()?;
        hold.wanted = false;
        hold.asked = Some(hold.last);
        Some(Wanted {
            key,
            after: hold.after,
            room,
        })
    }

    /// Brings in what was read from the journal, in order, as far as there is room; their age
    /// counts from now. `more`: the journal has more of this queue than was read (also after a
    /// failure, with nothing read). Commands that wait in slots of their own, entries that were in
    /// memory before and those of other queues are passed over.
    pub fn refill(&mut self, now: Tick, key: QueueKey, entries: Vec<Entry>, mut more: bool) {
        self.advance(now);
        let Some(queue) = self.backlog.find(&key) else {
            return;
        };
        let Some(mut hold) = self.backlog.queues[queue].hold() else {
            return;
        };
        let Some(asked) = hold.asked.take() else {
            return;
        };
        for entry in entries {
            if entry.id <= hold.after || entry.key != key {
                continue;
            }
            if entry.kind == Kind::Now {
                // It has its own slot; the reading must get past it.
                hold.after = entry.id;
                continue;
            }
            let waiting = self.backlog.queues[queue].list.len;
            if waiting >= self.policy.max_queue_size || self.total_full() {
                more = true;
                break;
            }
            hold.after = entry.id;
            self.append(queue, entry);
        }
        // What was held after the question may be missing from the answer.
        more |= hold.last > asked.max(hold.after);
        self.backlog.queues[queue].set_hold(more.then_some(hold));
        self.settle(queue);
    }
}
