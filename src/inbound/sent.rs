//! The messages that the gateway sent lately, so that a reply to one of them addresses it.
//!
//! Owns a bounded set. It knows no text and no order; forgetting an old message only means that a reply to
//! it needs a mention.

use std::{
    hash::{BuildHasher, RandomState},
    num::NonZeroUsize,
    sync::Arc,
};

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{ConversationKey, MessageId};

use crate::store::Store;

/// Messages that are remembered.
pub const REMEMBERED: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");

/// The messages that were sent lately, over all conversations.
#[derive(Debug)]
pub struct SentMessages {
    hasher: RandomState,
    recent: Mutex<LruCache<u64, ()>>,
}

impl Default for SentMessages {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            // Grows with use: an idle gateway pays nothing for it.
            recent: Mutex::new(LruCache::unbounded()),
        }
    }
}

/// Remembers what the store knows of earlier processes.
pub async fn recall(store: Arc<dyn Store>, sent: Arc<SentMessages>) {
    match store.sent_lately(REMEMBERED.get()).await {
        Ok(messages) => {
            for (conversation, message) in messages {
                sent.remember(&conversation, &message.as_str().into());
            }
        }
        Err(error) => tracing::warn!(%error, "earlier answers are not recognised in replies"),
    }
}

impl SentMessages {
    /// Remembers a message that was sent.
    pub fn remember(&self, conversation: &ConversationKey, message: &MessageId) {
        let mark = self.hasher.hash_one((conversation, message));
        let mut recent = self.recent.lock();
        recent.put(mark, ());
        if recent.len() > REMEMBERED.get() {
            recent.pop_lru();
        }
    }

    /// Whether a message is one of them.
    #[must_use]
    pub fn has(&self, conversation: &ConversationKey, message: &MessageId) -> bool {
        let mark = self.hasher.hash_one((conversation, message));
        self.recent.lock().contains(&mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(conversation: &str) -> ConversationKey {
        ConversationKey {
            platform: "p".into(),
            account: "a".into(),
            conversation: conversation.into(),
            thread: None,
        }
    }

    #[test]
    fn a_message_is_known_in_its_own_conversation() {
        let sent = SentMessages::default();
        sent.remember(&place("g1"), &"7".into());
        assert!(sent.has(&place("g1"), &"7".into()));
        assert!(!sent.has(&place("g2"), &"7".into()));
        assert!(!sent.has(&place("g1"), &"8".into()));
    }

    #[test]
    fn old_messages_are_forgotten() {
        let sent = SentMessages::default();
        for id in 0..=REMEMBERED.get() {
            sent.remember(&place("g1"), &id.to_string().into());
        }
        assert!(!sent.has(&place("g1"), &"0".into()));
        assert!(sent.has(&place("g1"), &REMEMBERED.get().to_string().into()));
    }
}
