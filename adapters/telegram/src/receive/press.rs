//! Presses of buttons into the contract's form.
//!
//! Owns what of a press counts: who, where, under which message, and the data as it came. A client may send any data
//! (Bot API, `CallbackQuery`), so it is handed on and never believed.

use serde_json::Value;
use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, Replied, Segment, Timestamp, Via,
    button::MAX_BUTTON_ID,
};

use super::{Receiver, malformed, message::DEDUPE_LIFETIME, other, place};
use crate::buttons;

/// The longest id of a press, in bytes: the platform's have about twenty.
const MAX_ID: usize = 64;

impl Receiver<'_> {
    /// Reads a press under the number of its update.
    pub(super) fn press(&self, update: i64, press: &Value, now: Timestamp) -> Event {
        let (message, id) = (&press["message"], press["id"].as_str());
        let id = id.filter(|id| (1..=MAX_ID).contains(&id.len()));
        let data = press["data"].as_str();
        let Some(data) = data.filter(|data| data.len() <= MAX_BUTTON_ID) else {
            return other("press without data");
        };
        let (Some(id), Some(place), Some(number)) =
            (id, place(message), message["message_id"].as_i64())
        else {
            // A message that was sent through the bot by somebody has no place of its own.
            return malformed("callback_query");
        };
        let Some(sender) = self.person(&press["from"]) else {
            return malformed("callback_query");
        };
        if self.ignored.contains(sender.key.id.as_str()) {
            return other("press of an ignored user");
        }
        let chat = match message["chat"]["type"].as_str() {
            Some("private") => ChatKind::Private,
            _ => ChatKind::Group,
        };
        Event::Message(Box::new(InboundMessage {
            conversation: self.key(place),
            chat,
            sender,
            id: format!("press/{id}").into(),
            segments: vec![Segment::Text(data.to_owned())],
            via: Via::Button,
            mentions_bot: false,
            reply_to: Some(Replied {
                message: number.to_string().into(),
                to_bot: Some(true),
                author: None,
            }),
            group_key: None,
            sent_at: now,
            received_at: now,
            reply_context: Some(buttons::context(id, now)),
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("{}/{update}", self.bot.id).into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }))
    }
}
