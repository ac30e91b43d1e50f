//! The people who have something to run: their buckets, their turns in flight, and their lines.
//! Owns one record for each person until his bucket is full again, and one line for each kind and
//! level at which queues of his are ready. Never decides who is next.

use crate::inbound::queue::slab::{NONE, Slab};
use crate::inbound::queue::{Kind, List, shrink};
use crate::schedule::bucket::{Gcra, Tick};
use std::collections::HashMap;

/// No tick.
pub(super) const NEVER: Tick = Tick::MAX;

#[derive(Debug, Default)]
pub(super) struct User {
    pub(super) person: i64,
    pub(super) bucket: Gcra,
    /// When to look at him again, or `NEVER`: his tokens, or, if idle, his full bucket.
    pub(super) timer: Tick,
    pub(super) idle: bool,
    /// Whether a command runs in his slot for commands.
    pub(super) commands_running: bool,
    pub(super) turns: u32,
    /// The first of his lines.
    pub(super) lines: u32,
    /// Commands that wait for his slot.
    pub(super) commands: List,
}

/// Ready queues of one person, of one kind and level, served in turn; or his slot for commands.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) user: u32,
    pub(super) next: u32,
    pub(super) head: u32,
    pub(super) tail: u32,
    /// The place on the ladder, or `NONE`.
    pub(super) place: u32,
    pub(super) kind: Kind,
    pub(super) level: u8,
    /// Since when it waits to be served: decides between the lines of one person.
    pub(super) since: Tick,
    /// Since when it competes with other people, or `NEVER`. It stays while the line loses its
    /// place to another line of the same person.
    pub(super) listed: Tick,
}

#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) users: Slab<User>,
    pub(super) lines: Slab<Line>,
    index: HashMap<i64, u32>,
}

impl People {
    /// Slots of the table.
    #[cfg(test)]
    pub(super) fn tables(&self) -> usize {
        self.index.capacity()
    }

    pub(super) fn find(&self, person: i64) -> Option<u32> {
        self.index.get(&person).copied()
    }

    pub(super) fn open(&mut self, person: i64) -> u32 {
        if let Some(user) = self.find(person) {
            return user;
        }
        let user = User {
            person,
            timer: NEVER,
            lines: NONE,
            ..User::default()
        };
        let user = self.users.insert(user);
        self.index.insert(person, user);
        user
    }

    /// The same, spared the table if the record in hand is his.
    pub(super) fn open_likely(&mut self, person: i64, likely: u32) -> u32 {
        if likely != NONE && self.users[likely].person == person {
            return likely;
        }
        self.open(person)
    }

    pub(super) fn remove(&mut self, user: u32) {
        let user = self.users.remove(user);
        self.index.remove(&user.person);
        shrink(&mut self.index);
    }

    pub(super) fn user_records(&self) -> Vec<u32> {
        self.index.values().copied().collect()
    }

    /// The person's line of this kind and level, made if there is none. He has at most one for
    /// each level and kind, mostly one in all.
    pub(super) fn open_line(&mut self, user: u32, kind: Kind, level: u8, now: Tick) -> u32 {
        let first = self.users[user].lines;
        let mut line = first;
        while line != NONE {
            let record = &self.lines[line];
            if (record.kind, record.level) == (kind, level) {
                return line;
            }
            line = record.next;
        }
        let line = self.lines.insert(Line {
            user,
            next: first,
            head: NONE,
            tail: NONE,
            place: NONE,
            kind,
            level,
            since: now,
            listed: NEVER,
        });
        self.users[user].lines = line;
        line
    }

    /// Removes a line that has left the ladder.
    pub(super) fn close_line(&mut self, line: u32) {
        let gone = self.lines.remove(line);
        let user = &mut self.users[gone.user];
        if user.lines == line {
            user.lines = gone.next;
            return;
        }
        let mut before = user.lines;
        while before != NONE && self.lines[before].next != line {
            before = self.lines[before].next;
        }
        if before != NONE {
            self.lines[before].next = gone.next;
        }
    }

    /// The line of the person's slot for commands, if any wait.
    pub(super) fn command_line(&self, user: u32) -> Option<u32> {
        let mut line = self.users[user].lines;
        while line != NONE && self.lines[line].kind != Kind::Now {
            line = self.lines[line].next;
        }
        (line != NONE).then_some(line)
    }
}
