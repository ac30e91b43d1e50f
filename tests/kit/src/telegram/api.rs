//! What each method does.
//!
//! Owns the checks that the service makes beyond the types of parameters, and the record of what was done.

use serde_json::{Value, json};
use tokio::time::{Duration, Instant, timeout};

use super::{
    BOT, BOT_NAME, FakeTelegram, Shared, State, Webhook, answer::Refusal, chats::Standing, media,
    presses::keyboard, table, text, text::Message,
};

/// The longest time that a request for updates waits, in seconds.
const LONGEST_POLL: u64 = 50;
/// The largest file that a bot can fetch, in bytes.
const LARGEST_DOWNLOAD: usize = 20 * 1024 * 1024;
/// Nobody but the service itself writes at this time.
const DATE: i64 = 1_790_000_000;

/// Carries out a call.
pub(super) async fn call(
    shared: &Shared,
    method: &str,
    parameters: &Value,
) -> Result<Value, Refusal> {
    if let Err(wrong) = table::check(method, parameters) {
        shared.state.lock().violations.push(wrong.clone());
        return Err(Refusal::bad(wrong));
    }
    if method == "getUpdates" {
        return updates(shared, parameters).await;
    }
    let result = shared.state.lock().call(method, parameters);
    shared.changed();
    result
}

async fn updates(shared: &Shared, parameters: &Value) -> Result<Value, Refusal> {
    // Changes from here on wake the wait below.
    let mut changed = shared.changed.subscribe();
    let mut polls = {
        shared.polls.send_modify(|count| *count += 1);
        let mut polls = shared.polls.subscribe();
        polls.mark_unchanged();
        polls
    };
    let limit = parameters["limit"].as_u64().unwrap_or(100).clamp(1, 100);
    let limit = usize::try_from(limit).unwrap_or(100);
    if let Some(offset) = parameters["offset"].as_i64() {
        shared.state.lock().updates.forget(offset);
        shared.changed();
    }
    let seconds = parameters["timeout"]
        .as_u64()
        .unwrap_or(0)
        .min(LONGEST_POLL);
    let wait = async {
        loop {
            {
                let mut state = shared.state.lock();
                if state.webhook.is_some() {
                    let text = "can't use getUpdates method while webhook is active; \
                                use deleteWebhook to delete the webhook first";
                    return Err(Refusal::conflict(text));
                }
                let found = state.updates.take(limit, &parameters["allowed_updates"]);
                if !found.is_empty() {
                    drop(state);
                    shared.changed();
                    return Ok(Value::from(found));
                }
            }
            tokio::select! {
                _ = changed.changed() => {}
                _ = polls.changed() => {
                    let text = "terminated by other getUpdates request; \
                                make sure that only one bot instance is running";
                    return Err(Refusal::conflict(text));
                }
            }
        }
    };
    let waited = timeout(Duration::from_secs(seconds), wait).await;
    waited.unwrap_or_else(|_| Ok(json!([])))
}

impl State {
    /// A message of a person, as an update. Gives its id.
    pub(super) fn message(
        &mut self,
        chat: i64,
        user: i64,
        text: &str,
        changes: &Value,
        kind: &str,
    ) -> i64 {
        self.last_message += 1;
        let place = if chat > 0 {
            json!({ "id": chat, "type": "private", "first_name": format!("user {user}") })
        } else {
            json!({ "id": chat, "type": "supergroup", "title": format!("group {chat}") })
        };
        let mut message = json!({
            "message_id": self.last_message, "date": DATE, "chat": place,
            "from": { "id": user, "is_bot": false, "first_name": format!("user {user}") },
        });
        if !text.is_empty() {
            message["text"] = text.into();
        }
        for (name, value) in changes.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        let id = message["message_id"].as_i64().unwrap_or_default();
        let topic = message["message_thread_id"].as_i64();
        self.chats.heard(
            chat,
            user,
            topic.filter(|_| message["is_topic_message"] == true),
        );
        self.updates.push(json!({ kind: message }), Some(user));
        id
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Result<Value, Refusal> {
        let number = |name: &str| parameters[name].as_i64();
        let chat = number("chat_id").unwrap_or_default();
        if let Some(seconds) = self.chats.flooded(chat, Instant::now()) {
            self.violations
                .push(format!("{method} into a chat that is to be left alone"));
            return Err(Refusal::flood(seconds));
        }
        match method {
            "getMe" => Ok(me()),
            "getFile" => self.file(parameters),
            "sendMessage" => self.send(chat, parameters),
            "sendMediaGroup" => self.album(chat, parameters),
            method if media::field(method).is_some() => self.media(method, chat, parameters),
            "editMessageText" => self.edit(chat, parameters),
            "sendMessageDraft" => self.draft(chat, parameters),
            "sendChatAction" => {
                self.chats.writable(chat, number("message_thread_id"))?;
                Ok(json!(true))
            }
            "editMessageReplyMarkup" => self.edit_keyboard(chat, parameters),
            "answerCallbackQuery" => self.answer_press(parameters),
            "leaveChat" => self.leave(chat),
            "deleteMessage" => self.delete(chat, number("message_id").unwrap_or_default()),
            "getChatMember" => {
                let user = number("user_id").unwrap_or_default();
                let member = self.chats.member(chat, user);
                member.ok_or_else(|| Refusal::bad("PARTICIPANT_ID_INVALID"))
            }
            "getChatAdministrators" => self.chats.administrators(chat),
            "banChatMember" | "unbanChatMember" | "restrictChatMember" => {
                self.restrict(method, chat, parameters)
            }
            "setMyCommands" => {
                self.commands.push(parameters.clone());
                Ok(json!(true))
            }
            "setWebhook" => {
                let text = |name: &str| parameters[name].as_str().unwrap_or_default().to_owned();
                self.webhook = Some(Webhook {
                    url: text("url"),
                    secret: text("secret_token"),
                });
                Ok(json!(true))
            }
            "getWebhookInfo" => {
                let url = self
                    .webhook
                    .as_ref()
                    .map_or("", |webhook| webhook.url.as_str());
                Ok(
                    json!({ "url": url, "has_custom_certificate": false, "pending_update_count": 0 }),
                )
            }
            "banChatSenderChat" | "unbanChatSenderChat" => {
                let channel = number("sender_chat_id").unwrap_or_default();
                let standing = match method {
                    "banChatSenderChat" => Standing::Kicked(0),
                    _ => Standing::Left,
                };
                self.chats.restrict(chat, channel, standing)?;
                Ok(json!(true))
            }
            "deleteWebhook" => {
                if parameters["drop_pending_updates"] == true {
                    self.violations.push("updates are thrown away".to_owned());
                }
                self.webhook = None;
                Ok(json!(true))
            }
            other => Err(Refusal::bad(format!("{other} is not done here"))),
        }
    }

    fn send(&mut self, chat: i64, parameters: &Value) -> Result<Value, Refusal> {
        let text = parameters["text"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Refusal::bad("message text is empty"));
        }
        if !parameters["parse_mode"].is_null() {
            self.violations.push("markup is written".to_owned());
        }
        let topic = parameters["message_thread_id"].as_i64();
        self.chats.writable(chat, topic)?;
        let entities = text::check(text, &parameters["entities"], "message is too long")?;
        let reply_to = self.replied(parameters)?;
        let buttons = keyboard(&parameters["reply_markup"])?;
        self.last_message += 1;
        let message = Message {
            id: self.last_message,
            chat,
            topic,
            text: text.to_owned(),
            entities,
            file: None,
            shown: None,
            album: None,
            reply_to,
            buttons,
            edits: 0,
            deleted: false,
        };
        let told = told(&message);
        self.messages.push(message);
        Ok(told)
    }

    /// The message that a new one is a reply to.
    pub(super) fn replied(&self, parameters: &Value) -> Result<Option<i64>, Refusal> {
        let reply = &parameters["reply_parameters"];
        let reply_to = reply["message_id"].as_i64();
        if reply_to.is_some_and(|id| id > self.last_message)
            && reply["allow_sending_without_reply"] != true
        {
            return Err(Refusal::bad("message to be replied not found"));
        }
        Ok(reply_to)
    }

    fn file(&self, parameters: &Value) -> Result<Value, Refusal> {
        let id = parameters["file_id"].as_str().unwrap_or_default();
        let Some(content) = self.files.get(id) else {
            let text = "wrong file_id or the file is temporarily unavailable";
            return Err(Refusal::bad(text));
        };
        if content.len() > LARGEST_DOWNLOAD {
            return Err(Refusal::bad("file is too big"));
        }
        Ok(json!({
            "file_id": id, "file_unique_id": id, "file_size": content.len(),
            "file_path": format!("documents/{id}"),
        }))
    }

    fn edit(&mut self, chat: i64, parameters: &Value) -> Result<Value, Refusal> {
        let id = parameters["message_id"].as_i64();
        let text = parameters["text"].as_str().unwrap_or_default();
        if text.trim().is_empty() {
            return Err(Refusal::bad("message text is empty"));
        }
        self.chats.writable(chat, None)?;
        let buttons = keyboard(&parameters["reply_markup"])?;
        let entities = text::check(text, &parameters["entities"], "MESSAGE_TOO_LONG")?;
        let found = self
            .messages
            .iter_mut()
            .find(|message| Some(message.id) == id && message.chat == chat && !message.deleted);
        let message = found.ok_or_else(|| Refusal::bad("message to edit not found"))?;
        if message.text == text && message.entities == entities {
            let text = "message is not modified: specified new message content and reply markup are \
                        exactly the same as a current content and reply markup of the message";
            return Err(Refusal::bad(text));
        }
        message.text = text.to_owned();
        message.entities = entities;
        // What is not said again goes.
        message.buttons = buttons;
        message.edits += 1;
        Ok(told(message))
    }

    fn leave(&mut self, chat: i64) -> Result<Value, Refusal> {
        if chat > 0 {
            let text = "chat member status can't be changed in private chats";
            return Err(Refusal::bad(text));
        }
        self.chats.writable(chat, None)?;
        self.chats.set(chat, BOT, Standing::Left);
        self.left.push(chat);
        Ok(json!(true))
    }

    fn draft(&mut self, chat: i64, parameters: &Value) -> Result<Value, Refusal> {
        if chat <= 0 {
            return Err(Refusal::bad("drafts can be sent to private chats only"));
        }
        if parameters["draft_id"] == 0 {
            return Err(Refusal::bad("DRAFT_ID_INVALID"));
        }
        self.chats.writable(chat, None)?;
        let text = parameters["text"].as_str().unwrap_or_default();
        text::check(text, &parameters["entities"], "message is too long")?;
        self.drafts.push(parameters.clone());
        Ok(json!(true))
    }

    fn delete(&mut self, chat: i64, id: i64) -> Result<Value, Refusal> {
        let own = self
            .messages
            .iter_mut()
            .find(|message| message.id == id && message.chat == chat);
        match own {
            Some(message) if message.deleted => Err(Refusal::bad("message to delete not found")),
            _ if self.aged.contains(&(chat, id)) => Err(Refusal::bad("message can't be deleted")),
            Some(message) => {
                message.deleted = true;
                Ok(json!(true))
            }
            None if id > self.last_message || self.deleted.contains(&(chat, id)) => {
                Err(Refusal::bad("message to delete not found"))
            }
            None if self.chats.may_delete(chat) => {
                self.deleted.insert((chat, id));
                Ok(json!(true))
            }
            None => Err(Refusal::bad("message can't be deleted")),
        }
    }

    fn restrict(&mut self, method: &str, chat: i64, parameters: &Value) -> Result<Value, Refusal> {
        let user = parameters["user_id"].as_i64().unwrap_or_default();
        let until = parameters["until_date"].as_i64().unwrap_or_default();
        let may_write = parameters["permissions"]["can_send_messages"] == true;
        let standing = match method {
            "banChatMember" => Standing::Kicked(until),
            "unbanChatMember" if parameters["only_if_banned"] == true => {
                let member = self.chats.member(chat, user);
                if member.is_none_or(|member| member["status"] != "kicked") {
                    return Ok(json!(true));
                }
                Standing::Left
            }
            // Without that word it puts out whoever is in.
            "unbanChatMember" => Standing::Left,
            _ if may_write => Standing::Member,
            _ => Standing::Restricted(until),
        };
        self.chats.restrict(chat, user, standing)?;
        Ok(json!(true))
    }
}

impl FakeTelegram {
    /// A message is older than those that can be deleted.
    pub fn age(&self, chat: i64, message: i64) {
        self.shared.state.lock().aged.insert((chat, message));
    }

    /// Whether a message of a person was deleted.
    #[must_use]
    pub fn is_deleted(&self, chat: i64, message: i64) -> bool {
        self.shared.state.lock().deleted.contains(&(chat, message))
    }
}

fn me() -> Value {
    json!({
        "id": BOT, "is_bot": true, "first_name": "Weir", "username": BOT_NAME,
        "can_join_groups": true, "can_read_all_group_messages": false,
        "supports_inline_queries": false, "can_connect_to_business": false, "has_main_web_app": false,
    })
}

pub(super) fn told(message: &Message) -> Value {
    json!({
        "message_id": message.id, "date": DATE, "text": message.text,
        "chat": { "id": message.chat, "type": if message.chat > 0 { "private" } else { "supergroup" } },
        "from": { "id": BOT, "is_bot": true, "first_name": "Weir", "username": BOT_NAME },
    })
}
