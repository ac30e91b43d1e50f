//! What a client may ask of the gateway beside messages: its configuration, and the end of a conversation.
//!
//! Owns the questions and their answers. The gateway decides who may, by whom the adapter vouches for; an adapter
//! never does. For platforms whose protocol is the adapter's own: elsewhere people use commands.

use async_trait::async_trait;

use crate::{id::ConversationKey, message::Sender};

/// Who asks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The conversation in which he asks.
    pub conversation: ConversationKey,
    /// Who he is.
    pub sender: Sender,
}

/// Which values of the configuration are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that are in force.
    Running,
    /// Those of a gateway that nobody has configured.
    Default,
}

/// A key of the configuration with its value, fit to be shown: secrets are masked, long values cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configured {
    /// The path of the key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// A key that is to be set, or taken back to what the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path of the key.
    pub key: String,
    /// The value as in agent.yaml, on one line; `None` takes back what was set.
    pub value: Option<String>,
}

/// How much of a conversation is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What was said.
    Messages,
    /// What was said, and what was set there.
    All,
}

/// Why something was not done; nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotDone {
    /// He may not.
    Forbidden,
    /// What he wants cannot be: what is wrong, a line each, fit to be shown to who may set it.
    Wrong(Vec<String>),
    /// It cannot be done now.
    Unavailable,
}

/// What the gateway does for a client that asks.
#[async_trait]
pub trait Manage: Send + Sync {
    /// Values of the configuration, by key.
    ///
    /// # Errors
    /// Why not.
    async fn configuration(&self, asker: &Asker, which: Which) -> Result<Vec<Configured>, NotDone>;

    /// Sets keys, all of them or none. They are in force when this returns.
    ///
    /// # Errors
    /// Why not.
    async fn configure(&self, asker: &Asker, changes: Vec<Change>) -> Result<(), NotDone>;

    /// Deletes what is kept of the asker's conversation; answers that are under way end first. Repeating it is safe.
    ///
    /// # Errors
    /// Why not. After [`NotDone::Unavailable`] a part may be deleted.
    async fn forget(&self, asker: &Asker, extent: Extent) -> Result<(), NotDone>;
}
