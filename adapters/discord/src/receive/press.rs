//! Presses of buttons into messages.
//!
//! Owns what of a press counts: under which message, and the id as it came. A client may send any id, so it is handed on
//! and never believed.

use serde_json::Value;
use weirgate_sdk::{Replied, Segment, Via, button::MAX_BUTTON_ID};

use super::{content::Content, interaction::Said};
use crate::channels::id;

/// A button or another part of a message was used (Interaction Types).
pub const COMPONENT: u64 = 3;
/// A button among those parts (Component Types).
const BUTTON: u64 = 2;
/// What the id of a press begins with; that of its interaction follows. It is none of a message.
pub const MARK: &str = "press/";

/// Whether an interaction is a press that can be one of ours.
#[must_use]
pub fn is_press(event: &Value) -> bool {
    let data = &event["data"];
    let fits = |id: &str| (1..=MAX_BUTTON_ID).contains(&id.len());
    event["type"] == COMPONENT
        && data["component_type"] == BUTTON
        && data["custom_id"].as_str().is_some_and(fits)
}

/// Reads a press; `None` if it does not say under which message.
#[must_use]
pub fn read(event: &Value) -> Option<Said> {
    let number = id(&event["id"])?;
    let message = id(&event["message"]["id"])?;
    let pressed = event["data"]["custom_id"].as_str()?;
    Some(Said {
        id: format!("{MARK}{number}").into(),
        content: Content {
            segments: vec![Segment::Text(pressed.to_owned())],
            mentions_bot: false,
        },
        via: Via::Button,
        reply_to: Some(Replied {
            message: message.to_string().into(),
            to_bot: Some(true),
            author: None,
        }),
    })
}
