//! Who said something.
//!
//! Owns how people, hidden admins, channels and the platform itself are told apart. A hidden admin is whoever may be: that
//! he is an admin is the platform's word, and whether it counts the conversation's policy.

use serde_json::Value;
use weirgate_sdk::{PlatformRole, Sender, SenderKind, text::line};

use super::Receiver;

/// Longest name of a person, in characters.
const MAX_NAME: usize = 200;
/// The account under which the platform itself speaks, and forwards the posts of linked channels.
const PLATFORM_ITSELF: i64 = 777_000;

impl Receiver<'_> {
    /// Who sent a message; `None` if it does not say.
    pub(super) fn sender(&self, message: &Value) -> Option<Sender> {
        let behind = &message["sender_chat"];
        if let Some(id) = behind["id"].as_i64() {
            let kind = if message["is_automatic_forward"] == true {
                SenderKind::Service
            } else if message["chat"]["id"] == id && message["chat"]["type"] != "channel" {
                SenderKind::Anonymous
            } else {
                SenderKind::Channel
            };
            // The accounts that stand in for them are the same everywhere; the chat keeps them apart.
            let mut sender = self.sender_of(id, &title(behind), false, kind);
            if kind == SenderKind::Anonymous {
                // Only admins can speak as the group itself.
                sender.role = PlatformRole::Admin;
            }
            return Some(sender);
        }
        if message["from"]["id"] == PLATFORM_ITSELF {
            let name = name(&message["from"]);
            return Some(self.sender_of(PLATFORM_ITSELF, &name, false, SenderKind::Service));
        }
        self.person(&message["from"])
    }

    /// A person, or a bot.
    pub(super) fn person(&self, user: &Value) -> Option<Sender> {
        let id = user["id"].as_i64()?;
        let is_bot = user["is_bot"] == true;
        Some(self.sender_of(id, &name(user), is_bot, SenderKind::Person))
    }

    fn sender_of(&self, id: i64, name: &str, is_bot: bool, kind: SenderKind) -> Sender {
        Sender {
            key: self.user(id),
            name: line(name, MAX_NAME),
            is_bot,
            role: PlatformRole::Unknown,
            kind,
        }
    }
}

/// A person's name.
#[must_use]
pub fn name(user: &Value) -> String {
    let parts = [&user["first_name"], &user["last_name"]];
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_str()).collect();
    line(&parts.join(" "), MAX_NAME)
}

/// A chat's title.
pub(super) fn title(chat: &Value) -> String {
    line(chat["title"].as_str().unwrap_or_default(), MAX_NAME)
}
