//! The platform's menu of commands, and what is answered to somebody who uses it.
//!
//! Owns interactions from the press to the last answer: the three seconds for the first sign, the one first answer, the
//! life of a token, and who sees what.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    BOT, FakeDiscord, Message, SERVER, State, direct,
    rest::{Refusal, Words, refusal},
};

/// The bot's application.
pub const APPLICATION: u64 = 10_901;
/// How long the platform waits for the first sign.
const FIRST_SIGN: Duration = Duration::from_secs(3);
/// An answer that its person alone sees (Message Flags).
const EPHEMERAL: u64 = 1 << 6;
/// The first sign that an answer is being made, and the one that says only that a press was seen (Interaction Callback
/// Type).
const SIGNS: (u64, u64) = (5, 6);

/// Interactions, by their numbers, and the menus.
#[derive(Debug, Default)]
pub(super) struct Interactions {
    known: HashMap<u64, Interaction>,
    /// The menu of each server, and the one that is everywhere.
    menus: BTreeMap<Option<u64>, Value>,
}

#[derive(Debug)]
struct Interaction {
    token: String,
    channel: u64,
    at: Instant,
    stage: Stage,
    /// Its token is not taken any more.
    over: bool,
    /// The message whose button was pressed.
    pressed: Option<u64>,
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    New,
    Thinking,
    Answered(u64),
    /// A press was seen: what is answered first is the message that has the button.
    Pressed(u64),
    TakenAway,
}

/// What is asked for.
pub(super) enum Call {
    Acknowledge(u64, String),
    Edit(String),
    Delete(String),
    FollowUp(String),
    Menu(Option<u64>),
    SetMenu(Option<u64>),
}

impl Call {
    pub(super) fn read(method: &str, parts: &[&str]) -> Option<Self> {
        let application = APPLICATION.to_string();
        let token = |token: &str| token.to_owned();
        match (method, parts) {
            ("POST", ["interactions", id, given, "callback"]) => {
                Some(Self::Acknowledge(id.parse().ok()?, token(given)))
            }
            ("PATCH", ["webhooks", app, given, "messages", "@original"]) if *app == application => {
                Some(Self::Edit(token(given)))
            }
            ("DELETE", ["webhooks", app, given, "messages", "@original"])
                if *app == application =>
            {
                Some(Self::Delete(token(given)))
            }
            ("POST", ["webhooks", app, given]) if *app == application => {
                Some(Self::FollowUp(token(given)))
            }
            (method, ["applications", app, "commands"]) if *app == application => {
                Self::menu(method, None)
            }
            (method, ["applications", app, "guilds", server, "commands"])
                if *app == application =>
            {
                Self::menu(method, Some(server.parse().ok()?))
            }
            _ => None,
        }
    }

    fn menu(method: &str, server: Option<u64>) -> Option<Self> {
        match method {
            "GET" => Some(Self::Menu(server)),
            "PUT" => Some(Self::SetMenu(server)),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Acknowledge(..) => "acknowledge",
            Self::Edit(_) => "edit answer",
            Self::Delete(_) => "delete answer",
            Self::FollowUp(_) => "follow up",
            Self::Menu(_) => "menu",
            Self::SetMenu(_) => "set menu",
        }
    }
}

impl FakeDiscord {
    /// Somebody chooses a command from the menu and fills in its fields; `changes` are laid over the event. Gives the
    /// interaction's number.
    pub fn slash(
        &self,
        channel: u64,
        user: u64,
        name: &str,
        options: &Value,
        changes: &Value,
    ) -> u64 {
        self.change(|state| {
            let (id, mut event) = state.interaction_event(channel, user, 2);
            event["data"] = json!({ "id": "77", "name": name, "type": 1, "options": options });
            for (name, value) in changes.as_object().into_iter().flatten() {
                event[name] = value.clone();
            }
            state.begin(id, channel, None, &event);
            state.push("INTERACTION_CREATE", event, Some(user));
            id
        })
    }

    /// The token of an interaction is not taken any more, as after a quarter of an hour.
    pub fn expire(&self, interaction: u64) {
        self.change(|state| {
            if let Some(known) = state.interactions.known.get_mut(&interaction) {
                known.over = true;
            }
        });
    }

    /// Waits until this interaction shows "thinking" no more, after having shown it; whether that is so.
    pub async fn settled(&self, interaction: u64, limit: Duration) -> bool {
        let settled = |state: &mut State| {
            let known = state.interactions.known.get(&interaction)?;
            (!matches!(known.stage, Stage::New | Stage::Thinking)).then_some(())
        };
        self.wait(limit, settled).await.is_some()
    }

    /// Waits until all see an answer to this interaction, or "thinking"; whether they do.
    pub async fn shows(&self, interaction: u64, limit: Duration) -> bool {
        let shown = |state: &mut State| {
            let known = state.interactions.known.get(&interaction)?;
            matches!(known.stage, Stage::Thinking | Stage::Answered(_)).then_some(())
        };
        self.wait(limit, shown).await.is_some()
    }

    /// Whether all see an answer to this interaction, or "thinking".
    #[must_use]
    pub fn is_shown(&self, interaction: u64) -> bool {
        let state = self.shared.state.lock();
        let known = state.interactions.known.get(&interaction);
        known.is_some_and(|known| matches!(known.stage, Stage::Thinking | Stage::Answered(_)))
    }

    /// Waits until there is a menu with commands, of a server or everywhere.
    pub async fn menu(&self, server: Option<u64>, limit: Duration) -> Option<Vec<Value>> {
        self.wait(limit, |state| {
            let menu = state.interactions.menus.get(&server)?;
            menu.as_array().filter(|menu| !menu.is_empty()).cloned()
        })
        .await
    }
}

impl State {
    /// The event of an interaction of this kind, and its number.
    pub(super) fn interaction_event(&mut self, channel: u64, user: u64, kind: u64) -> (u64, Value) {
        let id = self.next_id();
        let person = json!({ "id": user.to_string(), "username": format!("user {user}") });
        let mut event = json!({
            "id": id.to_string(), "application_id": APPLICATION.to_string(), "type": kind,
            "token": format!("token-{id}"), "channel_id": channel.to_string(), "version": 1, "locale": "en-US",
        });
        if channel == direct(user) {
            event["user"] = person;
            event["channel"] = json!({ "id": channel.to_string(), "type": 1 });
            let described = json!({ "id": channel.to_string(), "type": 1 });
            self.channels.insert(channel, described);
        } else {
            let roles = self.roles_of(user);
            event["member"] = json!({ "user": person, "roles": roles, "permissions": "0" });
            event["guild_id"] = SERVER.to_string().into();
            event["channel"] = self.channels.get(&channel).cloned().unwrap_or_default();
        }
        (id, event)
    }

    /// An interaction begins; `pressed` is the message whose button it is of.
    pub(super) fn begin(&mut self, id: u64, channel: u64, pressed: Option<u64>, event: &Value) {
        let interaction = Interaction {
            token: event["token"].as_str().unwrap_or_default().to_owned(),
            channel,
            at: Instant::now(),
            stage: Stage::New,
            over: false,
            pressed,
        };
        self.interactions.known.insert(id, interaction);
    }

    pub(super) fn interact(&mut self, call: Call, said: &Value) -> Result<Value, Refusal> {
        match call {
            Call::Acknowledge(id, token) => self.acknowledge(id, &token, said),
            Call::Edit(token) => {
                let (id, channel, stage) = self.interaction(&token)?;
                let words = self.checked(said, &[])?;
                let number = match stage {
                    Stage::New => return Err(refusal(404, 10_015, "Unknown Webhook")),
                    Stage::TakenAway => return Err(refusal(404, 10_008, "Unknown Message")),
                    Stage::Answered(number) | Stage::Pressed(number) => {
                        self.change_words(number, words);
                        number
                    }
                    Stage::Thinking => self.answer(id, channel, words, false),
                };
                self.stage(id, Stage::Answered(number));
                Ok(json!({ "id": number.to_string(), "channel_id": channel.to_string() }))
            }
            Call::Delete(token) => {
                let (id, _, stage) = self.interaction(&token)?;
                match stage {
                    Stage::New => return Err(refusal(404, 10_015, "Unknown Webhook")),
                    Stage::TakenAway => return Err(refusal(404, 10_008, "Unknown Message")),
                    Stage::Thinking | Stage::Answered(_) => self.stage(id, Stage::TakenAway),
                    Stage::Pressed(message) => self.take_question_away(id, message),
                }
                Ok(Value::Null)
            }
            Call::FollowUp(token) => {
                let (id, channel, stage) = self.interaction(&token)?;
                if stage == Stage::New {
                    return Err(refusal(404, 10_015, "Unknown Webhook"));
                }
                let words = self.checked(said, &[])?;
                // The first further answer takes the place of "thinking", which all see.
                let flags = said["flags"].as_u64().unwrap_or(0);
                let private = flags & EPHEMERAL != 0 && stage != Stage::Thinking;
                let number = self.answer(id, channel, words, private);
                if stage == Stage::Thinking {
                    self.stage(id, Stage::Answered(number));
                }
                Ok(json!({ "id": number.to_string(), "channel_id": channel.to_string() }))
            }
            Call::Menu(server) => {
                let menu = self.interactions.menus.get(&server);
                Ok(menu.cloned().unwrap_or_else(|| json!([])))
            }
            Call::SetMenu(server) => self.set_menu(server, said),
        }
    }

    fn acknowledge(&mut self, id: u64, token: &str, said: &Value) -> Result<Value, Refusal> {
        let unknown = || refusal(404, 10_062, "Unknown interaction");
        let known = self.interactions.known.get_mut(&id).ok_or_else(unknown)?;
        if known.token != token || known.over || known.at.elapsed() > FIRST_SIGN {
            return Err(unknown());
        }
        if known.stage != Stage::New {
            return Err(refusal(400, 40_060, "already acknowledged"));
        }
        let (stage, sign) = match known.pressed {
            Some(message) => (Stage::Pressed(message), SIGNS.1),
            None => (Stage::Thinking, SIGNS.0),
        };
        if said["type"] != sign {
            self.violations.push(format!("the first sign {said}"));
        }
        self.stage(id, stage);
        Ok(Value::Null)
    }

    /// The interaction of a token: its number, its channel, what is shown.
    fn interaction(&self, token: &str) -> Result<(u64, u64, Stage), Refusal> {
        let mut all = self.interactions.known.iter();
        let found = all.find(|(_, known)| known.token == token && !known.over);
        let (id, known) = found.ok_or_else(|| refusal(401, 50_027, "Invalid Webhook Token"))?;
        Ok((*id, known.channel, known.stage))
    }

    pub(super) fn stage(&mut self, id: u64, stage: Stage) {
        if let Some(known) = self.interactions.known.get_mut(&id) {
            known.stage = stage;
        }
    }

    fn answer(
        &mut self,
        interaction: u64,
        channel: u64,
        (text, buttons): Words,
        private: bool,
    ) -> u64 {
        let own = json!({
            "author": { "id": BOT.to_string(), "username": "weir", "bot": true }, "type": 20,
            "application_id": APPLICATION.to_string(), "webhook_id": APPLICATION.to_string(),
        });
        let message = self.message(channel, BOT, &text, &own);
        let number = message["id"].as_str().and_then(|id| id.parse().ok());
        let number = number.unwrap_or_default();
        self.push("MESSAGE_CREATE", message, None);
        self.sent.push(Message {
            id: number,
            channel,
            text,
            buttons: buttons.unwrap_or_default(),
            files: Vec::new(),
            reply_to: None,
            nonce: String::new(),
            interaction: Some(interaction),
            private,
        });
        number
    }

    /// A message of the bot has another text; its buttons stay unless something is said of them.
    pub(super) fn change_words(&mut self, number: u64, (text, buttons): Words) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.id == number) {
            sent.text = text;
            sent.buttons = buttons.unwrap_or_else(|| std::mem::take(&mut sent.buttons));
        }
    }

    fn set_menu(&mut self, server: Option<u64>, said: &Value) -> Result<Value, Refusal> {
        let Some(commands) = said.as_array() else {
            return Err(refusal(400, 50_035, "Invalid Form Body"));
        };
        let mut menu = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            let length = |text: &Value| text.as_str().map_or(0, |text| text.chars().count());
            let options = command["options"].as_array().into_iter().flatten();
            let described = std::iter::once(command).chain(options);
            for one in described {
                let name = one["name"].as_str().unwrap_or_default();
                let is_name = name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
                let descriptions = one["description_localizations"].as_object();
                let mut lengths = descriptions
                    .into_iter()
                    .flatten()
                    .map(|(_, text)| length(text));
                let fits = |length: usize| (1..=100).contains(&length);
                let all_fit = fits(length(&one["description"])) && lengths.all(fits);
                if !(1..=32).contains(&name.len()) || !is_name || !all_fit {
                    return Err(refusal(400, 50_035, "Invalid Form Body"));
                }
            }
            let mut command = command.clone();
            command["id"] = (9_000 + number).to_string().into();
            command["version"] = "1".into();
            menu.push(command);
        }
        self.interactions.menus.insert(server, menu.clone().into());
        Ok(menu.into())
    }
}
