//! The newest history of the conversations in use, kept beside the store.
//!
//! Owns a bounded cache: a turn then needs no read. It holds only what the store holds; a scope that is
//! read while a turn of it ends is not kept, and a reset forgets it. All of it is forgotten when another process
//! has written, or when a turn is to read another number of rows than before. Losing an entry costs one read.

use std::{collections::HashMap, sync::Arc};

use lru::LruCache;
use parking_lot::Mutex;

use crate::store::{History, HistoryScope};

/// Bytes of history in all.
const MAX_BYTES: usize = 8 << 20;
/// What a row takes beside its parts, roughly.
const ROW_BYTES: usize = 96;

/// Recent history by scope.
#[derive(Debug)]
pub struct Recent(Mutex<State>);

#[derive(Debug)]
struct State {
    scopes: LruCache<HistoryScope, Arc<Vec<History>>>,
    bytes: usize,
    /// The store's [`others`](crate::store::Store::others) as of the last look.
    others: u64,
    /// Rows of each scope that are read and kept at most.
    most: usize,
    /// Reads under way, and whether their scope has changed meanwhile.
    reads: HashMap<HistoryScope, Read>,
}

#[derive(Debug, Default)]
struct Read {
    readers: usize,
    changed: bool,
}

fn size(rows: &[History]) -> usize {
    rows.iter().map(|row| row.parts.len() + ROW_BYTES).sum()
}

impl Default for Recent {
    fn default() -> Self {
        Self(Mutex::new(State {
            // Bounded by bytes.
            scopes: LruCache::unbounded(),
            bytes: 0,
            others: 0,
            most: 0,
            reads: HashMap::new(),
        }))
    }
}

impl Recent {
    /// The rows of a scope, at most so many, or a ticket with which they are to be read and put in. `others` is the
    /// store's.
    ///
    /// # Errors
    /// The ticket; while it lives a change of the scope is noticed.
    pub fn get(
        &self,
        scope: HistoryScope,
        (others, most): (u64, usize),
    ) -> Result<Arc<Vec<History>>, Ticket<'_>> {
        let mut state = self.0.lock();
        let as_of = (state.others, state.most);
        (state.others, state.most) = (others, most);
        if as_of != (others, most) {
            state.forget_all();
        }
        if let Some(rows) = state.scopes.get(&scope) {
            return Ok(Arc::clone(rows));
        }
        state.reads.entry(scope).or_default().readers += 1;
        Err(Ticket {
            recent: self,
            scope,
        })
    }

    /// A turn appended rows; at most so many of the newest are kept.
    pub fn append(&self, scope: HistoryScope, rows: &[History], most: usize) {
        let mut state = self.0.lock();
        // A turn that began before more were wanted cuts what is kept.
        state.most = state.most.min(most);
        state.touch(scope);
        if let Some(mut known) = state.take(scope) {
            let list = Arc::make_mut(&mut known);
            list.extend_from_slice(rows);
            let surplus = list.len().saturating_sub(most);
            list.drain(..surplus);
            state.put(scope, known);
        }
    }

    /// What is kept of a scope holds no longer.
    pub fn forget(&self, scope: HistoryScope) {
        let mut state = self.0.lock();
        state.touch(scope);
        state.take(scope);
    }

    /// Nothing that is kept holds any longer.
    pub fn clear(&self) {
        self.0.lock().forget_all();
    }
}

impl State {
    fn touch(&mut self, scope: HistoryScope) {
        if let Some(read) = self.reads.get_mut(&scope) {
            read.changed = true;
        }
    }

    fn forget_all(&mut self) {
        self.reads.values_mut().for_each(|read| read.changed = true);
        self.scopes.clear();
        self.bytes = 0;
    }

    fn take(&mut self, scope: HistoryScope) -> Option<Arc<Vec<History>>> {
        let rows = self.scopes.pop(&scope)?;
        self.bytes -= size(&rows);
        Some(rows)
    }

    fn put(&mut self, scope: HistoryScope, rows: Arc<Vec<History>>) {
        self.bytes += size(&rows);
        self.scopes.put(scope, rows);
        while self.bytes > MAX_BYTES
            && let Some((_, oldest)) = self.scopes.pop_lru()
        {
            self.bytes -= size(&oldest);
        }
    }
}

/// The right to put in what was read of a scope.
#[derive(Debug)]
pub struct Ticket<'a> {
    recent: &'a Recent,
    scope: HistoryScope,
}

impl Ticket<'_> {
    /// Keeps what was read, unless the scope has changed since the ticket was given.
    pub fn put(self, rows: &Arc<Vec<History>>) {
        let mut state = self.recent.0.lock();
        let changed = state.reads.get(&self.scope).is_none_or(|read| read.changed);
        if !changed && !state.scopes.contains(&self.scope) {
            state.put(self.scope, Arc::clone(rows));
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.recent.0.lock();
        if let Some(read) = state.reads.get_mut(&self.scope) {
            read.readers -= 1;
            if read.readers == 0 {
                state.reads.remove(&self.scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Role;

    fn scope(conversation: i64) -> HistoryScope {
        HistoryScope {
            conversation,
            person: 0,
        }
    }

    fn rows(texts: &[&str]) -> Vec<History> {
        let row = |text: &&str| History {
            role: Role::User,
            turn: 1,
            at: 0,
            parts: (*text).to_owned(),
        };
        texts.iter().map(row).collect()
    }

    /// Nobody else writes, and nine rows are read.
    const USUAL: (u64, usize) = (0, 9);

    fn fill(recent: &Recent, conversation: i64, texts: &[&str]) {
        let ticket = recent.get(scope(conversation), USUAL).unwrap_err();
        ticket.put(&Arc::new(rows(texts)));
    }

    fn texts(recent: &Recent, conversation: i64) -> Option<Vec<String>> {
        let rows = recent.get(scope(conversation), USUAL).ok()?;
        Some(rows.iter().map(|row| row.parts.clone()).collect())
    }

    #[test]
    fn what_is_appended_is_there_and_old_rows_go() {
        let recent = Recent::default();
        fill(&recent, 1, &["a", "b", "c", "d", "e", "f", "g", "h"]);
        recent.append(scope(1), &rows(&["i", "j"]), 9);
        assert_eq!(texts(&recent, 1).unwrap().first().unwrap(), "b");
        recent.append(scope(2), &rows(&["x"]), 9);
        assert_eq!(texts(&recent, 2), None, "the rest of it is in the store");
    }

    #[test]
    fn where_another_number_is_read_all_are_read_anew() {
        for more in [8, 10] {
            let recent = Recent::default();
            fill(&recent, 1, &["a"]);
            assert!(recent.get(scope(1), (0, more)).is_err(), "{more}");
        }
        let recent = Recent::default();
        fill(&recent, 1, &["a", "b", "c"]);
        recent.append(scope(1), &rows(&["d"]), 2);
        assert_eq!(texts(&recent, 1), None, "it was cut");
    }

    #[test]
    fn a_read_that_raced_with_a_turn_is_not_kept() {
        let recent = Recent::default();
        let ticket = recent.get(scope(1), USUAL).unwrap_err();
        recent.append(scope(1), &rows(&["new"]), 9);
        ticket.put(&Arc::new(rows(&["old"])));
        assert_eq!(texts(&recent, 1), None);
        fill(&recent, 1, &["old", "new"]);
        assert_eq!(texts(&recent, 1).unwrap().len(), 2);
        recent.forget(scope(1));
        assert_eq!(texts(&recent, 1), None, "a reset");
        assert!(recent.0.lock().reads.is_empty());
    }

    #[test]
    fn what_others_wrote_forgets_what_is_known_and_what_is_being_read() {
        let recent = Recent::default();
        fill(&recent, 1, &["old"]);
        let ticket = recent.get(scope(2), USUAL).unwrap_err();
        drop(recent.get(scope(1), (1, 9)).unwrap_err());
        ticket.put(&Arc::new(rows(&["old"])));
        assert!(recent.get(scope(2), (1, 9)).is_err());
        assert_eq!(recent.0.lock().bytes, 0);
    }

    #[test]
    fn the_bytes_are_bounded() {
        let recent = Recent::default();
        let text = "x".repeat(100_000);
        for conversation in 0..500 {
            fill(&recent, conversation, &[&text]);
        }
        let state = recent.0.lock();
        assert!(state.bytes <= MAX_BYTES);
        let counted: usize = state.scopes.iter().map(|(_, rows)| size(rows)).sum();
        assert_eq!(state.bytes, counted);
        drop(state);
        assert!(texts(&recent, 499).is_some(), "the newest stays");
    }
}
