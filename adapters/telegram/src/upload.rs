//! Files on their way out.
//!
//! Owns which call sends what, and its form. Files go out as they are read; they are never in memory as a whole.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_sdk::{
    MediaKind, MediaLimits, MessageId, Outgoing, OutgoingFile, SendError, Sent,
    media::{form::Form, open_all},
};

use crate::{
    api::{CallError, Trouble},
    places::{self, Place},
    send::{failure, message_id, trouble},
    settings::Reply,
    telegram::Shared,
};

/// The largest files that a bot sends (Bot API, Sending files; stickers: sendSticker), in bytes.
pub const LIMITS: MediaLimits = MediaLimits {
    file: 50 << 20,
    image: 10 << 20,
    sticker: 512 << 10,
    voice: 50 << 20,
    audio: 50 << 20,
    video: 50 << 20,
    album: 10,
    album_bytes: 50 << 20,
};
/// Bytes a second that a connection carries at the least.
const SLOWEST: u64 = 128 * 1024;

/// Sends the files of a part as one message. A second call is made only when the first was refused because the place is
/// another: the topic is gone, or the group became a supergroup.
///
/// # Errors
/// The class of what went wrong.
pub async fn send(
    shared: &Shared,
    mut place: Place,
    outgoing: &Outgoing,
) -> Result<Sent, SendError> {
    loop {
        let sent = call(shared, place, outgoing).await?;
        match trouble(&sent) {
            Some(Trouble::NoTopic) if place.topic.is_some() => place.topic = None,
            Some(Trouble::Migrated(chat)) if shared.moved(place.chat, chat) => {
                place.chat = chat;
            }
            _ => {
                return match sent {
                    // An album is as many messages; the first of them stands for it.
                    Ok(Value::Array(album)) => Ok(Sent {
                        message: album.first().and_then(message_id),
                    }),
                    Ok(result) => Ok(Sent {
                        message: message_id(&result),
                    }),
                    Err(error) => Err(failure(shared, place, &error)),
                };
            }
        }
    }
}

/// Makes the call that sends the files.
async fn call(
    shared: &Shared,
    place: Place,
    outgoing: &Outgoing,
) -> Result<Result<Value, CallError>, SendError> {
    let api = shared.api()?;
    let contents = open_all(&outgoing.files).await?;
    let mut form = Form::new(rand::random()).field("chat_id", &place.chat.to_string());
    if let Some(topic) = place.topic {
        form = form.field("message_thread_id", &topic.to_string());
    }
    if let Some(answered) = answered(shared, place, outgoing) {
        let reply = json!({ "message_id": answered, "allow_sending_without_reply": true });
        form = form.field("reply_parameters", &reply.to_string());
    }
    let (method, form) = match outgoing.files.as_slice() {
        [file] => {
            let (method, field) = method(file);
            (method, form.file(field, file))
        }
        files => ("sendMediaGroup", album(form, files)),
    };
    let bytes: u64 = outgoing.files.iter().map(|file| file.size).sum();
    let limit = shared.settings.call_timeout + Duration::from_secs(bytes / SLOWEST);
    Ok(api.upload(method, form.end(), contents, limit).await)
}

/// The call for a single file, and the field that has it. A moving picture stands still as a photo, and only WebP can be a
/// sticker.
fn method(file: &OutgoingFile) -> (&'static str, &'static str) {
    match file.kind {
        MediaKind::Image if file.mime == "image/gif" => ("sendAnimation", "animation"),
        MediaKind::Sticker if file.mime == "image/webp" => ("sendSticker", "sticker"),
        MediaKind::Image | MediaKind::Sticker => ("sendPhoto", "photo"),
        MediaKind::Voice => ("sendVoice", "voice"),
        MediaKind::Audio => ("sendAudio", "audio"),
        MediaKind::Video => ("sendVideo", "video"),
        MediaKind::File => ("sendDocument", "document"),
    }
}

/// The form of an album: what it holds, and the files that this names.
fn album(form: Form, files: &[OutgoingFile]) -> Form {
    let item = |(number, file): (usize, &OutgoingFile)| {
        let kind = match file.kind {
            MediaKind::Image => "photo",
            _ => "document",
        };
        json!({ "type": kind, "media": format!("attach://file{number}") })
    };
    let media: Vec<Value> = files.iter().enumerate().map(item).collect();
    let form = form.field("media", &Value::from(media).to_string());
    let numbered = files.iter().enumerate();
    numbered.fold(form, |form, (number, file)| {
        form.file(&format!("file{number}"), file)
    })
}

/// The message that the files are shown as a reply to, if no words came before them.
fn answered(shared: &Shared, place: Place, outgoing: &Outgoing) -> Option<i64> {
    let shows = shared.settings.reply == Reply::Quote && !places::is_private(place.chat);
    let target = outgoing
        .reply
        .as_ref()
        .filter(|_| shows && outgoing.part == 0)?;
    number(&target.message)
}

fn number(message: &MessageId) -> Option<i64> {
    message.as_str().parse().ok()
}
