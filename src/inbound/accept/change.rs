//! Edits, recalls and the platform's own stop button.
//!
//! Owns what they do to messages that wait or run. They are looked at after everything that was
//! accepted before them is journaled. What has ended is left as it is.

use std::sync::Weak;

use tokio::sync::mpsc;
use weirgate_sdk::{ConversationKey, InboundMessage, MessageId, NotAccepted, UserKey};

use super::{Changes, Shared, Step, behind::Place, plan::route};
use crate::{
    command::parse,
    inbound::{body, queue::QueueKey},
    reason::Reason,
    store::{End, EndState, StoreError, Waiting, Write, commit},
    telemetry::metrics::Queue,
};

/// Carries out changes one after another, in the order in which they were accepted.
pub(super) async fn in_order(shared: Weak<Shared>, mut queue: mpsc::Receiver<Changes>) {
    while let Some(changes) = queue.recv().await {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let done = shared.carry_out(changes.steps, changes.place).await;
        let result = done.map(|()| changes.outcomes).map_err(|error| {
            tracing::error!(%error, "an edit, recall or stop could not be carried out");
            // The adapter hands the batch in again; its messages are then duplicates.
            NotAccepted::Store(error.to_string())
        });
        changes.slot.resolve(result);
    }
}

impl Shared {
    /// Carries out the changes of a batch, and stores its cursor behind them.
    async fn carry_out(&self, steps: Vec<Step>, place: Option<Place>) -> Result<(), StoreError> {
        for step in steps {
            self.change(step).await?;
        }
        let Some(mut place) = place else {
            return Ok(());
        };
        if let Some((platform, account, cursor)) = place.cursor() {
            commit(&self.parts.store, |then| Write::Accept {
                platform,
                account,
                messages: Vec::new(),
                cursor: Some(cursor),
                then,
            })
            .await?;
        }
        place.carried_out();
        Ok(())
    }

    async fn change(&self, change: Step) -> Result<(), StoreError> {
        match change {
            Step::Edit(message) => self.edit(&message).await,
            Step::Delete(conversation, message) => self.recall(&conversation, &message).await,
            Step::Stop(conversation, person) => {
                self.stop(&conversation, &person);
                Ok(())
            }
            Step::Ended(_) | Step::Accepted(..) => Ok(()),
        }
    }

    async fn edit(&self, message: &InboundMessage) -> Result<(), StoreError> {
        let found = self.find(&message.conversation, &message.id).await?;
        let Some(row) = found else {
            return Ok(());
        };
        let text = message.own_text();
        if route(parse(&text), body::is_too_large(message)).code() != row.route {
            // It would have been queued in another way; the words that were journaled stand.
            return Ok(());
        }
        let body = body::encode(message);
        if !self
            .parts
            .dispatch
            .replace(&self.key(&row), row.id, body.clone())
        {
            // It runs, or it is held back in the store, where the new body is read from.
            tracing::debug!(message = row.id, "edited outside of memory");
        }
        self.parts
            .traces
            .note(row.id, Reason::Edited, self.parts.clock.now());
        let store = &self.parts.store;
        commit(store, |then| Write::Amend {
            id: row.id,
            body,
            then,
        })
        .await
    }

    async fn recall(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<(), StoreError> {
        let Some(row) = self.find(conversation, message).await? else {
            return Ok(());
        };
        if self.parts.running.recall(row.id) {
            // The turn ends by itself and says nothing.
            return Ok(());
        }
        if self.parts.dispatch.remove(&self.key(&row), row.id) {
            Queue::Inbound.dropped(Reason::Recalled, 1);
        }
        self.parts
            .notices
            .forget(row.conversation, row.person, row.id);
        let at = self.parts.clock.now();
        self.parts.traces.note(row.id, Reason::Recalled, at);
        let reason = Reason::Recalled.code();
        let ends = vec![End {
            id: row.id,
            state: EndState::Recalled,
            reason,
            at,
        }];
        let store = &self.parts.store;
        commit(store, |then| Write::End {
            ends,
            notices: Vec::new(),
            then,
        })
        .await?;
        // A turn may have taken it meanwhile; it then ends without a word.
        self.parts.running.recall(row.id);
        Ok(())
    }

    fn stop(&self, conversation: &ConversationKey, person: &UserKey) {
        let (directory, running) = (&self.parts.directory, &self.parts.running);
        running.stop_where(|turn_conversation, turn_person| {
            directory.is_conversation(turn_conversation, conversation)
                && directory.is_person(turn_person, person)
        });
    }

    async fn find(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<Option<Waiting>, StoreError> {
        self.parts
            .store
            .find_waiting(conversation, message.as_str())
            .await
    }

    fn key(&self, row: &Waiting) -> QueueKey {
        self.parts
            .keying
            .key(row.account, row.conversation, row.person)
    }
}
