//! The way of events into the gateway.
//!
//! Owns what was read and is not accepted yet: a bounded list, in order. Many receipts are open at
//! once; no receipt is awaited before the next events are handed in. When the store refuses, reading
//! stops (the channel fills, then the sockets), and the same events are handed in again in order, which
//! the gateway's duplicate check makes safe. Nothing is given up. What an event needs before it is handed
//! in, and what follows once it is durable, is for its [`Source`] to say.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::mpsc;
use weirgate_sdk::{AccountName, Batch, Cursor, Event, Ingress, NotAccepted, Platform, Receipt};

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

/// Whose events they are.
#[async_trait]
pub trait Source: Send {
    /// What a parcel carries beside its events.
    type Mark: Send;

    /// The platform's name.
    fn platform(&self) -> &Platform;

    /// The account's name.
    fn account(&self) -> &AccountName;

    /// Adds what has to be asked for before the events are handed in. Bounded in time.
    async fn complete(&mut self, events: &mut [Event]);

    /// What is stored with these events, so that a restart knows where to go on.
    fn cursor(&mut self, events: &[Event], marks: &[Self::Mark]) -> Option<Cursor>;

    /// The events of this mark are durable.
    fn durable(&self, mark: Self::Mark);
}

/// Events that go in together.
#[derive(Debug)]
pub struct Parcel<M> {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Handed back when they are durable; dropped when they will not be.
    pub mark: Option<M>,
}

impl<M> From<Vec<Event>> for Parcel<M> {
    fn from(events: Vec<Event>) -> Self {
        Self { events, mark: None }
    }
}

/// Hands events in; one for each account, so that their order is one.
pub struct Intake<S: Source> {
    ingress: Arc<dyn Ingress>,
    source: S,
    events: mpsc::Receiver<Parcel<S::Mark>>,
    open: VecDeque<Open<S::Mark>>,
    open_events: usize,
    refused: VecDeque<Load<S::Mark>>,
}

/// A batch, and what follows it.
struct Load<M> {
    batch: Batch,
    marks: Vec<M>,
}

impl<M> Load<M> {
    fn accepted(self, source: &impl Source<Mark = M>) {
        for mark in self.marks {
            source.durable(mark);
        }
    }
}

struct Open<M> {
    load: Load<M>,
    receipt: Receipt,
}

/// The gateway takes nothing more.
struct Stopping;

impl<S: Source> Intake<S> {
    /// Takes events from `events` until all its senders are gone.
    pub fn new(
        ingress: Arc<dyn Ingress>,
        source: S,
        events: mpsc::Receiver<Parcel<S::Mark>>,
    ) -> Self {
        Self {
            ingress,
            source,
            events,
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
                            first.load.accepted(&self.source);
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
    async fn hand_in(&mut self, first: Parcel<S::Mark>) {
        let Parcel { mut events, mark } = first;
        let mut marks = Vec::from_iter(mark);
        while events.len() <= FULL
            && let Ok(mut more) = self.events.try_recv()
        {
            events.append(&mut more.events);
            marks.extend(more.mark);
        }
        self.source.complete(&mut events).await;
        let batch = Batch {
            platform: self.source.platform().clone(),
            account: self.source.account().clone(),
            cursor: self.source.cursor(&events, &marks),
            events,
        };
        self.accept(Load { batch, marks }).await;
    }

    async fn accept(&mut self, load: Load<S::Mark>) {
        let receipt = self.ingress.accept(load.batch.clone()).await;
        self.opened(load, receipt);
    }

    fn opened(&mut self, load: Load<S::Mark>, receipt: Receipt) {
        self.open_events += load.batch.events.len();
        self.open.push_back(Open { load, receipt });
    }

    /// The store refused: waits until it takes the oldest batch, then hands in the rest in order.
    async fn hand_in_again(&mut self, why: &str) -> Result<(), Stopping> {
        tracing::warn!(account = %self.source.account(), why, "the store takes no messages: reading pauses");
        // What is under way ends first, so that what was accepted is not handed in again.
        while !self.open.is_empty() {
            let result = first(&mut self.open).await;
            let Some(open) = self.open.pop_front() else {
                break;
            };
            self.open_events -= open.load.batch.events.len();
            match result {
                Ok(_) => open.load.accepted(&self.source),
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
        tracing::info!(account = %self.source.account(), "the store takes messages again");
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
                        load.accepted(&self.source);
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
async fn first<M>(open: &mut VecDeque<Open<M>>) -> <Receipt as Future>::Output {
    match open.front_mut() {
        Some(open) => (&mut open.receipt).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
