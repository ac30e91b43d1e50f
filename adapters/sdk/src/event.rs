//! Events: everything a platform reports, in batches that are accepted as one.
//!
//! Owns the list of event kinds. An adapter never fails a batch because of an event that it does not
//! know: it hands it in as [`Event::Other`], or as [`Event::Malformed`] if it cannot be read, which only
//! moves the cursor and is counted.

use crate::{
    id::{AccountName, BotId, ConversationKey, MessageId, Platform, UserKey},
    message::{InboundMessage, PlatformRole, Sender},
};

/// One thing that happened on the platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody said something.
    Message(Box<InboundMessage>),
    /// A message was changed; carries the whole new message under the old id.
    Edited(Box<InboundMessage>),
    /// A message was deleted or recalled.
    Deleted {
        /// Where.
        conversation: ConversationKey,
        /// Which.
        message: MessageId,
    },
    /// The person pressed stop in the platform's own interface: the running turn of that person in
    /// that conversation is to end.
    StopPressed {
        /// Where.
        conversation: ConversationKey,
        /// Who.
        sender: Box<Sender>,
    },
    /// Somebody joined.
    MemberJoined {
        /// Where.
        conversation: ConversationKey,
        /// Who.
        user: UserKey,
    },
    /// Somebody left or was removed.
    MemberLeft {
        /// Where.
        conversation: ConversationKey,
        /// Who.
        user: UserKey,
    },
    /// Somebody's standing on the platform changed.
    RoleChanged {
        /// Where.
        conversation: ConversationKey,
        /// Whose.
        user: UserKey,
        /// The new standing.
        role: PlatformRole,
    },
    /// The platform gave the conversation a new id.
    ConversationMigrated {
        /// The id until now.
        from: ConversationKey,
        /// The id from now on.
        to: ConversationKey,
    },
    /// The bot was added to a conversation.
    BotAdded {
        /// Where.
        conversation: ConversationKey,
    },
    /// The bot was removed from a conversation.
    BotRemoved {
        /// Where.
        conversation: ConversationKey,
    },
    /// The bot's own message came back.
    OwnMessage,
    /// A message that the adapter refused, and said so, because its sender is over a limit that the account itself has.
    OverLimit,
    /// An event that is not as the platform describes it, so that nobody can say what happened.
    Malformed {
        /// What it seems to be, by the platform's name, or what is wrong; at most 64 characters, and
        /// nothing that somebody said.
        name: String,
    },
    /// Anything else, by the platform's name for it.
    Other {
        /// The platform's name, at most 64 characters.
        name: String,
    },
}

/// How far an adapter has read its platform's stream of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The bot whose stream it is; a cursor of another bot is not used.
    pub bot: BotId,
    /// The position, opaque to the gateway.
    pub value: String,
}

/// Events that are accepted together or not at all, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The platform.
    pub platform: Platform,
    /// The account that received them.
    pub account: AccountName,
    /// The events, oldest first; at most 256.
    pub events: Vec<Event>,
    /// Where to go on after a restart, stored with the events.
    pub cursor: Option<Cursor>,
}
