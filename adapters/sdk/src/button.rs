//! Buttons under a message that the gateway sends.
//!
//! Owns what a button is, and the ability to take buttons away again. A press is an ordinary
//! [`crate::InboundMessage`] whose `via` says so: its words are the button's id, and what it answers is the message
//! that the button stands under. What a press says is never taken for true: platforms let anybody write it, so the
//! gateway looks up what it is about and decides anew who may.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    error::SendError,
    id::{ConversationKey, MessageId},
};

/// The longest id of a button in bytes: what the smallest platform takes.
pub const MAX_BUTTON_ID: usize = 64;

/// How a button looks, where the platform tells buttons apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ButtonStyle {
    /// Like any other.
    #[default]
    Plain,
    /// What was asked for is done.
    Positive,
    /// Something is refused, or cannot be undone.
    Negative,
}

/// One button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// What stands on it. At most as long as the capabilities say, never empty.
    #[serde(rename = "l")]
    pub label: String,
    /// What comes back when it is pressed: ASCII letters, digits and `/._-`, at most [`MAX_BUTTON_ID`] bytes.
    #[serde(rename = "i")]
    pub id: String,
    /// How it looks.
    #[serde(rename = "s", default)]
    pub style: ButtonStyle,
}

/// What a conversation can show under one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ButtonLimits {
    /// The most buttons of one message, at least 1.
    pub most: usize,
    /// The longest label in characters, at least 20.
    pub label: usize,
}

/// Takes buttons away. Offered exactly where the capabilities have [`ButtonLimits`].
#[async_trait]
pub trait Buttons: Send + Sync {
    /// The buttons of a message that the gateway sent are no longer of use: they are taken away or cannot be pressed
    /// any more; the words stay. Bounded in time by the adapter. A press that comes all the same is handed in.
    ///
    /// # Errors
    /// The class of what went wrong; nothing depends on it.
    async fn retire(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<(), SendError>;
}
