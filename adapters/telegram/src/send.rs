//! Answers on their way out, and what each refusal of one means.
//!
//! Owns the form of a message and the classes of failures. Text goes out as it is, with entities; no markup is
//! ever written.

use serde_json::Value;
use teloxide_core::{
    payloads::{SendMessage, SendMessageSetters},
    types::{ChatId, MessageId as WireMessageId, ReplyParameters, ThreadId},
};
use tokio::time::Instant;
use weirgate_sdk::{ConversationKey, MessageId, Outgoing, SendError, Sent, answer::Rendered};

use crate::{
    api::{CallError, Trouble},
    buttons,
    format::entities,
    places::{self, Place},
    settings::Reply,
    stream,
    telegram::Shared,
    upload,
};

/// Delivers one part. A second call is made only when the first was refused because the place is another: a topic is
/// gone, and the words go to the chat itself; or the group became a supergroup.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let mut place = place(shared, &outgoing.conversation)?;
    let api = shared.api()?;
    if let Some(sent) = buttons::alert(shared, outgoing).await? {
        return Ok(sent);
    }
    shared.floods.ask(place.chat, Instant::now())?;
    if !outgoing.files.is_empty() {
        let sent = upload::send(shared, place, outgoing).await?;
        stream::withdraw(shared, place, outgoing).await;
        return Ok(sent);
    }
    if let Some(sent) = stream::complete(shared, place, outgoing).await? {
        return Ok(sent);
    }
    let target = outgoing.reply.as_ref().filter(|_| outgoing.part == 0);
    let answers = target.map(|target| &target.message);
    let mut message = message(shared, place, &outgoing.rendered, answers)?;
    message.reply_markup = buttons::keyboard(&outgoing.buttons).map(Into::into);
    let limit = shared.settings.call_timeout;
    let mut sent = api.call(&message, limit).await;
    if let Some(Trouble::Migrated(chat)) = trouble(&sent)
        && shared.moved(place.chat, chat)
    {
        place.chat = chat;
        message.chat_id = ChatId(chat).into();
        sent = api.call(&message, limit).await;
    }
    if message.message_thread_id.is_some() && trouble(&sent) == Some(Trouble::NoTopic) {
        tracing::warn!(account = %shared.account, conversation = %outgoing.conversation.encode(),
            "the topic is gone, the answer goes to the chat itself");
        message.message_thread_id = None;
        sent = api.call(&message, limit).await;
    }
    match sent {
        Ok(result) => {
            buttons::settle(shared, outgoing).await;
            Ok(Sent {
                message: message_id(&result),
            })
        }
        Err(error) => Err(failure(shared, place, &error)),
    }
}

/// The place of a conversation.
///
/// # Errors
/// [`SendError::Rejected`] if it is not one of this adapter's.
pub fn place(shared: &Shared, conversation: &ConversationKey) -> Result<Place, SendError> {
    shared
        .place(conversation)
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))
}

/// The message that shows a text, in a group as a reply to `answers`.
///
/// # Errors
/// [`SendError::Rejected`] if there is nothing to say.
pub fn message(
    shared: &Shared,
    place: Place,
    rendered: &Rendered,
    answers: Option<&MessageId>,
) -> Result<SendMessage, SendError> {
    if rendered.text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    let mut message = SendMessage::new(ChatId(place.chat), rendered.text.as_str());
    message.message_thread_id = place.topic.map(|topic| ThreadId(WireMessageId(topic)));
    if !rendered.marks.is_empty() {
        message = message.entities(entities(rendered));
    }
    let shows = shared.settings.reply == Reply::Quote && !places::is_private(place.chat);
    let target = answers.filter(|_| shows);
    if let Some(id) = target.and_then(|id| id.as_str().parse().ok()) {
        // A message that is deleted meanwhile keeps nobody from an answer.
        let reply = ReplyParameters::new(WireMessageId(id)).allow_sending_without_reply();
        message = message.reply_parameters(reply);
    }
    Ok(message)
}

/// The id of a message that was sent.
#[must_use]
pub fn message_id(result: &Value) -> Option<MessageId> {
    let id = result["message_id"].as_i64()?;
    Some(id.to_string().into())
}

/// What a refusal means, if it was one.
#[must_use]
pub fn trouble(answer: &Result<Value, CallError>) -> Option<Trouble> {
    match answer {
        Err(CallError::Refused(refusal)) => Some(refusal.trouble()),
        _ => None,
    }
}

/// The class of a failed send.
#[must_use]
pub fn failure(shared: &Shared, place: Place, error: &CallError) -> SendError {
    let text = error.to_string();
    let refusal = match error {
        CallError::Refused(refusal) => refusal,
        CallError::Unreachable(_) => return SendError::Unavailable(text),
        CallError::Lost(_) => return SendError::Ambiguous(text),
    };
    match refusal.trouble() {
        Trouble::Flood(after) => {
            let scope = shared.floods.begin(place.chat, after, Instant::now());
            tracing::info!(account = %shared.account, chat = place.chat, ?after, ?scope, "told to wait");
            SendError::RateLimited { after, scope }
        }
        Trouble::Migrated(chat) => SendError::Migrated {
            to: Box::new(shared.key(Place { chat, topic: None })),
        },
        Trouble::NotModified => SendError::NotModified,
        Trouble::TooLong => SendError::TooLong,
        Trouble::Entities => SendError::BadFormat(text),
        // Somebody has to put the token right; until then nothing is lost.
        Trouble::Token | Trouble::Conflict | Trouble::Webhook => SendError::Unavailable(text),
        Trouble::Forbidden => SendError::Forbidden(text),
        Trouble::Gone | Trouble::NoTopic | Trouble::NoMessage => SendError::Gone(text),
        Trouble::Other => SendError::Rejected(text),
    }
}

#[cfg(test)]
mod tests;
