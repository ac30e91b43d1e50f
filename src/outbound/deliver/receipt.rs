//! Receipts: what became of a part, written down.
//!
//! Owns how long a receipt is tried, and which of them are waited for. It never sends.

use std::{collections::HashMap, sync::Arc};

use super::{RETRY_PAUSE, Reply, Shared};
use crate::store::{Receipt, ReceiptOutcome, StoreError, Write, commit};

/// Receipts that are handed in and not yet in the store. There are no more than one for each conversation
/// whose last reply was sent, and one for each send under way.
#[derive(Default)]
pub(super) struct OpenReceipts {
    /// All of them.
    open: usize,
    /// By conversation, those that the store refused and that are tried again.
    refused: HashMap<i64, usize>,
}

impl OpenReceipts {
    fn settled_late(&mut self, conversation: i64) {
        if let Some(count) = self.refused.get_mut(&conversation) {
            *count -= 1;
            if *count == 0 {
                self.refused.remove(&conversation);
            }
        }
    }
}

impl Shared {
    /// Writes what became of a part. While the store is away it is tried again: a receipt that is lost means
    /// that the part is sent twice. Given up only when the gateway stops.
    pub(super) async fn settle(&self, id: i64, part: u32, outcome: ReceiptOutcome) {
        let receipt = Receipt {
            id,
            part,
            outcome,
            at: self.clock.now(),
        };
        let mut pause = RETRY_PAUSE.0;
        loop {
            let copy = receipt.clone();
            match commit(&self.store, |then| Write::Receipt(copy, then)).await {
                Err(StoreError::Database(error)) if !self.stop.is_stopped() => {
                    tracing::error!(reply = id, error, "a receipt was not written; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(RETRY_PAUSE.1);
                }
                Err(error) => {
                    tracing::error!(reply = id, %error, "a receipt was not written");
                    return;
                }
                Ok(()) => return,
            }
        }
    }

    /// Hands in the last receipt of a reply and goes on. The journal keeps the order: the intent of whatever
    /// is sent next into the conversation is committed after it or together with it. A receipt that the store
    /// refuses is tried again and holds the conversation, see [`Self::earlier_receipts`], so that no more than
    /// one part is in doubt.
    pub(super) async fn settle_later(
        self: &Arc<Self>,
        reply: &Reply,
        part: u32,
        outcome: ReceiptOutcome,
    ) {
        let (id, conversation) = (reply.id, reply.conversation);
        let receipt = Receipt {
            id,
            part,
            outcome,
            at: self.clock.now(),
        };
        let again = receipt.clone();
        let shared = Arc::clone(self);
        self.receipts.lock().open += 1;
        let then = Box::new(move |result: Result<(), StoreError>| match result {
            Ok(()) => shared.receipt_settled(),
            Err(error) => {
                tracing::error!(reply = id, %error, "a receipt was not written; trying again");
                *shared
                    .receipts
                    .lock()
                    .refused
                    .entry(conversation)
                    .or_default() += 1;
                let runtime = shared.runtime.clone();
                let workers = shared.workers.clone();
                let retry = async move {
                    shared.settle(again.id, again.part, again.outcome).await;
                    shared.receipts.lock().settled_late(conversation);
                    shared.receipt_settled();
                };
                drop(workers.spawn_on(retry, &runtime));
            }
        });
        self.store.write(Write::Receipt(receipt, then)).await;
    }

    fn receipt_settled(&self) {
        self.receipts.lock().open -= 1;
        self.rested.notify_waiters();
    }

    /// Waits until the store has the receipt of what was sent before into this conversation. Must be asked
    /// after the intent is written: by then the store has taken or refused every receipt that was handed in
    /// before it. Says whether there is nothing left to wait for; not so once the gateway stops.
    pub(super) async fn earlier_receipts(&self, conversation: i64) -> bool {
        loop {
            let rested = self.rested.notified();
            if !self.receipts.lock().refused.contains_key(&conversation) {
                return true;
            }
            tokio::select! {
                () = rested => {}
                () = self.stop.stopped() => return false,
            }
        }
    }

    pub(super) fn receipts_settled(&self) -> bool {
        self.receipts.lock().open == 0
    }
}
