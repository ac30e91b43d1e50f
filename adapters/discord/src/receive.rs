//! The platform's events into the contract's.
//!
//! Owns what each kind of event means, and which are nobody's business. Pure: the time is an argument, and so is what
//! is known of channels and servers. An event that is not known or not whole never hides the ones beside it.

mod command;
mod content;
mod interaction;
mod kinds;
mod members;
mod message;
mod press;

use std::collections::HashSet;

use parking_lot::Mutex;
use serde_json::Value;
use weirgate_net::session::UNREADABLE;
use weirgate_sdk::{
    AccountName, ConversationKey, Event, Menu, Platform, Timestamp, UserKey, text::line,
};

use crate::{
    channels::{Channel, Channels, id},
    places::Snowflake,
    server::Servers,
};

pub use interaction::is_read;
pub use members::server_key;
pub use message::name;
pub use press::{MARK, is_press};

/// Longest name of an unknown event, in characters.
const MAX_EVENT_NAME: usize = 64;
/// Deleted messages of one event that are told; the platform deletes at most a hundred at once.
const MAX_DELETED: usize = 100;

/// Events that are this adapter's own business: about the session and about channels.
const OWN: [&str; 11] = [
    "READY",
    "RESUMED",
    "GUILD_UPDATE",
    "GUILD_ROLE_CREATE",
    "GUILD_ROLE_UPDATE",
    "GUILD_ROLE_DELETE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_LIST_SYNC",
];

/// Events about servers and their members.
const MEMBERS: [&str; 5] = [
    "GUILD_CREATE",
    "GUILD_DELETE",
    "GUILD_MEMBER_ADD",
    "GUILD_MEMBER_UPDATE",
    "GUILD_MEMBER_REMOVE",
];

/// The event of an interaction.
pub const INTERACTION: &str = "INTERACTION_CREATE";

/// Who receives.
#[derive(Debug)]
pub struct Receiver<'a> {
    /// The platform's name.
    pub platform: &'a Platform,
    /// The account's name.
    pub account: &'a AccountName,
    /// The bot's id.
    pub bot: Snowflake,
    /// Users whose messages are dropped.
    pub ignored: &'a HashSet<String>,
    /// What is known of servers.
    pub servers: &'a Mutex<Servers>,
    /// The commands that people can choose.
    pub menu: &'a Menu,
}

/// Where a message is.
#[derive(Debug, Clone)]
struct Where {
    key: ConversationKey,
    direct: bool,
}

/// The channel in which an event of this kind is a message, or was one.
#[must_use]
pub fn channel_of(kind: &str, data: &Value) -> Option<Snowflake> {
    (kind.starts_with("MESSAGE_") || kind == INTERACTION)
        .then(|| id(&data["channel_id"]))
        .flatten()
}

impl Receiver<'_> {
    /// Reads one event. `channels` knows its channel, if anybody does; `now` is the time of reading.
    #[must_use]
    pub fn read(
        &self,
        kind: &str,
        data: &Value,
        channels: &mut Channels,
        now: Timestamp,
    ) -> Vec<Event> {
        if OWN.contains(&kind) {
            return Vec::new();
        }
        if MEMBERS.contains(&kind) {
            return self.member_event(kind, data, now);
        }
        if kind == UNREADABLE {
            return vec![malformed(kind)];
        }
        if !matches!(
            kind,
            "MESSAGE_CREATE"
                | "MESSAGE_UPDATE"
                | "MESSAGE_DELETE"
                | "MESSAGE_DELETE_BULK"
                | INTERACTION
        ) {
            return vec![other(kind)];
        }
        let Some(channel) = id(&data["channel_id"]) else {
            return vec![malformed(kind)];
        };
        let place = Where {
            key: channels.place(channel).key(self.platform, self.account),
            direct: channels.get(channel) == Some(Channel::Direct),
        };
        match kind {
            "MESSAGE_CREATE" => vec![self.message(kind, place, data, now)],
            INTERACTION => vec![self.interaction(place, data, now)],
            "MESSAGE_UPDATE" => vec![self.edited(kind, place, data, now)],
            "MESSAGE_DELETE" => vec![deleted(kind, &place, &data["id"])],
            _ => {
                let ids = data["ids"].as_array().into_iter().flatten();
                let events: Vec<Event> = ids
                    .take(MAX_DELETED)
                    .map(|id| deleted(kind, &place, id))
                    .collect();
                if events.is_empty() {
                    vec![malformed(kind)]
                } else {
                    events
                }
            }
        }
    }

    /// A message changed. The platform says so as well when it only drew the preview of a link.
    fn edited(&self, kind: &str, place: Where, data: &Value, now: Timestamp) -> Event {
        if data["edited_timestamp"].is_null() || data["author"].is_null() {
            return other("MESSAGE_UPDATE without a change");
        }
        match self.message(kind, place, data, now) {
            Event::Message(message) => Event::Edited(message),
            event => event,
        }
    }

    fn user(&self, id: Snowflake) -> UserKey {
        UserKey {
            platform: self.platform.clone(),
            realm: "".into(),
            id: id.to_string().into(),
        }
    }
}

fn deleted(kind: &str, place: &Where, message: &Value) -> Event {
    match id(message) {
        Some(message) => Event::Deleted {
            conversation: place.key.clone(),
            message: message.to_string().into(),
        },
        None => malformed(kind),
    }
}

fn malformed(name: &str) -> Event {
    Event::Malformed {
        name: line(name, MAX_EVENT_NAME),
    }
}

fn other(name: &str) -> Event {
    Event::Other {
        name: line(name, MAX_EVENT_NAME),
    }
}

#[cfg(test)]
mod tests;
