//! The messages that the bot sent lately, so that a reply to one of them is known at once.
//!
//! Owns a bounded memory of ids; the oldest is forgotten first. Nothing depends on it: what is not
//! found here the gateway looks up.

use std::collections::{HashSet, VecDeque};

use parking_lot::Mutex;
use weirgate_sdk::ConversationId;

/// How many ids are kept.
const CAPACITY: usize = 4_096;

/// Recently sent messages.
#[derive(Debug, Default)]
pub struct SentMessages {
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    known: HashSet<String>,
    order: VecDeque<String>,
}

impl SentMessages {
    /// Remembers a message.
    pub fn remember(&self, conversation: &ConversationId, message: &str) {
        let key = key(conversation, message);
        let mut recent = self.recent.lock();
        if !recent.known.insert(key.clone()) {
            return;
        }
        recent.order.push_back(key);
        if recent.order.len() > CAPACITY
            && let Some(oldest) = recent.order.pop_front()
        {
            recent.known.remove(&oldest);
        }
    }

    /// Whether the message is one of them.
    #[must_use]
    pub fn contains(&self, conversation: &ConversationId, message: &str) -> bool {
        self.recent
            .lock()
            .known
            .contains(&key(conversation, message))
    }
}

fn key(conversation: &ConversationId, message: &str) -> String {
    format!("{conversation}/{message}")
}

#[cfg(test)]
mod tests;
