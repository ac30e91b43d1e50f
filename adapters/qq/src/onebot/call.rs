//! Calls under way, matched to their answers by `echo`.
//!
//! Owns the bounded table of calls and the one question that matters when something breaks: had the
//! request left? If not, the call certainly did not happen; if so, nobody knows.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::{Notify, oneshot},
    time::timeout,
};
use weirgate_sdk::SendError;

use super::{
    answer::Data,
    links::{Links, Request},
    send::Call,
};

/// The most calls under way.
const MAX_CALLS: usize = 1_024;
/// How long a call waits for a place in the queue of a socket that takes nothing.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);
/// How many times its limit a call waits at most while the connection brings more than can be read: its answer then
/// lies behind what the other side said before.
const BEHIND_LIMITS: u32 = 6;

/// What a call comes to.
pub type Answer = Result<Data, SendError>;

/// The calls of one account.
#[derive(Debug, Default)]
pub struct Calls {
    last_echo: AtomicU64,
    pending: Mutex<HashMap<u64, Pending>>,
    ended: Notify,
    /// Something that came over a connection for calls is being read, and more may lie behind it.
    behind: AtomicBool,
    /// How often everything that had come was read.
    caught_up: AtomicU64,
}

#[derive(Debug)]
struct Pending {
    link: u64,
    written: bool,
    /// It sends a message.
    sends: bool,
    answer: oneshot::Sender<Answer>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    action: &'a str,
    params: &'a Value,
    echo: u64,
}

impl Calls {
    /// Makes a call and waits at most `limit` for its answer; where the connection brings more than is read, until
    /// what came meanwhile was read once, and at most six times `limit`.
    ///
    /// # Errors
    /// What the answer says; [`SendError::Ambiguous`] if the request left and no answer came;
    /// [`SendError::Unavailable`] if it never left.
    pub async fn call(&self, links: &Links, call: &Call, limit: Duration) -> Answer {
        let unavailable = |why: &str| Err(SendError::Unavailable(why.into()));
        let Some((link, requests)) = links.route() else {
            return unavailable("not connected");
        };
        let place = match timeout(QUEUE_LIMIT, requests.reserve_owned()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) => return unavailable("connection lost"),
            Err(_) => return unavailable("the connection takes nothing"),
        };
        let echo = self.last_echo.fetch_add(1, Ordering::Relaxed) + 1;
        let wire = WireCall {
            action: call.action,
            params: &call.params,
            echo,
        };
        let Ok(text) = serde_json::to_string(&wire) else {
            return Err(SendError::Rejected("cannot be written as JSON".into()));
        };
        let Some(mut answer) = self.expect(echo, link, call.action.starts_with("send_")) else {
            return unavailable("too many calls under way");
        };
        let before = self.caught_up.load(Ordering::Relaxed);
        // Also when the caller gives up: a request that still waits must then not leave.
        let _ending = Ending { calls: self, echo };
        if place.send(Request { echo, text }).is_closed() {
            self.lost(link);
        }
        let mut waited = timeout(limit, &mut answer).await;
        for _ in 1..BEHIND_LIMITS {
            if waited.is_ok() || self.has_caught_up_since(before) {
                break;
            }
            waited = timeout(limit, &mut answer).await;
        }
        match waited {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(SendError::Ambiguous("call abandoned".into())),
            Err(_) => match self.end(echo) {
                Some(pending) if !pending.written => unavailable("the connection takes nothing"),
                Some(_) => Err(SendError::Ambiguous(format!("no answer in {limit:?}"))),
                // Answered in this very moment.
                None => answer.try_recv().unwrap_or_else(|_| {
                    Err(SendError::Ambiguous(format!("no answer in {limit:?}")))
                }),
            },
        }
    }

    /// The request is about to be written; `false` if nobody waits for it any more, so that it must
    /// not leave.
    #[must_use]
    pub fn begin(&self, echo: u64) -> bool {
        self.pending
            .lock()
            .get_mut(&echo)
            .map(|pending| pending.written = true)
            .is_some()
    }

    /// An answer came; `false` if nobody waits for it.
    pub fn answered(&self, echo: u64, answer: Answer) -> bool {
        self.end(echo)
            .is_some_and(|pending| pending.answer.send(answer).is_ok())
    }

    /// Something came over a connection for calls.
    pub fn reading(&self) {
        self.behind.store(true, Ordering::Relaxed);
    }

    /// Everything that had come over a connection for calls is read: an answer that is not there has not come.
    pub fn caught_up(&self) {
        self.behind.store(false, Ordering::Relaxed);
        self.caught_up.fetch_add(1, Ordering::Relaxed);
    }

    fn has_caught_up_since(&self, before: u64) -> bool {
        !self.behind.load(Ordering::Relaxed) || self.caught_up.load(Ordering::Relaxed) != before
    }

    /// A connection ended: its calls end as well.
    pub fn lost(&self, link: u64) {
        let lost: Vec<Pending> = {
            let mut pending = self.pending.lock();
            pending
                .extract_if(|_, call| call.link == link)
                .map(|(_, call)| call)
                .collect()
        };
        for call in lost {
            let _ = call.answer.send(Err(if call.written {
                SendError::Ambiguous("connection lost before the answer".into())
            } else {
                SendError::Unavailable("connection lost".into())
            }));
        }
        self.behind.store(false, Ordering::Relaxed);
        self.ended.notify_waiters();
    }

    /// Whether a message that is being sent waits for its answer.
    pub fn sending(&self) -> bool {
        self.pending.lock().values().any(|call| call.sends)
    }

    /// Waits until no call is under way.
    pub async fn idle(&self) {
        loop {
            let ended = self.ended.notified();
            if self.pending.lock().is_empty() {
                return;
            }
            ended.await;
        }
    }

    fn expect(&self, echo: u64, link: u64, sends: bool) -> Option<oneshot::Receiver<Answer>> {
        let (answer, receiver) = oneshot::channel();
        let mut pending = self.pending.lock();
        if pending.len() >= MAX_CALLS {
            return None;
        }
        pending.insert(
            echo,
            Pending {
                link,
                written: false,
                sends,
                answer,
            },
        );
        Some(receiver)
    }

    fn end(&self, echo: u64) -> Option<Pending> {
        let ended = self.pending.lock().remove(&echo);
        self.ended.notify_waiters();
        ended
    }
}

/// Forgets a call when its future ends, in whatever way.
struct Ending<'a> {
    calls: &'a Calls,
    echo: u64,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.calls.end(self.echo);
    }
}

#[cfg(test)]
mod tests;
