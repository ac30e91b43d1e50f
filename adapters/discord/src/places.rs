//! Where a message belongs: a channel, and a thread of it.
//!
//! Owns the form of conversation and thread ids, and what is read out of the platform's numbers. A channel is its
//! number in decimal, a direct message's channel too; a thread is a channel of its own for the platform, and a thread
//! of its channel here.

use weirgate_sdk::{AccountName, ConversationKey, Platform, Timestamp};

/// The first moment of the platform's numbers, in milliseconds since the Unix epoch (API Reference, Snowflakes).
const EPOCH: u64 = 1_420_070_400_000;

/// A number of the platform: a channel, a message, a person. Never 0; later ones are greater.
pub type Snowflake = u64;

/// A channel, or a thread of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Place {
    /// The channel.
    pub channel: Snowflake,
    /// The thread.
    pub thread: Option<Snowflake>,
}

impl Place {
    /// Reads a key that [`Place::key`] made; `None` for anything else.
    #[must_use]
    pub fn parse(key: &ConversationKey) -> Option<Self> {
        let thread = match &key.thread {
            None => None,
            Some(thread) => Some(number(thread.as_str())?),
        };
        Some(Self {
            channel: number(key.conversation.as_str())?,
            thread,
        })
    }

    /// The key of this place for an account.
    #[must_use]
    pub fn key(self, platform: &Platform, account: &AccountName) -> ConversationKey {
        ConversationKey {
            platform: platform.clone(),
            account: account.clone(),
            conversation: self.channel.to_string().into(),
            thread: self.thread.map(|thread| thread.to_string().into()),
        }
    }

    /// The channel into which is written.
    #[must_use]
    pub fn target(self) -> Snowflake {
        self.thread.unwrap_or(self.channel)
    }
}

/// A number in decimal, written in the one way in which the platform writes numbers.
#[must_use]
pub fn number(text: &str) -> Option<Snowflake> {
    let number: Snowflake = text.parse().ok().filter(|number| *number > 0)?;
    (number.to_string() == text).then_some(number)
}

/// When a number was made.
#[must_use]
pub fn made_at(id: Snowflake) -> Timestamp {
    Timestamp::try_from((id >> 22).saturating_add(EPOCH)).unwrap_or(Timestamp::MAX)
}

/// The least number of a moment.
#[must_use]
pub fn first_of(at: Timestamp) -> Snowflake {
    let since = u64::try_from(at).unwrap_or(0).saturating_sub(EPOCH);
    // A number has 42 bits of time.
    since.min((1 << 42) - 1) << 22
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(channel: &str, thread: Option<&str>) -> ConversationKey {
        ConversationKey {
            platform: "discord".into(),
            account: "main".into(),
            conversation: channel.into(),
            thread: thread.map(Into::into),
        }
    }

    #[test]
    fn keys_come_back() {
        for (channel, thread) in [(42, None), (175_928_847_299_117_063, Some(u64::MAX))] {
            let place = Place { channel, thread };
            assert_eq!(
                Place::parse(&place.key(&"discord".into(), &"main".into())),
                Some(place)
            );
        }
        for (channel, thread) in [
            ("", None),
            ("0", None),
            ("+5", None),
            ("05", None),
            ("nowhere", None),
            ("99999999999999999999999", None),
            ("5", Some("")),
            ("5", Some("x")),
        ] {
            assert_eq!(
                Place::parse(&key(channel, thread)),
                None,
                "{channel} {thread:?}"
            );
        }
    }

    #[test]
    fn numbers_tell_their_time() {
        // The example of the documentation.
        assert_eq!(made_at(175_928_847_299_117_063), 1_462_015_105_796);
        let first = first_of(1_462_015_105_796);
        assert!(first <= 175_928_847_299_117_063 && made_at(first) == 1_462_015_105_796);
        assert_eq!((first_of(0), first_of(-5)), (0, 0));
        assert!(made_at(first_of(Timestamp::MAX)) > 0);
    }
}
