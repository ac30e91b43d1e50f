//! Receipts: what became of a part, written down.
//!
//! Owns how long a receipt is tried, and which of them are waited for. It never sends.

use std::sync::{Arc, atomic::Ordering};

use super::{RETRY_PAUSE, Shared};
use crate::store::{Receipt, ReceiptOutcome, StoreError, Write, commit};

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
    /// is sent next into the conversation is committed after it or together with it, so that no more than one
    /// part is in doubt. A receipt that the store refuses is tried again beside what follows: after a crash
    /// in that moment its part is in doubt as well.
    pub(super) async fn settle_later(
        self: &Arc<Self>,
        id: i64,
        part: u32,
        outcome: ReceiptOutcome,
    ) {
        let receipt = Receipt {
            id,
            part,
            outcome,
            at: self.clock.now(),
        };
        let again = receipt.clone();
        let shared = Arc::clone(self);
        self.open_receipts.fetch_add(1, Ordering::AcqRel);
        let then = Box::new(move |result: Result<(), StoreError>| match result {
            Ok(()) => shared.receipt_settled(),
            Err(error) => {
                tracing::error!(reply = id, %error, "a receipt was not written; trying again");
                let runtime = shared.runtime.clone();
                let workers = shared.workers.clone();
                let retry = async move {
                    shared.settle(again.id, again.part, again.outcome).await;
                    shared.receipt_settled();
                };
                drop(workers.spawn_on(retry, &runtime));
            }
        });
        self.store.write(Write::Receipt(receipt, then)).await;
    }

    fn receipt_settled(&self) {
        if self.open_receipts.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.rested.notify_waiters();
        }
    }

    pub(super) fn receipts_settled(&self) -> bool {
        self.open_receipts.load(Ordering::Acquire) == 0
    }
}
