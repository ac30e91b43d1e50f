//! Updates into the contract's events.
//!
//! Owns what each kind of update means, and which are nobody's business. The time is an argument, and nothing is kept
//! but the new numbers of groups and whose a user name is. An update that is not known or not whole never hides the ones beside it.

mod content;
mod kinds;
mod members;
mod message;
mod press;
mod sender;

pub use members::role;
pub use sender::name;

use std::collections::HashSet;

use serde_json::Value;
use weirgate_sdk::{AccountName, ConversationKey, Event, Platform, Timestamp, UserKey, text::line};

use crate::{
    handles::Handles,
    moves::Moves,
    places::{Place, is_chat},
    telegram::Shared,
};

/// Longest name of an unknown update, in characters.
const MAX_EVENT_NAME: usize = 64;

/// Who the bot is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bot {
    /// Its id.
    pub id: i64,
    /// Its user name, without the mark of mention.
    pub username: String,
}

impl Bot {
    /// Whether this is its user name, in any case.
    #[must_use]
    pub fn is(&self, username: &str) -> bool {
        !self.username.is_empty() && self.username.eq_ignore_ascii_case(username)
    }
}

/// Who receives.
#[derive(Debug)]
pub struct Receiver<'a> {
    /// The platform's name.
    pub platform: &'a Platform,
    /// The account's name.
    pub account: &'a AccountName,
    /// The bot.
    pub bot: &'a Bot,
    /// Users whose messages are dropped.
    pub ignored: &'a HashSet<String>,
    /// Groups that have another number now; updates tell of new ones.
    pub moves: &'a Moves,
    /// User names and their bearers; updates tell of them.
    pub handles: &'a Handles,
}

impl<'a> Receiver<'a> {
    /// What comes to this account for this bot.
    #[must_use]
    pub fn new(shared: &'a Shared, bot: &'a Bot) -> Self {
        Self {
            platform: &shared.platform,
            account: &shared.account,
            bot,
            ignored: &shared.settings.ignore,
            moves: &shared.moves,
            handles: &shared.handles,
        }
    }
}

/// The number of an update; `None` if it has none.
#[must_use]
pub fn update_id(update: &Value) -> Option<i64> {
    update["update_id"].as_i64()
}

impl Receiver<'_> {
    /// Reads one update. `now` is the time of reading.
    #[must_use]
    pub fn read(&self, update: &Value, now: Timestamp) -> Vec<Event> {
        let Some((id, fields)) = update_id(update).zip(update.as_object()) else {
            return vec![malformed("update")];
        };
        let content = fields.iter().find(|(name, _)| *name != "update_id");
        let Some((kind, value)) = content else {
            return vec![other("update")];
        };
        self.handles.learn_from(value, now);
        match kind.as_str() {
            "message" | "channel_post" => self.message(id, kind, value, now),
            "edited_message" | "edited_channel_post" => {
                let events = self.message(id, kind, value, now).into_iter();
                let edited = events.map(|event| match event {
                    Event::Message(message) => Event::Edited(message),
                    event @ (Event::Malformed { .. } | Event::OwnMessage) => event,
                    _ => other(kind),
                });
                edited.collect()
            }
            "my_chat_member" => vec![self.bot_changed(value)],
            "chat_member" => vec![self.member_changed(value)],
            "stopped_message_generation" => vec![self.stopped(value)],
            "callback_query" => vec![self.press(id, value, now)],
            unknown => vec![other(unknown)],
        }
    }

    /// The person pressed stop beside a draft, which only private chats have.
    fn stopped(&self, value: &Value) -> Event {
        let Some(place) = place(value) else {
            return malformed("stopped_message_generation");
        };
        let user = match &value["from"] {
            Value::Null => &value["chat"],
            from => from,
        };
        match self.person(user) {
            Some(sender) => Event::StopPressed {
                conversation: self.key(place),
                sender: Box::new(sender),
            },
            None => malformed("stopped_message_generation"),
        }
    }

    fn key(&self, place: Place) -> ConversationKey {
        let chat = self.moves.first(place.chat);
        Place { chat, ..place }.key(self.platform, self.account)
    }

    fn user(&self, id: i64) -> UserKey {
        UserKey {
            platform: self.platform.clone(),
            realm: "".into(),
            id: id.to_string().into(),
        }
    }
}

/// Where a message or change is.
fn place(value: &Value) -> Option<Place> {
    let chat = value["chat"]["id"].as_i64().filter(|id| is_chat(*id))?;
    let thread = value["message_thread_id"].as_i64();
    // Changes beside messages name a thread only where it is a topic.
    let is_topic = value["is_topic_message"] == true || value.get("message_id").is_none();
    Some(Place::of(chat, thread, is_topic))
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
