//! Files on their way out.
//!
//! Owns the form of a message that is a file. A file goes out as it is read; it is never in memory as a whole.

use std::time::Duration;

use serde_json::json;
use weirgate_sdk::{OutgoingFile, SendError, Sent, media::form::Form};

use crate::{
    api::Call,
    discord::Shared,
    places::Snowflake,
    send::{bare, failure, message_id},
};

/// The largest file that every server takes (its documentation, uploading files), in bytes.
pub const LARGEST: u64 = 10 * 1024 * 1024;
/// Bytes a second that a connection carries at the least.
const SLOWEST: u64 = 128 * 1024;

/// Sends a file as a message, known by `key` when it comes again.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(
    shared: &Shared,
    channel: Snowflake,
    key: &str,
    file: &OutgoingFile,
) -> Result<Sent, SendError> {
    let api = shared.api()?;
    let content = file.source.open().await;
    let content = content.map_err(|error| SendError::Rejected(error.to_string()))?;
    let rejected = |_| SendError::Rejected("cannot be written as JSON".into());
    let mut message = serde_json::to_value(bare(key)).map_err(rejected)?;
    message["attachments"] = json!([{ "id": 0, "filename": file.name }]);
    let form = Form::new(rand::random())
        .field("payload_json", &message.to_string())
        .file("files[0]", file);
    let limit = shared.settings.call_timeout + Duration::from_secs(file.size / SLOWEST);
    let sent = api.upload(Call::Send(channel), form, content, limit).await;
    match sent {
        Ok(result) => Ok(Sent {
            message: message_id(&result),
        }),
        Err(error) => Err(failure(shared, channel, &error)),
    }
}
