//! Messages into the contract's form.
//!
//! Owns keys, senders, what a message answers, and which messages are none: notes of the platform, the bot's own.

use std::time::Duration;

use serde_json::Value;
use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, PlatformRole, Replied, Sender, SenderKind,
    Timestamp, Via, text::line,
};

use super::{
    Receiver, Where,
    content::{self, Content},
    malformed, other,
};
use crate::{
    channels::id,
    places::{Snowflake, made_at},
};

/// How long a message counts as known: twice as long as missed ones can be fetched.
const DEDUPE_LIFETIME: Duration = Duration::from_secs(48 * 3_600);
/// Longest name of a person, in characters.
const MAX_NAME: usize = 200;
/// Kinds of messages that somebody wrote: plain, reply, the two of commands (Message Types).
const WRITTEN: [u64; 4] = [0, 19, 20, 23];
/// A reference of this kind is a forwarded message (Message Reference Types).
const FORWARD: u64 = 1;

impl Receiver<'_> {
    /// Reads a message.
    pub(super) fn message(
        &self,
        kind: &str,
        place: Where,
        message: &Value,
        now: Timestamp,
    ) -> Event {
        let Some(number) = id(&message["id"]) else {
            return malformed(kind);
        };
        if message["type"]
            .as_u64()
            .is_some_and(|kind| !WRITTEN.contains(&kind))
        {
            return other("note of the platform");
        }
        let Some(sender) = self.sender(message) else {
            return malformed(kind);
        };
        if sender.key.id.as_str() == self.bot.to_string() {
            return Event::OwnMessage;
        }
        if self.ignored.contains(sender.key.id.as_str()) {
            return other("message of an ignored user");
        }
        let content = content::read(message, self.bot);
        if content.segments.is_empty() {
            return other("message without words");
        }
        Event::Message(Box::new(InboundMessage {
            reply_to: self.replied(message),
            ..self.said(place, sender, number, content, now)
        }))
    }

    /// What somebody said under a number, as a text that answers nothing.
    pub(super) fn said(
        &self,
        place: Where,
        sender: Sender,
        number: Snowflake,
        content: Content,
        now: Timestamp,
    ) -> InboundMessage {
        InboundMessage {
            conversation: place.key,
            chat: if place.direct {
                ChatKind::Private
            } else {
                ChatKind::Group
            },
            sender,
            id: number.to_string().into(),
            segments: content.segments,
            via: Via::Text,
            mentions_bot: content.mentions_bot,
            reply_to: None,
            group_key: None,
            sent_at: made_at(number),
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("{}/{number}", self.bot).into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }
    }

    /// Who sent a message; `None` if it does not say.
    pub(super) fn sender(&self, message: &Value) -> Option<Sender> {
        let author = &message["author"];
        let author_id = id(&author["id"])?;
        // What a command of an application answers has a webhook's number too, and an author all the same.
        let is_webhook = message["webhook_id"].is_string() && message["application_id"].is_null();
        let is_service = is_webhook || author["system"] == true;
        let nick = message["member"]["nick"].as_str();
        Some(Sender {
            key: self.user(author_id),
            name: match nick.filter(|nick| !nick.trim().is_empty()) {
                Some(nick) => line(nick, MAX_NAME),
                None => name(author),
            },
            is_bot: author["bot"] == true || is_webhook,
            role: if is_service || is_webhook {
                PlatformRole::Unknown
            } else {
                self.standing(message, author_id)
            },
            kind: if is_service {
                SenderKind::Service
            } else {
                SenderKind::Person
            },
        })
    }

    /// The standing of whoever says something in a server, as far as the event tells his roles.
    fn standing(&self, message: &Value, user: Snowflake) -> PlatformRole {
        let server = id(&message["guild_id"]).filter(|_| message["member"].is_object());
        match server {
            Some(server) => self
                .servers
                .lock()
                .standing(server, user, &message["member"]),
            None => PlatformRole::Unknown,
        }
    }

    fn replied(&self, message: &Value) -> Option<Replied> {
        let reference = &message["message_reference"];
        if is_forward(message) || message["type"] == 0 {
            return None;
        }
        let answered = &message["referenced_message"];
        let author = id(&answered["author"]["id"]);
        // A webhook's number is not that of whoever speaks through it.
        let is_webhook = answered["webhook_id"].is_string();
        Some(Replied {
            message: id(&reference["message_id"])?.to_string().into(),
            to_bot: author.map(|author| author == self.bot),
            author: author
                .filter(|_| !is_webhook)
                .map(|author| author.to_string().into()),
        })
    }
}

/// Whether a message hands another one on.
pub(super) fn is_forward(message: &Value) -> bool {
    message["message_reference"]["type"] == FORWARD
}

/// A person's name.
pub fn name(user: &Value) -> String {
    let names = [&user["global_name"], &user["username"]];
    let mut names = names.iter().filter_map(|name| name.as_str());
    let name = names.find(|name| !name.trim().is_empty());
    line(name.unwrap_or_default(), MAX_NAME)
}
