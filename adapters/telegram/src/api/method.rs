//! Calls that the library lacks, or has in a form that is no use here.
//!
//! Owns their parameters, as the Bot API's documentation has them.

use std::collections::BTreeMap;

use serde::Serialize;
use teloxide_core::{requests::Payload, types::MessageEntity};

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
    "callback_query",
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

/// `sendMessageDraft` (Bot API 9.5, the button 10.3): shows a text in a private chat while it is written, for about
/// thirty seconds.
#[derive(Debug, Clone, Serialize)]
pub struct SendMessageDraft {
    /// The private chat.
    pub chat_id: i64,
    /// The topic of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_thread_id: Option<i32>,
    /// Which draft; never 0. A later text of the same draft takes the place of the earlier.
    pub draft_id: i32,
    /// The text.
    pub text: String,
    /// Its entities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<MessageEntity>,
    /// Whether the person has a button that stops it.
    pub can_stop: bool,
}

impl Payload for SendMessageDraft {
    type Output = teloxide_core::types::True;
    const NAME: &'static str = "SendMessageDraft";
}

/// `banChatMember`. The library's own takes a time of another crate.
#[derive(Debug, Clone, Serialize)]
pub struct BanChatMember {
    /// The group.
    pub chat_id: i64,
    /// Whom.
    pub user_id: u64,
    /// Until when, in seconds since the epoch; for good without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_date: Option<i64>,
}

impl Payload for BanChatMember {
    type Output = teloxide_core::types::True;
    const NAME: &'static str = "BanChatMember";
}

/// What a member may be allowed (Bot API 10.3, type ChatPermissions; the library's own lacks some, and what is left
/// out is taken away).
const PERMISSIONS: &[&str] = &[
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_react_to_messages",
    "can_edit_tag",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
];

/// Every permission, given or not.
#[must_use]
pub fn permissions(given: bool) -> BTreeMap<&'static str, bool> {
    PERMISSIONS.iter().map(|name| (*name, given)).collect()
}

/// `restrictChatMember`. The library's own takes a time of another crate.
#[derive(Debug, Clone, Serialize)]
pub struct RestrictChatMember {
    /// The supergroup.
    pub chat_id: i64,
    /// Whom.
    pub user_id: u64,
    /// What he may do.
    pub permissions: BTreeMap<&'static str, bool>,
    /// Each permission stands for itself.
    pub use_independent_chat_permissions: bool,
    /// Until when, in seconds since the epoch; for good without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_date: Option<i64>,
}

impl Payload for RestrictChatMember {
    type Output = teloxide_core::types::True;
    const NAME: &'static str = "RestrictChatMember";
}

/// `setWebhook`. The library's own knows no kind of update newer than Bot API 9.1.
#[derive(Debug, Clone, Serialize)]
pub struct SetWebhook {
    /// Where updates are posted to.
    pub url: String,
    /// What they are posted with, so that the platform is known.
    pub secret_token: String,
    /// [`UPDATES`].
    pub allowed_updates: &'static [&'static str],
    /// Whether what waits is thrown away.
    pub drop_pending_updates: bool,
}

impl Payload for SetWebhook {
    type Output = teloxide_core::types::True;
    const NAME: &'static str = "SetWebhook";
}
