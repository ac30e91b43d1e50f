//! Calls that the library lacks, or has in a form that is no use here.
//!
//! Owns their parameters, as the Bot API's documentation has them.

use serde::Serialize;
use teloxide_core::requests::Payload;

/// What kinds of updates the bot asks for. Those of members need rights that the bot may not have; they then do
/// not come.
pub const UPDATES: &[&str] = &[
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "my_chat_member",
    "chat_member",
    "stopped_message_generation",
];

/// `getUpdates`. The library knows no kind of update newer than Bot API 9.1, and has 32 bits for the offset.
#[derive(Debug, Clone, Serialize)]
pub struct GetUpdates {
    /// The first update that is wanted; all before it are forgotten. Without it those that are not forgotten yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// The most updates, 1 to 100.
    pub limit: u8,
    /// How long it waits for one, in seconds.
    pub timeout: u64,
    /// [`UPDATES`].
    pub allowed_updates: &'static [&'static str],
}

impl Payload for GetUpdates {
    type Output = Vec<teloxide_core::types::Update>;
    const NAME: &'static str = "GetUpdates";
}
