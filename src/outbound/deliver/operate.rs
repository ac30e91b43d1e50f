//! What an operator does with replies while the gateway runs.
//!
//! Owns the hand-over between the store and the queues in memory. It never decides what is retried or
//! dropped, and never sends by itself.

use std::time::Duration;

use super::{Deliverer, Reply};
use crate::{
    reason::Reason,
    store::{PendingReply, StoreError},
    telemetry::metrics::Queue,
};

/// How long a full queue is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A reply that waited and was taken out of its queue.
#[derive(Debug)]
pub struct Withdrawn {
    place: usize,
    reply: Reply,
}

impl Deliverer {
    /// Whether the queue of a conversation has room for a reply that is to be sent again, so that it
    /// displaces none; waits two seconds for it.
    pub async fn has_room(&self, conversation: i64) -> bool {
        self.room(conversation, PATIENCE).await;
        self.shared.outbox.room(conversation).is_none()
    }

    /// Sends a reply whose row is ready again: behind what waits for its conversation.
    ///
    /// # Errors
    /// The store's; the reply is taken up by the next start then.
    pub async fn again(&self, pending: PendingReply) -> Result<(), StoreError> {
        self.shared
            .note(pending.turn, pending.id, Reason::SendRetried);
        if let Some(reply) = self.shared.take_up(pending).await? {
            self.push(reply);
        }
        Ok(())
    }

    /// Takes out a reply that waits; `None` if it does not, because it is on its way or settled.
    #[must_use]
    pub fn withdraw(&self, conversation: i64, id: i64) -> Option<Withdrawn> {
        let (place, reply) = self.shared.outbox.withdraw(conversation, id)?;
        Some(Withdrawn { place, reply })
    }

    /// It is not sent any more: the platform learns that its messages have ended.
    pub fn dropped(&self, withdrawn: &Withdrawn) {
        let reply = &withdrawn.reply;
        self.shared.note(reply.turn, reply.id, Reason::Cancelled);
        Queue::Outbound.dropped(Reason::Cancelled, 1);
        self.shared.unanswered(reply);
    }

    /// Gives up everything that waits for a conversation and has not begun, for this reason; says how many. What is on
    /// its way leaves.
    pub async fn drop_all(&self, conversation: i64, reason: Reason) -> usize {
        let replies = self.shared.outbox.withdraw_all(conversation);
        let count = replies.len();
        for reply in replies {
            self.shared.drop_reply(reply, reason).await;
        }
        count
    }

    /// Puts it back.
    pub fn put_back(&self, withdrawn: Withdrawn) {
        let conversation = withdrawn.reply.conversation;
        let start = self
            .shared
            .outbox
            .put_back(withdrawn.place, withdrawn.reply);
        if start {
            self.start(conversation);
        }
    }
}
