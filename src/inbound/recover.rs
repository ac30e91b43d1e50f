//! Recovery: what an earlier process accepted and did not end is queued again, at a start and when another process
//! is gone whose messages are this one's from then on.
//!
//! Owns the order: unsent answers first, then waiting messages, oldest first, before anything new is taken in. It
//! drops nothing, whatever the overflow strategy.

use std::{sync::Arc, time::Duration};

use super::{
    keying::Keying,
    queue::{Entry, QueueKey},
    route::Route,
};
use crate::{
    agent::Agent,
    clock::Clock,
    outbound::deliver::Deliverer,
    reason::Reason,
    schedule::dispatch::{Dispatch, entry},
    store::{Store, StoreError, Waiting, WaitingFilter, patiently},
    telemetry::metrics::Queue,
    trace::Traces,
};

/// Rows read at once.
const PAGE: usize = 1_000;
/// Between two looks for room in a queue in which others wait too.
const ROOM: Duration = Duration::from_millis(250);

/// What was taken up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Answers that were not sent.
    pub unsent: usize,
    /// Messages.
    pub messages: usize,
    /// Control commands, which run at once.
    pub controls: usize,
}

/// What somebody left.
#[derive(Debug, Clone)]
pub struct Left {
    /// The leases to which it belongs.
    pub leases: Arc<[i64]>,
    /// He crashed: each message is taken singly, so that one that crashes the process is found.
    pub unclean: bool,
    /// Others of the same conversations may wait here already, because each process serves those who come to it.
    pub mixed: bool,
    /// The gateway is at work meanwhile: a store that fails is asked again.
    pub at_work: bool,
}

/// Takes up what somebody left.
pub struct Recovery {
    /// Where it is.
    pub store: Arc<dyn Store>,
    /// Who queues.
    pub dispatch: Arc<Dispatch>,
    /// Who sends.
    pub deliverer: Deliverer,
    /// Who runs control commands.
    pub agent: Arc<Agent>,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// How messages are sorted into queues.
    pub keying: Keying,
    /// The clock.
    pub clock: Clock,
}

impl std::fmt::Debug for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recovery").finish_non_exhaustive()
    }
}

impl Recovery {
    /// Takes up everything. From then on it is this process's own.
    ///
    /// # Errors
    /// The store's; some of it may have been taken up then.
    pub async fn recover(&self, left: &Left) -> Result<Recovered, StoreError> {
        let unsent = self
            .deliverer
            .recover(Some(&left.leases), left.at_work)
            .await?;
        if left.unclean {
            self.suspect(left).await?;
        }
        let recovered = if left.mixed {
            let recovered = self.queue(left).await;
            self.store.adopt(&left.leases);
            recovered
        } else {
            self.store.adopt(&left.leases);
            // What a queue leaves in the store must not be read while it is still being filled.
            let _filling = self.dispatch.pause_reading();
            self.queue(left).await
        };
        Ok(Recovered {
            unsent,
            ..recovered?
        })
    }

    async fn page(&self, left: &Left, after: i64) -> Result<Vec<Waiting>, StoreError> {
        let filter = WaitingFilter {
            leases: Some(Arc::clone(&left.leases)),
            ..WaitingFilter::default()
        };
        let ask = || self.store.waiting(after, filter.clone(), PAGE);
        patiently(left.at_work, ask).await
    }

    /// Tells which turns were under way at the crash, before any of them is run again.
    async fn suspect(&self, left: &Left) -> Result<(), StoreError> {
        let (mut begun, mut after) = (Vec::new(), 0);
        loop {
            let page = self.page(left, after).await?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            let tried = page.iter().filter(|row| row.attempts > 0);
            begun.extend(tried.map(|row| (row.id, row.attempts)));
        }
        self.agent.recovered_to(after, &begun);
        // What is held back in the store now is read later, and counts as recovered all the same.
        self.dispatch.single_to(after);
        Ok(())
    }

    async fn queue(&self, left: &Left) -> Result<Recovered, StoreError> {
        let mut recovered = Recovered::default();
        let mut after = 0;
        loop {
            let page = self.page(left, after).await?;
            let Some(last) = page.last() else {
                return Ok(recovered);
            };
            after = last.id;
            for row in page {
                self.traces
                    .note(row.id, Reason::Recovered, self.clock.now());
                if Route::from_code(row.route) == Route::Control {
                    recovered.controls += 1;
                    let agent = Arc::clone(&self.agent);
                    tokio::spawn(async move { agent.control(row).await });
                    continue;
                }
                recovered.messages += 1;
                let key: QueueKey = self.keying.key(row.account, row.conversation, row.person);
                if let Some(entry) = entry(row, key, left.unclean) {
                    self.push(entry, left.mixed).await;
                }
            }
        }
    }

    async fn push(&self, mut entry: Entry, mixed: bool) {
        let id = entry.id;
        Queue::Inbound.received(1);
        if !mixed {
            // A full queue leaves the message in the store and reads it later.
            let pushed = self.dispatch.push_kept(entry);
            tracing::trace!(message = id, ?pushed, "taken up");
            return;
        }
        // A queue that has newer messages in the store already would never come back to this one.
        while let Err(full) = self.dispatch.offer(entry) {
            entry = full;
            tokio::time::sleep(ROOM).await;
        }
    }
}
