//! Where a message belongs: a chat, and a topic of it.
//!
//! Owns the form of conversation and thread ids. A chat is its number in decimal: positive for a private chat (it
//! is the person's id), negative for groups and channels. The General topic of a forum is the chat without a topic:
//! the platform refuses the number that it shows for it.

use weirgate_sdk::{AccountName, ConversationKey, Platform};

/// Chat ids have at most 52 significant bits (Bot API, type Chat).
const MAX_CHAT: i64 = 1 << 52;
/// The number of the General topic in what comes in; in what goes out it is refused.
const GENERAL: i64 = 1;

/// A chat, or a topic of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The chat's id.
    pub chat: i64,
    /// The topic's id, never that of General.
    pub topic: Option<i32>,
}

impl Place {
    /// The place of a message in `chat` whose thread has this number. The number of a thread that is no topic is only
    /// the message at its root, and of no use for sending.
    #[must_use]
    pub fn of(chat: i64, thread: Option<i64>, is_topic: bool) -> Self {
        let topic = thread.filter(|thread| is_topic && *thread > GENERAL);
        Self {
            chat,
            topic: topic.and_then(|topic| i32::try_from(topic).ok()),
        }
    }

    /// Reads a key that [`Place::key`] made; `None` for anything else.
    #[must_use]
    pub fn parse(key: &ConversationKey) -> Option<Self> {
        let chat = number(key.conversation.as_str()).filter(|chat| is_chat(*chat))?;
        let topic = match &key.thread {
            None => None,
            Some(thread) => {
                let topic = number(thread.as_str()).filter(|topic| *topic > GENERAL)?;
                Some(i32::try_from(topic).ok()?)
            }
        };
        Some(Self { chat, topic })
    }

    /// The key of this place for an account.
    #[must_use]
    pub fn key(self, platform: &Platform, account: &AccountName) -> ConversationKey {
        ConversationKey {
            platform: platform.clone(),
            account: account.clone(),
            conversation: self.chat.to_string().into(),
            thread: self.topic.map(|topic| topic.to_string().into()),
        }
    }
}

/// Whether a chat is one with a single person.
#[must_use]
pub fn is_private(chat: i64) -> bool {
    chat > 0
}

/// Whether a number can be that of a chat.
#[must_use]
pub fn is_chat(chat: i64) -> bool {
    chat != 0 && (-MAX_CHAT..MAX_CHAT).contains(&chat)
}

/// A number in decimal, written in the one way in which this adapter writes numbers.
#[must_use]
pub fn number(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(chat: &str, thread: Option<&str>) -> ConversationKey {
        ConversationKey {
            platform: "telegram".into(),
            account: "main".into(),
            conversation: chat.into(),
            thread: thread.map(Into::into),
        }
    }

    #[test]
    fn only_topics_are_threads_and_general_is_the_chat_itself() {
        let place = |thread, is_topic| Place::of(-1_001, thread, is_topic).topic;
        assert_eq!(place(Some(77), true), Some(77));
        assert_eq!(place(Some(1), true), None, "General");
        assert_eq!(place(Some(8_123), false), None, "the root of some replies");
        assert_eq!(place(None, true), None);
        assert_eq!(place(Some(-5), true), None);
        assert_eq!(place(Some(i64::MAX), true), None);
    }

    #[test]
    fn keys_come_back() {
        for (chat, topic) in [(42, None), (-1_001_234_567_890, Some(77)), (-42, None)] {
            let place = Place { chat, topic };
            let key = place.key(&"telegram".into(), &"main".into());
            assert_eq!(Place::parse(&key), Some(place));
        }
        for (chat, thread) in [
            ("", None),
            ("0", None),
            ("+5", None),
            ("05", None),
            ("nowhere", None),
            ("99999999999999999999999", None),
            ("9007199254740993", None),
            ("5", Some("")),
            ("5", Some("1")),
            ("5", Some("x")),
        ] {
            assert_eq!(Place::parse(&key(chat, thread)), None, "{chat} {thread:?}");
        }
    }
}
