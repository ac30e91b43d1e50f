//! What runs in the background for a configuration, and is kept over a reload where its settings stay.
//!
//! Owns only who runs: what nobody wants any more ends when the last who holds it lets go.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

/// All of one kind that run.
pub(in crate::agent) struct Kept<T>(Mutex<Vec<Weak<T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl<T> Kept<T> {
    /// Those that are wanted: those that run already with the `same` settings, and others that `start`.
    pub(in crate::agent) fn wanted<'a, S: 'a>(
        &self,
        wanted: impl Iterator<Item = &'a S>,
        same: impl Fn(&T, &S) -> bool,
        start: impl Fn(&S) -> Arc<T>,
    ) -> Vec<Arc<T>> {
        let mut known = self.0.lock();
        let running: Vec<Arc<T>> = known.iter().filter_map(Weak::upgrade).collect();
        let one = |settings: &S| {
            let found = running.iter().find(|one| same(one, settings));
            found.cloned().unwrap_or_else(|| start(settings))
        };
        let all: Vec<Arc<T>> = wanted.map(one).collect();
        known.retain(|one| one.strong_count() > 0);
        for one in &all {
            if !running.iter().any(|old| Arc::ptr_eq(old, one)) {
                known.push(Arc::downgrade(one));
            }
        }
        all
    }
}
