//! The door through which events enter the gateway.
//!
//! Owns the acceptance protocol: the order of events is the order of the calls; a receipt resolves when
//! the events are durable. An adapter keeps many receipts open and acknowledges to its platform in
//! order, only after the receipt. It never acknowledges what was not accepted.

use std::{
    future::Future,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::{
    ability::Transcript,
    event::{Batch, Cursor},
    id::{AccountName, Platform},
    manage::Manage,
    media::Keeper,
};

/// Where a request comes from that the gateway's web server hands to an adapter's routes, as an extension of the
/// request: behind a proxy that the operator trusts the client, not the proxy. Without it nobody can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub IpAddr);

/// What became of one event of a batch. Each of them is final for the adapter: acknowledge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Journaled under this id; it will be answered, or ended with a reason.
    Accepted(i64),
    /// The same event was accepted before.
    Duplicate,
    /// Not for the bot, or of no interest: only the cursor moved.
    Ignored,
    /// Refused with a reason that the sender is told, for example because his queue is full.
    Refused,
}

/// Why a batch was not accepted. The adapter keeps it and tries again, or lets the platform repeat it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAccepted {
    /// The store cannot write now.
    #[error("the store does not take messages: {0}")]
    Store(String),
    /// The gateway is stopping.
    #[error("the gateway is stopping")]
    Stopping,
}

/// Resolves when a batch is durable, to one outcome for each of its events, in order.
#[derive(Debug)]
pub struct Receipt(oneshot::Receiver<Result<Vec<Outcome>, NotAccepted>>);

/// The gateway's end of a [`Receipt`].
#[derive(Debug)]
pub struct ReceiptSlot(oneshot::Sender<Result<Vec<Outcome>, NotAccepted>>);

impl Receipt {
    /// A receipt and the slot that resolves it.
    #[must_use]
    pub fn new() -> (ReceiptSlot, Self) {
        let (sender, receiver) = oneshot::channel();
        (ReceiptSlot(sender), Self(receiver))
    }
}

impl ReceiptSlot {
    /// Resolves the receipt. An adapter that no longer waits for it misses nothing.
    pub fn resolve(self, result: Result<Vec<Outcome>, NotAccepted>) {
        let _ = self.0.send(result);
    }
}

impl Future for Receipt {
    type Output = Result<Vec<Outcome>, NotAccepted>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|result| match result {
                Ok(outcome) => outcome,
                // The slot was dropped: the gateway went down with the batch in its hands.
                Err(_) => Err(NotAccepted::Stopping),
            })
    }
}

/// The state of an account's connection, shown by /readyz, /status and the metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// Started and waiting for the platform (or for its client) to connect.
    Waiting,
    /// Connected and receiving.
    Up,
    /// Connected, but the platform reports trouble, such as an account that was logged out.
    Degraded(String),
    /// Not connected; it tries again by itself.
    Down(String),
}

/// What an adapter may ask of the gateway.
#[async_trait]
pub trait Ingress: Send + Sync {
    /// Hands in a batch. The order of two batches is the order of the calls, so an adapter calls this
    /// from one task for one stream of events. Waits only while too many receipts are open; the
    /// receipt resolves when the batch is durable.
    async fn accept(&self, batch: Batch) -> Receipt;

    /// The stored cursor of an account, if any.
    async fn cursor(&self, platform: &Platform, account: &AccountName) -> Option<Cursor>;

    /// Reports the state of the account's connection. Cheap; repeat it at will.
    fn connection(&self, platform: &Platform, account: &AccountName, state: Connection);

    /// Where files go that people hand to the adapter itself; `None` if the gateway keeps none.
    fn keeper(&self) -> Option<Arc<dyn Keeper>> {
        None
    }

    /// What clients may ask for beside messages; `None` if the gateway does nothing of it.
    fn manage(&self) -> Option<Arc<dyn Manage>> {
        None
    }

    /// Past messages, for adapters whose capabilities say `transcript`.
    fn transcript(&self) -> Arc<dyn Transcript>;
}
