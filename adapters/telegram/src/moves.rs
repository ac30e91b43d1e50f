//! Groups that became supergroups, and so got another number.
//!
//! Owns which number is which. To the gateway a conversation keeps the id under which it was first known, so that its
//! queue, its history, its roles and its settings stay with it; calls go to the present number. The pairs are part of
//! the stored cursor, so that what is known of a move is durable together with the update that told of it.

use parking_lot::Mutex;

use crate::places::is_chat;

/// Moves that are kept; the oldest is forgotten first.
const MAX_MOVES: usize = 64;

/// The moves that are known: the first and the present number of each.
#[derive(Debug, Default)]
pub struct Moves(Mutex<Vec<(i64, i64)>>);

impl Moves {
    /// A chat has another number now. Whether that is news.
    pub fn learn(&self, from: i64, to: i64) -> bool {
        let mut all = self.0.lock();
        let news = is_chat(from) && is_chat(to) && from != to;
        let known = all
            .iter()
            .any(|pair| pair.0 == from || pair.1 == to || pair.0 == to);
        if !news || known {
            return false;
        }
        if all.len() >= MAX_MOVES {
            all.remove(0);
        }
        all.push((from, to));
        true
    }

    /// The number that the platform knows now.
    #[must_use]
    pub fn present(&self, chat: i64) -> i64 {
        let all = self.0.lock();
        let moved = all.iter().find(|(from, _)| *from == chat);
        moved.map_or(chat, |(_, to)| *to)
    }

    /// The number under which the gateway knows it.
    #[must_use]
    pub fn first(&self, chat: i64) -> i64 {
        let all = self.0.lock();
        let moved = all.iter().find(|(_, to)| *to == chat);
        moved.map_or(chat, |(from, _)| *from)
    }

    /// All of them as text, empty if there are none.
    #[must_use]
    pub fn write(&self) -> String {
        let all = self.0.lock();
        let pairs = all.iter().map(|(from, to)| format!("{from}>{to}"));
        pairs.collect::<Vec<_>>().join(",")
    }

    /// Takes in what [`Moves::write`] wrote; anything else is passed over.
    pub fn read(&self, text: &str) {
        for pair in text.split(',') {
            let pair = pair.split_once('>');
            if let Some((Ok(from), Ok(to))) = pair.map(|(from, to)| (from.parse(), to.parse())) {
                self.learn(from, to);
            }
        }
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
    fn only_so_many_are_kept() {
        let moves = Moves::default();
        for chat in 1..=65 {
            moves.learn(-chat, -1_000 - chat);
        }
        assert_eq!(moves.present(-1), -1, "the oldest is forgotten");
        assert_eq!(moves.present(-65), -1_065);
    }
}
