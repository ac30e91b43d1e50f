//! Files on their way out.
//!
//! Owns the form of a document. A file goes out as it is read; it is never in memory as a whole.

use std::time::Duration;

use weirgate_sdk::{OutgoingFile, SendError, Sent, media::form::Form};

use crate::{
    api::Trouble,
    places::Place,
    send::{failure, message_id, trouble},
    telegram::Shared,
};

/// The largest file that a bot sends (Bot API, sendDocument), in bytes.
pub const LARGEST: u64 = 50 * 1024 * 1024;
/// Bytes a second that a connection carries at the least.
const SLOWEST: u64 = 128 * 1024;

/// Sends a file as a document. A second call is made only when the first was refused because the topic is gone.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(
    shared: &Shared,
    mut place: Place,
    file: &OutgoingFile,
) -> Result<Sent, SendError> {
    let api = shared.api()?;
    let limit = shared.settings.call_timeout + Duration::from_secs(file.size / SLOWEST);
    loop {
        let content = file.source.open().await;
        let content = content.map_err(|error| SendError::Rejected(error.to_string()))?;
        let mut form = Form::new(rand::random()).field("chat_id", &place.chat.to_string());
        if let Some(topic) = place.topic {
            form = form.field("message_thread_id", &topic.to_string());
        }
        let form = form.file("document", file);
        let sent = api.upload("sendDocument", form, content, limit).await;
        if place.topic.is_some() && trouble(&sent) == Some(Trouble::NoTopic) {
            place.topic = None;
            continue;
        }
        return match sent {
            Ok(result) => Ok(Sent {
                message: message_id(&result),
            }),
            Err(error) => Err(failure(shared, place, &error)),
        };
    }
}
