//! One at a time for what is done to one person: what is read of him holds until the turn that read it has ended.
//!
//! Owns the locks, as many as turns hold or wait for. They hold in this process, which has the account alone.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// A conversation's number, and the id of somebody in it.
type Key = (i64, String);

/// Who is dealt with now.
#[derive(Debug, Default)]
pub struct OneAtATime(Mutex<HashMap<Key, Weak<tokio::sync::Mutex<()>>>>);

/// Nobody else deals with this person as long as this lives.
#[derive(Debug)]
#[must_use = "it ends with this"]
pub struct Alone {
    _lock: OwnedMutexGuard<()>,
}

impl OneAtATime {
    /// Waits until nobody else deals with this person. Whoever has one must not wait for another.
    pub async fn with(&self, conversation: i64, user: &str) -> Alone {
        let lock = {
            let mut locks = self.0.lock();
            locks.retain(|_, lock| lock.strong_count() > 0);
            let key = (conversation, user.to_owned());
            let known = locks.get(&key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::default();
                locks.insert(key, Arc::downgrade(&lock));
                lock
            })
        };
        Alone {
            _lock: lock.lock_owned().await,
        }
    }
}
