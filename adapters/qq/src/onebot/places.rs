//! Conversation ids: `g<group>`, `p<user>` and, for a session through a group, `t<group>:<user>`.
//!
//! Owns both directions of that form and how ids are written into calls. Ids are stored: the form
//! never changes.

use std::fmt;

use serde_json::Value;
use weirgate_sdk::ConversationId;

use super::wire::is_integer;

/// Where people talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// A group.
    Group(&'a str),
    /// A friend's private chat.
    Private(&'a str),
    /// A private chat with a stranger that the platform allows because of a common group.
    Temporary {
        /// The common group.
        group: &'a str,
        /// The person.
        user: &'a str,
    },
}

impl<'a> Place<'a> {
    /// Reads a conversation id back; `None` for anything that [`Place::conversation`] does not write.
    #[must_use]
    pub fn parse(id: &'a str) -> Option<Self> {
        let (kind, rest) = id.split_at_checked(1)?;
        match kind {
            _ if rest.is_empty() => None,
            "g" => Some(Self::Group(rest)),
            "p" => Some(Self::Private(rest)),
            "t" => {
                let (group, user) = rest.split_once(':')?;
                (!group.is_empty() && !user.is_empty()).then_some(Self::Temporary { group, user })
            }
            _ => None,
        }
    }

    /// The conversation id.
    #[must_use]
    pub fn conversation(&self) -> ConversationId {
        self.to_string().into()
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(group) => write!(f, "g{group}"),
            Self::Private(user) => write!(f, "p{user}"),
            Self::Temporary { group, user } => write!(f, "t{group}:{user}"),
        }
    }
}

/// The largest integer that every JSON reader keeps exactly.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// An id as it goes into a call: a number where it is one that every reader keeps exactly, else the
/// string. Either way the digits are the same.
#[must_use]
pub fn id_value(id: &str) -> Value {
    if is_integer(id)
        && let Ok(number) = id.parse::<i64>()
        && number.unsigned_abs() <= MAX_EXACT
        && number.to_string() == id
    {
        return Value::from(number);
    }
    Value::from(id)
}

#[cfg(test)]
mod tests;
