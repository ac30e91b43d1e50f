//! Messages that waited for an answer when a socket got its view from the store.
//!
//! Owns when to look again. Most of them are answered by this process, which says so to the room. Where several
//! processes share a database another one may answer; nobody tells this one, so the store is asked.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{SNAPSHOT, Session, greet::Welcome};

/// The first and the longest pause between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(16));

/// The messages of one socket's own conversation that are still awaited.
#[derive(Debug, Default)]
pub(crate) struct Awaited {
    messages: Vec<String>,
    look: Option<(Instant, Duration)>,
}

impl Awaited {
    /// These are awaited from now on, instead of any others.
    pub(super) fn begin(&mut self, messages: Vec<String>) {
        let due = (Instant::now() + PAUSE.0, PAUSE.0);
        self.look = (!messages.is_empty()).then_some(due);
        self.messages = messages;
    }

    /// Waits until it is time to look; for ever, if nothing is awaited. Safe to cancel.
    pub(crate) async fn due(&self) {
        match self.look {
            Some((at, _)) => sleep_until(at).await,
            None => pending().await,
        }
    }

    /// Keeps those that are not over; the next look comes later than the last.
    fn keep(&mut self, over: impl Fn(&str) -> bool) {
        self.messages.retain(|message| !over(message));
        let pause = self.look.map_or(PAUSE.0, |(_, pause)| pause);
        let pause = (pause * 2).min(PAUSE.1);
        self.look = (!self.messages.is_empty()).then(|| (Instant::now() + pause, pause));
    }
}

impl Session {
    /// Looks what became of the awaited messages. What another process has answered is shown by a new view.
    pub(crate) async fn look(&mut self) {
        let own = self.own.clone();
        let (Some(visitor), Some(room)) = (self.visitor.clone(), self.room(&own)) else {
            return self.awaited.begin(Vec::new());
        };
        self.awaited.keep(|message| room.lock().has_ended(message));
        if self.awaited.messages.is_empty() {
            return;
        }
        let key = self.key(&visitor, &own);
        let Some(entries) = self.read(&key, None, SNAPSHOT).await else {
            return;
        };
        let over = |message: &String| {
            let found = entries.iter().find(|entry| {
                let id = entry.message.as_ref();
                id.is_some_and(|id| id.as_str() == message)
            });
            found.is_none_or(|entry| !entry.pending) && !room.lock().has_ended(message)
        };
        if !self.awaited.messages.iter().any(over) {
            return;
        }
        room.lock().leave(&self.outlet, std::time::Instant::now());
        self.rooms.retain(|(session, _)| *session != own);
        if !self.attach(&key, &own, None, Welcome::Known).await {
            self.try_later();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn looks_become_rarer_and_end_with_the_last_message() {
        let mut awaited = Awaited::default();
        assert!(awaited.due().now_or_never().is_none());
        awaited.begin(vec!["a".into(), "b".into()]);
        let start = Instant::now();
        for seconds in [2, 6, 14, 30, 46] {
            awaited.due().await;
            assert_eq!(start.elapsed(), Duration::from_secs(seconds));
            awaited.keep(|message| message == "a");
        }
        awaited.keep(|message| message == "b");
        tokio::time::advance(PAUSE.1 * 2).await;
        assert!(awaited.due().now_or_never().is_none());
    }
}
