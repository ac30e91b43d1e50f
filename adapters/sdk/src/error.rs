//! What went wrong, classified. Adapters only classify; the gateway knows what to do with each class.
//!
//! Owns the error types of the contract. A message in an error is for the operator: short, without
//! secrets, without line breaks.

use std::time::Duration;

use crate::id::ConversationKey;

/// What a refused rate freezes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freeze {
    /// Only this conversation.
    Conversation,
    /// One kind of call of this account in this conversation's server or guild.
    Route,
    /// Everything that the account sends.
    Account,
}

/// Why a send did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Too many sends; try again after the pause.
    #[error("rate limited for {after:?}")]
    RateLimited {
        /// How long.
        after: Duration,
        /// What is frozen.
        scope: Freeze,
    },
    /// The text is longer than the platform takes. Never sent again unchanged.
    #[error("too long for the platform")]
    TooLong,
    /// The platform refused the markup; exactly this piece is sent once more as plain text.
    #[error("markup refused: {0}")]
    BadFormat(String),
    /// The new text equals the old one. Counts as success.
    #[error("not modified")]
    NotModified,
    /// The bot may not write there.
    #[error("forbidden: {0}")]
    Forbidden(String),
    /// The conversation or the message no longer exists.
    #[error("gone: {0}")]
    Gone(String),
    /// The conversation has a new id; the send is repeated there.
    #[error("migrated")]
    Migrated {
        /// The new id.
        to: Box<ConversationKey>,
    },
    /// The time in which an answer was possible is over.
    #[error("expired")]
    Expired,
    /// Nobody knows whether it was delivered: the connection broke or timed out after the request left.
    #[error("outcome unknown: {0}")]
    Ambiguous(String),
    /// It certainly was not delivered and may work later: not connected, refused before it left.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Refused for good, for any other reason.
    #[error("rejected: {0}")]
    Rejected(String),
}

/// Why an adapter stopped by itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdapterError {
    /// The configuration cannot work (an address in use, a token refused); waiting does not help.
    #[error("{0}")]
    Config(String),
    /// Anything else that ended it; the gateway starts it again with a growing pause.
    #[error("{0}")]
    Failed(String),
}
