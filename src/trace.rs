//! Why something happened to a message: every reason leaves a metric, a log line and a trace entry.
//!
//! Owns the bounded memory of recent reasons that /why shows. It never decides and never notifies
//! anybody; a lost entry costs an explanation, nothing else.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::Timestamp;

use crate::{reason::Reason, telemetry::metrics};

/// Messages or turns that are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");
/// Steps that are remembered of one message.
const STEPS: usize = 16;

/// The recent reasons of messages and turns, by journal id.
#[derive(Debug)]
pub struct Traces {
    recent: Mutex<LruCache<i64, Vec<(Timestamp, Reason)>>>,
}

impl Default for Traces {
    fn default() -> Self {
        Self {
            recent: Mutex::new(LruCache::new(REMEMBERED)),
        }
    }
}

impl Traces {
    /// Notes that `reason` holds for the message or turn `id`.
    pub fn note(&self, id: i64, reason: Reason, at: Timestamp) {
        metrics::reason(reason);
        tracing::debug!(turn = %turn_id(id), reason = reason.code(), "noted");
        let mut recent = self.recent.lock();
        let steps = recent.get_or_insert_mut(id, Vec::new);
        if steps.len() < STEPS {
            steps.push((at, reason));
        }
    }

    /// Counts and logs a reason that belongs to no message.
    pub fn count(&self, reason: Reason) {
        metrics::reason(reason);
        tracing::trace!(reason = reason.code(), "noted");
    }

    /// The steps of a message, oldest first.
    #[must_use]
    pub fn of(&self, id: i64) -> Vec<(Timestamp, Reason)> {
        self.recent.lock().peek(&id).cloned().unwrap_or_default()
    }
}

/// The turn id as people and logs see it: `t` and the journal id of the first message.
#[must_use]
pub fn turn_id(id: i64) -> String {
    format!("t{id}")
}
