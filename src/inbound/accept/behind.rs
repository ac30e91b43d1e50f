//! Cursors that stand behind edits, recalls and stops.
//!
//! Owns which cursors are stored later than the messages of their batch. What a batch changes is carried out after it is
//! journaled; a platform that reads in the stored cursor that it may forget an edit would not tell it again after a
//! crash in between. So the cursor of such a batch waits for its changes, and those of the batches behind it wait as
//! well. One that is never stored does no harm: what comes again was accepted before. It never writes.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use weirgate_sdk::{AccountName, Cursor, Platform};

/// An account.
type Key = (Platform, AccountName);

/// The accounts that have batches whose cursors wait. One that has none has no entry.
#[derive(Debug, Default)]
pub(super) struct Behind(Mutex<HashMap<Key, Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    batches: usize,
    /// One of them could not be carried out and comes again; nothing behind it counts as read.
    failed: bool,
}

/// A batch whose cursor waits. Dropping it says that it could not be carried out.
#[derive(Debug)]
pub(super) struct Place {
    behind: Arc<Behind>,
    key: Key,
    cursor: Option<Cursor>,
    carried_out: bool,
}

impl Behind {
    /// The place of a batch that changes something, or whose cursor has to wait for others; takes its cursor away.
    pub(super) fn place(
        self: &Arc<Self>,
        (platform, account): (&Platform, &AccountName),
        changes: bool,
        cursor: &mut Option<Cursor>,
    ) -> Option<Place> {
        let key = (platform.clone(), account.clone());
        let mut accounts = self.0.lock();
        if !changes && (cursor.is_none() || !accounts.contains_key(&key)) {
            return None;
        }
        accounts.entry(key.clone()).or_default().batches += 1;
        Some(Place {
            behind: Arc::clone(self),
            key,
            cursor: cursor.take(),
            carried_out: false,
        })
    }
}

impl Place {
    /// Everything up to here is carried out: whose cursor can be stored now, if there is one that may be.
    pub(super) fn cursor(&mut self) -> Option<(Platform, AccountName, Cursor)> {
        let accounts = self.behind.0.lock();
        let failed = accounts
            .get(&self.key)
            .is_some_and(|waiting| waiting.failed);
        let cursor = self.cursor.take().filter(|_| !failed)?;
        let (platform, account) = self.key.clone();
        Some((platform, account, cursor))
    }

    /// The changes are carried out, and the cursor is stored.
    pub(super) fn carried_out(mut self) {
        self.carried_out = true;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut accounts = self.behind.0.lock();
        let Some(waiting) = accounts.get_mut(&self.key) else {
            return;
        };
        waiting.batches = waiting.batches.saturating_sub(1);
        waiting.failed |= !self.carried_out;
        if waiting.batches == 0 {
            accounts.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(value: &str) -> Option<Cursor> {
        Some(Cursor {
            bot: "1".into(),
            value: value.to_owned(),
        })
    }

    fn place(behind: &Arc<Behind>, account: &str, changes: bool, value: &str) -> Option<Place> {
        let mut own = cursor(value);
        let at = (&Platform::from("p"), &AccountName::from(account));
        let place = behind.place(at, changes, &mut own);
        assert_eq!(own.is_none(), place.is_some(), "it is in one of the two");
        place
    }

    fn stored(mut place: Place) -> Option<String> {
        let cursor = place.cursor().map(|(_, _, cursor)| cursor.value);
        place.carried_out();
        cursor
    }

    #[test]
    fn cursors_wait_behind_a_change_of_their_account_and_no_longer() {
        let behind = Arc::new(Behind::default());
        assert!(place(&behind, "a", false, "1").is_none());
        let edit = place(&behind, "a", true, "2").expect("it waits");
        let later = place(&behind, "a", false, "3").expect("it waits too");
        assert!(place(&behind, "b", false, "1").is_none(), "another account");
        assert_eq!(stored(edit).as_deref(), Some("2"));
        let last = place(&behind, "a", false, "4").expect("one waits still");
        assert_eq!(stored(later).as_deref(), Some("3"));
        assert_eq!(stored(last).as_deref(), Some("4"));
        assert!(place(&behind, "a", false, "5").is_none());
        assert!(behind.0.lock().is_empty());
    }

    #[test]
    fn nothing_behind_a_change_that_failed_counts_as_read() {
        let behind = Arc::new(Behind::default());
        let edit = place(&behind, "a", true, "1").expect("it waits");
        let later = place(&behind, "a", false, "2").expect("it waits too");
        drop(edit);
        assert_eq!(stored(later), None);
        let again = place(&behind, "a", true, "1").expect("it comes again");
        assert_eq!(stored(again).as_deref(), Some("1"));
    }

    #[test]
    fn a_batch_without_a_cursor_holds_those_behind_it() {
        let behind = Arc::new(Behind::default());
        let at = (&Platform::from("p"), &AccountName::from("a"));
        assert!(behind.place(at, false, &mut None).is_none());
        let edit = behind
            .place(at, true, &mut None)
            .expect("it changes something");
        assert!(
            behind.place(at, false, &mut None).is_none(),
            "nothing to hold"
        );
        let later = place(&behind, "a", false, "2").expect("it waits");
        assert_eq!(stored(edit), None);
        assert_eq!(stored(later).as_deref(), Some("2"));
    }
}
