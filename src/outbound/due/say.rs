//! A text that the gateway says in a conversation of its own accord, at its time.
//!
//! Owns its stored form. When it is due it becomes a reply like any other, in the same transaction.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weirgate_sdk::{ConversationKey, Timestamp};

use super::{Performer, Task};
use crate::{
    i18n::Language,
    outbound::{compose::Addressee, post::Post},
    reason::Reason,
    store::{Deferred, Due, ReceiptOutcome, StoreError},
};

/// A text, as it is stored: a new key is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The text, plain.
    pub text: String,
}

impl Say {
    /// Puts it off. What is put off under the same subject stays.
    #[must_use]
    pub fn at(self, due_at: Timestamp, conversation: i64, turn: i64, subject: String) -> Deferred {
        Deferred {
            conversation,
            turn,
            subject,
            due_at,
            body: Task::Say(self).encode(),
        }
    }
}

impl Performer {
    /// Says it.
    pub(super) async fn say(
        &self,
        row: &Due,
        key: Arc<ConversationKey>,
        say: Say,
    ) -> Result<(), StoreError> {
        let rules = self.rules.get();
        let (place, to) = ((row.conversation, key), Addressee::default());
        let language = rules.settings.language.unwrap_or(Language::Zh);
        let text = (say.text, language);
        let post = Post::compose(&self.deliverer, &rules.composer, place, text, to);
        let outcome = match &post {
            Some(_) => ReceiptOutcome::Sent {
                message: None,
                last: true,
            },
            None => ReceiptOutcome::Failed {
                reason: Reason::SendGone.code(),
            },
        };
        self.settle(row, outcome, Some((None, post))).await
    }
}
