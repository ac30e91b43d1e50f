//! Answers on their way out, and what each refusal of one means.
//!
//! Owns the form of a message, its key, and the classes of failures. Every message says that it mentions nobody,
//! whatever stands in it.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use serenity::{
    builder::{CreateAllowedMentions, CreateMessage},
    model::{
        channel::{MessageReference, MessageReferenceKind, Nonce},
        id::{ChannelId, MessageId as WireMessageId},
    },
};
use sha2::Sha256;
use weirgate_sdk::{ConversationKey, MessageId, Outgoing, SendError, Sent};

use crate::{
    api::{Call, CallError, Trouble},
    buttons::rows,
    channels::id,
    discord::Shared,
    interaction, leftover,
    places::{Place, Snowflake, number},
    settings::Reply,
    stream, upload,
};

/// Delivers one part. A second call is made only when the first was refused: for a reply that is not allowed, the words go
/// out without it; in a thread that is archived, once that is open again.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let channel = channel(&outgoing.conversation)?;
    shared.api()?;
    if !outgoing.files.is_empty() {
        if outgoing.private {
            return Err(SendError::Rejected("a file is seen by everybody".into()));
        }
        let key = key(&shared.secret, outgoing);
        let known = (&*key, answered(shared, outgoing));
        let sent = upload::send(shared, channel, known, &outgoing.files).await?;
        if outgoing.part == 0 {
            // What showed that there would be an answer is no beginning of this one.
            leftover::end(shared, &outgoing.answers);
        }
        return Ok(sent);
    }
    if outgoing.rendered.text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    let mut shown = stream::complete(shared, channel, outgoing).await?;
    if shown.is_none() {
        shown = interaction::answer(shared, outgoing).await?;
    }
    if let Some(sent) = shown {
        leftover::end(shared, &outgoing.answers);
        return Ok(sent);
    }
    let key = key(&shared.secret, outgoing);
    let answers = answered(shared, outgoing);
    let message = worded(&key, &outgoing.rendered.text).components(rows(&outgoing.buttons));
    match post(shared, channel, message, answers).await {
        Ok(result) => {
            // What was asked for otherwise is answered by it too.
            leftover::end(shared, &outgoing.answers);
            Ok(Sent {
                message: message_id(&result),
            })
        }
        Err(error) => Err(failure(shared, channel, &error)),
    }
}

/// Sends a message, as a reply to `answers`. Only a reply that is not allowed, or a thread that can be opened again, makes
/// a second call.
///
/// # Errors
/// What the platform says, or why it says nothing.
pub async fn post(
    shared: &Shared,
    channel: Snowflake,
    message: CreateMessage,
    answers: Option<Snowflake>,
) -> Result<Value, CallError> {
    let sent = try_post(shared, channel, message.clone(), answers).await;
    if !reopened(shared, channel, &sent).await {
        return sent;
    }
    try_post(shared, channel, message, answers).await
}

/// Whether something was refused because its thread is archived, and the thread is open again.
pub async fn reopened(
    shared: &Shared,
    channel: Snowflake,
    sent: &Result<Value, CallError>,
) -> bool {
    let refused = sent.as_ref().err().and_then(CallError::trouble);
    let Some(api) = shared
        .api()
        .ok()
        .filter(|_| refused == Some(Trouble::Archived))
    else {
        return false;
    };
    let open = json!({ "archived": false });
    let limit = shared.settings.call_timeout;
    match api.post(Call::Reopen(channel), &open, limit).await {
        Ok(_) => {
            tracing::info!(account = %shared.account, channel, "an archived thread was opened again");
            true
        }
        Err(error) => {
            tracing::debug!(account = %shared.account, channel, %error, "an archived thread stays so");
            false
        }
    }
}

async fn try_post(
    shared: &Shared,
    channel: Snowflake,
    message: CreateMessage,
    answers: Option<Snowflake>,
) -> Result<Value, CallError> {
    let api = shared
        .api()
        .map_err(|error| CallError::Unreachable(error.to_string()))?;
    let call = Call::Send(channel);
    let limit = shared.settings.call_timeout;
    let Some(answers) = answers else {
        return api.post(call, &message, limit).await;
    };
    let reply = replying(message.clone(), channel, answers);
    let sent = api.post(call, &reply, limit).await;
    let refused = sent.as_ref().err().and_then(CallError::trouble);
    if refused != Some(Trouble::NoReply) {
        return sent;
    }
    tracing::warn!(account = %shared.account, channel,
        "the bot may not read what was said before, so its answer is no reply");
    api.post(call, &message, limit).await
}

/// Shows that an answer is being written.
///
/// # Errors
/// The class of what went wrong.
pub async fn indicate(shared: &Shared, conversation: &ConversationKey) -> Result<(), SendError> {
    let channel = channel(conversation)?;
    let told = shared
        .api()?
        .tell(Call::Typing(channel), shared.settings.call_timeout);
    told.await.map_err(|error| failure(shared, channel, &error))
}

/// The channel of a conversation.
///
/// # Errors
/// If it is not one of this platform.
pub fn channel(conversation: &ConversationKey) -> Result<Snowflake, SendError> {
    Place::parse(conversation)
        .map(Place::target)
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))
}

/// The message that a part is shown as a reply to.
fn answered(shared: &Shared, outgoing: &Outgoing) -> Option<Snowflake> {
    let target = outgoing.reply.as_ref().filter(|_| outgoing.part == 0)?;
    shown_as_reply(shared, &target.message)
}

/// The message that an answer to it is shown as a reply to, if it is.
pub fn shown_as_reply(shared: &Shared, message: &MessageId) -> Option<Snowflake> {
    let shows = shared.settings.reply == Reply::Quote;
    number(message.as_str()).filter(|_| shows)
}

/// A message without a text, as a reply if it is one.
pub fn with_reply(key: &str, channel: Snowflake, answers: Option<Snowflake>) -> CreateMessage {
    let message = bare(key);
    match answers {
        Some(answers) => replying(message, channel, answers),
        None => message,
    }
}

/// The message as a reply to another one.
fn replying(message: CreateMessage, channel: Snowflake, answers: Snowflake) -> CreateMessage {
    // A message that is deleted meanwhile keeps nobody from an answer.
    let reply = MessageReference::new(MessageReferenceKind::Default, ChannelId::new(channel))
        .message_id(WireMessageId::new(answers))
        .fail_if_not_exists(false);
    message.reference_message(reply)
}

/// The message that shows a text.
pub fn worded(key: &str, text: &str) -> CreateMessage {
    bare(key).content(text)
}

/// A message without a text that mentions nobody.
fn bare(key: &str) -> CreateMessage {
    let nobody = CreateAllowedMentions::new().replied_user(false);
    CreateMessage::new()
        .allowed_mentions(nobody)
        .nonce(Nonce::String(key.to_owned()))
        .enforce_nonce(true)
}

/// What the platform knows a repeated part by: at most 25 characters. It is made with the account's secret, so that a
/// gateway that begins anew with an empty database does not use keys of the one before.
fn key(secret: &[u8; 32], outgoing: &Outgoing) -> String {
    keyed(
        secret,
        &[&outgoing.id.to_be_bytes(), &outgoing.part.to_be_bytes()],
    )
}

/// What it knows the unfinished answer of a turn by.
#[must_use]
pub fn preview_key(secret: &[u8; 32], turn: &str) -> String {
    keyed(secret, &[b"preview", turn.as_bytes()])
}

fn keyed(secret: &[u8; 32], of: &[&[u8]]) -> String {
    let hex = |bytes: &[u8]| -> String {
        let bytes = bytes.iter().take(12);
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        // A key may have any length.
        return hex(&of.concat());
    };
    for part in of {
        mac.update(part);
    }
    hex(&mac.finalize().into_bytes())
}

/// The number of a message that the platform took.
pub fn message_id(result: &Value) -> Option<MessageId> {
    Some(id(&result["id"])?.to_string().into())
}

/// The class of a failed send.
#[must_use]
pub fn failure(shared: &Shared, channel: Snowflake, error: &CallError) -> SendError {
    let text = error.to_string();
    let trouble = match error {
        CallError::Unreachable(_) => return SendError::Unavailable(text),
        CallError::Lost(_) => return SendError::Ambiguous(text),
        CallError::Refused(refusal) => refusal.trouble(),
        CallError::Paused(after, scope) => Trouble::Flood(*after, *scope),
    };
    match trouble {
        Trouble::Flood(after, scope) => {
            tracing::info!(account = %shared.account, channel, ?after, ?scope, "told to wait");
            SendError::RateLimited { after, scope }
        }
        Trouble::TooLong => SendError::TooLong,
        // Somebody has to put the token right; until then nothing is lost.
        Trouble::Token => SendError::Unavailable(text),
        Trouble::Archived | Trouble::Forbidden => SendError::Forbidden(text),
        Trouble::Gone => SendError::Gone(text),
        Trouble::NoReply | Trouble::Other => SendError::Rejected(text),
    }
}

#[cfg(test)]
mod tests;
