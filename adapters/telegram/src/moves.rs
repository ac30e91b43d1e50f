//! Groups that became supergroups, and so got another number.
//!
//! Owns which number is which. To the gateway a conversation keeps the id under which it was first known, so that its
//! queue, its history, its roles and its settings stay with it; calls go to the present number. The pairs are part of
//! the stored cursor, so that what is known of a move is durable together with the update that told of it; how many of
//! them are stored is known here, because a refused send tells of a move without an update.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use crate::places::is_chat;

/// Moves that are kept: more than a bot meets, because a group moves once in its life. All of them take about a hundred
/// kilobytes of the cursor. The oldest is forgotten first, with a warning.
const MAX_MOVES: usize = 4_096;

/// The moves that are known.
#[derive(Debug, Default)]
pub struct Moves(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The present number of each first one, and back.
    present: HashMap<i64, i64>,
    first: HashMap<i64, i64>,
    /// The first numbers, oldest move first.
    order: VecDeque<i64>,
    /// Counts moves that were learned, and those of them that are stored.
    learned: u64,
    stored: u64,
}

impl Known {
    fn learn(&mut self, from: i64, to: i64) -> bool {
        let news = is_chat(from) && is_chat(to) && from != to;
        // A first number that is the present one of another would lead back or in a circle.
        let known = self.present.contains_key(&from)
            || self.first.contains_key(&to)
            || self.present.contains_key(&to);
        if !news || known {
            return false;
        }
        if self.order.len() >= MAX_MOVES
            && let Some(oldest) = self.order.pop_front()
        {
            let present = self.present.remove(&oldest);
            present.map(|present| self.first.remove(&present));
            tracing::warn!(
                group = oldest,
                ?present,
                "too many groups moved: this one begins anew"
            );
        }
        self.present.insert(from, to);
        self.first.insert(to, from);
        self.order.push_back(from);
        self.learned += 1;
        true
    }
}

impl Moves {
    /// A chat has another number now. Whether that is news.
    pub fn learn(&self, from: i64, to: i64) -> bool {
        self.0.lock().learn(from, to)
    }

    /// The number that the platform knows now.
    #[must_use]
    pub fn present(&self, chat: i64) -> i64 {
        let known = self.0.lock();
        known.present.get(&chat).copied().unwrap_or(chat)
    }

    /// The number under which the gateway knows it.
    #[must_use]
    pub fn first(&self, chat: i64) -> i64 {
        let known = self.0.lock();
        known.first.get(&chat).copied().unwrap_or(chat)
    }

    /// All of them as text, empty if there are none.
    #[must_use]
    pub fn write(&self) -> String {
        let known = self.0.lock();
        let pairs = known.order.iter().filter_map(|from| {
            let to = known.present.get(from)?;
            Some(format!("{from}>{to}"))
        });
        pairs.collect::<Vec<_>>().join(",")
    }

    /// Takes in what [`Moves::write`] wrote and was stored; anything else is passed over.
    pub fn read(&self, text: &str) {
        let mut known = self.0.lock();
        for pair in text.split(',') {
            let pair = pair.split_once('>');
            if let Some((Ok(from), Ok(to))) = pair.map(|(from, to)| (from.parse(), to.parse()))
                && known.learn(from, to)
            {
                known.stored += 1;
            }
        }
    }

    /// How many were learned so far: what is written from now on has all of them.
    #[must_use]
    pub fn learned(&self) -> u64 {
        self.0.lock().learned
    }

    /// So many of those that were learned are stored.
    pub fn keep(&self, learned: u64) {
        let mut known = self.0.lock();
        known.stored = known.stored.max(learned);
    }

    /// Whether any is not stored yet.
    #[must_use]
    pub fn is_unstored(&self) -> bool {
        let known = self.0.lock();
        known.stored < known.learned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_learned_once_and_comes_back_from_its_text() {
        let moves = Moves::default();
        assert!(moves.learn(-42, -1_007));
        assert!(!moves.learn(-42, -1_007), "the second note says the same");
        assert!(!moves.learn(-1_007, -42), "and none leads back");
        assert!(!moves.learn(-5, -5));
        assert!(moves.learn(-43, -1_008));
        let again = Moves::default();
        again.read(&moves.write());
        again.read("nonsense,>,1>x,");
        for (first, present) in [(-42, -1_007), (-43, -1_008), (7, 7)] {
            assert_eq!(
                (again.present(first), again.first(present)),
                (present, first)
            );
        }
        assert_eq!(Moves::default().write(), "");
    }

    #[test]
    fn thousands_are_kept_and_the_oldest_gives_way() {
        let moves = Moves::default();
        for chat in 1..=4_096 {
            moves.learn(-chat, -1_000_000 - chat);
        }
        let again = Moves::default();
        again.read(&moves.write());
        assert_eq!(again.present(-1), -1_000_001);
        assert_eq!(again.first(-1_004_096), -4_096);
        again.learn(-5_000, -1_005_000);
        assert_eq!(again.present(-1), -1, "the oldest is forgotten");
        assert_eq!(again.first(-1_000_001), -1_000_001);
        assert_eq!(again.present(-2), -1_000_002);
        assert_eq!(again.first(-1_005_000), -5_000);
    }

    #[test]
    fn what_is_not_stored_yet_is_known() {
        let moves = Moves::default();
        assert!(!moves.is_unstored());
        moves.learn(-42, -1_007);
        let first = moves.learned();
        moves.learn(-43, -1_008);
        moves.keep(first);
        assert!(moves.is_unstored(), "the second is not");
        moves.keep(moves.learned());
        moves.keep(first);
        assert!(!moves.is_unstored(), "it stays stored");
        let again = Moves::default();
        again.read(&moves.write());
        assert!(!again.is_unstored(), "it comes from the store");
    }
}
