//! Answers on their way out, and what each refusal of one means.
//!
//! Owns the form of a message, its key, and the classes of failures. Every message says that it mentions nobody,
//! whatever stands in it.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use serenity::{
    builder::{CreateAllowedMentions, CreateMessage},
    model::{
        channel::{MessageReference, MessageReferenceKind, Nonce},
        id::{ChannelId, MessageId as WireMessageId},
    },
};
use sha2::Sha256;
use weirgate_sdk::{ConversationKey, Outgoing, SendError, Sent};

use crate::{
    api::{Call, CallError, Trouble},
    channels::id,
    discord::Shared,
    interaction,
    places::{Place, Snowflake, number},
    settings::Reply,
};

/// Delivers one part. Only a reply that is not allowed makes a second call: the first was refused, and the words go out
/// without it.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let channel = channel(&outgoing.conversation)?;
    let api = shared.api()?;
    if outgoing.rendered.text.trim().is_empty() {
        return Err(SendError::Rejected("empty text".into()));
    }
    if let Some(sent) = interaction::answer(shared, outgoing).await? {
        shared.interactions.end(&outgoing.answers);
        return Ok(sent);
    }
    let key = key(&shared.secret, outgoing);
    let answers = answered(shared, outgoing);
    let call = Call::Send(channel);
    let limit = shared.settings.call_timeout;
    let message = message(&outgoing.rendered.text, &key, channel, answers);
    let mut sent = api.post(call, &message, limit).await;
    let refused = sent.as_ref().err().and_then(CallError::trouble);
    if answers.is_some() && refused == Some(Trouble::NoReply) {
        tracing::warn!(account = %shared.account, channel,
            "the bot may not read what was said before, so its answer is no reply");
        let message = self::message(&outgoing.rendered.text, &key, channel, None);
        sent = api.post(call, &message, limit).await;
    }
    match sent {
        Ok(result) => {
            // What was asked for otherwise is answered by it too.
            shared.interactions.end(&outgoing.answers);
            Ok(Sent {
                message: message_id(&result),
            })
        }
        Err(error) => Err(failure(shared, channel, &error)),
    }
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
fn channel(conversation: &ConversationKey) -> Result<Snowflake, SendError> {
    Place::parse(conversation)
        .map(Place::target)
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))
}

/// The message that a part is shown as a reply to.
fn answered(shared: &Shared, outgoing: &Outgoing) -> Option<Snowflake> {
    let shows = shared.settings.reply == Reply::Quote && outgoing.part == 0;
    let target = outgoing.reply.as_ref().filter(|_| shows)?;
    number(target.message.as_str())
}

/// The message that shows a text.
fn message(text: &str, key: &str, channel: Snowflake, answers: Option<Snowflake>) -> CreateMessage {
    let nobody = CreateAllowedMentions::new().replied_user(false);
    let message = CreateMessage::new()
        .content(text)
        .allowed_mentions(nobody)
        .nonce(Nonce::String(key.to_owned()))
        .enforce_nonce(true);
    let Some(answers) = answers else {
        return message;
    };
    // A message that is deleted meanwhile keeps nobody from an answer.
    let reply = MessageReference::new(MessageReferenceKind::Default, ChannelId::new(channel))
        .message_id(WireMessageId::new(answers))
        .fail_if_not_exists(false);
    message.reference_message(reply)
}

/// What the platform knows a repeated part by: at most 25 characters. It is made with the account's secret, so that a
/// gateway that begins anew with an empty database does not use keys of the one before.
fn key(secret: &[u8; 32], outgoing: &Outgoing) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        // A key may have any length.
        return format!("{:x}.{:x}", outgoing.id, outgoing.part);
    };
    mac.update(&outgoing.id.to_be_bytes());
    mac.update(&outgoing.part.to_be_bytes());
    let bytes = mac.finalize().into_bytes();
    let bytes = bytes.iter().take(12);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// The number of a message that the platform took.
pub fn message_id(result: &Value) -> Option<weirgate_sdk::MessageId> {
    Some(id(&result["id"])?.to_string().into())
}

/// The class of a failed send.
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
        Trouble::Forbidden => SendError::Forbidden(text),
        Trouble::Gone => SendError::Gone(text),
        Trouble::NoReply | Trouble::Other => SendError::Rejected(text),
    }
}

#[cfg(test)]
mod tests;
