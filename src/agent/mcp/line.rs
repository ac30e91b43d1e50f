//! The line to a server: what calls need of it, over all its starts.
//!
//! Owns the state that everybody sees, the present connection, and which calls are under way, so that what the server
//! asks in the middle of one finds it. It starts nothing; `server` does.

use std::{
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use rmcp::{Peer, RoleClient};
use tokio::sync::{Notify, RwLock, RwLockReadGuard, RwLockWriteGuard, watch};

use crate::pending::Elicited;

/// How a server is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is being started.
    Starting,
    /// It can be used.
    Ready {
        /// The tools that are taken.
        tools: usize,
        /// Those that are not, for what is wrong with them or for their number.
        left_out: usize,
    },
    /// It cannot be used, and is tried again after a while or when somebody needs it.
    Waiting {
        /// Why.
        error: String,
    },
    /// It failed so often that only an operator has it tried again.
    Stopped {
        /// Why.
        error: String,
    },
}

/// The line to a server.
pub(super) struct Line {
    /// What it is called here.
    pub(super) name: String,
    /// Its folder, the only root that it is told of.
    pub(super) folder: PathBuf,
    /// Told when it is to be tried now.
    pub(super) wake: Notify,
    /// Told when it has other tools.
    pub(super) changed: Notify,
    again: Notify,
    state: watch::Sender<State>,
    peer: Mutex<Option<Peer<RoleClient>>>,
    /// It asks in the middle of calls, so that they run one after the other: else nobody knew which one asks.
    asks: AtomicBool,
    gate: RwLock<()>,
    /// Calls under way; as many as the gateway makes at once.
    calls: Mutex<Vec<Weak<Asking>>>,
}

/// A call under way, as far as the server may ask in its middle.
#[derive(Debug, Default)]
pub(super) struct Asking {
    consent: Option<Elicited>,
    asked: Mutex<Option<Elicited>>,
    told: Notify,
}

/// What a server is told that asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Yes, somebody said so before.
    Yes,
    /// Somebody is asked; this call ends.
    Later,
    /// It cannot be told for which call it asks.
    Unknown,
}

/// The place of a call among those under way, beside others or alone, until it is dropped.
pub(super) type Place<'a> = (
    Option<RwLockReadGuard<'a, ()>>,
    Option<RwLockWriteGuard<'a, ()>>,
);

impl Asking {
    /// Resolves when the server has asked what nobody has answered yet.
    pub(super) async fn asked(&self) -> Elicited {
        loop {
            self.told.notified().await;
            if let Some(asked) = self.asked.lock().take() {
                return asked;
            }
        }
    }
}

impl Line {
    pub(super) fn new(name: String, folder: PathBuf) -> Self {
        Self {
            name,
            folder,
            wake: Notify::new(),
            changed: Notify::new(),
            again: Notify::new(),
            state: watch::Sender::new(State::Starting),
            peer: Mutex::new(None),
            asks: AtomicBool::new(false),
            gate: RwLock::new(()),
            calls: Mutex::new(Vec::new()),
        }
    }

    /// How it is doing.
    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// It is doing like this from now on.
    pub(super) fn set(&self, state: State, peer: Option<Peer<RoleClient>>) {
        *self.peer.lock() = peer;
        self.state.send_replace(state);
    }

    /// The connection, as soon as there is one. A server that waits is tried at once; it is waited for until that has
    /// failed.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, String> {
        let mut states = self.state.subscribe();
        let mut tried = false;
        loop {
            match &*states.borrow_and_update() {
                State::Ready { .. } => {
                    if let Some(peer) = self.peer.lock().clone() {
                        return Ok(peer);
                    }
                }
                State::Starting => tried = true,
                State::Waiting { error } if tried => return Err(error.clone()),
                State::Waiting { .. } => self.wake.notify_one(),
                State::Stopped { error } => return Err(error.clone()),
            }
            if states.changed().await.is_err() {
                return Err("the gateway is ending".to_owned());
            }
        }
    }

    /// Has it started anew, whatever it is doing.
    pub(super) fn restart(&self) {
        match self.state() {
            State::Ready { .. } => self.again.notify_one(),
            _ => self.wake.notify_one(),
        }
    }

    /// Resolves when it is to be started anew.
    pub(super) async fn restarted(&self) {
        self.again.notified().await;
    }

    /// Waits for a place among the calls.
    pub(super) async fn place(&self) -> Place<'_> {
        if self.asks.load(Ordering::Relaxed) {
            (None, Some(self.gate.write().await))
        } else {
            (Some(self.gate.read().await), None)
        }
    }

    /// A call is under way as long as the value is there.
    pub(super) fn begin(&self, consent: Option<&Elicited>) -> Arc<Asking> {
        let asking = Arc::new(Asking {
            consent: consent.cloned(),
            ..Asking::default()
        });
        let mut calls = self.calls.lock();
        calls.retain(|call| call.strong_count() > 0);
        calls.push(Arc::downgrade(&asking));
        asking
    }

    /// The server asks something.
    pub(super) fn ask(&self, asked: Elicited) -> Answer {
        self.asks.store(true, Ordering::Relaxed);
        let calls = self.calls.lock();
        let mut calls = calls.iter().filter_map(Weak::upgrade);
        let (Some(call), None) = (calls.next(), calls.next()) else {
            return Answer::Unknown;
        };
        if call.consent.as_ref().is_some_and(|yes| yes.is(&asked)) {
            return Answer::Yes;
        }
        *call.asked.lock() = Some(asked);
        call.told.notify_one();
        Answer::Later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Elicited {
        Elicited::new(text.to_owned(), "{}".to_owned())
    }

    #[tokio::test]
    async fn a_question_finds_the_call_in_whose_middle_it_is() {
        let line = Line::new("a".into(), PathBuf::new());
        assert_eq!(line.ask(question("x")), Answer::Unknown, "no call");
        let call = line.begin(None);
        assert_eq!(line.ask(question("x")), Answer::Later);
        assert_eq!(call.asked().await, question("x"));
        drop(call);
        // The same question with a yes, also if something was taken out of what was shown; another one is a new one.
        let shown = Elicited {
            message: "***".to_owned(),
            ..question("x")
        };
        let call = line.begin(Some(&shown));
        assert_eq!(line.ask(question("x")), Answer::Yes);
        assert_eq!(line.ask(question("y")), Answer::Later);
        let other = line.begin(None);
        assert_eq!(line.ask(question("x")), Answer::Unknown, "two calls");
        drop((call, other));
        let alone = line.place().await;
        assert!(alone.1.is_some(), "who asks is called alone");
    }

    #[tokio::test]
    async fn who_needs_a_server_that_waits_has_it_tried_once() {
        let line = Arc::new(Line::new("a".into(), PathBuf::new()));
        let waiting = |error: &str| State::Waiting {
            error: error.to_owned(),
        };
        line.set(waiting("gone"), None);
        let asked = Arc::clone(&line);
        let needs = tokio::spawn(async move { asked.peer().await.map(drop) });
        line.wake.notified().await;
        line.set(State::Starting, None);
        tokio::task::yield_now().await;
        line.set(waiting("still gone"), None);
        assert_eq!(needs.await.unwrap(), Err("still gone".to_owned()));
        let stopped = State::Stopped {
            error: "broken".to_owned(),
        };
        line.set(stopped, None);
        assert_eq!(line.peer().await.map(drop), Err("broken".to_owned()));
    }
}
