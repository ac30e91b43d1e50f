//! What a message can hold beside text.
//!
//! Owns files, and what is described in a few words: stickers, polls, cards.

use serde_json::Value;
use weirgate_sdk::{Attachment, AttachmentKind, Segment, Timestamp, text::line};

use crate::download;

/// Files of one message that are told; the platform allows ten.
const MAX_FILES: usize = 10;
/// Cards, stickers of one message that are told.
const MAX_DESCRIBED: usize = 10;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 300;
/// Longest name of a file, in characters.
const MAX_FILE_NAME: usize = 200;
/// Longest address, in bytes; with the number of the message it stays below what a reference may have.
const MAX_REFERENCE: usize = 2_000;

/// Everything beside the text.
#[must_use]
pub fn beside_text(message: &Value) -> Vec<Segment> {
    let list = |field: &str| message[field].as_array().into_iter().flatten();
    let files = list("attachments").take(MAX_FILES);
    let files = files.map(|one| file(one, &message["id"]));
    let stickers = list("sticker_items").take(MAX_DESCRIBED);
    let stickers = stickers.map(|sticker| described("sticker", &[&sticker["name"]]));
    // Below words stand only previews of the links in them.
    let has_words = message["content"]
        .as_str()
        .is_some_and(|text| !text.trim().is_empty());
    let cards = list("embeds").filter(|_| !has_words).take(MAX_DESCRIBED);
    let cards = cards.map(|card| {
        described(
            "card",
            &[&card["title"], &card["description"], &card["url"]],
        )
    });
    files
        .chain(stickers)
        .chain(cards)
        .chain(poll(&message["poll"]))
        .collect()
}

fn file(file: &Value, message: &Value) -> Segment {
    let text = |field: &str| file[field].as_str().unwrap_or_default();
    let kind = match text("content_type").split('/').next() {
        Some("image") => AttachmentKind::Image,
        Some("audio") => AttachmentKind::Audio,
        Some("video") => AttachmentKind::Video,
        _ => AttachmentKind::File,
    };
    let name = line(text("filename"), MAX_FILE_NAME);
    let reference = text("url");
    if reference.is_empty() || reference.len() > MAX_REFERENCE {
        return described("file", &[&file["filename"]]);
    }
    Segment::Attachment(Attachment {
        kind,
        reference: download::reference(message, reference),
        name: Some(name).filter(|name| !name.is_empty()),
        size: file["size"].as_u64(),
        expires_at: expiry(reference),
    })
}

/// When a signed address stops working: the parameter `ex`, seconds since the epoch in hexadecimal.
fn expiry(url: &str) -> Option<Timestamp> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, seconds) = pairs.find(|(name, _)| *name == "ex")?;
    i64::from_str_radix(seconds, 16).ok()?.checked_mul(1_000)
}

fn poll(poll: &Value) -> Option<Segment> {
    let question = poll["question"]["text"].as_str()?;
    let answers = poll["answers"].as_array().into_iter().flatten();
    let answers: Vec<&str> = answers
        .filter_map(|answer| answer["poll_media"]["text"].as_str())
        .collect();
    let words = format!("poll: {question} ({})", answers.join(" / "));
    Some(Segment::Placeholder(line(&words, MAX_DESCRIPTION)))
}

fn described(what: &str, parts: &[&Value]) -> Segment {
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_str()).collect();
    let words = format!("{what}: {}", parts.join(" "));
    let words = line(&words, MAX_DESCRIPTION);
    Segment::Placeholder(words.trim_end_matches(':').to_owned())
}
