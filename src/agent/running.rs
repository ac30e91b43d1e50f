//! The turns under way, so that they can be stopped.
//!
//! Owns the list of running turns and their cancel signals. Its size is bounded by the limit on turns
//! in flight. A signal given to a turn that has ended reaches nobody.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
struct Entry {
    conversation: i64,
    person: i64,
    /// Commands are listed so that their messages count as taken; nothing stops them.
    command: bool,
    members: Vec<i64>,
    cancel: CancellationToken,
    recalled: Arc<AtomicBool>,
}

/// The turns under way.
#[derive(Debug, Default)]
pub struct Running {
    turns: Mutex<HashMap<i64, Entry>>,
}

/// One turn's place in the list; leaves it when dropped, also by a panic.
#[derive(Debug)]
pub struct RunningTurn {
    list: Arc<Running>,
    turn: i64,
    cancel: CancellationToken,
    recalled: Arc<AtomicBool>,
}

impl Running {
    /// Puts a turn into the list.
    #[must_use]
    pub fn enter(
        self: &Arc<Self>,
        turn: i64,
        conversation: i64,
        person: i64,
        command: bool,
        members: Vec<i64>,
    ) -> RunningTurn {
        let cancel = CancellationToken::new();
        let recalled = Arc::new(AtomicBool::new(false));
        let entry = Entry {
            conversation,
            person,
            command,
            members,
            cancel: cancel.clone(),
            recalled: Arc::clone(&recalled),
        };
        self.turns.lock().insert(turn, entry);
        RunningTurn {
            list: Arc::clone(self),
            turn,
            cancel,
            recalled,
        }
    }

    /// Stops the turns of a person in a conversation, or of everybody there. Says how many.
    pub fn stop(&self, conversation: i64, person: i64, everybody: bool) -> usize {
        self.stop_where(|in_conversation, of_person| {
            in_conversation == conversation && (everybody || of_person == person)
        })
    }

    /// Stops the turns of which `matches` says so by conversation and person. Says how many.
    pub fn stop_where(&self, matches: impl Fn(i64, i64) -> bool) -> usize {
        let turns = self.turns.lock();
        let hit = turns
            .values()
            .filter(|turn| !turn.command && matches(turn.conversation, turn.person));
        hit.map(|turn| turn.cancel.cancel()).count()
    }

    /// Stops the turn that answers the message `id`, because its sender took it back. Says whether
    /// there was one; a turn that answers other messages as well goes on.
    pub fn recall(&self, id: i64) -> bool {
        let turns = self.turns.lock();
        let Some(turn) = turns
            .values()
            .find(|turn| !turn.command && turn.members == [id])
        else {
            return false;
        };
        turn.recalled.store(true, Ordering::Relaxed);
        turn.cancel.cancel();
        true
    }

    /// Whether a turn under way answers the message `id`.
    #[must_use]
    pub fn has(&self, id: i64) -> bool {
        self.turns
            .lock()
            .values()
            .any(|turn| turn.members.contains(&id))
    }

    /// How many turns that ask a model are under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.turns
            .lock()
            .values()
            .filter(|turn| !turn.command)
            .count()
    }

    /// Whether no turn is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl RunningTurn {
    /// It is a command that asks a model from here on: it can be stopped like any turn.
    pub fn asks(&self) {
        if let Some(entry) = self.list.turns.lock().get_mut(&self.turn) {
            entry.command = false;
        }
    }

    /// Resolves when the turn is to stop.
    pub async fn stopped(&self) {
        self.cancel.cancelled().await;
    }

    /// The turn is to stop because its message was taken back: nothing is to be said.
    #[must_use]
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Relaxed)
    }
}

impl Drop for RunningTurn {
    fn drop(&mut self) {
        self.list.turns.lock().remove(&self.turn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_reaches_the_right_turns() {
        let list = Arc::new(Running::default());
        let own = list.enter(1, 10, 100, false, vec![1]);
        let other = list.enter(2, 10, 200, false, vec![2]);
        let elsewhere = list.enter(3, 20, 100, false, vec![3]);
        assert_eq!(list.stop(10, 100, false), 1);
        assert!(own.cancel.is_cancelled() && !other.cancel.is_cancelled());
        assert_eq!(list.stop(10, 100, true), 2);
        assert!(other.cancel.is_cancelled() && !elsewhere.cancel.is_cancelled());
        drop(own);
        drop(other);
        assert_eq!((list.len(), list.stop(10, 100, true)), (1, 0));
    }

    #[test]
    fn a_command_can_be_stopped_once_it_asks_a_model() {
        let list = Arc::new(Running::default());
        let command = list.enter(1, 10, 100, true, vec![1]);
        assert_eq!((list.stop(10, 100, false), list.len()), (0, 0));
        command.asks();
        assert_eq!((list.stop(10, 100, false), list.len()), (1, 1));
        assert!(command.cancel.is_cancelled());
    }

    #[test]
    fn a_recall_stops_only_a_turn_of_that_message_alone() {
        let list = Arc::new(Running::default());
        let alone = list.enter(1, 10, 100, false, vec![1]);
        let together = list.enter(2, 10, 100, false, vec![2, 3]);
        assert!(list.recall(1) && alone.is_recalled());
        assert!(!list.recall(3) && !together.is_recalled());
    }
}
