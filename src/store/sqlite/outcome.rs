//! What an operation returns, and how it reaches the caller.
//!
//! Owns the one place where `then` is called. It never touches the database.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::writer::Settled;
use crate::store::{Accepted, Operated, StoreError, Then, Write};

/// The result of a committed operation.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing but success.
    Unit,
    /// The number of an attempt.
    Attempt(u32),
    /// Ids of new rows.
    Ids(Vec<i64>),
    /// The numbers of a conversation and a person.
    Met(i64, i64),
    /// Of an accept.
    Accepted(Vec<Accepted>),
    /// Of an operator's action.
    Operated(Operated),
    /// Of a pending action's end: the ids of its notices, if this ended it.
    Settled(Option<Vec<i64>>),
    /// Where the next slice begins.
    Next(Option<i64>),
    /// Whether it was done.
    Whether(bool),
}

/// Tells the callers, in order.
pub fn settle(settled: impl IntoIterator<Item = Settled>) {
    for (write, result) in settled {
        let kind = write.kind();
        // A caller's mistake must not take the writer down with it.
        if catch_unwind(AssertUnwindSafe(|| tell(write, result))).is_err() {
            tracing::error!(kind, "a continuation of the store panicked");
        }
    }
}

fn tell(write: Write, result: Result<Outcome, StoreError>) {
    match write {
        Write::Accept { then, .. } => call(then, result, |outcome| match outcome {
            Outcome::Accepted(accepted) => Some(accepted),
            _ => None,
        }),
        Write::Begin(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Attempt(attempt) => Some(attempt),
            _ => None,
        }),
        Write::Finish(_, then)
        | Write::Performed(_, then)
        | Write::Memory(_, then)
        | Write::End { then, .. } => {
            call(then, result, |outcome| match outcome {
                Outcome::Ids(ids) => Some(ids),
                _ => None,
            });
        }
        Write::Meet(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Met(conversation, person) => Some((conversation, person)),
            _ => None,
        }),
        Write::Operate(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Operated(operated) => Some(operated),
            _ => None,
        }),
        Write::Settle(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Settled(settled) => Some(settled),
            _ => None,
        }),
        Write::Erase(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Next(next) => Some(next),
            _ => None,
        }),
        Write::Compact(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Whether(done) => Some(done),
            _ => None,
        }),
        Write::Intent { then, .. }
        | Write::Receipt(_, then)
        | Write::Amend { then, .. }
        | Write::Step { then, .. }
        | Write::Ambient(_, then)
        | Write::Media(_, then) => call(then, result, |outcome| match outcome {
            Outcome::Unit => Some(()),
            _ => None,
        }),
    }
}

fn call<T>(
    then: Then<T>,
    result: Result<Outcome, StoreError>,
    read: impl FnOnce(Outcome) -> Option<T>,
) {
    then(result.and_then(|outcome| {
        read(outcome).ok_or_else(|| StoreError::Database("an outcome of another kind".to_owned()))
    }));
}
