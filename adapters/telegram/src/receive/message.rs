//! Messages into the contract's form.
//!
//! Owns keys, what a message answers, and which messages are none: notes of the platform, the bot's own, commands for
//! another bot.

use std::time::Duration;

use serde_json::Value;
use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, Replied, SenderKind, Timestamp, Via,
};

use super::{Receiver, content, kinds, malformed, other, place};
use crate::places::Place;

/// How long an update counts as known: twice as long as the platform keeps one.
pub(super) const DEDUPE_LIFETIME: Duration = Duration::from_secs(48 * 3_600);

impl Receiver<'_> {
    /// Reads a message under the number of its update.
    pub(super) fn message(
        &self,
        update: i64,
        kind: &str,
        message: &Value,
        now: Timestamp,
    ) -> Vec<Event> {
        let (Some(place), Some(id)) = (place(message), message["message_id"].as_i64()) else {
            return vec![malformed(kind)];
        };
        if let Some(note) = note(message) {
            return self.note(place, note, message);
        }
        let Some(sender) = self.sender(message) else {
            return vec![malformed(kind)];
        };
        if sender.key.id.as_str() == self.bot.id.to_string() {
            return vec![Event::OwnMessage];
        }
        if self.ignored.contains(sender.key.id.as_str()) {
            return vec![other("message of an ignored user")];
        }
        let bearer = |name: &str| self.handles.bearer(name, now);
        let content = content::read(message, self.bot, &bearer);
        if content.for_another_bot {
            return vec![other("command of another bot")];
        }
        if content.segments.is_empty() {
            return vec![other("empty message")];
        }
        let chat = match message["chat"]["type"].as_str() {
            Some("private") => ChatKind::Private,
            _ => ChatKind::Group,
        };
        let is_forwarded = sender.kind == SenderKind::Service;
        vec![Event::Message(Box::new(InboundMessage {
            conversation: self.key(place),
            chat,
            sender,
            id: id.to_string().into(),
            segments: content.segments,
            via: Via::Text,
            // What the platform puts into a chat by itself is said to nobody.
            mentions_bot: content.mentions_bot && !is_forwarded,
            reply_to: self.replied(message),
            group_key: message["media_group_id"].as_str().map(Into::into),
            sent_at: message["date"]
                .as_i64()
                .map_or(now, |date| date.saturating_mul(1_000)),
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("{}/{update}", self.bot.id).into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }))]
    }

    fn replied(&self, message: &Value) -> Option<Replied> {
        let replied = &message["reply_to_message"];
        if content::is_topic_start(replied) {
            return None;
        }
        let from = replied["from"]["id"].as_i64();
        // Who stands behind a chat is nobody's guess: its account is the same everywhere.
        let is_person = replied["sender_chat"].is_null();
        Some(Replied {
            message: replied["message_id"].as_i64()?.to_string().into(),
            to_bot: from.map(|from| from == self.bot.id),
            author: from
                .filter(|_| is_person)
                .map(|from| from.to_string().into()),
        })
    }

    /// A note of the platform about a chat.
    fn note(&self, place: Place, note: &str, message: &Value) -> Vec<Event> {
        let here = Place {
            topic: None,
            ..place
        };
        let other_chat = message[note].as_i64();
        let events: Vec<Event> = match note {
            "migrate_to_chat_id" => {
                other_chat.map(|to| self.moves.learn(place.chat, to));
                Vec::new()
            }
            "migrate_from_chat_id" => {
                other_chat.map(|from| self.moves.learn(from, place.chat));
                Vec::new()
            }
            "new_chat_members" => {
                let users = message[note].as_array().into_iter().flatten();
                let users = users.filter_map(|user| self.somebody_else(user));
                users
                    .map(|user| Event::MemberJoined {
                        conversation: self.key(here),
                        user,
                    })
                    .collect()
            }
            "left_chat_member" => {
                let user = self.somebody_else(&message[note]);
                user.map(|user| Event::MemberLeft {
                    conversation: self.key(here),
                    user,
                })
                .into_iter()
                .collect()
            }
            _ => Vec::new(),
        };
        if events.is_empty() {
            return vec![other(note)];
        }
        events
    }

    /// A user who is not the bot, of whose coming and going the platform tells apart.
    fn somebody_else(&self, user: &Value) -> Option<weirgate_sdk::UserKey> {
        let id = user["id"].as_i64().filter(|id| *id != self.bot.id)?;
        Some(self.user(id))
    }
}

/// The note that a message is, if it is one.
fn note(message: &Value) -> Option<&str> {
    let fields = message.as_object()?;
    fields
        .keys()
        .map(String::as_str)
        .find(|field| kinds::is_note(field))
}
