//! Questions with buttons: how they look in a frame, and their end.
//!
//! Owns the form of buttons on the wire. What a press says is handed in and never believed; which button was chosen is
//! what the store says, so that every window shows the same.

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use weirgate_sdk::{
    Button, ButtonLimits, ButtonStyle, Buttons, Choice, ConversationKey, MessageId, SendError,
};

use crate::{adapter::WebChat, hub::with_session};

/// What a card has room for.
pub(crate) const LIMITS: ButtonLimits = ButtonLimits { most: 9, label: 40 };

/// Buttons as a client gets them.
pub(crate) fn buttons(buttons: &[Button]) -> Value {
    let button = |button: &Button| {
        let style = match button.style {
            ButtonStyle::Plain => "plain",
            ButtonStyle::Positive => "positive",
            ButtonStyle::Negative => "negative",
        };
        json!({ "id": button.id, "label": button.label, "style": style })
    };
    buttons.iter().map(button).collect()
}

/// Puts what a past answer asked into its message of the history.
pub(crate) fn put_choice(body: &mut Map<String, Value>, choice: &Choice) {
    body.insert("buttons".into(), buttons(&choice.buttons));
    body.insert("open".into(), choice.open.into());
    if let Some(chosen) = &choice.chosen {
        body.insert("chosen".into(), chosen.as_str().into());
    }
}

#[async_trait]
impl Buttons for WebChat {
    async fn retire(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<(), SendError> {
        let id = message.as_str().parse::<i64>();
        let id = id.map_err(|_| SendError::Gone("no message of this platform".into()))?;
        let transcript = self
            .transcript()
            .ok_or_else(|| SendError::Unavailable("not running".into()))?;
        let key = with_session(conversation.clone());
        // Whoever comes later reads the store.
        let Some(room) = self.hub.find(&key) else {
            return Ok(());
        };
        let page = transcript.read(&key, Some(id.saturating_add(1)), 1).await;
        let page = page.map_err(SendError::Unavailable)?;
        let choice = page
            .into_iter()
            .filter(|entry| entry.id == id)
            .find_map(|entry| entry.choice);
        let chosen = choice.and_then(|choice| choice.chosen);
        room.lock().settled(id, chosen.as_deref());
        Ok(())
    }
}
