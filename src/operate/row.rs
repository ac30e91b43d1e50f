//! What an operator is shown of a message or a reply.
//!
//! Owns the shortening of texts: redacted, on one line, without anything that a terminal would act on. It
//! never shows a whole text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weirgate_sdk::Timestamp;

use crate::{
    inbound::{body, queue::Kind, route::Route},
    outbound::compose::part_texts,
    schedule::lane::Lane,
    security::redact::Redactor,
    store::{FailedMessage, ReplyBody, StoredReply, Waiting},
    trace::turn_id,
};

/// Characters that are shown of a text.
const SHOWN: usize = 160;

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingRow {
    /// The journal id.
    pub id: i64,
    /// When it was received, in milliseconds since 1970.
    pub at: Timestamp,
    /// Where, as platform/account/conversation.
    pub conversation: String,
    /// Whose.
    pub person: String,
    /// The sender's name.
    pub name: String,
    /// How it is queued: `control`, `command` or `message`.
    pub kind: String,
    /// The lane: `control`, `command`, `direct`, `ambient` or `background`.
    pub lane: String,
    /// How often its turn has begun.
    pub attempts: u32,
    /// The beginning of its text.
    pub text: String,
}

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyRow {
    /// The outbox id.
    pub id: i64,
    /// `ready`, `sending`, `unknown`, `failed` or `expired`.
    pub state: String,
    /// When it was made, in milliseconds since 1970.
    pub at: Timestamp,
    /// Not sent before this.
    pub due_at: Timestamp,
    /// Where to.
    pub conversation: String,
    /// The turn that made it; none for a notice.
    pub turn: Option<String>,
    /// The part that is next or at which it was given up, from 1.
    pub part: u32,
    /// How many parts it has.
    pub parts: usize,
    /// How often that part was in doubt after a crash.
    pub attempts: u32,
    /// Why, as a reason code.
    pub reason: Option<String>,
    /// The beginning of its text.
    pub text: String,
}

/// A message whose turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRow {
    /// The journal id.
    pub id: i64,
    /// When it was received, in milliseconds since 1970.
    pub at: Timestamp,
    /// When its turn ended.
    pub ended_at: Timestamp,
    /// Where.
    pub conversation: String,
    /// Whose.
    pub person: String,
    /// The sender's name.
    pub name: String,
    /// How often its turn began.
    pub attempts: u32,
    /// Why, as a reason code.
    pub reason: Option<String>,
    /// The beginning of its text.
    pub text: String,
}

/// What is set in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetRow {
    /// Where, as platform/account/conversation.
    pub conversation: String,
    /// Keys of its settings and of its policy with the beginning of their values, in order.
    pub set: BTreeMap<String, String>,
}

/// What is set in a conversation, of all that is kept of it. `own` takes the keys of others away.
pub(super) fn set(
    conversation: String,
    rows: Vec<(String, String)>,
    own: impl Fn(&str) -> Option<String>,
    redactor: &Redactor,
) -> SetRow {
    let set = rows.into_iter();
    let set = set.filter_map(|(key, value)| Some((own(&key)?, shorten(&value, redactor))));
    SetRow {
        conversation,
        set: set.collect(),
    }
}

/// The row of a message that waits.
pub(super) fn waiting(
    row: Waiting,
    conversation: String,
    person: String,
    redactor: &Redactor,
) -> WaitingRow {
    let (kind, lane) = match Route::from_code(row.route) {
        Route::Control => ("control", Lane::Control),
        Route::Queued(Kind::Message, lane) | Route::Alone(lane) => ("message", lane),
        Route::Queued(Kind::InOrder | Kind::Now, lane) => ("command", lane),
    };
    let (name, text) = words(&row.body, redactor);
    WaitingRow {
        id: row.id,
        at: row.at,
        conversation,
        person,
        name,
        kind: kind.to_owned(),
        lane: lane_name(lane).to_owned(),
        attempts: row.attempts,
        text,
    }
}

/// The row of a reply.
pub(super) fn reply(row: StoredReply, conversation: String, redactor: &Redactor) -> ReplyRow {
    let body = serde_json::from_str::<ReplyBody>(&row.body).ok();
    ReplyRow {
        id: row.id,
        state: row.state.to_owned(),
        at: row.created_at,
        due_at: row.due_at,
        conversation,
        turn: row.turn.map(turn_id),
        part: row.part.saturating_add(1),
        parts: body.as_ref().map_or(0, |body| part_texts(body).len()),
        attempts: row.attempts,
        reason: row.reason,
        text: body.map_or_else(String::new, |body| shorten(&body.text, redactor)),
    }
}

/// The row of a failed message.
pub(super) fn failed(
    row: FailedMessage,
    conversation: String,
    person: String,
    redactor: &Redactor,
) -> FailedRow {
    let (name, text) = words(&row.body, redactor);
    FailedRow {
        id: row.id,
        at: row.at,
        ended_at: row.ended_at,
        conversation,
        person,
        name,
        attempts: row.attempts,
        reason: row.reason,
        text,
    }
}

fn words(json: &str, redactor: &Redactor) -> (String, String) {
    body::decode(json).map_or_else(Default::default, |body| {
        (
            shorten(&body.name, redactor),
            shorten(&body::own_text(&body), redactor),
        )
    })
}

fn lane_name(lane: Lane) -> &'static str {
    match lane {
        Lane::Control => "control",
        Lane::Command => "command",
        Lane::Direct => "direct",
        Lane::Ambient => "ambient",
        Lane::Background => "background",
    }
}

/// The beginning of a text: without secrets, on one line, without control characters and those that
/// change the direction of writing.
fn shorten(text: &str, redactor: &Redactor) -> String {
    // The whole text first: a secret that is cut in two would not be found.
    let text = redactor.redact(text);
    let mut shown = String::new();
    let mut count = 0;
    for word in text.split(|c: char| c.is_whitespace() || is_unsafe(c)) {
        if word.is_empty() {
            continue;
        }
        if !shown.is_empty() {
            shown.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= SHOWN {
                shown.push('…');
                return shown;
            }
            shown.push(character);
            count += 1;
        }
    }
    shown
}

fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_on_one_line_short_and_harmless() {
        let none = Redactor::default();
        assert_eq!(shorten("a\n b\t\u{1b}[31mc\u{202e}d", &none), "a b [31mc d");
        let long = "语".repeat(500);
        let shown = shorten(&long, &none);
        assert_eq!(
            (shown.chars().count(), shown.ends_with('…')),
            (SHOWN + 1, true)
        );
        assert_eq!(shorten(&"x".repeat(SHOWN), &none).len(), SHOWN);
    }

    #[test]
    fn a_secret_is_not_shown_even_where_the_text_is_cut() {
        let (redactor, _) = Redactor::new([("key", "very-secret-value")]);
        for pad in 0..SHOWN + 20 {
            let text = format!("{}very-secret-value", "x".repeat(pad));
            assert!(!shorten(&text, &redactor).contains("very"), "{pad}");
        }
    }
}
