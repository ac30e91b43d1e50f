//! Files on their way out: pictures, voice and video as messages, others as files of a group or of a person.
//!
//! Owns the calls. OneBot takes a file as text in the call or from a disk or server that the implementation can reach;
//! only the first works wherever the two run. So a message's files are in memory once, and those of few messages at once.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use weirgate_sdk::{
    ConversationKey, MediaKind, MediaLimits, Outgoing, OutgoingFile, SendError, Sent,
};

use super::{
    answer::refuses_quote,
    places::{Place, id_value},
    send::{self, Call},
};
use crate::{qq::Shared, settings::Reply};

/// The most bytes of one call: as text they are a third longer, and implementations take frames of 16 MiB at the least.
const LARGEST: u64 = 8 << 20;
/// Messages with files in memory at once, of all accounts.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// The files that a conversation takes. Through a group nobody gets a file to be saved.
#[must_use]
pub fn limits(conversation: &ConversationKey) -> MediaLimits {
    let place = Place::parse(conversation.conversation.as_str());
    let saves = !matches!(place, Some(Place::Temporary { .. }));
    MediaLimits {
        file: if saves { LARGEST } else { 0 },
        image: LARGEST,
        sticker: LARGEST,
        voice: LARGEST,
        // A recording is a voice; music is a file.
        audio: 0,
        video: LARGEST,
        album: 10,
        album_bytes: LARGEST,
    }
}

/// Sends the files of a part as one message.
///
/// # Errors
/// The class of what went wrong; an implementation that has no such call rejects it.
pub async fn send(shared: &Shared, outgoing: &Outgoing) -> Result<Sent, SendError> {
    let place = send::place(outgoing)?;
    // Never closed.
    let _turn = AT_ONCE.acquire().await;
    let call = match outgoing.files.as_slice() {
        [file] if file.kind == MediaKind::File => save(place, file).await?,
        files => shown(place, outgoing, shared.settings.reply, files).await?,
    };
    let limit = shared.settings.call_timeout;
    let mut sent = shared.request(&call, limit).await;
    if let Err(error) = &sent
        && send::quotes(outgoing, shared.settings.reply)
        && refuses_quote(error)
    {
        let call = shown(place, outgoing, Reply::None, &outgoing.files).await?;
        sent = shared.request(&call, limit).await;
    }
    sent.map(|data| data.sent())
}

/// The call that gives a file to be saved.
async fn save(place: Place<'_>, file: &OutgoingFile) -> Result<Call, SendError> {
    let (action, to, number) = match place {
        Place::Group(group) => ("upload_group_file", "group_id", group),
        Place::Private(user) => ("upload_private_file", "user_id", user),
        Place::Temporary { .. } => {
            let text = "files cannot be sent through a group".to_owned();
            return Err(SendError::Rejected(text));
        }
    };
    let mut params = json!({ "file": encoded(file).await?, "name": file.name });
    params[to] = id_value(number);
    Ok(Call { action, params })
}

/// The call that shows pictures, or a voice, or a video. The latter two stand alone in their message.
async fn shown(
    place: Place<'_>,
    outgoing: &Outgoing,
    reply: Reply,
    files: &[OutgoingFile],
) -> Result<Call, SendError> {
    let pictures = files
        .iter()
        .all(|file| matches!(file.kind, MediaKind::Image | MediaKind::Sticker));
    if !pictures && files.len() > 1 {
        return Err(SendError::Rejected(
            "one message holds pictures only".into(),
        ));
    }
    let quotes = pictures && matches!(place, Place::Group(_));
    let first = quotes.then(|| send::answered(outgoing, reply)).flatten();
    let mut segments: Vec<Value> = first.into_iter().collect();
    for file in files {
        segments.push(segment(file).await?);
    }
    Ok(send::message(place, segments))
}

async fn segment(file: &OutgoingFile) -> Result<Value, SendError> {
    let kind = match file.kind {
        MediaKind::Image | MediaKind::Sticker => "image",
        MediaKind::Voice | MediaKind::Audio => "record",
        MediaKind::Video => "video",
        MediaKind::File => {
            return Err(SendError::Rejected("a file is no part of a message".into()));
        }
    };
    let mut data = json!({ "file": encoded(file).await? });
    if file.kind == MediaKind::Sticker {
        // Shown as small as a face (NapCat, LLOneBot; others pass over it).
        data["sub_type"] = 1.into();
    }
    Ok(json!({ "type": kind, "data": data }))
}

async fn encoded(file: &OutgoingFile) -> Result<String, SendError> {
    let gone = |error: weirgate_sdk::DownloadError| SendError::Rejected(error.to_string());
    if file.size > LARGEST {
        return Err(SendError::TooLong);
    }
    let mut content = file.source.open().await.map_err(gone)?;
    let mut bytes = Vec::new();
    while let Some(piece) = content.next().await.map_err(gone)? {
        bytes.extend_from_slice(&piece);
        if u64::try_from(bytes.len()).is_ok_and(|size| size > LARGEST) {
            return Err(SendError::TooLong);
        }
    }
    Ok(format!("base64://{}", STANDARD.encode(bytes)))
}
