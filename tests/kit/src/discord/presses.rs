//! Buttons under the bot's messages, and the people who press them.
//!
//! Owns what stands under a message and which rows of buttons are none. A press comes as an interaction; the id that it
//! says is any, because nothing that a client sends is to be believed.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{FakeDiscord, State, interact::Stage, rest::Refusal};

/// Kinds of parts (Component Types): a row, a button.
const KINDS: (u64, u64) = (1, 2);
/// Rows of a message, and buttons of a row.
const MOST: usize = 5;
/// The longest label and the longest id, in characters (Component Reference, Button).
const LONGEST: (usize, usize) = (80, 100);

/// The buttons of a message, as label and id. `None` if the body says nothing of them.
pub(super) fn buttons(said: &Value) -> Result<Option<Vec<(String, String)>>, Refusal> {
    let Some(rows) = said["components"].as_array() else {
        return Ok(None);
    };
    let mut buttons = Vec::new();
    let mut ids = HashSet::new();
    for row in rows {
        let of_row = row["components"].as_array();
        let of_row = of_row.filter(|row| (1..=MOST).contains(&row.len()));
        let of_row = of_row.filter(|_| row["type"] == KINDS.0 && rows.len() <= MOST);
        for button in of_row.ok_or_else(|| invalid("BASE_TYPE_BAD_LENGTH"))? {
            let text = |field: &str| button[field].as_str().unwrap_or_default().to_owned();
            let (label, id) = (text("label"), text("custom_id"));
            let fits = |text: &str, longest| (1..=longest).contains(&text.chars().count());
            let is_style = (1..=4).contains(&button["style"].as_u64().unwrap_or(0));
            if button["type"] != KINDS.1 || !is_style || !fits(label.trim(), LONGEST.0) {
                return Err(invalid("BASE_TYPE_CHOICES"));
            }
            if !fits(&id, LONGEST.1) {
                return Err(invalid("BASE_TYPE_BAD_LENGTH"));
            }
            if !ids.insert(id.clone()) {
                return Err(invalid("COMPONENT_CUSTOM_ID_DUPLICATED"));
            }
            buttons.push((label, id));
        }
    }
    Ok(Some(buttons))
}

fn invalid(code: &str) -> Refusal {
    let errors = json!({ "components": { "_errors": [{ "code": code, "message": "wrong" }] } });
    let body = json!({ "message": "Invalid Form Body", "code": 50_035, "errors": errors });
    (400, body)
}

impl FakeDiscord {
    /// Somebody presses the button with this id under a message, or a client of his own making says so. Gives the
    /// interaction's number.
    pub fn press(&self, channel: u64, user: u64, message: u64, id: &str) -> u64 {
        self.change(|state| {
            let (number, mut event) = state.interaction_event(channel, user, 3);
            event["data"] = json!({ "component_type": KINDS.1, "custom_id": id, "id": 1 });
            event["message"] =
                json!({ "id": message.to_string(), "channel_id": channel.to_string(), "type": 0 });
            state.begin(number, channel, Some(message), &event);
            state.push("INTERACTION_CREATE", event, Some(user));
            number
        })
    }

    /// The buttons that stand under a message of the bot, as label and id; none if it is gone.
    #[must_use]
    pub fn buttons(&self, message: u64) -> Vec<(String, String)> {
        let messages = self.messages();
        let found = messages.into_iter().find(|known| known.id == message);
        found.map_or_else(Vec::new, |message| message.buttons)
    }
}

impl State {
    /// The message under which a button was pressed is taken away.
    pub(super) fn take_question_away(&mut self, interaction: u64, message: u64) {
        let number = message.to_string();
        self.history.retain(|known| known["id"] != *number);
        self.sent.retain(|sent| sent.id != message);
        self.read = self.read.min(self.sent.len());
        self.stage(interaction, Stage::TakenAway);
    }
}
