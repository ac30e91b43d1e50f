//! The way of events into the gateway.
//!
//! Owns what was read and is not accepted yet: a bounded list, in order. Many receipts are open at
//! once; no receipt is awaited before the next events are handed in. When the store refuses, reading
//! stops (the channel fills, then the sockets), and the same events are handed in again in order, which
//! the gateway's duplicate check makes safe. OneBot repeats nothing, so nothing is given up.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::sync::mpsc;
use weirgate_sdk::{AccountName, Batch, Event, Ingress, NotAccepted, Platform, Receipt};

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

/// Hands events in; one for each account, so that their order is one.
pub struct Intake {
    ingress: Arc<dyn Ingress>,
    platform: Platform,
    account: AccountName,
    events: mpsc::Receiver<Vec<Event>>,
    open: VecDeque<Open>,
    open_events: usize,
    refused: VecDeque<Batch>,
}

struct Open {
    batch: Batch,
    receipt: Receipt,
}

/// The gateway takes nothing more.
struct Stopping;

impl Intake {
    /// Takes events from `events` until all its senders are gone.
    pub fn new(
        ingress: Arc<dyn Ingress>,
        platform: Platform,
        account: AccountName,
        events: mpsc::Receiver<Vec<Event>>,
    ) -> Self {
        Self {
            ingress,
            platform,
            account,
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
                    self.open_events -= first.batch.events.len();
                    let went_on = match result {
                        Ok(_) => Ok(()),
                        Err(NotAccepted::Store(why)) => {
                            self.refused.push_back(first.batch);
                            self.hand_in_again(&why).await
                        }
                        Err(NotAccepted::Stopping) => {
                            self.refused.push_back(first.batch);
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
        let refused: usize = self.refused.iter().map(|batch| batch.events.len()).sum();
        let mut waiting = 0;
        while let Ok(events) = self.events.try_recv() {
            waiting += events.len();
        }
        self.open_events + refused + waiting
    }

    /// Hands in these events and what else waits, as one batch.
    async fn hand_in(&mut self, mut events: Vec<Event>) {
        while events.len() <= FULL
            && let Ok(mut more) = self.events.try_recv()
        {
            events.append(&mut more);
        }
        let batch = Batch {
            platform: self.platform.clone(),
            account: self.account.clone(),
            events,
            cursor: None,
        };
        self.accept(batch).await;
    }

    async fn accept(&mut self, batch: Batch) {
        let receipt = self.ingress.accept(batch.clone()).await;
        self.open_events += batch.events.len();
        self.open.push_back(Open { batch, receipt });
    }

    /// The store refused: waits until it takes the oldest batch, then hands in the rest in order.
    async fn hand_in_again(&mut self, why: &str) -> Result<(), Stopping> {
        tracing::warn!(account = %self.account, why, "the store takes no messages: reading pauses");
        // What is under way ends first, so that what was accepted is not handed in again.
        while !self.open.is_empty() {
            let result = first(&mut self.open).await;
            let Some(open) = self.open.pop_front() else {
                break;
            };
            self.open_events -= open.batch.events.len();
            match result {
                Ok(_) => {}
                Err(NotAccepted::Store(_)) => self.refused.push_back(open.batch),
                Err(NotAccepted::Stopping) => {
                    self.refused.push_back(open.batch);
                    return Err(Stopping);
                }
            }
        }
        self.wait_for_the_store().await?;
        while let Some(batch) = self.refused.front().cloned() {
            self.accept(batch).await;
            self.refused.pop_front();
        }
        tracing::info!(account = %self.account, "the store takes messages again");
        Ok(())
    }

    async fn wait_for_the_store(&mut self) -> Result<(), Stopping> {
        let mut pause = FIRST_PAUSE;
        while let Some(oldest) = self.refused.front().cloned() {
            tokio::time::sleep(pause).await;
            match self.ingress.accept(oldest).await.await {
                Ok(_) => {
                    self.refused.pop_front();
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
