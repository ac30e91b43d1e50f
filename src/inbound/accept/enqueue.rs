//! What was journaled goes into its queue, or runs at once.
//!
//! Owns what is noted of messages that give way. It runs on the journal's thread, never waits and never writes.

use std::sync::Arc;

use weirgate_sdk::Outcome;

use super::{Known, Open, Shared};
use crate::{
    inbound::{notice::Subject, queue::Entry},
    reason::Reason,
    schedule::fair::{Full, Pushed},
    store::{Accepted, Waiting},
    telemetry::metrics::{self, Queue},
};

impl Shared {
    pub(super) fn queue(self: &Arc<Self>, row: Accepted, known: Known, permit: &Open) -> Outcome {
        let parts = &self.parts;
        if row.duplicate {
            parts.traces.note(row.id, Reason::Duplicate, known.at);
            Queue::Intake.dropped(Reason::Duplicate, 1);
            return Outcome::Duplicate;
        }
        metrics::accepted();
        parts.directory.learn(
            row.conversation,
            &known.conversation,
            row.person,
            &known.person,
        );
        if row.new_person {
            parts.directory.learn_new(row.person);
        }
        let Some((kind, lane, single)) = known.route.queued() else {
            self.control(row, known, permit);
            return Outcome::Accepted(row.id);
        };
        let entry = Entry {
            id: row.id,
            key: parts.keying.key(row.account, row.conversation, row.person),
            account: row.account,
            conversation: row.conversation,
            person: row.person,
            kind,
            lane,
            priority: known.priority,
            single,
            body: Some(known.body),
        };
        self.enqueue(entry, known.at)
    }

    /// Queues a message, and notes what had to give way.
    pub(super) fn enqueue(&self, entry: Entry, at: i64) -> Outcome {
        let parts = &self.parts;
        let (id, conversation, person) = (entry.id, entry.conversation, entry.person);
        parts.hooks.after_queue(id, conversation, person);
        Queue::Inbound.received(1);
        match parts.dispatch.push(entry) {
            Pushed::Queued => Outcome::Accepted(id),
            Pushed::Held => {
                parts.traces.note(id, Reason::HeldBack, at);
                Outcome::Accepted(id)
            }
            Pushed::Displaced(displaced) => {
                for gone in displaced {
                    let subject = Subject {
                        conversation: gone.conversation,
                        person: gone.person,
                        reason: Reason::QueueFullDroppedOldest,
                    };
                    parts.notices.add(subject, &[gone.id]);
                }
                Outcome::Accepted(id)
            }
            Pushed::Refused(full) => {
                let reason = match full {
                    Full::Queue => Reason::QueueFullRefused,
                    Full::Total => Reason::TotalFull,
                };
                let subject = Subject {
                    conversation,
                    person,
                    reason,
                };
                parts.notices.add(subject, &[id]);
                Outcome::Refused
            }
        }
    }

    fn control(self: &Arc<Self>, row: Accepted, known: Known, permit: &Open) {
        let waiting = Waiting {
            id: row.id,
            account: row.account,
            conversation: row.conversation,
            person: row.person,
            at: known.at,
            route: known.route.code(),
            priority: known.priority,
            attempts: 0,
            body: known.body,
        };
        let agent = Arc::clone(&self.parts.agent);
        // Counts as open until it has run, so that their number is bounded like everything else.
        let permit = Arc::clone(permit);
        self.runtime.spawn(async move {
            let _open = permit;
            agent.control(waiting).await;
        });
    }
}
