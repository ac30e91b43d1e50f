//! What the writer tells the rest of the store about other processes.
//!
//! Owns how long this process may believe that nobody has taken over, how often others were seen to write, and which
//! leases' messages count as this process's own. It never asks the database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;

use super::lease::SILENT;

/// The share of this process in the database.
#[derive(Debug, Default)]
pub struct Tenure {
    /// When the last word was begun that the database has heard; `None` for a process that only looks.
    said_at: Mutex<Option<Instant>>,
    others: AtomicU64,
    adopted: Mutex<Option<Arc<[i64]>>>,
}

impl Tenure {
    /// The database has heard what was begun at `at`.
    pub fn heard(&self, at: Instant) {
        *self.said_at.lock() = Some(at);
    }

    /// How long ago the last word that was heard was begun is within what others wait for. A process that only
    /// looks is in nobody's way.
    pub fn in_force(&self) -> bool {
        self.said_at.lock().is_none_or(|at| at.elapsed() < SILENT)
    }

    /// Another process has written since this one did last.
    pub fn another_wrote(&self) {
        self.others.fetch_add(1, Ordering::AcqRel);
    }

    /// How often that was seen.
    pub fn others(&self) -> u64 {
        self.others.load(Ordering::Acquire)
    }

    /// What belongs to these leases is this process's own from now on.
    pub fn adopt(&self, leases: &[i64]) {
        let mut adopted = self.adopted.lock();
        let known = adopted.as_deref().unwrap_or_default();
        let new = leases.iter().filter(|lease| !known.contains(lease));
        *adopted = Some(known.iter().chain(new).copied().collect());
    }

    /// From now on only what is adopted is this process's own.
    pub fn begin(&self) {
        self.adopted.lock().get_or_insert_with(Arc::default);
    }

    /// Only these leases are held.
    pub fn keep(&self, held: &[i64]) {
        let mut adopted = self.adopted.lock();
        let known = adopted.as_deref().unwrap_or_default().iter().copied();
        *adopted = Some(known.filter(|lease| held.contains(lease)).collect());
    }

    /// The leases whose messages are this process's own; `None`, which means all, for one that only looks.
    pub fn adopted(&self) -> Option<Arc<[i64]>> {
        self.adopted.lock().clone()
    }
}
