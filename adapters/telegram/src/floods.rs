//! Chats in which the platform demands a pause.
//!
//! Owns who may be called when. The gateway waits by conversation; a pause is the chat's, with all of its topics, and
//! every kind of call keeps to it. Pure: the time is an argument.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use weirgate_sdk::{Freeze, SendError};

/// Chats that are kept; the one whose pause ends first is forgotten.
const MAX_FLOODS: usize = 1_024;
/// So many chats in which a pause began within [`TOGETHER`] mean that the whole account is to wait.
const MANY: usize = 3;
const TOGETHER: Duration = Duration::from_secs(10);

/// The pauses under way.
#[derive(Debug, Default)]
pub struct Floods(Mutex<Vec<Flood>>);

#[derive(Debug)]
struct Flood {
    chat: i64,
    begun: Instant,
    until: Instant,
}

impl Floods {
    /// A pause was demanded in a chat. Says what it freezes.
    pub fn begin(&self, chat: i64, after: Duration, now: Instant) -> Freeze {
        let mut floods = self.0.lock();
        floods.retain(|flood| flood.chat != chat && flood.until > now);
        if floods.len() >= MAX_FLOODS {
            let first = floods
                .iter()
                .enumerate()
                .min_by_key(|(_, flood)| flood.until);
            if let Some(index) = first.map(|(index, _)| index) {
                floods.swap_remove(index);
            }
        }
        floods.push(Flood {
            chat,
            begun: now,
            until: now + after,
        });
        let recent = floods.iter().filter(|flood| now - flood.begun <= TOGETHER);
        if recent.count() >= MANY {
            Freeze::Account
        } else {
            Freeze::Conversation
        }
    }

    /// Whether a call may go to a chat.
    ///
    /// # Errors
    /// [`SendError::RateLimited`] with what is left of a pause.
    pub fn ask(&self, chat: i64, now: Instant) -> Result<(), SendError> {
        let floods = self.0.lock();
        let pause = floods
            .iter()
            .find(|flood| flood.chat == chat && flood.until > now);
        match pause {
            Some(flood) => Err(SendError::RateLimited {
                after: flood.until - now,
                scope: Freeze::Conversation,
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_pause_is_kept_by_its_chat_alone_until_it_ends() {
        let (floods, now) = (Floods::default(), Instant::now());
        assert_eq!(floods.begin(5, 7 * SECOND, now), Freeze::Conversation);
        let left = SendError::RateLimited {
            after: 4 * SECOND,
            scope: Freeze::Conversation,
        };
        assert_eq!(floods.ask(5, now + 3 * SECOND), Err(left));
        assert_eq!(floods.ask(6, now + 3 * SECOND), Ok(()));
        assert_eq!(floods.ask(5, now + 7 * SECOND), Ok(()));
    }

    #[tokio::test]
    async fn many_chats_at_once_are_the_whole_account() {
        let (floods, now) = (Floods::default(), Instant::now());
        floods.begin(1, 90 * SECOND, now);
        floods.begin(2, 90 * SECOND, now);
        assert_eq!(floods.begin(2, 90 * SECOND, now), Freeze::Conversation);
        assert_eq!(floods.begin(3, 90 * SECOND, now), Freeze::Account);
        let later = now + 30 * SECOND;
        assert_eq!(floods.begin(4, SECOND, later), Freeze::Conversation);
    }

    #[tokio::test]
    async fn only_so_many_are_kept() {
        let (floods, now) = (Floods::default(), Instant::now());
        for chat in 0..=1_024 {
            floods.begin(chat, (1 + chat.unsigned_abs() as u32) * SECOND, now);
        }
        assert_eq!(floods.0.lock().len(), MAX_FLOODS);
        assert_eq!(floods.ask(0, now), Ok(()), "the shortest made room");
    }
}
