//! Messages that end without an answer.
//!
//! Owns who is told: a platform that shows what is pending. It never writes anything; what ended is in the
//! store already, or is about to be.

use weirgate_sdk::{ConversationKey, MessageId};

use super::{Deliverer, Reply, Shared};
use crate::store::ReplyBody;

impl Deliverer {
    /// Tells the platform, where it shows what is pending, that these messages have ended without an
    /// answer. `messages` is asked only then.
    pub fn ended(&self, key: &ConversationKey, messages: impl FnOnce() -> Vec<MessageId>) {
        self.shared.ended(key, messages);
    }
}

impl Shared {
    /// A reply ended of which the platform does not know the last part.
    pub(super) fn unanswered(&self, reply: &Reply) {
        self.ended(&reply.key, || message_ids(&reply.body));
    }

    fn ended(&self, key: &ConversationKey, messages: impl FnOnce() -> Vec<MessageId>) {
        let Some(adapter) = self.adapter(key) else {
            return;
        };
        if adapter.capabilities(key).pending {
            let messages = messages();
            if !messages.is_empty() {
                adapter.ended(key, &messages);
            }
        }
    }
}

/// The messages that a reply answers.
pub(super) fn message_ids(body: &ReplyBody) -> Vec<MessageId> {
    let ids = body.answers.iter();
    ids.map(|id| MessageId::from(id.as_str())).collect()
}
