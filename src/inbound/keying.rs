//! Which queue a message belongs to.
//!
//! Owns the four keyings. A thread is part of the conversation's number, the account always counts.

use super::{config::InputBuffer, queue::QueueKey};
use crate::store::WaitingFilter;

/// How messages are sorted into queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keying {
    per_user: bool,
    per_conversation: bool,
}

impl From<&InputBuffer> for Keying {
    fn from(config: &InputBuffer) -> Self {
        Self {
            per_user: config.per_user_queue,
            per_conversation: config.per_conversation_queue,
        }
    }
}

impl Keying {
    /// The queue of a message.
    #[must_use]
    pub fn key(self, account: u32, conversation: i64, person: i64) -> QueueKey {
        QueueKey {
            account,
            conversation: if self.per_conversation {
                conversation
            } else {
                0
            },
            person: if self.per_user { person } else { 0 },
        }
    }
}

/// The waiting messages of a queue in the store.
#[must_use]
pub fn filter(key: &QueueKey) -> WaitingFilter {
    WaitingFilter {
        account: Some(key.account),
        conversation: (key.conversation != 0).then_some(key.conversation),
        person: (key.person != 0).then_some(key.person),
        leases: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_keyings() {
        let key = |per_user, per_conversation| {
            let keying = Keying {
                per_user,
                per_conversation,
            };
            let key = keying.key(1, 20, 300);
            (key.account, key.conversation, key.person)
        };
        assert_eq!(key(true, true), (1, 20, 300));
        assert_eq!(key(true, false), (1, 0, 300));
        assert_eq!(key(false, true), (1, 20, 0));
        assert_eq!(key(false, false), (1, 0, 0));
    }
}
