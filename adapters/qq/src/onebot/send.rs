//! Answers on their way out, as calls.
//!
//! Owns the form of the two sending calls. All text goes out as text segments of an array, which no
//! implementation interprets; a string, in which codes would be obeyed, is never sent.

use serde_json::{Value, json};
use weirgate_sdk::{Outgoing, SendError};

use super::{
    places::{Place, id_value},
    receive::poke::POKE,
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
    let place = Place::parse(outgoing.conversation.conversation.as_str())
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))?;
    Ok(match place {
        Place::Group(group) => Call {
            action: "send_group_msg",
            params: json!({ "group_id": id_value(group), "message": group_message(outgoing, reply) }),
        },
        Place::Private(user) => Call {
            action: "send_private_msg",
            params: json!({ "user_id": id_value(user), "message": [text_segment(text)] }),
        },
        Place::Temporary { group, user } => Call {
            action: "send_private_msg",
            params: json!({
                "user_id": id_value(user),
                "group_id": id_value(group),
                "message": [text_segment(text)],
            }),
        },
    })
}

fn group_message(outgoing: &Outgoing, reply: Reply) -> Vec<Value> {
    let text = outgoing.rendered.text.as_str();
    let target = outgoing.reply.as_ref().filter(|_| outgoing.part == 0);
    match (target, reply) {
        (Some(target), Reply::Quote) if !target.message.as_str().starts_with(POKE) => {
            let id = id_value(target.message.as_str());
            vec![
                json!({ "type": "reply", "data": { "id": id } }),
                text_segment(text),
            ]
        }
        // Digits only: never the word that mentions everybody, nor the mask of an anonymous member.
        (Some(target), Reply::Mention) if is_integer(target.author.id.as_str()) => {
            let mention = json!({ "type": "at", "data": { "qq": target.author.id.as_str() } });
            vec![mention, text_segment(&format!(" {text}"))]
        }
        _ => vec![text_segment(text)],
    }
}

/// Literal text.
#[must_use]
pub fn text_segment(text: &str) -> Value {
    json!({ "type": "text", "data": { "text": text } })
}

#[cfg(test)]
mod tests;
