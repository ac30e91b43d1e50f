//! Forwarded messages that came whole inside of a segment.
//!
//! Owns their form as quoted lines and how many there are. What is forwarded inside of what is forwarded is
//! named, not opened. It never asks for what did not come.

use serde::Deserialize;
use serde_json::value::RawValue;
use weirgate_sdk::text::line;

use super::{
    super::wire::{self, Raw, WireSender},
    Segment, describe, read as read_content,
};

/// Messages that are shown; the rest is counted.
const MAX_MESSAGES: usize = 30;
/// Longest text of one, in characters.
const MAX_TEXT: usize = 300;
/// Longest name, in characters.
const MAX_NAME: usize = 60;

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireNode<'a> {
    #[serde(borrow)]
    sender: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
    #[serde(borrow)]
    raw_message: Raw<'a>,
    #[serde(borrow)]
    content: Raw<'a>,
}

/// One line for each message: who said it and what; `None` if there are none.
pub(super) fn read(content: &RawValue) -> Option<String> {
    let nodes: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let mut lines = Vec::new();
    for node in nodes.iter().take(MAX_MESSAGES) {
        let node: WireNode<'_> = wire::object(Some(*node));
        let mut said = read_content(node.message.or(node.content), node.raw_message, "");
        for segment in &mut said.segments {
            if let Segment::Quote(_) = segment {
                *segment = Segment::Placeholder("forwarded messages".to_owned());
            }
        }
        let text = describe(&said.segments, MAX_TEXT);
        if text.trim().is_empty() {
            continue;
        }
        let sender: WireSender<'_> = wire::object(node.sender);
        let name = [sender.card, sender.nickname]
            .iter()
            .filter_map(|name| wire::text(*name))
            .map(|name| line(&name, MAX_NAME))
            .find(|name| !name.is_empty());
        lines.push(format!("{}: {text}", name.as_deref().unwrap_or("?")));
    }
    let left = nodes.len().saturating_sub(MAX_MESSAGES);
    if left > 0 {
        lines.push(format!("({left} more)"));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}
