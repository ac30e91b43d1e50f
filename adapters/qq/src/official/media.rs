//! Files of messages: those that people send, and those that go out.
//!
//! Owns which address of an attachment is followed, and the two forms in which a file goes out: in groups and private
//! chats it is handed over, as text inside of a call or in parts, and then named in a message, in channels a picture is a field of the
//! message itself. Either way it goes out as it is read; nothing holds it whole.

use std::{io, time::Duration};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::Body;
use serde_json::{Value, json};
use weirgate_sdk::{
    Attachment, Content, ConversationKey, Download, DownloadError, Downloads, MediaKind,
    MediaLimits, OutgoingFile, Sent, media::form::Form,
};

use super::{
    api::{Api, CallError, Refusal, Streamed},
    bot::Official,
    parts,
    places::Place,
    send::{Answered, messages, number, sent_as},
};
use crate::web;

/// A mebibyte.
const MIB: u64 = 1024 * 1024;
/// The largest file that goes inside of a call, in bytes: Tencent's own program hands larger ones over in parts.
const INSIDE: u64 = 5 * MIB;
/// The largest file of any kind, in bytes, and the largest pictures and voices (Tencent's own program).
const LARGEST: u64 = 100 * MIB;
const LARGEST_IMAGE: u64 = 30 * MIB;
const LARGEST_VOICE: u64 = 20 * MIB;
/// Bytes a second that a connection carries at the least.
pub(super) const SLOWEST: u64 = 128 * 1024;
/// Kinds of files (bot-docs, rich media).
const IMAGE: u64 = 1;
const VIDEO: u64 = 2;
const VOICE: u64 = 3;
const FILE: u64 = 4;
/// A message that shows a file (bot-docs, send).
const MEDIA: u64 = 7;

/// The files that a place takes: channels and their direct messages take pictures alone.
#[must_use]
pub fn limits(is_guild: bool) -> MediaLimits {
    if is_guild {
        return MediaLimits {
            image: INSIDE,
            ..MediaLimits::NONE
        };
    }
    MediaLimits {
        image: LARGEST_IMAGE,
        file: LARGEST,
        voice: LARGEST_VOICE,
        video: LARGEST,
        ..MediaLimits::NONE
    }
}

#[async_trait]
impl Downloads for Official {
    async fn open(
        &self,
        _: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Download, DownloadError> {
        let settings = &self.shared().settings;
        let own = Some(settings.api_url.as_str());
        web::fetch(&attachment.reference, own, settings.call_timeout).await
    }
}

/// Sends a file as a message.
///
/// # Errors
/// Why it was not sent.
pub async fn send(
    api: &Api,
    place: Place<'_>,
    outgoing: &weirgate_sdk::Outgoing,
    file: &OutgoingFile,
    answered: Option<Answered<'_>>,
) -> Result<Sent, CallError> {
    if file.size > LARGEST {
        return Err(refused(413, "the file is too large"));
    }
    if place.is_guild() {
        return picture(api, place, file, answered).await;
    }
    let handed = if file.size > INSIDE {
        parts::hand_over(api, &place.path(), file, kind(file)).await?
    } else {
        let path = format!("{}/files", place.path());
        let handed = api.upload(&path, encoded(file).await?, time(api, file));
        handed.await.map_err(unseen)?
    };
    let Some(info) = handed["file_info"].as_str() else {
        return Err(refused(400, "the platform gives the file no name"));
    };
    // A text must be there; one space is none (bot-docs, send).
    let mut said = json!({
        "content": " ", "msg_type": MEDIA, "media": { "file_info": info },
        "msg_seq": number(outgoing),
    });
    if let Some(answered) = answered {
        answered.write(&mut said);
    }
    let sent = api.post(&messages(place), &said).await?;
    Ok(sent_as(&sent))
}

/// Sends a picture into a channel, which takes no other files (bot-docs, `file_image`).
async fn picture(
    api: &Api,
    place: Place<'_>,
    file: &OutgoingFile,
    answered: Option<Answered<'_>>,
) -> Result<Sent, CallError> {
    if kind(file) != IMAGE {
        return Err(refused(400, "channels take pictures alone"));
    }
    if file.size > INSIDE {
        return Err(refused(413, "the picture is too large"));
    }
    let mut form = Form::new(rand::random());
    let mut said = Value::Null;
    if let Some(answered) = answered {
        answered.write(&mut said);
    }
    for (name, value) in said.as_object().into_iter().flatten() {
        form = form.field(name, value.as_str().unwrap_or_default());
    }
    let whole = form.file("file_image", file).end();
    let said = Streamed {
        content_type: whole.content_type.clone(),
        length: whole.length,
        body: Body::wrap_stream(whole.stream(vec![open(file).await?])),
    };
    let sent = api.upload(&messages(place), said, time(api, file)).await?;
    Ok(sent_as(&sent))
}

/// What the platform takes a file for; other pictures, sounds and films are files to it, and so is what is to be saved.
fn kind(file: &OutgoingFile) -> u64 {
    match (file.kind, file.mime.as_str()) {
        (MediaKind::File, _) => FILE,
        (_, "image/png" | "image/jpeg") => IMAGE,
        (_, "video/mp4") => VIDEO,
        (_, "audio/silk") => VOICE,
        _ => FILE,
    }
}

/// The file inside of the call that hands it over.
async fn encoded(file: &OutgoingFile) -> Result<Streamed, CallError> {
    let kind = kind(file);
    let mut said = json!({ "file_type": kind, "srv_send_msg": false });
    if kind == FILE {
        said["file_name"] = file.name.as_str().into();
    }
    let head = said.to_string();
    // The file is the last member of the object.
    let head = format!("{},\"file_data\":\"", head.trim_end_matches('}'));
    let tail = "\"}";
    let around = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
    let text = file.size.div_ceil(3).saturating_mul(4);
    let content = open(file).await?;
    Ok(Streamed {
        content_type: "application/json".to_owned(),
        length: around.saturating_add(text),
        body: Body::wrap_stream(pieces(head, content, tail)),
    })
}

/// How long it may take until a file is answered.
fn time(api: &Api, file: &OutgoingFile) -> Duration {
    api.limit() + Duration::from_secs(file.size / SLOWEST)
}

/// Why a file was not handed over. Nobody has seen it yet, whatever became of it.
pub(super) fn unseen(error: CallError) -> CallError {
    match error {
        CallError::Lost(why) => CallError::Unreachable(why),
        error => error,
    }
}

pub(super) async fn open(file: &OutgoingFile) -> Result<Box<dyn Content>, CallError> {
    let content = file.source.open().await;
    content.map_err(|error| refused(400, &error.to_string()))
}

/// The bytes of a call: what stands before the file, the file as text, what stands behind it.
fn pieces(
    head: String,
    content: Box<dyn Content>,
    tail: &'static str,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let begin = Some((Some(Bytes::from(head)), content, Vec::new()));
    stream::try_unfold(begin, move |state| async move {
        let Some((head, mut content, mut rest)) = state else {
            return Ok(None);
        };
        if let Some(head) = head {
            return Ok(Some((head, Some((None, content, rest)))));
        }
        while rest.len() < 3 {
            let Some(piece) = content.next().await.map_err(io::Error::other)? else {
                let end = STANDARD.encode(&rest) + tail;
                return Ok(Some((Bytes::from(end), None)));
            };
            rest.extend_from_slice(&piece);
        }
        // Three bytes are four signs; what is left waits for the next piece.
        let behind = rest.split_off(rest.len() - rest.len() % 3);
        let text = Bytes::from(STANDARD.encode(&rest));
        Ok(Some((text, Some((None, content, behind)))))
    })
}

/// A file that is not sent, by whoever's word.
pub(super) fn refused(status: u16, text: &str) -> CallError {
    CallError::Refused(Refusal {
        status,
        code: status.into(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    #[tokio::test]
    async fn a_file_is_one_text_in_whatever_pieces_it_comes() {
        let bytes: Vec<u8> = (0..=255).collect();
        for size in [1, 2, 3, 7, 64, 256] {
            let parts: Vec<_> = bytes
                .chunks(size)
                .map(|piece| Ok(Bytes::copy_from_slice(piece)))
                .collect();
            let content = Download::of(None, stream::iter(parts)).content;
            let call = pieces("{\"file_data\":\"".into(), content, "\"}");
            let call: Vec<Bytes> = call.try_collect().await.expect("whole");
            let call: Value = serde_json::from_slice(&call.concat()).expect("JSON");
            let text = call["file_data"].as_str().expect("a text");
            assert_eq!(STANDARD.decode(text).expect("base64"), bytes);
        }
    }

    struct Nothing;

    #[async_trait]
    impl weirgate_sdk::Source for Nothing {
        async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
            Err(DownloadError::Gone("nothing".into()))
        }
    }

    #[test]
    fn files_have_the_platforms_kinds() {
        let kinds = [
            (MediaKind::Image, "image/png", IMAGE),
            (MediaKind::Video, "video/mp4", VIDEO),
            (MediaKind::Voice, "audio/silk", VOICE),
            (MediaKind::Image, "image/gif", FILE),
            (MediaKind::File, "image/png", FILE),
        ];
        for (shown, mime, expected) in kinds {
            let file = OutgoingFile {
                kind: shown,
                reference: String::new(),
                name: "a".into(),
                mime: mime.into(),
                size: 1,
                source: std::sync::Arc::new(Nothing),
            };
            assert_eq!(kind(&file), expected, "{shown:?} {mime}");
        }
    }
}
