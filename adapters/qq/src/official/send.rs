//! Answers on their way out, and what each refusal of one means.
//!
//! Owns the form of a message, the number by which a repeated one is known, and the classes of failures. A message
//! answers another as long as that can be answered; later it is one that answers nothing, which the platform may
//! refuse. It never makes a second call: what is to be said otherwise is said so the next time.

use serde_json::{Value, json};
use weirgate_sdk::{Freeze, MessageId, Outgoing, SendError, Sent, Timestamp, UserId};

use super::{
    api::{CallError, Trouble},
    bot::{Shared, unix_time},
    escape::{unescaped, without_links},
    places::{Place, is_id},
};
use crate::settings::Reply;

/// Parts of one answer that have numbers of their own; more than any message may be answered with.
const PARTS: i64 = 64;
/// Answers after which numbers come again, for another message by then.
const ANSWERS: i64 = 1 << 22;

/// What the platform was found to refuse of this bot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// Markdown.
    pub markdown: bool,
    /// Addresses in texts.
    pub links: bool,
}

/// How a message is made.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// As Markdown.
    pub markdown: bool,
    /// With a reference to what it answers.
    pub reply: Reply,
    /// What is refused.
    pub refused: Refused,
}

/// Delivers one part.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let place = Place::parse(outgoing.conversation.conversation.as_str())
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))?;
    let api = shared.api()?;
    if outgoing.rendered.text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    let manner = Manner {
        markdown: shared.settings.markdown,
        reply: shared.settings.reply,
        refused: shared.refused(),
    };
    let answered = answered(outgoing, unix_time());
    let late = outgoing.reply_context.is_some() && answered.is_none();
    let said = message(place, outgoing, answered, manner);
    match api.post(&place.path(), &said).await {
        Ok(result) => Ok(Sent {
            message: result["id"].as_str().map(MessageId::from),
        }),
        Err(error) => failure(shared, &error, manner.refused, late),
    }
}

/// The message that is answered, while it can be.
fn answered(outgoing: &Outgoing, now: Timestamp) -> Option<&str> {
    let context = outgoing.reply_context.as_ref()?;
    let lives = context.expires_at.is_none_or(|until| now < until);
    lives.then_some(context.data.as_str())
}

/// The message that shows a part.
#[must_use]
pub fn message(
    place: Place<'_>,
    outgoing: &Outgoing,
    answered: Option<&str>,
    manner: Manner,
) -> Value {
    let mut text = outgoing.rendered.text.clone();
    let markdown = manner.markdown && !manner.refused.markdown;
    if manner.markdown && !markdown {
        text = unescaped(&text);
    }
    if manner.refused.links {
        text = without_links(&text);
    }
    let target = outgoing.reply.as_ref();
    if let Some(author) =
        target.filter(|_| manner.reply == Reply::Mention && matches!(place, Place::Group(_)))
        && let Some(mention) = mention(&author.author.id)
    {
        text = format!("{mention} {text}");
    }
    let mut said = if markdown {
        json!({ "markdown": { "content": text } })
    } else {
        json!({ "content": text })
    };
    if let Some(answered) = answered {
        said["msg_id"] = answered.into();
    }
    if place.is_guild() {
        if let Some(target) = target.filter(|_| manner.reply == Reply::Quote) {
            // A message that is deleted meanwhile keeps nobody from an answer.
            said["message_reference"] = json!({
                "message_id": target.message.as_str(), "ignore_get_message_error": true,
            });
        }
    } else {
        said["msg_type"] = if markdown { 2 } else { 0 }.into();
        said["msg_seq"] = number(outgoing).into();
    }
    said
}

/// The mark that mentions a person (bot-docs, message format).
fn mention(user: &UserId) -> Option<String> {
    is_id(user.as_str()).then(|| format!("<qqbot-at-user id=\"{user}\" />"))
}

/// What the platform knows a repeated part by, beside the message that it answers. The same part has the same
/// number, also after a restart.
fn number(outgoing: &Outgoing) -> i64 {
    outgoing.id.rem_euclid(ANSWERS) * PARTS + i64::from(outgoing.part) % PARTS + 1
}

/// The class of a failed send.
fn failure(
    shared: &Shared,
    error: &CallError,
    known: Refused,
    late: bool,
) -> Result<Sent, SendError> {
    let text = error.to_string();
    let refusal = match error {
        // Somebody has to put them right; until then nothing is lost.
        CallError::Secret(_) | CallError::Unreachable(_) => {
            return Err(SendError::Unavailable(text));
        }
        CallError::Lost(_) => return Err(SendError::Ambiguous(text)),
        CallError::Refused(refusal) => refusal,
    };
    let learnt = match refusal.trouble() {
        Trouble::NoMarkdown => Refused {
            markdown: true,
            ..known
        },
        Trouble::NoLinks => Refused {
            links: true,
            ..known
        },
        _ => known,
    };
    if learnt != known {
        tracing::warn!(account = %shared.account, error = text, "a message was refused; it is sent otherwise");
        shared.learn(learnt);
        return Err(SendError::Unavailable(text));
    }
    Err(match refusal.trouble() {
        // It arrived the first time, or is on its way.
        Trouble::Repeated | Trouble::Reviewed => return Ok(Sent::default()),
        Trouble::Flood(after) => SendError::RateLimited {
            after,
            scope: Freeze::Conversation,
        },
        Trouble::Token | Trouble::Address | Trouble::NotConnected => SendError::Unavailable(text),
        Trouble::TooLong => SendError::TooLong,
        Trouble::Expired => SendError::Expired,
        // The time for an answer was over, and anything else is not allowed.
        Trouble::NoPush if late => SendError::Expired,
        Trouble::NoPush | Trouble::Forbidden => SendError::Forbidden(text),
        Trouble::Gone => SendError::Gone(text),
        Trouble::NoMarkdown | Trouble::NoLinks | Trouble::Other => SendError::Rejected(text),
    })
}

#[cfg(test)]
mod tests;
