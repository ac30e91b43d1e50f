//! Interactions into messages.
//!
//! Owns what commands and presses have in common: who, where, when, and what answering needs.

use serde_json::{Value, json};
use weirgate_sdk::{Event, InboundMessage, MessageId, Replied, Timestamp, Via};

use super::{Receiver, Where, command, content::Content, malformed, other, press};
use crate::{channels::id, interaction::Handle};

/// What an interaction says.
pub struct Said {
    /// The message's id in the contract.
    pub id: MessageId,
    /// Its words.
    pub content: Content,
    /// How they came.
    pub via: Via,
    /// What they answer.
    pub reply_to: Option<Replied>,
}

/// Whether an interaction is one that is handed in, if it is whole.
#[must_use]
pub fn is_read(event: &Value) -> bool {
    command::is_command(event) || press::is_press(event)
}

impl Receiver<'_> {
    /// Reads an interaction.
    pub(super) fn interaction(&self, place: Where, event: &Value, now: Timestamp) -> Event {
        let kind = "INTERACTION_CREATE";
        let said = if command::is_command(event) {
            command::read(event, self.bot, self.menu)
        } else if press::is_press(event) {
            press::read(event)
        } else {
            return other("INTERACTION_CREATE of another kind");
        };
        let user = match &event["member"]["user"] {
            Value::Null => &event["user"],
            user => user,
        };
        let by =
            json!({ "author": user, "member": event["member"], "guild_id": event["guild_id"] });
        let (Some(said), Some(number), Some(sender)) = (said, id(&event["id"]), self.sender(&by))
        else {
            return malformed(kind);
        };
        if self.ignored.contains(sender.key.id.as_str()) {
            return other("interaction of an ignored user");
        }
        Event::Message(Box::new(InboundMessage {
            id: said.id,
            via: said.via,
            reply_to: said.reply_to,
            reply_context: Handle::read(event).and_then(|handle| handle.context()),
            ..self.said(place, sender, number, said.content, now)
        }))
    }
}
