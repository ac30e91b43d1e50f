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

/// The longest request, in bytes.
const MAX_REQUEST: usize = 1024 * 1024;
/// The longest message, in characters.
const MAX_LENGTH: usize = 4_000;
/// Parameters of a message in groups and private chats, and in guilds.
const PARAMETERS: [&str; 5] = ["content", "markdown", "msg_id", "msg_type", "msg_seq"];
const GUILD_PARAMETERS: [&str; 4] = ["content", "markdown", "msg_id", "message_reference"];

/// A fault of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It is refused with this status and body; nothing is done.
    Refused(u16, Value),
    /// It is done, and the connection breaks before the answer.
    Lost,
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
type Refusal = (u16, u64, &'static str);

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
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = name(&parts.method, &path);
    let fault = {
        let mut state = shared.state.lock();
        state.check_body(&parts.headers, !body.is_empty());
        if name != "token" && !state.is_authorized(&parts.headers) {
            return refused(401, &json!({ "code": 11_244, "message": "token expired" }));
        }
        state.calls.push((name.to_owned(), said.clone()));
        state.faults.get_mut(name).and_then(VecDeque::pop_front)
    };
    let carry_out = || {
        let result = shared.state.lock().call(&shared, name, &path, &said);
        shared.changed();
        match result {
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
        Some(Fault::Lost) => {
            carry_out();
            let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::other("broken")) });
            Response::new(Body::from_stream(broken))
        }
    }
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
        _ => "unknown",
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

    fn check_body(&mut self, headers: &HeaderMap, has_body: bool) {
        let kind = headers.get(CONTENT_TYPE);
        if has_body != kind.is_some_and(|kind| kind == "application/json") {
            self.violations.push(format!("a body of the type {kind:?}"));
        }
    }

    fn call(
        &mut self,
        shared: &Shared,
        name: &str,
        path: &str,
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
                "url": format!("ws://{}/websocket", shared.address), "shards": 1,
                "session_start_limit": { "total": 1000, "remaining": 1000, "reset_after": 14_400_000, "max_concurrency": 1 },
            })),
            "send" => self.send(path.trim_end_matches("/messages"), said),
            _ => Err((404, 10_003, "no such call")),
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
        if !is_guild && said["msg_type"] != if markdown.is_some() { 2 } else { 0 } {
            return Err((400, 50_001, "msg_type does not fit"));
        }
        let text = markdown
            .or_else(|| said["content"].as_str())
            .unwrap_or_default();
        if text.trim().is_empty() {
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
    fn count(&mut self, to: &str, said: &Value, is_guild: bool) -> Result<(), Refusal> {
        let Some(answered) = said["msg_id"].as_str().map(str::to_owned) else {
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
