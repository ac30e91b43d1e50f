//! Updates that wait for the bot.
//!
//! Owns their numbers, and which of them the bot has confirmed. They are forgotten only when it asks for later ones.

use std::collections::VecDeque;

use serde_json::Value;

/// The updates of the bot.
#[derive(Debug)]
pub(super) struct Updates {
    next: i64,
    /// Those that are not confirmed, with the person they are about.
    waiting: VecDeque<(i64, Option<i64>, Value)>,
    /// The persons of those that are.
    confirmed: Vec<Option<i64>>,
    /// Delivered whatever was confirmed.
    insisted: VecDeque<Value>,
    /// The newest about each person.
    newest: Vec<(i64, Value)>,
    /// How many were ever given out.
    given: usize,
}

impl Default for Updates {
    fn default() -> Self {
        Self {
            next: 500,
            waiting: VecDeque::new(),
            confirmed: Vec::new(),
            insisted: VecDeque::new(),
            newest: Vec::new(),
            given: 0,
        }
    }
}

impl Updates {
    /// Adds an update.
    pub(super) fn push(&mut self, mut update: Value, user: Option<i64>) {
        let id = self.next;
        self.next += 1;
        update["update_id"] = id.into();
        if let Some(user) = user {
            self.newest.retain(|(known, _)| *known != user);
            self.newest.push((user, update.clone()));
        }
        self.waiting.push_back((id, user, update));
    }

    pub(super) fn insist(&mut self, update: Value) {
        self.insisted.push_back(update);
    }

    pub(super) fn repeat(&mut self, user: i64) {
        let found = self.newest.iter().find(|(known, _)| *known == user);
        if let Some((_, update)) = found {
            self.insisted.push_back(update.clone());
        }
    }

    pub(super) fn number_from(&mut self, id: i64) {
        self.next = id;
    }

    pub(super) fn confirmed(&self, user: i64) -> usize {
        let of = self.confirmed.iter().filter(|about| **about == Some(user));
        of.count()
    }

    /// Forgets what lies before `offset`.
    pub(super) fn forget(&mut self, offset: i64) {
        while let Some((id, user, _)) = self.waiting.front() {
            if *id >= offset {
                break;
            }
            self.confirmed.push(*user);
            self.waiting.pop_front();
        }
    }

    /// The oldest that wait, and what is insisted on. A press that was not asked for never comes.
    pub(super) fn take(&mut self, limit: usize, allowed: &Value) -> Vec<Value> {
        let kinds = allowed.as_array().map(Vec::as_slice).unwrap_or_default();
        if !kinds.iter().any(|kind| kind == "callback_query") {
            self.waiting
                .retain(|(_, _, update)| update["callback_query"].is_null());
        }
        let insisted = self.insisted.drain(..);
        let waiting = self.waiting.iter().map(|(_, _, update)| update.clone());
        let found: Vec<Value> = insisted.chain(waiting).take(limit).collect();
        self.given = self.given.max(self.confirmed.len() + found.len());
        found
    }

    /// What is insisted on, then the oldest that waits with its number, to be posted.
    pub(super) fn first(&self) -> Option<(Option<i64>, Value)> {
        if let Some(insisted) = self.insisted.front() {
            return Some((None, insisted.clone()));
        }
        let (id, _, update) = self.waiting.front()?;
        Some((Some(*id), update.clone()))
    }

    /// The first was posted and taken.
    pub(super) fn posted(&mut self, id: Option<i64>) {
        match id {
            Some(id) => self.forget(id + 1),
            None => {
                self.insisted.pop_front();
            }
        }
    }

    /// How many were given out so far.
    pub(super) fn given(&self) -> usize {
        self.given
    }
}
