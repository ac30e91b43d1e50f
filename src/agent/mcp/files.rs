//! Files that a server's tool gives: pictures, sounds and others go out with the answer of the turn.
//!
//! Owns how they are taken out of a result and what the model is told in their place. Their bytes never reach a context; the
//! limits on what goes out are those of every file that a tool sends.

use std::collections::HashMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::stream;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use weirgate_sdk::Download;

use crate::agent::tool::sending::{Form, Sending};

/// Longest ending of a file's name, in characters.
const MAX_ENDING: usize = 8;

/// What the model is told of blocks, by their places.
pub(super) type Notes = HashMap<usize, String>;

/// One file of a result.
struct Given<'a> {
    name: String,
    base64: &'a str,
}

/// Takes the files of a result, so that they go out with the answer. What cannot go out is told as that.
pub(super) async fn taken(result: &CallToolResult, sending: Option<&Sending<'_>>) -> Notes {
    let mut notes = Notes::new();
    let Some(sending) = sending.filter(|sending| sending.is_possible()) else {
        return notes;
    };
    for (place, block) in result.content.iter().enumerate() {
        let Some(Given { name, base64 }) = given(block, place) else {
            continue;
        };
        let note = match STANDARD.decode(base64) {
            Err(_) => "its bytes cannot be read".to_owned(),
            Ok(bytes) => {
                let sent = sending.take(&name, whole(bytes), Form::Auto).await;
                sent.unwrap_or_else(|fault| format!("{name} is not sent: {}", fault.given.text))
            }
        };
        notes.insert(place, note);
    }
    notes
}

fn given(block: &ContentBlock, place: usize) -> Option<Given<'_>> {
    let numbered = |what: &str, kind: Option<&str>| {
        let number = place + 1;
        match kind.and_then(ending) {
            Some(ending) => format!("{what}-{number}.{ending}"),
            None => format!("{what}-{number}"),
        }
    };
    Some(match block {
        ContentBlock::Image(image) => Given {
            name: numbered("picture", Some(&image.mime_type)),
            base64: &image.data,
        },
        ContentBlock::Audio(audio) => Given {
            name: numbered("sound", Some(&audio.mime_type)),
            base64: &audio.data,
        },
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let own = uri.rsplit('/').next().filter(|name| name.contains('.'));
                let numbered = || numbered("file", mime_type.as_deref());
                Given {
                    name: own.map_or_else(numbered, str::to_owned),
                    base64: blob,
                }
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// How the name of a file of this type ends.
fn ending(kind: &str) -> Option<String> {
    let kind = kind.split(';').next()?.trim();
    let (_, sub) = kind.split_once('/')?;
    let sub = sub.split('+').next()?;
    let sub = sub.strip_prefix("x-").unwrap_or(sub);
    let fits = !sub.is_empty()
        && sub.len() <= MAX_ENDING
        && sub.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| sub.to_ascii_lowercase())
}

fn whole(bytes: Vec<u8>) -> Download {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let pieces = stream::once(std::future::ready(Ok(Bytes::from(bytes))));
    Download::of(Some(size), Box::pin(pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_as_the_type_says() {
        for (kind, wanted) in [
            ("image/png", Some("png")),
            ("image/svg+xml", Some("svg")),
            ("audio/x-wav; rate=1", Some("wav")),
            ("application/vnd.openxmlformats", None),
            ("image/../../x", None),
            ("nonsense", None),
        ] {
            assert_eq!(ending(kind).as_deref(), wanted, "{kind}");
        }
    }
}
