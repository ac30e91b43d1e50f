//! What an earlier process left unsent.
//!
//! Owns the order in which it is taken up: in each conversation the reply that has begun goes on before
//! anything else is sent there, so that its parts stay together.

use std::collections::HashSet;

use super::{ATTEMPTS, Deliverer, Reply, Shared, failed};
use crate::{
    reason::Reason,
    store::{PendingReply, ReplyBody, StoreError, patiently},
    telemetry::metrics,
};

/// Replies read at once.
const PAGE: usize = 500;

impl Deliverer {
    /// Takes up what an earlier process left unsent, of all leases or of these; says how many replies. If
    /// `patient`, a store that fails is asked again.
    ///
    /// # Errors
    /// The store's.
    pub async fn recover(
        &self,
        leases: Option<&[i64]>,
        patient: bool,
    ) -> Result<usize, StoreError> {
        let mut begun = HashSet::new();
        let first = self
            .take_up_where(leases, patient, |pending| {
                pending.part > 0 && begun.insert(pending.id)
            })
            .await?;
        let rest = self
            .take_up_where(leases, patient, |pending| !begun.contains(&pending.id))
            .await?;
        Ok(first + rest)
    }

    async fn take_up_where(
        &self,
        leases: Option<&[i64]>,
        patient: bool,
        mut wanted: impl FnMut(&PendingReply) -> bool,
    ) -> Result<usize, StoreError> {
        let shared = &self.shared;
        let (mut after, mut count) = (0, 0);
        loop {
            let ask = || shared.store.pending_replies(leases, after, PAGE);
            let page = patiently(patient, ask).await?;
            let Some(last) = page.last() else {
                return Ok(count);
            };
            after = last.id;
            for pending in page.into_iter().filter(&mut wanted) {
                let taken = patiently(patient, || shared.take_up(pending.clone()));
                if let Some(reply) = taken.await? {
                    count += 1;
                    self.push(reply);
                }
            }
        }
    }
}

impl Shared {
    /// A reply that an earlier process left: unknown ones are held, hopeless ones are given up.
    pub(super) async fn take_up(&self, pending: PendingReply) -> Result<Option<Reply>, StoreError> {
        if pending.unknown {
            return Ok(None);
        }
        let Ok(body) = serde_json::from_str::<ReplyBody>(&pending.body) else {
            tracing::error!(
                reply = pending.id,
                "the stored reply cannot be read; given up"
            );
            self.settle(pending.id, pending.part, failed(Reason::SendFailed))
                .await;
            return Ok(None);
        };
        if pending.in_doubt && pending.attempts >= ATTEMPTS {
            self.note(pending.turn, pending.id, Reason::SendFailed);
            self.settle(pending.id, pending.part, failed(Reason::SendFailed))
                .await;
            return Ok(None);
        }
        if pending.in_doubt {
            self.note(pending.turn, pending.id, Reason::Resent);
            metrics::resent();
        }
        let now = self.clock.tick();
        let wait = u64::try_from(pending.due_at.saturating_sub(self.clock.now())).unwrap_or(0);
        Ok(Some(Reply {
            id: pending.id,
            conversation: pending.conversation,
            key: self.directory.conversation(pending.conversation).await?,
            turn: pending.turn,
            body,
            part: pending.part,
            intent_written: false,
            doubts: pending.attempts,
            doubtful: pending.doubtful,
            since: now,
            due: now.saturating_add(wait.saturating_mul(1_000)),
        }))
    }
}
