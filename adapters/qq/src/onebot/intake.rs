//! The way of events into the gateway.
//!
//! Owns what was read and is not accepted yet: a bounded list, in order. Many receipts are open at
//! once; no receipt is awaited before the next events are handed in. When the store refuses, reading
//! stops (the channel fills, then the sockets), and the same events are handed in again in order, which
//! the gateway's duplicate check makes safe. OneBot repeats nothing, so nothing is given up.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use weirgate_sdk::{Batch, Cursor, Event, Ingress, NotAccepted, Receipt};

use super::quote;
use crate::qq::Shared;

/// The most events that one read of a socket gathers.
pub const GATHER: usize = 64;
/// Gathered reads that wait for this task; with [`GATHER`] 4,096 events.
pub const CHANNEL: usize = 64;
/// Events with an open receipt at which no more are handed in.
const MAX_OPEN: usize = 4_096;
/// The most events of a batch, with room for one more read.
const FULL: usize = 256 - GATHER;
/// First and longest pause before events are handed in again.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Pause between two notes of how far the account has listened. After a restart what came since the last
/// note is asked for again, and the gateway's duplicate check drops what it has.
const MARK_PAUSE: Duration = Duration::from_secs(30);

/// Events that go in together.
#[derive(Debug)]
pub struct Parcel {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Resolved when they are durable; dropped when they will not be.
    pub taken: Option<oneshot::Sender<()>>,
}

impl From<Vec<Event>> for Parcel {
    fn from(events: Vec<Event>) -> Self {
        Self {
            events,
            taken: None,
        }
    }
}

/// Hands events in; one for each account, so that their order is one.
pub struct Intake {
    ingress: Arc<dyn Ingress>,
    shared: Arc<Shared>,
    events: mpsc::Receiver<Parcel>,
    marked: Option<Instant>,
    /// The time of the newest message that was handed in, in seconds.
    newest: Option<i64>,
    open: VecDeque<Open>,
    open_events: usize,
    refused: VecDeque<Load>,
}

/// A batch, and who waits for it.
struct Load {
    batch: Batch,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Load {
    fn accepted(self) {
        for waiting in self.waiting {
            // Who no longer waits misses nothing.
            let _ = waiting.send(());
        }
    }
}

struct Open {
    load: Load,
    receipt: Receipt,
}

/// The gateway takes nothing more.
struct Stopping;

impl Intake {
    /// Takes events from `events` until all its senders are gone.
    pub fn new(
        ingress: Arc<dyn Ingress>,
        shared: Arc<Shared>,
        events: mpsc::Receiver<Parcel>,
    ) -> Self {
        Self {
            ingress,
            shared,
            events,
            marked: None,
            newest: None,
            open: VecDeque::new(),
            open_events: 0,
            refused: VecDeque::new(),
        }
    }

    /// Works until everything is accepted and no more can come, or the gateway stops.
    pub async fn run(&mut self) {
        let mut ended = false;
        loop {
            tokio::select! {
                biased;
                result = first(&mut self.open), if !self.open.is_empty() => {
                    let Some(first) = self.open.pop_front() else { continue };
                    self.open_events -= first.load.batch.events.len();
                    let went_on = match result {
                        Ok(_) => {
                            first.load.accepted();
                            Ok(())
                        }
                        Err(NotAccepted::Store(why)) => {
                            self.refused.push_back(first.load);
                            self.hand_in_again(&why).await
                        }
                        Err(NotAccepted::Stopping) => {
                            self.refused.push_back(first.load);
                            Err(Stopping)
                        }
                    };
                    if went_on.is_err() {
                        return;
                    }
                }
                events = self.events.recv(), if !ended && self.open_events < MAX_OPEN => {
                    match events {
                        Some(events) => self.hand_in(events).await,
                        None => ended = true,
                    }
                }
                else => return,
            }
        }
    }

    /// How many events were read and are not accepted.
    pub fn left(&mut self) -> usize {
        let refused: usize = self
            .refused
            .iter()
            .map(|load| load.batch.events.len())
            .sum();
        let mut waiting = 0;
        while let Ok(parcel) = self.events.try_recv() {
            waiting += parcel.events.len();
        }
        self.open_events + refused + waiting
    }

    /// Hands in these events and what else waits, as one batch.
    async fn hand_in(&mut self, first: Parcel) {
        let Parcel { mut events, taken } = first;
        let mut waiting = Vec::from_iter(taken);
        while events.len() <= FULL
            && let Ok(mut more) = self.events.try_recv()
        {
            events.append(&mut more.events);
            waiting.extend(more.taken);
        }
        let times = events.iter().filter_map(|event| match event {
            Event::Message(message) => Some(message.sent_at / 1_000),
            _ => None,
        });
        self.newest = self.newest.max(times.max());
        quote::fill(&self.shared, &mut events).await;
        let batch = Batch {
            platform: self.shared.platform.clone(),
            account: self.shared.account.clone(),
            events,
            cursor: self.mark(),
        };
        self.accept(Load { batch, waiting }).await;
    }

    /// How far the account has listened, if it is time to note it.
    fn mark(&mut self) -> Option<Cursor> {
        let now = Instant::now();
        if self.marked.is_some_and(|at| now - at < MARK_PAUSE) {
            return None;
        }
        // What was read and is not handed in yet must not count as heard.
        let newest = self.newest?;
        let (bot, _) = self.shared.seen.mark()?;
        self.marked = Some(now);
        Some(Cursor {
            bot: bot.into(),
            value: newest.to_string(),
        })
    }

    async fn accept(&mut self, load: Load) {
        let receipt = self.ingress.accept(load.batch.clone()).await;
        self.opened(load, receipt);
    }

    fn opened(&mut self, load: Load, receipt: Receipt) {
        self.open_events += load.batch.events.len();
        self.open.push_back(Open { load, receipt });
    }

    /// The store refused: waits until it takes the oldest batch, then hands in the rest in order.
    async fn hand_in_again(&mut self, why: &str) -> Result<(), Stopping> {
        tracing::warn!(account = %self.shared.account, why, "the store takes no messages: reading pauses");
        // What is under way ends first, so that what was accepted is not handed in again.
        while !self.open.is_empty() {
            let result = first(&mut self.open).await;
            let Some(open) = self.open.pop_front() else {
                break;
            };
            self.open_events -= open.load.batch.events.len();
            match result {
                Ok(_) => open.load.accepted(),
                Err(NotAccepted::Store(_)) => self.refused.push_back(open.load),
                Err(NotAccepted::Stopping) => {
                    self.refused.push_back(open.load);
                    return Err(Stopping);
                }
            }
        }
        self.wait_for_the_store().await?;
        while let Some(batch) = self.refused.front().map(|load| load.batch.clone()) {
            let receipt = self.ingress.accept(batch).await;
            if let Some(load) = self.refused.pop_front() {
                self.opened(load, receipt);
            }
        }
        tracing::info!(account = %self.shared.account, "the store takes messages again");
        Ok(())
    }

    async fn wait_for_the_store(&mut self) -> Result<(), Stopping> {
        let mut pause = FIRST_PAUSE;
        while let Some(oldest) = self.refused.front() {
            let batch = oldest.batch.clone();
            tokio::time::sleep(pause).await;
            match self.ingress.accept(batch).await.await {
                Ok(_) => {
                    if let Some(load) = self.refused.pop_front() {
                        load.accepted();
                    }
                    break;
                }
                Err(NotAccepted::Store(_)) => pause = (pause * 2).min(LONGEST_PAUSE),
                Err(NotAccepted::Stopping) => return Err(Stopping),
            }
        }
        Ok(())
    }
}

/// Resolves with the oldest receipt.
async fn first(open: &mut VecDeque<Open>) -> <Receipt as Future>::Output {
    match open.front_mut() {
        Some(open) => (&mut open.receipt).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
