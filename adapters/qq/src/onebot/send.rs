//! Answers on their way out, as calls.
//!
//! Owns the form of the two sending calls. All text goes out as text segments of an array, which no
//! implementation interprets; a string, in which codes would be obeyed, is never sent.

use serde_json::{Value, json};
use weirgate_sdk::{Outgoing, SendError};

use super::{
    places::{Place, id_value},
    receive::{poke::POKE, upload::UPLOAD},
    wire::is_integer,
};
use crate::settings::Reply;

/// A call, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The action's name.
    pub action: &'static str,
    /// Its parameters.
    pub params: Value,
}

/// The call that delivers one part.
///
/// # Errors
/// [`SendError::Rejected`] if there is nothing to say or the conversation is not one of this adapter's.
pub fn call(outgoing: &Outgoing, reply: Reply) -> Result<Call, SendError> {
    let text = outgoing.rendered.text.as_str();
    if text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    let place = place(outgoing)?;
    let is_group = matches!(place, Place::Group(_));
    let first = is_group.then(|| answered(outgoing, reply)).flatten();
    let mentions = first.as_ref().is_some_and(|one| one["type"] == "at");
    let gap = if mentions { " " } else { "" };
    let words = text_segment(&format!("{gap}{text}"));
    Ok(message(place, first.into_iter().chain([words]).collect()))
}

/// The place of a part.
///
/// # Errors
/// [`SendError::Rejected`] if the conversation is not one of this adapter's.
pub fn place(outgoing: &Outgoing) -> Result<Place<'_>, SendError> {
    Place::parse(outgoing.conversation.conversation.as_str())
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))
}

/// The call that sends a message of these segments.
#[must_use]
pub fn message(place: Place<'_>, segments: Vec<Value>) -> Call {
    let (action, params) = match place {
        Place::Group(group) => (
            "send_group_msg",
            json!({ "group_id": id_value(group), "message": segments }),
        ),
        Place::Private(user) => (
            "send_private_msg",
            json!({ "user_id": id_value(user), "message": segments }),
        ),
        Place::Temporary { group, user } => (
            "send_private_msg",
            json!({
                "user_id": id_value(user),
                "group_id": id_value(group),
                "message": segments,
            }),
        ),
    };
    Call { action, params }
}

/// What a message in a group begins with, that answers another one.
#[must_use]
pub fn answered(outgoing: &Outgoing, reply: Reply) -> Option<Value> {
    let target = outgoing.reply.as_ref().filter(|_| outgoing.part == 0)?;
    match reply {
        Reply::Quote if is_numbered(target.message.as_str()) => {
            let id = id_value(target.message.as_str());
            Some(json!({ "type": "reply", "data": { "id": id } }))
        }
        // Digits only: never the word that mentions everybody, nor the mask of an anonymous member.
        Reply::Mention if is_integer(target.author.id.as_str()) => {
            Some(json!({ "type": "at", "data": { "qq": target.author.id.as_str() } }))
        }
        _ => None,
    }
}

/// Whether the platform gave a message its id, so that it can be quoted.
fn is_numbered(id: &str) -> bool {
    !(id.starts_with(POKE) || id.starts_with(UPLOAD))
}

/// Whether a part shows the message that it answers.
#[must_use]
pub fn quotes(outgoing: &Outgoing, reply: Reply) -> bool {
    let is_group = outgoing.conversation.conversation.as_str().starts_with('g');
    let first = answered(outgoing, reply).filter(|_| is_group);
    first.is_some_and(|one| one["type"] == "reply")
}

/// Literal text.
#[must_use]
pub fn text_segment(text: &str) -> Value {
    json!({ "type": "text", "data": { "text": text } })
}

#[cfg(test)]
mod tests;
