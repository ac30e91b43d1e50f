//! Frames to a client, written.
//!
//! Owns the envelope: one flat JSON object with `type`, and for frames of a conversation `sessionId`,
//! `epoch` and `seq`. Pure.

use axum::extract::ws::Utf8Bytes;
use serde_json::{Map, Value, json};
use weirgate_sdk::{MessageId, SentFile};

use crate::texts::{Code, Language};

/// The place of a frame in a conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp<'a> {
    /// The session's label.
    pub(crate) session: &'a str,
    /// This process.
    pub(crate) epoch: &'a str,
    /// The number of the frame in its conversation.
    pub(crate) seq: u64,
}

/// A frame of a conversation.
pub(crate) fn stamped(kind: &str, stamp: Stamp<'_>, mut body: Map<String, Value>) -> Utf8Bytes {
    body.insert("epoch".into(), stamp.epoch.into());
    body.insert("seq".into(), stamp.seq.into());
    direct(kind, Some(stamp.session), body)
}

/// A frame for one socket only.
pub(crate) fn direct(kind: &str, session: Option<&str>, mut body: Map<String, Value>) -> Utf8Bytes {
    body.insert("type".into(), kind.into());
    if let Some(session) = session {
        body.insert("sessionId".into(), session.into());
    }
    Value::Object(body).to_string().into()
}

/// Something went wrong with a frame of this socket, or with the message that it carried.
pub(crate) fn error(
    code: Code,
    language: Language,
    session: Option<&str>,
    message: Option<&str>,
) -> Utf8Bytes {
    let mut body = object(json!({ "code": code.name(), "text": code.text(language) }));
    if let Some(message) = message {
        body.insert("messageId".into(), message.into());
    }
    direct("error", session, body)
}

/// A message is over; `batch` if it was the last of several that came in one frame.
pub(crate) fn end(message: Option<&str>, batch: bool) -> Map<String, Value> {
    let mut body = Map::new();
    if let Some(message) = message {
        body.insert("messageId".into(), message.into());
    }
    if batch {
        body.insert("batch".into(), true.into());
    }
    body
}

/// `answers`, and `messageId` for the last of them.
pub(crate) fn put_answers(body: &mut Map<String, Value>, answers: &[MessageId]) {
    let ids: Vec<Value> = answers.iter().map(|id| id.as_str().into()).collect();
    if let Some(last) = ids.last() {
        body.insert("messageId".into(), last.clone());
    }
    body.insert("answers".into(), ids.into());
}

/// `files`, if there are any.
pub(crate) fn put_files(body: &mut Map<String, Value>, files: impl IntoIterator<Item = SentFile>) {
    let told = |file: SentFile| {
        json!({
            "file": file.reference, "kind": file.kind.name(), "name": file.name, "mime": file.mime,
            "size": file.size,
        })
    };
    let files: Vec<Value> = files.into_iter().map(told).collect();
    if !files.is_empty() {
        body.insert("files".into(), files.into());
    }
}

/// The map of a `json!` object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
