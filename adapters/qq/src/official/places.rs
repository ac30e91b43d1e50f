//! Conversation ids of the official API: `group:<openid>`, `c2c:<openid>`, `channel:<id>`, `direct:<guild>`; `guild:<id>`
//! for a guild as a whole.
//!
//! Owns both directions of that form, where messages to a place go, and how long it can be answered. Ids are
//! stored: the form never changes. They are not those of OneBot, so the two kinds of account never mix.

use std::{fmt, time::Duration};

use weirgate_sdk::{ConversationId, Timestamp};

/// The longest id of a place, in bytes.
pub const MAX_ID: usize = 128;
/// How long a message in a private chat can be answered (bot-docs, passive messages).
const PRIVATE_WINDOW: Duration = Duration::from_secs(60 * 60);
/// How long one in a group or a channel can be.
const GROUP_WINDOW: Duration = Duration::from_secs(5 * 60);

/// Where people talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A group.
    Group(&'a str),
    /// A private chat with a person.
    Private(&'a str),
    /// A channel of a guild.
    Channel(&'a str),
    /// The direct messages of a guild member, by the number of the guild that is made for them.
    Direct(&'a str),
    /// A guild as a whole, into which nothing can be written.
    Guild(&'a str),
}

impl<'a> Place<'a> {
    /// Reads a conversation id back; `None` for anything that [`Place::conversation`] does not write.
    #[must_use]
    pub fn parse(id: &'a str) -> Option<Self> {
        let (kind, id) = id.split_once(':')?;
        if !is_id(id) {
            return None;
        }
        match kind {
            "group" => Some(Self::Group(id)),
            "c2c" => Some(Self::Private(id)),
            "channel" => Some(Self::Channel(id)),
            "direct" => Some(Self::Direct(id)),
            "guild" => Some(Self::Guild(id)),
            _ => None,
        }
    }

    /// The conversation id.
    #[must_use]
    pub fn conversation(&self) -> ConversationId {
        self.to_string().into()
    }

    /// The path of the place below the API's address.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Self::Group(id) => format!("/v2/groups/{id}"),
            Self::Private(id) => format!("/v2/users/{id}"),
            Self::Channel(id) => format!("/channels/{id}"),
            Self::Direct(id) => format!("/dms/{id}"),
            Self::Guild(id) => format!("/guilds/{id}"),
        }
    }

    /// How long a message from here can be answered.
    #[must_use]
    pub fn window(&self) -> Duration {
        match self {
            Self::Private(_) => PRIVATE_WINDOW,
            Self::Group(_) | Self::Channel(_) | Self::Direct(_) | Self::Guild(_) => GROUP_WINDOW,
        }
    }

    /// The same in milliseconds.
    #[must_use]
    pub fn window_ms(&self) -> Timestamp {
        Timestamp::try_from(self.window().as_millis()).unwrap_or(Timestamp::MAX)
    }

    /// It is one of a guild, which has an older API: no message types, no sequence numbers.
    #[must_use]
    pub fn is_guild(&self) -> bool {
        matches!(self, Self::Channel(_) | Self::Direct(_) | Self::Guild(_))
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(id) => write!(f, "group:{id}"),
            Self::Private(id) => write!(f, "c2c:{id}"),
            Self::Channel(id) => write!(f, "channel:{id}"),
            Self::Direct(id) => write!(f, "direct:{id}"),
            Self::Guild(id) => write!(f, "guild:{id}"),
        }
    }
}

/// Whether a text can be an id of the platform: it becomes a part of paths.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !text.is_empty() && text.len() <= MAX_ID && text.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_and_nothing_else_is_one() {
        let places = [
            Place::Group("C9F778FE6ADF9D1D1DBE395BF744A33A"),
            Place::Private("E4F4AEA33253A2797FB897C50B81D7ED"),
            Place::Channel("9007199254740993"),
            Place::Direct("18700000000001"),
            Place::Guild("50"),
        ];
        for place in places {
            assert_eq!(Place::parse(place.conversation().as_str()), Some(place));
        }
        let odd = [
            "",
            "group",
            "group:",
            "group:../x",
            "group:a b",
            "g1",
            "c2c:𝔘",
            "dm:1",
            "p1",
        ];
        for id in odd {
            assert_eq!(Place::parse(id), None, "{id}");
        }
        assert_eq!(Place::parse(&format!("group:{}", "x".repeat(129))), None);
    }
}
