//! Buttons under the bot's messages, and the people who press them.
//!
//! Owns what stands under a message, which presses wait for an answer, and what whoever pressed was shown. A press is
//! answered once, and not after it has grown old; data that stands on no button is sent all the same, because a modified
//! client can.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{FakeTelegram, State, answer::Refusal};

/// The longest data of a button, in bytes.
const MAX_DATA: usize = 64;
/// The longest text of an answer, in characters.
const MAX_TEXT: usize = 200;

/// Presses, by their ids.
#[derive(Debug, Default)]
pub(super) struct Presses {
    next: i64,
    waiting: HashMap<String, i64>,
    shown: Vec<(i64, String, bool)>,
}

/// The rows of a keyboard, as text and data.
pub(super) fn keyboard(markup: &Value) -> Result<Vec<(String, String)>, Refusal> {
    let rows = markup["inline_keyboard"].as_array();
    let buttons = rows.into_iter().flatten().filter_map(Value::as_array);
    let mut found = Vec::new();
    for button in buttons.flatten() {
        let text = button["text"].as_str().unwrap_or_default();
        let data = button["callback_data"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Refusal::bad(
                "can't parse inline keyboard button: text is empty",
            ));
        }
        if data.is_empty() || data.len() > MAX_DATA {
            return Err(Refusal::bad("BUTTON_DATA_INVALID"));
        }
        found.push((text.to_owned(), data.to_owned()));
    }
    Ok(found)
}

impl State {
    /// `answerCallbackQuery`.
    pub(super) fn answer_press(&mut self, parameters: &Value) -> Result<Value, Refusal> {
        let id = parameters["callback_query_id"].as_str().unwrap_or_default();
        let text = parameters["text"].as_str().unwrap_or_default();
        if text.chars().count() > MAX_TEXT {
            return Err(Refusal::bad("MESSAGE_TOO_LONG"));
        }
        let Some(user) = self.presses.waiting.remove(id) else {
            return Err(Refusal::bad(
                "query is too old and response timeout expired or query ID is invalid",
            ));
        };
        let alert = parameters["show_alert"] == true;
        self.presses.shown.push((user, text.to_owned(), alert));
        Ok(json!(true))
    }

    /// `editMessageReplyMarkup`.
    pub(super) fn edit_keyboard(
        &mut self,
        chat: i64,
        parameters: &Value,
    ) -> Result<Value, Refusal> {
        self.chats.writable(chat, None)?;
        let id = parameters["message_id"].as_i64();
        let buttons = keyboard(&parameters["reply_markup"])?;
        let found = self
            .messages
            .iter_mut()
            .find(|message| Some(message.id) == id && message.chat == chat && !message.deleted);
        let message = found.ok_or_else(|| Refusal::bad("message to edit not found"))?;
        if message.buttons == buttons {
            return Err(Refusal::bad("message is not modified"));
        }
        message.buttons = buttons;
        Ok(json!(true))
    }
}

impl FakeTelegram {
    /// Somebody presses a button of a message, or sends data that stands on none. Gives the id of the press.
    pub fn press(&self, chat: i64, user: i64, message: i64, data: &str) -> String {
        let mut state = self.shared.state.lock();
        state.presses.next += 1;
        let id = format!("43818000{:011}", state.presses.next);
        state.presses.waiting.insert(id.clone(), user);
        let place = if chat > 0 {
            json!({ "id": chat, "type": "private", "first_name": format!("user {user}") })
        } else {
            json!({ "id": chat, "type": "supergroup", "title": format!("group {chat}") })
        };
        let mut under = json!({ "message_id": message, "date": 1_790_000_000, "chat": place });
        let shown = state.messages.iter().find(|shown| shown.id == message);
        if let Some(topic) = shown.and_then(|shown| shown.topic) {
            under["message_thread_id"] = topic.into();
            under["is_topic_message"] = true.into();
        }
        let press = json!({ "callback_query": {
            "id": id, "chat_instance": "1", "data": data,
            "from": { "id": user, "is_bot": false, "first_name": format!("user {user}") },
            "message": under,
        } });
        state.updates.push(press, Some(user));
        drop(state);
        self.shared.changed();
        id
    }

    /// A press has grown too old to be answered.
    pub fn outdate(&self, press: &str) {
        self.shared.state.lock().presses.waiting.remove(press);
    }

    /// What people who pressed were shown, and whether it was an alert.
    #[must_use]
    pub fn presses_answered(&self) -> Vec<(i64, String, bool)> {
        self.shared.state.lock().presses.shown.clone()
    }

    /// Waits until so many presses are answered.
    pub async fn pressed(
        &self,
        wanted: usize,
        limit: std::time::Duration,
    ) -> Vec<(i64, String, bool)> {
        let enough = |state: &mut State| (state.presses.shown.len() >= wanted).then_some(());
        let _ = self.wait(limit, enough).await;
        self.presses_answered()
    }
}
