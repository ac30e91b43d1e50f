//! Commands of the platform's own menu into messages.
//!
//! Owns the text that such a command stands for: its name and what was filled in, as somebody would have typed it, so
//! that both lead to the same handler.

use serde_json::{Value, json};
use weirgate_sdk::{Event, InboundMessage, Timestamp, Via};

use super::{Receiver, Where, content, malformed, other};
use crate::{channels::id, interaction::Handle, places::number};

/// A command of the application (Interaction Types).
const COMMAND: u64 = 2;
/// One that is typed behind a slash (Application Command Types).
const TYPED: u64 = 1;
/// A field for a person, and fields that hold further ones (Application Command Option Types).
const PERSON: u64 = 6;
const GROUPS: [u64; 2] = [1, 2];
/// Fields that are read; the platform allows so many, and three levels.
const MAX_FIELDS: usize = 25;
const MAX_DEPTH: usize = 3;

impl Receiver<'_> {
    /// Reads an interaction.
    pub(super) fn interaction(&self, place: Where, event: &Value, now: Timestamp) -> Event {
        let kind = "INTERACTION_CREATE";
        if event["type"] != COMMAND || event["data"]["type"].as_u64().unwrap_or(TYPED) != TYPED {
            return other("INTERACTION_CREATE of another kind");
        }
        let (Some(number), Some(name)) = (id(&event["id"]), event["data"]["name"].as_str()) else {
            return malformed(kind);
        };
        let user = match &event["member"]["user"] {
            Value::Null => &event["user"],
            user => user,
        };
        let said =
            json!({ "author": user, "member": event["member"], "guild_id": event["guild_id"] });
        let Some(sender) = self.sender(&said) else {
            return malformed(kind);
        };
        if self.ignored.contains(sender.key.id.as_str()) {
            return other("interaction of an ignored user");
        }
        let mut text = format!("/{name}");
        fields(&event["data"]["options"], MAX_DEPTH, &mut text);
        let mentions = mentions(&event["data"]["resolved"]);
        let said = json!({ "type": 0, "content": text, "mentions": mentions });
        let content = content::filled_in(&said, self.bot);
        Event::Message(Box::new(InboundMessage {
            via: Via::Command,
            reply_context: Handle::read(event).and_then(|handle| handle.context()),
            ..self.said(place, sender, number, content, now)
        }))
    }
}

/// Writes down what was filled in.
fn fields(options: &Value, depth: usize, text: &mut String) {
    let options = options.as_array().into_iter().flatten();
    for option in options.take(MAX_FIELDS) {
        let kind = option["type"].as_u64().unwrap_or(0);
        if GROUPS.contains(&kind) && depth > 0 {
            text.push(' ');
            text.push_str(option["name"].as_str().unwrap_or_default());
            fields(&option["options"], depth - 1, text);
            continue;
        }
        let value = match &option["value"] {
            Value::String(value) if kind == PERSON => format!("<@{value}>"),
            Value::String(value) => value.clone(),
            Value::Number(value) => value.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => continue,
        };
        text.push(' ');
        text.push_str(&value);
    }
}

/// The people whom the platform names beside the command, as a message has them.
fn mentions(resolved: &Value) -> Vec<Value> {
    let users = resolved["users"].as_object().into_iter().flatten();
    let users = users.filter(|(id, _)| number(id).is_some());
    users
        .take(MAX_FIELDS)
        .map(|(id, user)| {
            let mut user = user.clone();
            user["member"] = resolved["members"][id].clone();
            user
        })
        .collect()
}
