//! Messages of the bot, and the limits of their texts.
//!
//! Owns length in both units, and what entities may be. Entities of which the real service would drop some are
//! refused: whoever sends them loses what he meant.

use bytes::Bytes;
use serde_json::Value;

use super::answer::Refusal;

/// The longest text, in characters and in UTF-16 units.
const MAX_LENGTH: usize = 4_096;
/// Entities of one message, and all of them in bytes.
const MAX_ENTITIES: usize = 100;
const MAX_ENTITY_BYTES: usize = 9_500;
/// What an entity may be.
const KINDS: &[&str] = &[
    "bold",
    "italic",
    "strikethrough",
    "code",
    "pre",
    "text_link",
    "blockquote",
];

/// A message that the bot sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id.
    pub id: i64,
    /// The chat.
    pub chat: i64,
    /// The topic, if it is in one.
    pub topic: Option<i64>,
    /// The text as it is now.
    pub text: String,
    /// Its entities.
    pub entities: Vec<Value>,
    /// The file that it is, by name.
    pub file: Option<(String, Bytes)>,
    /// As what the file is shown: the field of its call, such as `photo`.
    pub shown: Option<&'static str>,
    /// The album that it is in: the id of its first message.
    pub album: Option<i64>,
    /// The message that it is a reply to.
    pub reply_to: Option<i64>,
    /// The buttons under it: text and data.
    pub buttons: Vec<(String, String)>,
    /// How often it was changed.
    pub edits: usize,
    /// Nobody sees it any more.
    pub deleted: bool,
}

/// Checks a text and its entities.
pub(super) fn check(text: &str, entities: &Value, too_long: &str) -> Result<Vec<Value>, Refusal> {
    let units: Vec<u16> = text.encode_utf16().collect();
    if text.chars().count() > MAX_LENGTH || units.len() > MAX_LENGTH {
        return Err(Refusal::bad(too_long));
    }
    let entities = entities.as_array().cloned().unwrap_or_default();
    let bytes = Value::from(entities.clone()).to_string().len();
    if entities.len() > MAX_ENTITIES || bytes > MAX_ENTITY_BYTES {
        return Err(Refusal::bad("ENTITIES_TOO_LONG"));
    }
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut last = 0;
    for entity in &entities {
        let (start, end, kind) = span(entity, &units)?;
        if start < last {
            return Err(Refusal::bad("can't parse entities: not in order"));
        }
        last = start;
        open.retain(|(end, _)| *end > start);
        for (outer_end, outer) in &open {
            let is_code = |kind: &str| matches!(kind, "code" | "pre");
            let plain = matches!(*outer, "text_link" | "blockquote");
            if end > *outer_end || is_code(outer) || (is_code(kind) && !plain) || *outer == kind {
                return Err(Refusal::bad(format!(
                    "can't parse entities: {kind} in {outer}"
                )));
            }
        }
        open.push((end, kind));
    }
    Ok(entities)
}

/// Where an entity begins and ends, and what it is.
fn span<'a>(entity: &'a Value, units: &[u16]) -> Result<(usize, usize, &'a str), Refusal> {
    let wrong = |what: &str| Refusal::bad(format!("can't parse entities: {what}"));
    let kind = entity["type"].as_str().unwrap_or_default();
    if !KINDS.contains(&kind) {
        return Err(wrong("unknown type"));
    }
    let number = |name: &str| entity[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let (Some(start), Some(length)) = (number("offset"), number("length")) else {
        return Err(wrong("no place"));
    };
    let end = start.saturating_add(length);
    let inside = length > 0 && end <= units.len();
    let low = |at: usize| {
        units
            .get(at)
            .is_some_and(|unit| (0xDC00..0xE000).contains(unit))
    };
    if !inside || low(start) || low(end) {
        return Err(Refusal::bad("ENTITY_BOUNDS_INVALID"));
    }
    let marked = String::from_utf16_lossy(units.get(start..end).unwrap_or_default());
    if marked.trim().is_empty() {
        return Err(wrong("white space"));
    }
    let url = entity["url"].as_str().unwrap_or_default();
    if kind == "text_link" && !(url.starts_with("http://") || url.starts_with("https://")) {
        return Err(wrong("no address"));
    }
    Ok((start, end, kind))
}
