//! Why entries wait: one note for each entry and kind of waiting, taken away by the caller.
//! Owns the notes that nobody has taken yet. Never changes what runs; beyond its bound a note is lost,
//! which costs an explanation.

use super::Scheduler;
use super::policy::Wait;
use crate::inbound::queue::Kind;
use crate::inbound::queue::slab::NONE;

/// Notes, and people who came to compete, between two calls that take them.
const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Waits {
    /// Entries, by id, and why they wait.
    notes: Vec<(i64, Wait)>,
    /// People of whom a line of messages was listed since `next` last had to wait.
    fresh: Vec<i64>,
}

impl Waits {
    /// A line of this person competes for the model from now on.
    pub(super) fn listed(&mut self, person: i64) {
        if self.fresh.len() < MOST {
            self.fresh.push(person);
        }
    }
}

impl Scheduler {
    /// Which entries began to wait, and why, since the last call. An entry has at most one note of
    /// each kind; what runs at once has none, nor has one that joins the entries before it.
    pub fn take_waits(&mut self) -> Vec<(i64, Wait)> {
        std::mem::take(&mut self.waits.notes)
    }

    /// Notes why an entry waits, once.
    pub(super) fn waits(&mut self, node: u32, why: Wait) {
        if node == NONE || self.waits.notes.len() >= MOST {
            return;
        }
        let record = &mut self.backlog.nodes[node];
        let kind = match why {
            Wait::Pause => 0,
            Wait::Token => 1,
            Wait::Turn => 2,
            Wait::Model => 3,
        };
        if record.marks.note(kind) {
            self.waits.notes.push((record.id, why));
        }
    }

    /// Notes why the first entry of a line waits.
    pub(super) fn line_waits(&mut self, line: u32, why: Wait) {
        let record = &self.people.lines[line];
        let head = match (record.kind, record.head) {
            (Kind::Now, _) => self.people.users[record.user].commands.head,
            (_, NONE) => NONE,
            (_, queue) => self.backlog.queues[queue].list.head,
        };
        self.waits(head, why);
    }

    /// Nothing can start: what was listed meanwhile waits for the model, or for the gateway's tokens.
    pub(super) fn nothing_starts(&mut self, model_free: bool) {
        let mut fresh = std::mem::take(&mut self.waits.fresh);
        if self.messages.best(self.aging()).is_some() {
            let why = if model_free { Wait::Token } else { Wait::Model };
            for person in &fresh {
                self.person_waits(*person, why);
            }
        }
        // Its memory is used again.
        fresh.clear();
        self.waits.fresh = fresh;
    }

    fn person_waits(&mut self, person: i64, why: Wait) {
        let Some(user) = self.people.find(person) else {
            return;
        };
        let mut line = self.people.users[user].lines;
        while line != NONE {
            let record = &self.people.lines[line];
            let (listed, next) = (record.place != NONE, record.next);
            if listed && record.kind == Kind::Message {
                self.line_waits(line, why);
            }
            line = next;
        }
    }
}
