//! Buttons under a message, and presses of them.
//!
//! Owns the keyboard, the reading of a press, and the sign that one was heard: the client shows a press as under way
//! until then, for some seconds, so it is given when the press is read, before it waits for anything. Messages of this
//! platform cannot be changed, so buttons stay. What a press says is handed on and never believed.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use weirgate_net::session::Beside;
use weirgate_sdk::{
    Button, ButtonLimits, ButtonStyle, Buttons, ChatKind, ConversationKey, DedupeKey, Event,
    InboundMessage, MessageId, Replied, ReplyContext, Segment, SendError, Sender, SenderKind,
    Timestamp, UserKey, Via, button::MAX_BUTTON_ID,
};

use super::{
    api::CallError,
    bot::{Official, Shared},
    places::{Place, is_id},
    receive::{DEDUPE_LIFETIME, MAX_MESSAGE_ID, Receiver, malformed, other, text, time},
    send::Answered,
};

/// The event of a press.
pub const INTERACTION: &str = "INTERACTION_CREATE";
/// The platform's bit for it (bot-docs, Intents).
pub const INTENT: u64 = 1 << 26;
/// What the platform shows: five rows of five (bot-docs, message buttons); two of a row are read well on a telephone.
pub const LIMITS: ButtonLimits = ButtonLimits {
    most: 5 * ROW,
    label: 20,
};
/// Buttons of a row.
const ROW: usize = 2;
/// A button of a message (bot-docs, message buttons).
const PRESS: u64 = 11;
/// In which the platform wants a sign.
const FIRST_SIGN: Duration = Duration::from_secs(4);
/// Between two attempts to give it.
const PAUSE: Duration = Duration::from_millis(200);

/// The keyboard of these buttons; none without any.
#[must_use]
pub fn keyboard(buttons: &[Button]) -> Option<Value> {
    let button = |(index, button): (usize, &Button)| {
        json!({
            "id": index.to_string(),
            "render_data": {
                "label": button.label, "visited_label": button.label,
                "style": if button.style == ButtonStyle::Positive { 1 } else { 0 },
            },
            // Whoever presses; the gateway decides whose word counts. Old clients show the label in place of an effect.
            "action": {
                "type": 1, "permission": { "type": 2 }, "data": button.id,
                "unsupport_tips": button.label,
            },
        })
    };
    let all: Vec<Value> = buttons.iter().enumerate().map(button).collect();
    let rows: Vec<Value> = all
        .chunks(ROW)
        .map(|row| json!({ "buttons": row }))
        .collect();
    (!rows.is_empty()).then(|| json!({ "content": { "rows": rows } }))
}

/// Tells the platform that a press was heard, if that is what an event is.
#[must_use]
pub fn acknowledge(shared: &Arc<Shared>, kind: &str, data: &Value) -> Option<Beside> {
    let press = data["id"]
        .as_str()
        .filter(|id| kind == INTERACTION && is_id(id))?;
    let path = format!("/interactions/{press}");
    let shared = Arc::clone(shared);
    Some(Box::pin(async move {
        if timeout(FIRST_SIGN, sign(&shared, &path)).await.is_err() {
            tracing::debug!(account = %shared.account, "no sign for a press left in time");
        }
    }))
}

async fn sign(shared: &Shared, path: &str) {
    let Ok(api) = shared.calls() else { return };
    loop {
        match api
            .call(Method::PUT, path, Some(&json!({ "code": 0 })))
            .await
        {
            Ok(_) => return,
            Err(CallError::Unreachable(_) | CallError::Lost(_)) => sleep(PAUSE).await,
            Err(error) => {
                tracing::debug!(account = %shared.account, %error, "a press was not acknowledged");
                return;
            }
        }
    }
}

#[async_trait]
impl Buttons for Official {
    async fn retire(&self, _: &ConversationKey, _: &MessageId) -> Result<(), SendError> {
        let text = "messages of this platform cannot be changed";
        Err(SendError::Rejected(text.into()))
    }
}

impl Receiver<'_> {
    /// Reads a press; `event` is the id of the event itself, under which it can be answered.
    pub(super) fn press(&self, event: Option<&str>, data: &Value, now: Timestamp) -> Event {
        if data["type"] != PRESS {
            return other("INTERACTION_CREATE of another kind");
        }
        let resolved = &data["data"]["resolved"];
        let pressed = resolved["button_data"].as_str();
        let Some(pressed) = pressed.filter(|data| data.len() <= MAX_BUTTON_ID) else {
            return other("press without data");
        };
        let (place, user) = presser(data);
        let id = text(&data["id"]).filter(|id| is_id(id));
        let event = event.filter(|event| event.len() <= MAX_MESSAGE_ID);
        let place = place.filter(|place| Place::parse(&place.to_string()).is_some());
        let (Some(place), Some(user), Some(id)) = (place, user.filter(|user| is_id(user)), id)
        else {
            return malformed(INTERACTION);
        };
        let sent_at = time(&data["timestamp"])
            .filter(|time| *time <= now)
            .unwrap_or(now);
        // Groups and private chats do not say under which message the button stands.
        let under = text(&resolved["message_id"]).map(|message| Replied {
            message: message.into(),
            to_bot: Some(true),
            author: None,
        });
        Event::Message(Box::new(InboundMessage {
            conversation: self.conversation(place),
            chat: if matches!(place, Place::Private(_)) {
                ChatKind::Private
            } else {
                ChatKind::Group
            },
            sender: Sender {
                key: self.user(user),
                name: String::new(),
                is_bot: false,
                role: weirgate_sdk::PlatformRole::Unknown,
                kind: SenderKind::Person,
            },
            id: format!("press/{id}").into(),
            segments: vec![Segment::Text(pressed.to_owned())],
            via: Via::Button,
            mentions_bot: false,
            reply_to: under,
            group_key: None,
            sent_at,
            received_at: now,
            reply_context: Some(ReplyContext {
                data: Answered::Event(event.unwrap_or(id)).context(),
                expires_at: Some(sent_at.saturating_add(place.window_ms())),
                uses_left: Some(self.uses(place)),
            }),
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("press/{id}").into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }))
    }

    /// The key of a person.
    pub(super) fn user(&self, id: &str) -> UserKey {
        UserKey {
            platform: self.platform.clone(),
            realm: self.app_id.into(),
            id: id.into(),
        }
    }
}

/// Where somebody pressed a button, and who. The place says which of the ids are there.
fn presser(data: &Value) -> (Option<Place<'_>>, Option<&str>) {
    let own = text(&data["data"]["resolved"]["user_id"]);
    if let Some(group) = text(&data["group_openid"]) {
        (
            Some(Place::Group(group)),
            text(&data["group_member_openid"]),
        )
    } else if let Some(channel) = text(&data["channel_id"]) {
        (Some(Place::Channel(channel)), own)
    } else {
        let user = text(&data["user_openid"]).or(own);
        (user.map(Place::Private), user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyboard_has_rows_of_two_and_every_button_its_own_id() {
        let button = |label: &str, style| Button {
            label: label.into(),
            id: format!("p/{label}"),
            style,
        };
        let buttons = [
            button("yes", ButtonStyle::Positive),
            button("no", ButtonStyle::Negative),
            button("more", ButtonStyle::Plain),
        ];
        let keyboard = keyboard(&buttons).expect("a keyboard");
        let rows = &keyboard["content"]["rows"];
        assert_eq!(rows.as_array().map(Vec::len), Some(2));
        let first = &rows[0]["buttons"][0];
        assert_eq!(first["action"]["data"], "p/yes");
        assert_eq!(first["render_data"]["style"], 1);
        assert_eq!(rows[0]["buttons"][1]["render_data"]["style"], 0);
        assert_eq!(rows[1]["buttons"][0]["id"], "2");
        assert_eq!(super::keyboard(&[]), None);
    }
}
