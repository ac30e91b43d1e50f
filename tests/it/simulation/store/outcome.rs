//! What becomes of the outcome of an operation: seen, swallowed or refused.
//!
//! Owns no ledger and no fault; which of them it is, the store around it says.

use std::{any::Any, sync::Arc};

use parking_lot::Mutex;
use weirgate::store::{StoreError, Then, Write};

/// The same operation, of which the ledger notes nothing.
pub fn unwatched(write: Write, mute: Option<Graveyard>) -> Write {
    match write {
        Write::Begin(begin, then) => Write::Begin(begin, watch(then, mute, |_| {})),
        Write::End {
            ends,
            notices,
            then,
        } => {
            let then = watch(then, mute, |_| {});
            Write::End {
                ends,
                notices,
                then,
            }
        }
        Write::Amend { id, body, then } => {
            let then = watch(then, mute, |_| {});
            Write::Amend { id, body, then }
        }
        Write::Step {
            turn,
            step,
            content,
            then,
        } => Write::Step {
            turn,
            step,
            content,
            then: watch(then, mute, |_| {}),
        },
        Write::Meet(meeting, then) => Write::Meet(meeting, watch(then, mute, |_| {})),
        Write::Ambient(row, then) => Write::Ambient(row, watch(then, mute, |_| {})),
        Write::Media(change, then) => Write::Media(change, watch(then, mute, |_| {})),
        Write::Operate(operate, then) => Write::Operate(operate, watch(then, mute, |_| {})),
        Write::Settle(settle, then) => Write::Settle(settle, watch(then, mute, |_| {})),
        Write::Erase(erase, then) => Write::Erase(erase, watch(then, mute, |_| {})),
        Write::Memory(changes, then) => Write::Memory(changes, watch(then, mute, |_| {})),
        Write::Compact(rows, then) => Write::Compact(rows, watch(then, mute, |_| {})),
        Write::Performed(performed, then) => Write::Performed(performed, watch(then, mute, |_| {})),
        other => other,
    }
}

/// Answers that nobody gets. Whoever waits for one waits until the process is gone, and so must the
/// answer: emptied by the store's `bury`.
pub type Graveyard = Arc<Mutex<Vec<Box<dyn Any + Send>>>>;

/// The outcome, with a note of it first if it is a success.
pub fn watch<T: 'static>(
    then: Then<T>,
    mute: Option<Graveyard>,
    note: impl FnOnce(&T) + Send + 'static,
) -> Then<T> {
    Box::new(move |result| {
        if let Ok(value) = &result {
            note(value);
        }
        match mute {
            Some(graveyard) => graveyard.lock().push(Box::new(then)),
            None => then(result),
        }
    })
}

/// Fails an operation.
pub fn refuse(write: Write) {
    let error = || StoreError::Database("scripted".into());
    match write {
        Write::Accept { then, .. } => then(Err(error())),
        Write::Begin(_, then) => then(Err(error())),
        Write::Meet(_, then) => then(Err(error())),
        Write::Operate(_, then) => then(Err(error())),
        Write::Settle(_, then) => then(Err(error())),
        Write::Erase(_, then) => then(Err(error())),
        Write::Compact(_, then) => then(Err(error())),
        Write::Finish(_, then)
        | Write::Performed(_, then)
        | Write::Memory(_, then)
        | Write::End { then, .. } => {
            then(Err(error()));
        }
        Write::Intent { then, .. }
        | Write::Receipt(_, then)
        | Write::Amend { then, .. }
        | Write::Step { then, .. }
        | Write::Ambient(_, then)
        | Write::Media(_, then) => then(Err(error())),
    }
}
