//! The platform's events into the contract's events.
//!
//! Owns what each kind of event means. Pure: the time is an argument. An event that is not known or not whole
//! never ends a connection, and never fails the batch.

mod content;
mod members;

use std::time::Duration;

use jiff::Timestamp as Time;
use serde_json::Value;
use weirgate_sdk::{
    AccountName, ChatKind, ConversationKey, DedupeKey, Event, InboundMessage, MessageId, Platform,
    PlatformRole, Replied, ReplyContext, Sender, SenderKind, Timestamp, Via, text::line,
};

use super::{
    places::{Place, is_id},
    press::INTERACTION,
    send::Answered,
};

use crate::key::bounded;

/// How long the platform may deliver a message again.
pub(super) const DEDUPE_LIFETIME: Duration = Duration::from_secs(24 * 3_600);
/// The longest id of a message, in bytes: it goes into the reply context whole.
pub(super) const MAX_MESSAGE_ID: usize = 512;
/// Longest name of a person, in characters.
pub const MAX_NAME: usize = 200;
/// Longest name of an unknown event, in characters.
const MAX_EVENT_NAME: usize = 64;

/// Who receives.
#[derive(Debug)]
pub struct Receiver<'a> {
    /// The platform's name.
    pub platform: &'a Platform,
    /// The account's name.
    pub account: &'a AccountName,
    /// The id of the app: the name space of people.
    pub app_id: &'a str,
    /// The bot's own id in guilds.
    pub bot: &'a str,
    /// How many messages may answer one.
    pub replies: u32,
    /// One of them may be needed to show an answer in a private chat while it is written.
    pub streams: bool,
}

impl Receiver<'_> {
    /// Reads one event. `id` is that of the event itself, where the platform gives one; `now` is the time of reading.
    #[must_use]
    pub fn read(&self, kind: &str, id: Option<&str>, data: &Value, now: Timestamp) -> Event {
        match kind {
            "C2C_MESSAGE_CREATE" => {
                let user =
                    text(&data["author"]["user_openid"]).or_else(|| text(&data["author"]["id"]));
                self.message(kind, data, (user.map(Place::Private), user), false, now)
            }
            "GROUP_AT_MESSAGE_CREATE" | "GROUP_MESSAGE_CREATE" => {
                let place = text(&data["group_openid"]).map(Place::Group);
                let author = &data["author"];
                let user = text(&author["member_openid"]).or_else(|| text(&author["id"]));
                self.message(
                    kind,
                    data,
                    (place, user),
                    kind == "GROUP_AT_MESSAGE_CREATE",
                    now,
                )
            }
            "AT_MESSAGE_CREATE" | "MESSAGE_CREATE" => {
                let place = text(&data["channel_id"]).map(Place::Channel);
                let user = text(&data["author"]["id"]);
                self.message(kind, data, (place, user), kind == "AT_MESSAGE_CREATE", now)
            }
            "DIRECT_MESSAGE_CREATE" => {
                let place = text(&data["guild_id"]).map(Place::Direct);
                self.message(kind, data, (place, text(&data["author"]["id"])), false, now)
            }
            "MESSAGE_DELETE" | "PUBLIC_MESSAGE_DELETE" => self.deleted(
                kind,
                data,
                text(&data["message"]["channel_id"]).map(Place::Channel),
            ),
            "DIRECT_MESSAGE_DELETE" => self.deleted(
                kind,
                data,
                text(&data["message"]["guild_id"]).map(Place::Direct),
            ),
            "GROUP_ADD_ROBOT" | "GROUP_DEL_ROBOT" => {
                let Some(group) = text(&data["group_openid"]).filter(|id| is_id(id)) else {
                    return malformed(kind);
                };
                let conversation = self.conversation(Place::Group(group));
                if kind == "GROUP_ADD_ROBOT" {
                    Event::BotAdded { conversation }
                } else {
                    Event::BotRemoved { conversation }
                }
            }
            INTERACTION => self.press(id, data, now),
            "GUILD_CREATE"
            | "GUILD_DELETE"
            | "GUILD_MEMBER_ADD"
            | "GUILD_MEMBER_UPDATE"
            | "GUILD_MEMBER_REMOVE"
            | "GROUP_MEMBER_ADD"
            | "GROUP_MEMBER_REMOVE" => self.member_event(kind, data),
            kind => other(kind),
        }
    }

    fn message(
        &self,
        kind: &str,
        data: &Value,
        (place, user): (Option<Place<'_>>, Option<&str>),
        named: bool,
        now: Timestamp,
    ) -> Event {
        let id = text(&data["id"]).filter(|id| id.len() <= MAX_MESSAGE_ID);
        let place = place.filter(|place| Place::parse(&place.to_string()).is_some());
        let (Some(place), Some(user), Some(id)) = (place, user.filter(|user| is_id(user)), id)
        else {
            return malformed(kind);
        };
        if place.is_guild() && user == self.bot {
            return Event::OwnMessage;
        }
        let is_private = matches!(place, Place::Private(_) | Place::Direct(_));
        let content = content::read(data, self.bot);
        let sent_at = time(&data["timestamp"])
            .filter(|time| *time <= now)
            .unwrap_or(now);
        let reply_to = text(&data["message_reference"]["message_id"]).map(|replied| Replied {
            message: replied.into(),
            to_bot: None,
            author: None,
        });
        Event::Message(Box::new(InboundMessage {
            conversation: self.conversation(place),
            chat: if is_private {
                ChatKind::Private
            } else {
                ChatKind::Group
            },
            sender: Sender {
                // What somebody is in a guild he is not in private.
                role: if is_private {
                    PlatformRole::Unknown
                } else {
                    role(data)
                },
                ..self.sender(data, user)
            },
            id: id.into(),
            segments: content.segments,
            via: Via::Text,
            mentions_bot: !is_private && (named || content.mentions_bot),
            reply_to,
            group_key: None,
            sent_at,
            received_at: now,
            reply_context: Some(ReplyContext {
                data: Answered::Message(id).context(),
                expires_at: Some(sent_at.saturating_add(place.window_ms())),
                uses_left: Some(self.uses(place)),
            }),
            passed: Vec::new(),
            // A message of a group may be reported twice, as a mention and as a message.
            dedupe: DedupeKey {
                key: dedupe(place, id).into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }))
    }

    /// How many messages may answer one from there, besides one that shows what is still written.
    pub(super) fn uses(&self, place: Place<'_>) -> u32 {
        let streams = self.streams && matches!(place, Place::Private(_));
        self.replies.saturating_sub(streams.into()).max(1)
    }

    fn sender(&self, data: &Value, user: &str) -> Sender {
        let author = &data["author"];
        let names = [&data["member"]["nick"], &author["username"]];
        let name = names
            .into_iter()
            .filter_map(text)
            .map(|name| line(name, MAX_NAME));
        Sender {
            key: self.user(user),
            name: name
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default(),
            is_bot: author["bot"] == true,
            role: PlatformRole::Unknown,
            kind: SenderKind::Person,
        }
    }

    fn deleted(&self, kind: &str, data: &Value, place: Option<Place<'_>>) -> Event {
        let place = place.filter(|place| Place::parse(&place.to_string()).is_some());
        match place.zip(text(&data["message"]["id"])) {
            Some((place, id)) => Event::Deleted {
                conversation: self.conversation(place),
                message: MessageId::from(id),
            },
            None => malformed(kind),
        }
    }

    pub(super) fn conversation(&self, place: Place<'_>) -> ConversationKey {
        ConversationKey {
            platform: self.platform.clone(),
            account: self.account.clone(),
            conversation: place.conversation(),
            thread: None,
        }
    }
}

/// The standing of a guild's member (bot-docs, role ids: 4 owner, 2 admin, 5 admin of a channel), or what newer
/// events say of a group's.
fn role(data: &Value) -> PlatformRole {
    match role_named(&data["author"]["member_role"]) {
        PlatformRole::Unknown => role_of(&data["member"]["roles"]),
        role => role,
    }
}

/// A group's member by the name of his standing.
#[must_use]
pub fn role_named(name: &Value) -> PlatformRole {
    match name.as_str() {
        Some("owner") => PlatformRole::Owner,
        Some("admin") => PlatformRole::Admin,
        Some("member") => PlatformRole::Member,
        _ => PlatformRole::Unknown,
    }
}

/// A guild's member by his roles.
#[must_use]
pub fn role_of(roles: &Value) -> PlatformRole {
    let Some(roles) = roles.as_array() else {
        return PlatformRole::Unknown;
    };
    let has = |id: &str| roles.iter().any(|role| role == id);
    if has("4") {
        PlatformRole::Owner
    } else if has("2") || has("5") {
        PlatformRole::Admin
    } else {
        PlatformRole::Member
    }
}

fn dedupe(place: Place<'_>, id: &str) -> String {
    // Ids of guild messages are unique within their channel.
    let key = if place.is_guild() {
        format!("{id}/{place}")
    } else {
        id.to_owned()
    };
    bounded(key)
}

/// Milliseconds of a time as the platform writes it.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => {
            let time: Time = text.parse().ok()?;
            Some(time.as_millisecond())
        }
        other => other.as_i64().filter(|time| *time > 0)?.checked_mul(1_000),
    }
}

pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

pub(super) fn other(kind: &str) -> Event {
    Event::Other {
        name: line(kind, MAX_EVENT_NAME),
    }
}

pub(super) fn malformed(kind: &str) -> Event {
    Event::Malformed {
        name: line(kind, MAX_EVENT_NAME),
    }
}

#[cfg(test)]
mod tests;
