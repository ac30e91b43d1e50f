//! Identity: every id is a type of its own, made by the adapter and opaque elsewhere.
//!
//! Owns the canonical, reversible text form of user and conversation keys, which the store keeps.
//! It never interprets an id: two ids are the same exactly if their texts are the same.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as the adapter made it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

id_type! {
    /// Name of a platform as agent.yaml spells it under `platforms`. Stored: never rename one.
    Platform
}
id_type! {
    /// The name space of user ids inside a platform: empty where the platform has one for all,
    /// an app id or a site key where ids are handed out per app or site.
    Realm
}
id_type! {
    /// A user, unique within (platform, realm). Numeric ids are written in decimal without signs of
    /// their own: `20001` and `"20001"` are one user.
    UserId
}
id_type! {
    /// Name of an account (one bot on one platform) as agent.yaml spells it. Stored.
    AccountName
}
id_type! {
    /// The bot's own id on the platform. Kept with cursors, so that a changed token is noticed.
    BotId
}
id_type! {
    /// A private chat, group or channel, unique within (platform, account). The adapter chooses a form
    /// that tells private chats and groups apart where the platform numbers them separately.
    ConversationId
}
id_type! {
    /// A thread or topic inside a conversation.
    ThreadId
}
id_type! {
    /// A message, unique within its conversation for as long as the platform remembers it.
    MessageId
}

/// One person (or bot, or service) on one platform.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UserKey {
    /// The platform.
    pub platform: Platform,
    /// The name space of the id; empty where there is only one.
    pub realm: Realm,
    /// The id inside the realm.
    pub id: UserId,
}

impl UserKey {
    /// The canonical text: `platform/realm/id`, each part percent-encoded.
    #[must_use]
    pub fn encode(&self) -> String {
        join(&[
            self.platform.as_str(),
            self.realm.as_str(),
            self.id.as_str(),
        ])
    }

    /// Reads back what [`UserKey::encode`] wrote; `None` for anything else.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let [platform, realm, id] = parts(text)?;
        Some(Self {
            platform: platform.into(),
            realm: realm.into(),
            id: id.into(),
        })
    }
}

/// One place where people talk to one account: a chat, or a thread of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConversationKey {
    /// The platform.
    pub platform: Platform,
    /// The account that sees the conversation; two accounts in one group have two keys.
    pub account: AccountName,
    /// The chat, group or channel.
    pub conversation: ConversationId,
    /// The thread or topic; absent outside of threads.
    pub thread: Option<ThreadId>,
}

impl ConversationKey {
    /// The canonical text: `platform/account/conversation/thread`, each part percent-encoded; no
    /// thread is an empty last part, so a thread id is never empty.
    #[must_use]
    pub fn encode(&self) -> String {
        let thread = self.thread.as_ref().map_or("", ThreadId::as_str);
        join(&[
            self.platform.as_str(),
            self.account.as_str(),
            self.conversation.as_str(),
            thread,
        ])
    }

    /// Reads back what [`ConversationKey::encode`] wrote; `None` for anything else.
    #[must_use]
    pub fn decode(text: &str) -> Option<Self> {
        let [platform, account, conversation, thread] = parts(text)?;
        Some(Self {
            platform: platform.into(),
            account: account.into(),
            conversation: conversation.into(),
            thread: (!thread.is_empty()).then(|| thread.into()),
        })
    }
}

/// What makes an event the same event when the platform delivers it again.
///
/// The key is unique within (platform, account). `lifetime` is how long the platform may repeat the
/// event; after that an equal key is a new event, because some platforms reuse ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DedupeKey {
    /// The key, at most 200 bytes.
    pub key: Box<str>,
    /// How long it counts.
    pub lifetime: Duration,
}

fn join(parts: &[&str]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            text.push('/');
        }
        for character in part.chars() {
            match character {
                '/' => text.push_str("%2F"),
                '%' => text.push_str("%25"),
                other => text.push(other),
            }
        }
    }
    text
}

fn parts<const N: usize>(text: &str) -> Option<[String; N]> {
    let decoded: Option<Vec<String>> = text.split('/').map(unescape).collect();
    decoded?.try_into().ok()
}

fn unescape(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut text = pieces.next()?.to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_at_checked(2)?;
        text.push(match code {
            "2F" => '/',
            "25" => '%',
            _ => return None,
        });
        text.push_str(rest);
    }
    Some(text)
}

#[cfg(test)]
mod tests;
