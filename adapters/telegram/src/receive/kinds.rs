//! What a message can hold beside text.
//!
//! Owns which fields are media, which are described in a few words, which are notes of the platform about a chat, and
//! which belong to every message.

use serde_json::Value;
use weirgate_sdk::{Attachment, AttachmentKind, Segment, text::line};

/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 300;
/// Longest name of a file, in characters.
const MAX_FILE_NAME: usize = 200;
/// Longest reference, in bytes.
const MAX_REFERENCE: usize = 2_048;

/// Fields that carry a file.
const MEDIA: &[(&str, AttachmentKind)] = &[
    // An animation comes as a document too.
    ("animation", AttachmentKind::Video),
    ("document", AttachmentKind::File),
    ("audio", AttachmentKind::Audio),
    ("voice", AttachmentKind::Audio),
    ("video", AttachmentKind::Video),
    ("video_note", AttachmentKind::Video),
];

/// Fields that belong to messages of every kind (Bot API 10.3, type Message).
const COMMON: &[&str] = &[
    "author_signature",
    "business_connection_id",
    "caption",
    "caption_entities",
    "chat",
    "date",
    "direct_messages_topic",
    "edit_date",
    "effect_id",
    "entities",
    "ephemeral_message_id",
    "external_reply",
    "forward_origin",
    "forward_date",
    "forward_from",
    "forward_from_chat",
    "forward_from_message_id",
    "forward_sender_name",
    "forward_signature",
    "from",
    "guest_bot_caller_chat",
    "guest_bot_caller_user",
    "guest_query_id",
    "has_media_spoiler",
    "has_protected_content",
    "is_automatic_forward",
    "is_from_offline",
    "is_paid_post",
    "is_topic_message",
    "link_preview_options",
    "media_group_id",
    "message_id",
    "message_thread_id",
    "paid_star_count",
    "quote",
    "receiver_user",
    "reply_markup",
    "reply_to_checklist_task_id",
    "reply_to_message",
    "reply_to_poll_option_id",
    "reply_to_story",
    "sender_boost_count",
    "sender_business_bot",
    "sender_chat",
    "sender_tag",
    "show_caption_above_media",
    "suggested_post_info",
    "text",
    "via_bot",
];

/// Notes of the platform about a chat, by the beginnings of their names.
const NOTES: &[&str] = &[
    "boost_added",
    "channel_chat_created",
    "chat_background_set",
    "chat_owner_",
    "chat_shared",
    "checklist_tasks_",
    "connected_website",
    "delete_chat_photo",
    "direct_message_price_changed",
    "forum_topic_",
    "general_forum_topic_",
    "gift",
    "giveaway_completed",
    "giveaway_created",
    "group_chat_created",
    "left_chat_member",
    "message_auto_delete_timer_changed",
    "migrate_from_chat_id",
    "migrate_to_chat_id",
    "new_chat_",
    "paid_message_price_changed",
    "passport_data",
    "pinned_message",
    "proximity_alert_triggered",
    "refunded_payment",
    "successful_payment",
    "suggested_post_",
    "supergroup_chat_created",
    "unique_gift",
    "user_shared",
    "users_shared",
    "video_chat_",
    "voice_chat_",
    "web_app_data",
    "write_access_allowed",
];

/// Whether a field is such a note.
#[must_use]
pub fn is_note(field: &str) -> bool {
    NOTES.iter().any(|note| field.starts_with(note))
}

/// The file of a message, if it has one.
#[must_use]
pub fn attachment(message: &Value) -> Option<Segment> {
    if let Some(sizes) = message["photo"].as_array() {
        // The last size is the largest.
        return file(AttachmentKind::Image, sizes.last()?);
    }
    let sticker = &message["sticker"];
    if sticker.is_object() && sticker["is_animated"] != true && sticker["is_video"] != true {
        // One that moves is a file of a format of its own, and only described.
        let mut sticker = sticker.clone();
        sticker["file_name"] = words("sticker", &sticker).trim().into();
        return file(AttachmentKind::Image, &sticker);
    }
    let found = MEDIA
        .iter()
        .find(|(field, _)| message.get(field).is_some_and(Value::is_object));
    let (field, kind) = found?;
    file(*kind, &message[field])
}

fn file(kind: AttachmentKind, file: &Value) -> Option<Segment> {
    let reference = file["file_id"]
        .as_str()
        .filter(|id| id.len() <= MAX_REFERENCE)?;
    let name = file["file_name"]
        .as_str()
        .map(|name| line(name, MAX_FILE_NAME));
    Some(Segment::Attachment(Attachment {
        kind,
        reference: reference.to_owned(),
        name: name.filter(|name| !name.is_empty()),
        size: file["file_size"].as_u64(),
        expires_at: None,
    }))
}

/// What else a message holds, described. `None` if it holds nothing.
#[must_use]
pub fn described(message: &Value) -> Option<Segment> {
    let fields = message.as_object()?;
    let is_content = |name: &&String| !COMMON.contains(&name.as_str()) && !is_note(name);
    let field = fields.keys().find(is_content)?;
    let words = words(field, &message[field]);
    Some(Segment::Placeholder(line(&words, MAX_DESCRIPTION)))
}

fn words(field: &str, value: &Value) -> String {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    match field {
        "sticker" => format!("sticker {}", text("emoji")),
        "location" => {
            let point = |name: &str| value[name].as_f64().unwrap_or_default();
            format!(
                "location: {:.5}, {:.5}",
                point("latitude"),
                point("longitude")
            )
        }
        "venue" => format!("place: {}, {}", text("title"), text("address")),
        "contact" => format!(
            "contact: {} {} {}",
            text("first_name"),
            text("last_name"),
            text("phone_number")
        ),
        "poll" => {
            let options = value["options"].as_array().map(Vec::as_slice);
            let options = options.unwrap_or_default().iter();
            let options: Vec<&str> = options.filter_map(|one| one["text"].as_str()).collect();
            format!("poll: {} ({})", text("question"), options.join(" / "))
        }
        "dice" => format!("dice {} {}", text("emoji"), value["value"]),
        "checklist" => format!("checklist: {}", text("title")),
        "game" => format!("game: {}", text("title")),
        "invoice" => format!("invoice: {}", text("title")),
        // A file that is too odd to be one, or something newer than this program.
        other => other.replace('_', " "),
    }
}
