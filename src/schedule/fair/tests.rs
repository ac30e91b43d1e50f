mod block;
mod fairness;
mod model;
mod order;
mod rules;
mod soak;
mod waits;

use super::*;
use crate::inbound::queue::{Dropped, Entry, Kind};
use crate::schedule::bucket::Rate;
use crate::schedule::lane::Lane;

const SECOND: Tick = 1_000_000;

/// No limits but the sizes.
fn policy() -> Policy {
    Policy {
        max_queue_size: 1_000,
        max_total: 1_000_000,
        max_bytes: 1 << 26,
        overflow: Overflow::DropOldest,
        max_age: Duration::ZERO,
        messages_per_request: 5,
        user: Rate::UNLIMITED,
        manual: None,
        max_turns_per_user: 1,
        aging_interval: Duration::from_secs(10),
        debounce: Duration::ZERO,
        debounce_max: Duration::ZERO,
    }
}

/// A direct message of a person in a conversation, keyed by both.
fn message(id: i64, person: i64, conversation: i64) -> Entry {
    Entry {
        id,
        key: QueueKey {
            account: 1,
            conversation,
            person,
        },
        account: 1,
        conversation,
        person,
        kind: Kind::Message,
        lane: Lane::Direct,
        priority: 0,
        single: false,
        body: Some(format!("body {id}").into()),
    }
}

fn command(id: i64, person: i64, conversation: i64, kind: Kind) -> Entry {
    Entry {
        kind,
        lane: Lane::Command,
        ..message(id, person, conversation)
    }
}

/// The same entry in a queue that all people of the conversation share.
fn shared(entry: Entry) -> Entry {
    Entry {
        key: QueueKey {
            person: 0,
            ..entry.key
        },
        ..entry
    }
}

#[track_caller]
fn run(scheduler: &mut Scheduler, now: Tick) -> Batch {
    match scheduler.next(now, true) {
        Next::Run(batch) => batch,
        Next::Wait(at) => panic!("nothing to run at {now}, wait for {at:?}"),
    }
}

#[track_caller]
fn waits(scheduler: &mut Scheduler, now: Tick) -> Option<Tick> {
    match scheduler.next(now, true) {
        Next::Wait(at) => at,
        Next::Run(batch) => panic!("{batch:?} at {now}"),
    }
}

fn ids(batch: &Batch) -> Vec<i64> {
    batch.entries.iter().map(|entry| entry.id).collect()
}

/// Runs a turn of no length and tells its ids.
#[track_caller]
fn turn(scheduler: &mut Scheduler, now: Tick) -> Vec<i64> {
    let batch = run(scheduler, now);
    assert!(scheduler.done(batch.token, now));
    ids(&batch)
}

/// The ids that were dropped for a pushed entry.
fn displaced(pushed: Pushed) -> Vec<i64> {
    let Pushed::Displaced(gone) = pushed else {
        panic!("{pushed:?} dropped nothing");
    };
    gone.iter().map(|gone| gone.id).collect()
}
