//! The line of conversations that wait for the pace of their account.
//!
//! Owns the order: who came first goes first, and who was served stands behind everybody else. It knows neither time nor
//! tokens. As long as the conversations that send now, which the deliverer bounds.

use std::collections::{BTreeMap, HashMap};

/// Who waits, each once.
#[derive(Debug, Default)]
pub(super) struct Line {
    places: BTreeMap<u64, i64>,
    numbers: HashMap<i64, u64>,
    next: u64,
}

impl Line {
    /// Nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// How many come before a conversation: all of them, if it does not wait yet.
    pub(super) fn ahead_of(&self, conversation: i64) -> usize {
        match self.numbers.get(&conversation) {
            Some(number) => self.places.range(..number).count(),
            None => self.places.len(),
        }
    }

    /// A conversation waits: behind everybody, or where it stands already.
    pub(super) fn enter(&mut self, conversation: i64) {
        let number = self.next;
        if self.numbers.contains_key(&conversation) {
            return;
        }
        self.numbers.insert(conversation, number);
        self.places.insert(number, conversation);
        self.next += 1;
    }

    /// A conversation does not wait any more.
    pub(super) fn leave(&mut self, conversation: i64) {
        if let Some(number) = self.numbers.remove(&conversation) {
            self.places.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_came_first_is_first_and_who_left_is_behind_all() {
        let mut line = Line::default();
        for conversation in [5, 3, 5, 9] {
            line.enter(conversation);
        }
        let ahead = |line: &Line| [5, 3, 9, 7].map(|conversation| line.ahead_of(conversation));
        assert_eq!(ahead(&line), [0, 1, 2, 3]);
        line.leave(3);
        line.leave(3);
        assert_eq!(ahead(&line), [0, 2, 1, 2]);
        line.leave(5);
        line.enter(5);
        assert_eq!(ahead(&line), [1, 2, 0, 2]);
        line.leave(5);
        line.leave(9);
        assert!(line.is_empty());
    }
}
