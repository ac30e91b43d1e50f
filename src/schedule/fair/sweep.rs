//! What leaves without a turn: entries that are too old, and people whose bucket is full again.
//! Owns the bounded sweep. Never walks over what stays.

use super::policy::Expired;
use super::{Scheduler, waited};
use crate::inbound::queue::slab::NONE;
use crate::inbound::queue::{Kind, Node, QueueKey};
use crate::schedule::bucket::Tick;

impl Scheduler {
    /// Removes at most `limit` expired entries, oldest first, and at most `limit` idle people.
    /// Call it every second or so, and again at once if it returns `limit` entries. It also hands
    /// over what [`next`](Self::next) found too old. Apart from commands in slots of their own,
    /// they count as dropped from their queues.
    pub fn take_expired(&mut self, now: Tick, limit: usize) -> Vec<Expired> {
        self.advance(now);
        while self.expired.len() < limit && self.expire_oldest() {}
        for _ in 0..limit {
            match self.idle.first() {
                Some(&(at, user)) if at <= self.now => self.refresh(user),
                _ => break,
            }
        }
        let count = limit.min(self.expired.len());
        let taken = self.expired.drain(..count).collect();
        if self.expired.is_empty() {
            self.expired.shrink_to(64);
        }
        taken
    }

    /// Sets the oldest of all entries aside if it is too old. It is the head of its list.
    fn expire_oldest(&mut self) -> bool {
        let oldest = self.backlog.oldest;
        if oldest == NONE || !self.is_expired(self.backlog.nodes[oldest].at) {
            return false;
        }
        let node = &self.backlog.nodes[oldest];
        let (kind, queue, id, person) = (node.kind, node.queue, node.id, node.person);
        if kind != Kind::Now {
            let expired = self.expire_head(queue);
            self.settle(queue);
            return expired;
        }
        let Some(user) = self.people.find(person) else {
            return false;
        };
        let key = self.backlog.queues[queue].key;
        let mut list = self.people.users[user].commands;
        let Some(node) = self.backlog.pop(&mut list) else {
            return false;
        };
        self.people.users[user].commands = list;
        self.forget_command(queue, id);
        self.set_aside(key, node);
        self.seat_commands(user);
        true
    }

    /// Sets the too old head of a queue aside, and says whether there was one. The queue wants to
    /// be settled afterwards.
    pub(super) fn expire_head(&mut self, queue: u32) -> bool {
        let mut list = self.backlog.queues[queue].list;
        if list.head == NONE || !self.is_expired(self.backlog.nodes[list.head].at) {
            return false;
        }
        if let Some(node) = self.backlog.pop(&mut list) {
            let record = &mut self.backlog.queues[queue];
            record.list = list;
            record.count_dropped(self.now);
            let key = record.key;
            self.set_aside(key, node);
        }
        true
    }

    pub(super) fn set_aside(&mut self, key: QueueKey, node: Node) {
        self.expired.push_back(Expired {
            id: node.id,
            key,
            account: node.account,
            conversation: node.conversation,
            person: node.person,
            kind: node.kind,
            lane: node.lane,
            waited: waited(node.at, self.now),
        });
    }
}
