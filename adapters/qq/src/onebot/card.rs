//! Shared cards: mini programs, videos and articles that arrive as JSON or XML inside a segment.
//!
//! Owns the few words that stand for a card. Card text is the sender's, untrusted; a card that cannot
//! be read or is huge becomes the bare word. It never follows a link.

use serde_json::Value;
use weirgate_sdk::text::line;

/// Cards over this many bytes are not looked into.
const MAX_CARD: usize = 64 * 1024;
/// Longest title, in characters.
const MAX_TITLE: usize = 120;
/// Longest link, in characters; longer ones are left out, a cut link is worth nothing.
const MAX_LINK: usize = 500;

/// A JSON card as `card: title link`.
#[must_use]
pub fn json(card: &str) -> String {
    if card.len() > MAX_CARD {
        return "card".to_owned();
    }
    let Ok(value) = serde_json::from_str::<Value>(card) else {
        return "card".to_owned();
    };
    let details = value.get("meta").and_then(Value::as_object);
    let detail = |names: &[&str]| {
        let details = details?;
        details.values().find_map(|detail| named(detail, names))
    };
    let title = detail(&["title", "desc", "name"])
        .or_else(|| named(&value, &["prompt", "desc"]))
        .unwrap_or_default();
    let link = detail(&["qqdocurl", "jumpUrl", "url"]).unwrap_or_default();
    describe(title, link)
}

/// An XML card as `card: title link`, from the attributes of its elements.
#[must_use]
pub fn xml(card: &str) -> String {
    if card.len() > MAX_CARD {
        return "card".to_owned();
    }
    describe(attribute(card, " brief=\""), attribute(card, " url=\""))
}

fn named<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .filter_map(|name| value.get(name)?.as_str())
        .find(|text| !text.trim().is_empty())
}

fn attribute<'a>(card: &'a str, opening: &str) -> &'a str {
    card.split_once(opening)
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("", |(text, _)| text)
}

fn describe(title: &str, link: &str) -> String {
    let title = line(title, MAX_TITLE);
    let link = link.trim();
    let fits = !link.is_empty()
        && link.chars().count() <= MAX_LINK
        && !link.chars().any(|c| c.is_whitespace() || c.is_control());
    match (title.is_empty(), fits) {
        (true, false) => "card".to_owned(),
        (false, false) => format!("card: {title}"),
        (true, true) => format!("card: {link}"),
        (false, true) => format!("card: {title} {link}"),
    }
}

#[cfg(test)]
mod tests;
