//! Past messages as frames.
//!
//! Owns the bound on one frame: of a long page the newest messages are sent, and the client asks on for
//! what is before them. Pure.

use serde_json::{Map, Value, json};
use weirgate_sdk::{TranscriptEntry, answer::Block};

use crate::{
    card::put_choice,
    format::html,
    outgoing::{object, put_files},
    upload::shown,
};

/// Most markup in one frame in bytes, but for the first message.
const MAX_FRAME: usize = 512 * 1024;
/// Most markup of one message in bytes.
const MAX_MESSAGE: usize = 1024 * 1024;

/// A page of past messages, rendered.
#[derive(Debug)]
pub(crate) struct Page {
    /// Oldest first.
    messages: Vec<Map<String, Value>>,
    more: bool,
}

/// Renders a page. `entries` are oldest first; `limit` is how many were asked for, so that fewer mean
/// that there are no more. This is the slow part: hold no lock over it.
pub(crate) fn page(entries: &[TranscriptEntry], limit: usize) -> Page {
    let mut bytes = 0;
    let mut messages = vec![];
    for entry in entries.iter().rev() {
        let html = bounded_html(&entry.blocks);
        bytes += html.len();
        if bytes > MAX_FRAME && !messages.is_empty() {
            break;
        }
        messages.push(message(entry, html));
    }
    let more = entries.len() >= limit || messages.len() < entries.len();
    messages.reverse();
    Page { messages, more }
}

impl Page {
    /// The body of a `history` frame. `ended` knows messages whose end was sent although the store may
    /// not say so yet.
    pub(crate) fn body(mut self, ended: impl Fn(&str) -> bool) -> Map<String, Value> {
        for message in &mut self.messages {
            let over = message
                .get("messageId")
                .and_then(Value::as_str)
                .is_some_and(&ended);
            if over {
                message.insert("pending".into(), false.into());
            }
        }
        object(json!({ "messages": self.messages, "more": self.more }))
    }
}

/// The body of a `context` frame: the people's messages of a page that are pending, but for those whose end was sent.
pub(crate) fn waiting(
    entries: &[TranscriptEntry],
    ended: impl Fn(&str) -> bool,
) -> Map<String, Value> {
    let waits = |entry: &&TranscriptEntry| {
        let id = entry.message.as_ref();
        entry.pending && id.is_some_and(|id| !ended(id.as_str()))
    };
    let waiting = entries.iter().filter(waits).map(|entry| {
        let id = entry.message.as_ref().map(|id| id.as_str());
        json!({ "messageId": id, "id": entry.id, "at": entry.at })
    });
    object(json!({ "waiting": waiting.collect::<Vec<_>>() }))
}

fn message(entry: &TranscriptEntry, html: String) -> Map<String, Value> {
    let mut body = object(json!({ "id": entry.id, "at": entry.at, "html": html }));
    match &entry.message {
        Some(id) => {
            body.insert("role".into(), "user".into());
            body.insert("messageId".into(), id.as_str().into());
            body.insert("pending".into(), entry.pending.into());
            if entry.pressed {
                body.insert("pressed".into(), true.into());
            }
            if !entry.brought.is_empty() {
                body.insert("files".into(), entry.brought.iter().map(shown).collect());
            }
        }
        None => {
            let answers: Vec<&str> = entry.answers.iter().map(|id| id.as_str()).collect();
            body.insert("role".into(), "assistant".into());
            body.insert("answers".into(), answers.into());
            if let Some(turn) = &entry.turn {
                body.insert("turn".into(), (**turn).into());
            }
            put_files(&mut body, entry.files.iter().cloned());
            if let Some(choice) = &entry.choice {
                put_choice(&mut body, choice);
            }
        }
    }
    body
}

/// The markup of the blocks that fit, and an ellipsis if some do not.
fn bounded_html(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        let piece = html(std::slice::from_ref(block));
        if out.len() + piece.len() > MAX_MESSAGE {
            out.push_str("<p>…</p>");
            break;
        }
        out.push_str(&piece);
    }
    out
}

#[cfg(test)]
mod tests;
