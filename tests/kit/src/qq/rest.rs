//! The HTTP API.
//!
//! Owns the checks of the platform on calls, what a call meets before it is looked at, and the record of what was done.

use std::{collections::VecDeque, sync::Arc};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State as Extract,
    http::{
        HeaderMap, Method, Request, Response, StatusCode, header::AUTHORIZATION,
        header::CONTENT_TYPE,
    },
    routing::any,
};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};

use super::{APP_ID, BOT, Message, SECRET, Shared, State, gateway};
use crate::upload;

/// The longest request, in bytes.
const MAX_REQUEST: usize = 16 * 1024 * 1024;
/// The longest message, in characters.
const MAX_LENGTH: usize = 4_000;
/// Parameters of a message in groups and private chats, and in guilds.
const PARAMETERS: [&str; 8] = [
    "content", "markdown", "keyboard", "media", "msg_id", "event_id", "msg_type", "msg_seq",
];
const GUILD_PARAMETERS: [&str; 6] = [
    "content",
    "markdown",
    "file_image",
    "msg_id",
    "event_id",
    "message_reference",
];

/// A fault of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It is refused with this status and body; nothing is done.
    Refused(u16, Value),
    /// Nothing is done, and the connection breaks.
    Broken,
    /// It is done, and the connection breaks before the answer.
    Lost,
    /// It is done, and no answer ever comes.
    Silent,
    /// Nothing is done, and what comes in the place of an answer is none.
    Garbled,
}

impl Fault {
    /// Refused with one of the platform's codes.
    #[must_use]
    pub fn code(status: u16, code: u64) -> Self {
        Self::Refused(
            status,
            json!({ "code": code, "message": "refused by the test" }),
        )
    }
}

/// A refusal: status and code.
pub(super) type Refusal = (u16, u64, &'static str);

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/websocket", any(gateway::answer))
        .fallback(any(answer))
        .with_state(shared)
}

async fn answer(Extract(shared): Extract<Arc<Shared>>, request: Request<Body>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_REQUEST).await.unwrap_or_default();
    let path = parts.uri.path().to_owned();
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let served = shared.state.lock().served(&path);
    if let Some(file) = served {
        return Response::new(Body::from(file));
    }
    let said = said(&parts.headers, &body);
    let name = name(&parts.method, &path);
    if name == "part" {
        return shared.part(&path, &parts.headers, body);
    }
    let fault = {
        let mut state = shared.state.lock();
        state.check_body(&parts.headers, !body.is_empty(), name);
        if name != "token" && !state.is_authorized(&parts.headers) {
            return refused(401, &json!({ "code": 11_244, "message": "token expired" }));
        }
        state.calls.push((name.to_owned(), said.clone()));
        state.faults.get_mut(name).and_then(VecDeque::pop_front)
    };
    let carry_out = || {
        let call = (parts.method.as_str(), name, &*path, &*query);
        let result = shared.state.lock().call(&shared, call, &said);
        shared.changed();
        match result {
            Ok(Value::Null) => Response::builder()
                .status(StatusCode::NO_CONTENT)
                .body(Body::empty())
                .expect("a response"),
            Ok(result) => refused(200, &result),
            Err((status, code, text)) => refused(
                status,
                &json!({ "code": code, "message": text, "trace_id": "t" }),
            ),
        }
    };
    shared.changed();
    match fault {
        None => carry_out(),
        Some(Fault::Refused(status, body)) => refused(status, &body),
        Some(Fault::Broken) => broken(),
        Some(Fault::Lost) => {
            carry_out();
            broken()
        }
        Some(Fault::Silent) => {
            carry_out();
            std::future::pending().await
        }
        Some(Fault::Garbled) => Response::new(Body::from("{\"id\":")),
    }
}

impl Shared {
    /// A part of a file, as a store of files takes it: the address alone proves who sends it.
    fn part(&self, path: &str, headers: &HeaderMap, content: Bytes) -> Response<Body> {
        let mut state = self.state.lock();
        if headers.contains_key(AUTHORIZATION) {
            state
                .violations
                .push("a token goes to the store of files".into());
        }
        state.calls.push(("part".to_owned(), Value::Null));
        let fault = state.faults.get_mut("part").and_then(VecDeque::pop_front);
        match fault {
            Some(Fault::Refused(status, body)) => refused(status, &body),
            Some(_) => broken(),
            None if state.take_part(path, content) => refused(200, &Value::Null),
            None => refused(404, &Value::Null),
        }
    }
}

/// An answer that breaks off before its first byte.
fn broken() -> Response<Body> {
    let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::other("broken")) });
    Response::new(Body::from_stream(broken))
}

fn name(method: &Method, path: &str) -> &'static str {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match (method.as_str(), parts.as_slice()) {
        ("POST", ["app", "getAppAccessToken"]) => "token",
        ("GET", ["users", "@me"]) => "me",
        ("GET", ["gateway", "bot"]) => "gateway",
        (
            "POST",
            ["v2", "users" | "groups", _, "messages"] | ["channels" | "dms", _, "messages"],
        ) => "send",
        ("PUT", ["interactions", _]) => "interaction",
        ("POST", ["v2", "users" | "groups", _, "files"]) => "files",
        ("POST", ["v2", "users" | "groups", _, "upload_prepare"]) => "upload_prepare",
        ("POST", ["v2", "users" | "groups", _, "upload_part_finish"]) => "upload_part_finish",
        ("PUT", ["parts", _, _]) => "part",
        ("POST", ["v2", "users", _, "stream_messages"]) => "stream",
        ("DELETE", ["v2", "users" | "groups", _, "messages", _])
        | ("DELETE", ["channels" | "dms", _, "messages", _]) => "recall",
        (_, ["guilds" | "channels", ..] | ["v2", "groups", ..]) => "moderate",
        _ => "unknown",
    }
}

/// What a call says: JSON, or a form, whose files are named and measured.
fn said(headers: &HeaderMap, body: &Bytes) -> Value {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    match upload::read(kind.unwrap_or_default(), body) {
        Some((fields, files)) => {
            let mut said = json!({});
            for (name, value) in fields {
                said[name] = value.into();
            }
            for file in files {
                said[file.field] = file.content.len().into();
            }
            said
        }
        None => serde_json::from_slice(body).unwrap_or_default(),
    }
}

impl State {
    /// The token that is valid, as it is presented.
    pub(super) fn presented(&self) -> String {
        format!("QQBot token-{}", self.tokens)
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let presented = headers.get(AUTHORIZATION);
        self.tokens > 0 && presented.is_some_and(|given| *given == self.presented())
    }

    fn check_body(&mut self, headers: &HeaderMap, has_body: bool, name: &str) {
        let kind = headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let is_form = kind.is_some_and(|kind| kind.starts_with("multipart/form-data"));
        if is_form && name == "send" {
            return;
        }
        if has_body != kind.is_some_and(|kind| kind == "application/json") {
            self.violations.push(format!("a body of the type {kind:?}"));
        }
    }

    fn call(
        &mut self,
        shared: &Shared,
        (method, name, path, query): (&str, &str, &str, &str),
        said: &Value,
    ) -> Result<Value, Refusal> {
        match name {
            "token" if said["appId"] == APP_ID && said["clientSecret"] == SECRET => {
                self.tokens += 1;
                Ok(
                    json!({ "access_token": format!("token-{}", self.tokens), "expires_in": "7200" }),
                )
            }
            // The platform says so with status 200.
            "token" => Ok(json!({ "code": 100_016, "message": "invalid appid or secret" })),
            "me" => Ok(json!({ "id": BOT, "username": "weir", "bot": true })),
            "gateway" => Ok(json!({
                "url": format!("ws://{}/websocket", shared.address), "shards": self.lines.len(),
                "session_start_limit": { "total": 1000, "remaining": 1000, "reset_after": 14_400_000, "max_concurrency": 1 },
            })),
            "send" => self.send(path.trim_end_matches("/messages"), said),
            "files" => self.take_file(path.trim_end_matches("/files"), said),
            "upload_prepare" => {
                let to = path.trim_end_matches("/upload_prepare");
                self.plan_file(&shared.address.to_string(), to, said)
            }
            "upload_part_finish" => {
                self.finish_part(path.trim_end_matches("/upload_part_finish"), said)
            }
            "stream" => self.grow(path.trim_end_matches("/stream_messages"), said),
            "interaction" if *said == json!({ "code": 0 }) => Ok(json!({})),
            "recall" => self.recall(path),
            "moderate" => {
                let parts: Vec<&str> = path.split('/').skip(1).collect();
                self.moderate(method, &parts, query, said)
            }
            _ => Err((404, 10_003, "no such call")),
        }
    }

    /// The bot takes one of its messages back.
    fn recall(&mut self, path: &str) -> Result<Value, Refusal> {
        let message = path.rsplit('/').next().unwrap_or_default();
        if message.starts_with("BOT1.0_") && self.recalled.insert(message.to_owned()) {
            Ok(Value::Null)
        } else if message.starts_with("ROBOT1.0_") {
            Err((403, 306_004, "no permission to delete message"))
        } else {
            Err((400, 306_001, "param invalid"))
        }
    }

    fn send(&mut self, to: &str, said: &Value) -> Result<Value, Refusal> {
        let is_guild = !to.starts_with("/v2/");
        let known: &[&str] = if is_guild {
            &GUILD_PARAMETERS
        } else {
            &PARAMETERS
        };
        for name in said.as_object().into_iter().flatten().map(|(name, _)| name) {
            if !known.contains(&name.as_str()) {
                self.violations.push(format!("the parameter {name}"));
            }
        }
        let markdown = said["markdown"]["content"].as_str();
        let info = said["media"]["file_info"].as_str();
        let kind = match (markdown, info) {
            (Some(_), _) => 2,
            (None, Some(_)) => 7,
            (None, None) => 0,
        };
        if !is_guild && said["msg_type"] != kind {
            return Err((400, 50_001, "msg_type does not fit"));
        }
        if info.is_some_and(|info| !self.has_file(to, info)) {
            return Err((400, 304_082, "no such file here"));
        }
        if !said["keyboard"].is_null() && (!self.policy.buttons || markdown.is_none()) {
            return Err((400, 304_037, "no permission for buttons"));
        }
        let is_picture = is_guild && said["file_image"].is_u64();
        let text = markdown
            .or_else(|| said["content"].as_str())
            .unwrap_or_default();
        // The text beside a file is one space; a picture of a channel has none.
        if text.trim().is_empty() && !is_picture && (info.is_none() || text != " ") {
            return Err((400, 50_006, "empty message"));
        }
        if markdown.is_some() && !self.policy.markdown {
            return Err((400, 50_056, "no native markdown"));
        }
        if text.chars().count() > MAX_LENGTH {
            return Err((400, 40_054_007, "message too long"));
        }
        if !self.policy.links && (text.contains("http") || text.contains("example.com")) {
            return Err((400, 304_003, "url not allowed"));
        }
        self.count(to, said, is_guild)?;
        self.said += 1;
        let id = format!("BOT1.0_{:06}", self.said);
        self.sent.push(Message {
            to: to.to_owned(),
            text: text.to_owned(),
            said: said.clone(),
        });
        Ok(json!({ "id": id, "timestamp": "2026-12-01T00:00:00+08:00" }))
    }

    /// What a message may still be answered with.
    pub(super) fn count(&mut self, to: &str, said: &Value, is_guild: bool) -> Result<(), Refusal> {
        let answered = said["msg_id"]
            .as_str()
            .or_else(|| said["event_id"].as_str());
        let Some(answered) = answered.map(str::to_owned) else {
            return if self.policy.push {
                Ok(())
            } else {
                Err((400, 40_034_102, "no permission to push"))
            };
        };
        let replies = self.policy.replies;
        let number = said["msg_seq"].as_i64().unwrap_or(1);
        let repeated = (answered.clone(), number);
        if !is_guild && self.numbers.contains(&repeated) {
            return Err((400, 40_054_005, "deduplicated, check msgseq"));
        }
        match self.heard.get_mut(&answered) {
            Some((place, used)) if place == to && *used < replies => *used += 1,
            Some((place, _)) if place == to => return Err((400, 22_009, "msg limit exceed")),
            _ => return Err((400, 40_034_024, "msg_id invalid")),
        }
        self.numbers.push(repeated);
        Ok(())
    }
}

fn refused(status: u16, body: &Value) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).expect("a status"))
        .header(CONTENT_TYPE, "application/json")
        .body(body.to_string().into())
        .expect("a response")
}
