//! Files on their way out.
//!
//! Owns the form of a message that is made of files. They go out as they are read; they are never in memory as a whole.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_sdk::{
    MediaLimits, OutgoingFile, SendError, Sent,
    media::{form::Form, open_all},
};

use crate::{
    api::{Call, CallError},
    discord::Shared,
    places::Snowflake,
    send::{failure, message_id, reopened, with_reply},
};

/// The largest file that every server takes, and what one request may have (the documentation, Uploading Files), in bytes.
/// Pictures, sound and videos are files that are shown as what they are.
pub const LIMITS: MediaLimits = MediaLimits {
    file: LARGEST,
    image: LARGEST,
    // Stickers are a server's own, and a voice needs its curve drawn beside it.
    sticker: 0,
    voice: 0,
    audio: LARGEST,
    video: LARGEST,
    album: 10,
    album_bytes: 24 << 20,
};
/// The largest file in bytes.
const LARGEST: u64 = 10 << 20;
/// Bytes a second that a connection carries at the least.
const SLOWEST: u64 = 128 * 1024;

/// Sends files as one message, known by `key` when it comes again.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(
    shared: &Shared,
    channel: Snowflake,
    (key, answers): (&str, Option<Snowflake>),
    files: &[OutgoingFile],
) -> Result<Sent, SendError> {
    let mut sent = try_send(shared, channel, (key, answers), files).await?;
    if reopened(shared, channel, &sent).await {
        sent = try_send(shared, channel, (key, answers), files).await?;
    }
    match sent {
        Ok(result) => Ok(Sent {
            message: message_id(&result),
        }),
        Err(error) => Err(failure(shared, channel, &error)),
    }
}

async fn try_send(
    shared: &Shared,
    channel: Snowflake,
    (key, answers): (&str, Option<Snowflake>),
    files: &[OutgoingFile],
) -> Result<Result<Value, CallError>, SendError> {
    let api = shared.api()?;
    let contents = open_all(files).await?;
    let rejected = |_| SendError::Rejected("cannot be written as JSON".into());
    let mut message = serde_json::to_value(with_reply(key, channel, answers)).map_err(rejected)?;
    let named = |(id, file): (usize, &OutgoingFile)| json!({ "id": id, "filename": file.name });
    message["attachments"] = files.iter().enumerate().map(named).collect::<Value>();
    let form = Form::new(rand::random()).field("payload_json", &message.to_string());
    let numbered = files.iter().enumerate();
    let form = numbered.fold(form, |form, (id, file)| {
        form.file(&format!("files[{id}]"), file)
    });
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    let limit = shared.settings.call_timeout + Duration::from_secs(bytes / SLOWEST);
    let sent = api.upload(Call::Send(channel), form.end(), contents, limit);
    Ok(sent.await)
}
