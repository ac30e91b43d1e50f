//! The HTTP API.
//!
//! Owns the checks of the platform on calls, what a call meets before it is looked at, and the record of what was done.

use std::{collections::VecDeque, sync::Arc};

use axum::{
    body::{Body, to_bytes},
    extract::State as Extract,
    http::{
        HeaderMap, Method, Request, Response, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
        request::Parts,
    },
};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};

use super::{BOT, FakeDiscord, Message, Shared, State, fields, guild, interact, presses};
use crate::upload::{self, Upload};

/// The longest request, in bytes.
const MAX_REQUEST: usize = 25 * 1024 * 1024;
/// The largest file of a message, in bytes.
const MAX_FILE: usize = 10 * 1024 * 1024;
/// The longest message, in code points.
const MAX_LENGTH: usize = 2_000;
/// The longest key of a message, in characters.
const MAX_NONCE: usize = 25;
/// A channel that has posts and no messages of its own.
pub(super) const FORUM: u64 = 15;

/// A fault of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It is refused with this status and body; nothing is done.
    Refused(u16, Value),
    /// This status and body come in its place; nothing is done.
    Status(u16, String),
    /// Nothing is done, and the connection breaks.
    Broken,
    /// It is done, and the connection breaks before the answer.
    Lost,
    /// It is done, and no answer ever comes.
    Silent,
}

impl Fault {
    /// Refused with one of the platform's codes.
    #[must_use]
    pub fn code(status: u16, code: u64) -> Self {
        Self::Refused(
            status,
            json!({ "message": "refused by the test", "code": code }),
        )
    }

    /// Too many calls.
    #[must_use]
    pub fn flood(seconds: f64, global: bool) -> Self {
        let body = json!({ "message": "You are being rate limited.", "retry_after": seconds, "global": global });
        Self::Refused(429, body)
    }
}

/// What a message says: its text, and its buttons if the body says anything of them.
pub(super) type Words = (String, Option<Vec<(String, String)>>);

/// A refusal: status and body.
pub(super) type Refusal = (u16, Value);

pub(super) fn refusal(status: u16, code: u64, message: &str) -> Refusal {
    (status, json!({ "message": message, "code": code }))
}

pub(super) async fn answer(
    Extract(shared): Extract<Arc<Shared>>,
    request: Request<Body>,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_REQUEST).await.unwrap_or_default();
    let path = parts.uri.path().to_owned();
    if path.starts_with("/attachments/") {
        return file(&shared, &parts);
    }
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let Some(path) = path.strip_prefix("/api/v10/").map(str::to_owned) else {
        return refused(&refusal(404, 0, "404: Not Found"));
    };
    let call = Call::read(&parts.method, &path, &query);
    let kind = parts.headers.get(CONTENT_TYPE);
    let form = kind.and_then(|kind| upload::read(kind.to_str().ok()?, &body));
    let said = match &form {
        Some((fields, _)) => upload::as_json(fields)["payload_json"].take(),
        None => serde_json::from_slice(&body).unwrap_or(Value::Null),
    };
    let files = form.map_or_else(Vec::new, |(_, files)| files);
    let fault = {
        let mut state = shared.state.lock();
        state.check_headers(&parts.headers, !body.is_empty());
        let expected = format!("Bot {}", shared.token);
        if parts
            .headers
            .get(AUTHORIZATION)
            .is_none_or(|given| *given != expected)
        {
            return refused(&refusal(401, 0, "401: Unauthorized"));
        }
        let name = call.as_ref().map_or("unknown", Call::name).to_owned();
        let fault = state.faults.get_mut(&name).and_then(VecDeque::pop_front);
        if let Some(unknown) = fields::unknown(&name, &said) {
            state
                .violations
                .push(format!("the field {unknown} of {name}"));
        }
        state.calls.push((name, said.clone()));
        fault
    };
    let carry_out = || {
        let result = shared.state.lock().call(&shared, call, (&said, &files));
        shared.changed();
        match result {
            Ok(Value::Null) => respond(204, Body::empty()),
            Ok(result) => respond(200, result.to_string().into()),
            Err(refusal) => refused(&refusal),
        }
    };
    shared.changed();
    match fault {
        None => carry_out(),
        Some(Fault::Refused(status, body)) => refused(&(status, body)),
        Some(Fault::Status(status, body)) => respond(status, body.into()),
        Some(Fault::Broken) => broken(),
        Some(Fault::Lost) => {
            carry_out();
            broken()
        }
        Some(Fault::Silent) => {
            carry_out();
            std::future::pending().await
        }
    }
}

/// The content of a file, for whoever has its address.
fn file(shared: &Shared, parts: &Parts) -> Response<Body> {
    let mut state = shared.state.lock();
    if parts.headers.contains_key(AUTHORIZATION) {
        state
            .violations
            .push("the token goes to a server of files".to_owned());
    }
    state
        .calls
        .push(("file".to_owned(), parts.uri.to_string().into()));
    match state.files.content(&parts.uri.to_string()) {
        Some(content) => respond(200, content.into()),
        None => respond(404, "This content is no longer available.".into()),
    }
}

/// What is asked for.
enum Call {
    Me,
    Gateway,
    Channel(u64),
    Reopen(u64),
    Message(u64, u64),
    Messages(u64, u64, usize),
    Send(u64),
    Typing(u64),
    Interact(interact::Call),
    Guild(guild::Call),
}

impl Call {
    fn read(method: &Method, path: &str, query: &str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(known, _)| *known == name)?.1.parse().ok()
        };
        match (method.as_str(), parts.as_slice()) {
            ("GET", ["users", "@me"]) => Some(Self::Me),
            ("GET", ["gateway", "bot"]) => Some(Self::Gateway),
            ("GET", ["channels", channel]) => Some(Self::Channel(channel.parse().ok()?)),
            ("PATCH", ["channels", channel]) => Some(Self::Reopen(channel.parse().ok()?)),
            ("GET", ["channels", channel, "messages", message]) => {
                Some(Self::Message(channel.parse().ok()?, message.parse().ok()?))
            }
            ("GET", ["channels", channel, "messages"]) => {
                let limit = usize::try_from(parameter("limit")?).ok()?;
                let is_limit = (1..=100).contains(&limit);
                let call = Self::Messages(channel.parse().ok()?, parameter("after")?, limit);
                is_limit.then_some(call)
            }
            ("POST", ["channels", channel, "typing"]) => Some(Self::Typing(channel.parse().ok()?)),
            ("POST", ["channels", channel, "messages"]) => Some(Self::Send(channel.parse().ok()?)),
            (method, parts) => match interact::Call::read(method, parts) {
                Some(call) => Some(Self::Interact(call)),
                None => guild::Call::read(method, parts, parameter("after")).map(Self::Guild),
            },
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Me => "me",
            Self::Gateway => "gateway",
            Self::Channel(_) => "channel",
            Self::Reopen(_) => "reopen",
            Self::Message(..) => "message",
            Self::Messages(..) => "messages",
            Self::Send(_) => "send",
            Self::Typing(_) => "typing",
            Self::Interact(call) => call.name(),
            Self::Guild(call) => call.name(),
        }
    }
}

impl FakeDiscord {
    /// There are more sessions after this time.
    pub fn sessions_reset(&self, after: std::time::Duration) {
        let after = u64::try_from(after.as_millis()).ok();
        self.shared.state.lock().sessions_reset = after;
    }
}

impl State {
    fn check_headers(&mut self, headers: &HeaderMap, has_body: bool) {
        let agent = headers
            .get(USER_AGENT)
            .and_then(|agent| agent.to_str().ok());
        if !agent.is_some_and(|agent| agent.starts_with("DiscordBot (")) {
            self.violations.push(format!("the user agent {agent:?}"));
        }
        let kind = headers.get(CONTENT_TYPE);
        let is_json = kind.is_some_and(|kind| {
            kind == "application/json" || kind.as_bytes().starts_with(b"multipart/form-data")
        });
        // Nothing at all is no JSON.
        if has_body != is_json {
            self.violations.push(format!("a body of the type {kind:?}"));
        }
    }

    fn call(
        &mut self,
        shared: &Shared,
        call: Option<Call>,
        (said, files): (&Value, &[Upload]),
    ) -> Result<Value, Refusal> {
        match call {
            None => Err(refusal(404, 0, "404: Not Found")),
            Some(Call::Me) => Ok(json!({ "id": BOT.to_string(), "username": "weir", "bot": true })),
            Some(Call::Gateway) => {
                let limit = json!({
                    "total": 1_000, "remaining": self.sessions_left.unwrap_or(1_000),
                    "reset_after": self.sessions_reset.unwrap_or(300),
                    "max_concurrency": 1,
                });
                let url = format!("ws://{}/gateway", shared.address);
                Ok(json!({ "url": url, "shards": self.lines.len(), "session_start_limit": limit }))
            }
            Some(Call::Channel(channel)) => self.channel(channel).cloned(),
            Some(Call::Reopen(channel)) => self.reopen(channel, said),
            Some(Call::Message(channel, message)) => {
                self.channel(channel)?;
                let ids = (channel.to_string(), message.to_string());
                let is_it = |one: &&Value| {
                    one["channel_id"] == ids.0.as_str() && one["id"] == ids.1.as_str()
                };
                let found = self.history.iter().find(is_it).cloned();
                let mut found = found.ok_or_else(|| refusal(404, 10_008, "Unknown Message"))?;
                self.files.sign(&mut found["attachments"]);
                Ok(found)
            }
            Some(Call::Messages(channel, after, limit)) => {
                self.channel(channel)?;
                let here = channel.to_string();
                let is_later = |message: &&Value| {
                    let id = message["id"].as_str().and_then(|id| id.parse::<u64>().ok());
                    message["channel_id"] == here.as_str() && id > Some(after)
                };
                let later = self.history.iter().filter(is_later).take(limit);
                let mut later: Vec<Value> = later.cloned().collect();
                // Newest first, whichever end was asked for.
                later.reverse();
                Ok(later.into())
            }
            Some(Call::Send(channel)) => self.send(channel, said, files),
            Some(Call::Typing(channel)) => {
                self.channel(channel)?;
                self.typing.push(channel);
                Ok(Value::Null)
            }
            Some(Call::Interact(call)) => self.interact(call, said),
            Some(Call::Guild(call)) => self.moderate(call, said),
        }
    }

    fn channel(&self, channel: u64) -> Result<&Value, Refusal> {
        let found = self.channels.get(&channel);
        found.ok_or_else(|| refusal(404, 10_003, "Unknown Channel"))
    }

    /// A thread is no longer archived. Everything else that could be changed is nothing that the bot changes.
    fn reopen(&mut self, channel: u64, said: &Value) -> Result<Value, Refusal> {
        if *said != json!({ "archived": false }) {
            self.violations
                .push(format!("a channel is changed: {said}"));
        }
        match self.archived.get(&channel) {
            Some(false) => Err(refusal(403, 50_013, "Missing Permissions")),
            _ => {
                self.archived.remove(&channel);
                self.channel(channel).cloned()
            }
        }
    }

    fn send(&mut self, channel: u64, said: &Value, files: &[Upload]) -> Result<Value, Refusal> {
        if self.channel(channel)?["type"] == FORUM {
            let text = "Cannot send messages in a non-text channel";
            return Err(refusal(400, 50_008, text));
        }
        if self.archived.contains_key(&channel) {
            return Err(refusal(400, 50_083, "Thread is archived"));
        }
        if files.iter().any(|file| file.content.len() > MAX_FILE) {
            return Err(refusal(413, 40_005, "Request entity too large"));
        }
        let (text, buttons) = self.checked(said, files)?;
        let nonce = said["nonce"].as_str().unwrap_or_default().to_owned();
        let is_known = |sent: &&Message| said["enforce_nonce"] == true && sent.nonce == nonce;
        if let Some(known) = self.sent.iter().find(is_known) {
            let text = known.id.to_string();
            return Ok(json!({ "id": text, "channel_id": known.channel.to_string() }));
        }
        let reply_to = self.reply(channel, &said["message_reference"])?;
        let own = json!({ "author": { "id": BOT.to_string(), "username": "weir", "bot": true } });
        let message = self.message(channel, BOT, &text, &own);
        let id = message["id"].as_str().and_then(|id| id.parse().ok());
        self.push("MESSAGE_CREATE", message.clone(), None);
        self.sent.push(Message {
            id: id.unwrap_or_default(),
            channel,
            text,
            buttons: buttons.unwrap_or_default(),
            files: files.to_vec(),
            reply_to,
            nonce,
            interaction: None,
            private: false,
        });
        Ok(message)
    }

    /// The words of a message that is as the documentation wants it. The platform cuts white space off at both ends.
    pub(super) fn checked(&mut self, said: &Value, files: &[Upload]) -> Result<Words, Refusal> {
        let invalid = |field: &str, code: &str| {
            let errors = json!({ field: { "_errors": [{ "code": code, "message": "wrong" }] } });
            (
                400,
                json!({ "message": "Invalid Form Body", "code": 50_035, "errors": errors }),
            )
        };
        if !said.is_object() {
            return Err(invalid("body", "DICT_TYPE_CONVERT"));
        }
        let nonce = said["nonce"].as_str().unwrap_or_default();
        if nonce.chars().count() > MAX_NONCE {
            return Err(invalid("nonce", "BASE_TYPE_MAX_LENGTH"));
        }
        let mentioned = ["parse", "users", "roles"];
        let allowed = &said["allowed_mentions"];
        let nobody = |list: &&str| allowed[list].as_array().is_none_or(Vec::is_empty);
        // Without a list of kinds all are allowed.
        let is_closed = allowed["parse"].is_array() && mentioned.iter().all(nobody);
        if !is_closed || allowed["replied_user"] == true {
            self.violations
                .push(format!("a message may mention: {allowed}"));
        }
        let text = said["content"].as_str().unwrap_or_default();
        if text.chars().count() > MAX_LENGTH {
            return Err(invalid("content", "BASE_TYPE_MAX_LENGTH"));
        }
        if text.trim().is_empty() && files.is_empty() {
            return Err(refusal(400, 50_006, "Cannot send an empty message"));
        }
        Ok((text.trim().to_owned(), presses::buttons(said)?))
    }

    fn reply(&self, channel: u64, reference: &Value) -> Result<Option<u64>, Refusal> {
        if reference.is_null() {
            return Ok(None);
        }
        let here = channel.to_string();
        let is_here = |message: &&Value| {
            message["id"] == reference["message_id"] && message["channel_id"] == here.as_str()
        };
        match self.history.iter().find(is_here) {
            Some(message) => Ok(message["id"].as_str().and_then(|id| id.parse().ok())),
            None if reference["fail_if_not_exists"] == false => Ok(None),
            None => Err(refusal(400, 50_035, "Unknown message")),
        }
    }
}

fn refused((status, body): &Refusal) -> Response<Body> {
    let mut response = respond(*status, body.to_string().into());
    if let Some(seconds) = body["retry_after"].as_f64() {
        let value = format!("{}", seconds.ceil()).parse().expect("a value");
        response.headers_mut().insert("retry-after", value);
    }
    response
}

fn respond(status: u16, body: Body) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).expect("a status"))
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .expect("a response")
}

/// An answer that breaks off before its first byte.
fn broken() -> Response<Body> {
    let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::other("broken")) });
    respond(200, Body::from_stream(broken))
}
