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
    media,
    places::{Place, is_id},
    press, stream,
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
    /// Buttons.
    pub buttons: bool,
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

impl Manner {
    /// What goes out is Markdown.
    #[must_use]
    pub fn is_markdown(&self) -> bool {
        self.markdown && !self.refused.markdown
    }
}

/// A rendered text as the platform takes it.
#[must_use]
pub fn worded(text: &str, manner: Manner) -> String {
    let mut text = text.to_owned();
    if manner.markdown && !manner.is_markdown() {
        text = unescaped(&text);
    }
    if manner.refused.links {
        text = without_links(&text);
    }
    text
}

/// What a message answers, as the platform knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered<'a> {
    /// A message of a person.
    Message(&'a str),
    /// An event, such as a press.
    Event(&'a str),
}

/// What the context of an event begins with; no id of a message does.
const EVENT: &str = "event/";

impl<'a> Answered<'a> {
    /// Reads what is journaled.
    #[must_use]
    pub fn read(context: &'a str) -> Self {
        match context.strip_prefix(EVENT) {
            Some(event) => Self::Event(event),
            None => Self::Message(context),
        }
    }

    /// What is journaled to answer it.
    #[must_use]
    pub fn context(&self) -> String {
        match self {
            Self::Message(message) => (*message).to_owned(),
            Self::Event(event) => format!("{EVENT}{event}"),
        }
    }

    /// Writes it into a message.
    pub fn write(&self, said: &mut Value) {
        match self {
            Self::Message(message) => said["msg_id"] = (*message).into(),
            Self::Event(event) => said["event_id"] = (*event).into(),
        }
    }
}

/// Delivers one part.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let place = place(outgoing)?;
    let api = shared.api()?;
    let answered = answered(outgoing, unix_time());
    let is_press = matches!(answered, Some(Answered::Event(_)));
    if outgoing.private && is_press && !matches!(place, Place::Private(_)) {
        // Nothing is shown to one person alone in a group.
        return Err(SendError::Expired);
    }
    let known = shared.refused();
    let late = outgoing.reply_context.is_some() && answered.is_none();
    let failed = |error: CallError| failure(shared, &error, known, late);
    match outgoing.files.as_slice() {
        [] => {}
        [file] => {
            let sent = media::send(api, place, outgoing, file, answered).await;
            return sent.or_else(failed);
        }
        _ => return Err(SendError::Rejected("one message holds one file".into())),
    }
    if outgoing.rendered.text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    let manner = Manner {
        markdown: shared.settings.markdown,
        reply: shared.settings.reply,
        refused: known,
    };
    let said = message(place, outgoing, answered, manner);
    if let Some(message) = stream::end(shared, place, outgoing, &said).await? {
        return Ok(Sent {
            message: Some(message),
        });
    }
    let sent = api.post(&messages(place), &said).await;
    sent.map(|result| sent_as(&result)).or_else(failed)
}

/// Where a part goes.
///
/// # Errors
/// [`SendError::Rejected`] if nothing can be written there.
fn place(outgoing: &Outgoing) -> Result<Place<'_>, SendError> {
    Place::parse(outgoing.conversation.conversation.as_str())
        .filter(|place| !matches!(place, Place::Guild(_)))
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))
}

/// The path to which messages are posted.
#[must_use]
pub fn messages(place: Place<'_>) -> String {
    format!("{}/messages", place.path())
}

/// The platform took a message.
#[must_use]
pub fn sent_as(result: &Value) -> Sent {
    Sent {
        message: result["id"].as_str().map(MessageId::from),
    }
}

/// What is answered, while it can be.
fn answered(outgoing: &Outgoing, now: Timestamp) -> Option<Answered<'_>> {
    let context = outgoing.reply_context.as_ref()?;
    let lives = context.expires_at.is_none_or(|until| now < until);
    lives.then(|| Answered::read(&context.data))
}

/// The message that shows a part.
#[must_use]
pub fn message(
    place: Place<'_>,
    outgoing: &Outgoing,
    answered: Option<Answered<'_>>,
    manner: Manner,
) -> Value {
    let mut text = worded(&outgoing.rendered.text, manner);
    let markdown = manner.is_markdown();
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
        answered.write(&mut said);
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
        if markdown
            && !manner.refused.buttons
            && let Some(keyboard) = press::keyboard(&outgoing.buttons)
        {
            said["keyboard"] = keyboard;
        }
    }
    said
}

/// The mark that mentions a person (bot-docs, message format).
fn mention(user: &UserId) -> Option<String> {
    is_id(user.as_str()).then(|| format!("<qqbot-at-user id=\"{user}\" />"))
}

/// What the platform knows a repeated part by, beside the message that it answers. The same part has the same
/// number, also after a restart.
#[must_use]
pub fn number(outgoing: &Outgoing) -> i64 {
    outgoing.id.rem_euclid(ANSWERS) * PARTS + i64::from(outgoing.part) % PARTS + 1
}

/// The class of a failed send.
pub fn failure(
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
        Trouble::NoButtons => Refused {
            buttons: true,
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
        Trouble::NoMarkdown | Trouble::NoLinks | Trouble::NoButtons | Trouble::Other => {
            SendError::Rejected(text)
        }
    })
}

#[cfg(test)]
mod tests;
