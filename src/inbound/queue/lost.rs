//! What was dropped from queues that are empty by now, until their next turn can tell.
//! Owns a bounded number of counts; when it is full the oldest count is forgotten. Never keeps the
//! dropped messages themselves: the journal knows them.

use super::{Dropped, QueueKey};
use std::collections::{BTreeMap, HashMap};

/// Counts that are kept for idle queues, in all.
pub(crate) const MAX_LOST: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Lost {
    counts: HashMap<QueueKey, (u64, Dropped)>,
    order: BTreeMap<u64, QueueKey>,
    serial: u64,
}

impl Lost {
    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn put(&mut self, key: QueueKey, dropped: Dropped) {
        self.serial += 1;
        if let Some((old, _)) = self.counts.insert(key, (self.serial, dropped)) {
            self.order.remove(&old);
        }
        self.order.insert(self.serial, key);
        if self.counts.len() > MAX_LOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.counts.remove(&oldest);
        }
    }

    pub(crate) fn take(&mut self, key: &QueueKey) -> Option<Dropped> {
        let (serial, dropped) = self.counts.remove(key)?;
        self.order.remove(&serial);
        Some(dropped)
    }
}
