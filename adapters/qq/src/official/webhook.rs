//! Webhook: the platform posts events to the gateway's web server.
//!
//! Owns the address, the check of every post's signature, the answer to the platform's question whether the address is
//! the bot's, and the answer to a post: success only when its event is in the journal, for the platform posts again what
//! was not answered so.

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::to_bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};
use weirgate_sdk::Event;

use super::{
    bot::{Shared, unix_time},
    intake::{Mark, Parcel},
    press,
    settings::Way,
};
use crate::onebot::http::post::percent_encode;

/// The largest post, in bytes.
const MAX_POST: usize = 1024 * 1024;
/// Posts that are read at once.
const MAX_POSTS: usize = 64;
/// How long a post may take to arrive, and its event to be accepted.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(10);
const TAKEN_LIMIT: Duration = Duration::from_secs(20);
/// A post whose time is further away, in seconds, may be an old one that somebody sends again after the gateway's
/// duplicate check has forgotten it.
const MAX_AGE: i64 = 12 * 3_600;

/// Kinds of posts (bot-docs, opcodes).
const DISPATCH: u64 = 0;
const ANSWER: u64 = 12;
const QUESTION: u64 = 13;

/// How many posts are read at once.
#[derive(Debug)]
pub struct Posts(Semaphore);

impl Default for Posts {
    fn default() -> Self {
        Self(Semaphore::new(MAX_POSTS))
    }
}

/// `/qq/` and the account's name, to which the platform posts.
#[must_use]
pub fn path(account: &str) -> String {
    format!("/qq/{}", percent_encode(account))
}

/// The route of an account whose events come so.
#[must_use]
pub fn router(shared: &Arc<Shared>) -> Option<Router> {
    if shared.settings.way != Way::Webhook {
        return None;
    }
    let router = Router::new().route(&path(shared.account.as_str()), post(take));
    Some(router.with_state(Arc::clone(shared)))
}

async fn take(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let post = match timeout(ARRIVAL_LIMIT, read(&shared, request)).await {
        Ok(Ok(post)) => post,
        Ok(Err(status)) => return status.into_response(),
        Err(_) => return StatusCode::REQUEST_TIMEOUT.into_response(),
    };
    match post["op"].as_u64() {
        Some(QUESTION) => question(&shared, &post["d"]),
        Some(DISPATCH) => match accept(&shared, &post).await {
            Ok(()) => Json(json!({ "op": ANSWER, "d": 0 })).into_response(),
            Err(status) => status.into_response(),
        },
        // Nothing that would be better the next time.
        _ => Json(json!({ "op": ANSWER, "d": 0 })).into_response(),
    }
}

/// A post that the platform signed.
async fn read(shared: &Shared, request: Request) -> Result<Value, StatusCode> {
    // The semaphore is never closed. The place is given back when the body is read.
    let _place = shared.posts.0.acquire().await.ok();
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_POST).await;
    let body = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    check(shared, &head.headers, &body).inspect_err(|refused| {
        tracing::warn!(account = %shared.account, status = refused.as_u16(), "a post refused");
    })?;
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

fn check(shared: &Shared, headers: &HeaderMap, body: &[u8]) -> Result<(), StatusCode> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let time = header("x-signature-timestamp").ok_or(StatusCode::UNAUTHORIZED)?;
    let signature = header("x-signature-ed25519").ok_or(StatusCode::UNAUTHORIZED)?;
    let key = shared.key.as_ref().ok_or(StatusCode::FORBIDDEN)?;
    if !key.verifies(time, body, signature) {
        return Err(StatusCode::FORBIDDEN);
    }
    let age = time
        .parse()
        .map(|time: i64| (unix_time() / 1_000).saturating_sub(time));
    match age {
        Ok(age) if age.saturating_abs() <= MAX_AGE => Ok(()),
        _ => Err(StatusCode::BAD_REQUEST),
    }
}

/// The platform asks whether this is the bot.
fn question(shared: &Shared, asked: &Value) -> Response {
    let text = |field: &str| asked[field].as_str().unwrap_or_default();
    let word = text("plain_token");
    let answer = shared
        .key
        .as_ref()
        .and_then(|key| key.answer(text("event_ts"), word));
    match answer {
        Some(signature) => {
            tracing::info!(account = %shared.account, "the platform checked the address of the webhook");
            Json(json!({ "plain_token": word, "signature": signature })).into_response()
        }
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// Hands an event in. Anything but success makes the platform post it again.
async fn accept(shared: &Arc<Shared>, post: &Value) -> Result<(), StatusCode> {
    let Some(events) = shared.events() else {
        return Err(StatusCode::SERVICE_UNAVAILABLE);
    };
    let event = match post["t"].as_str() {
        Some(kind) => shared.read(kind, post["id"].as_str(), &post["d"], unix_time()),
        None => Event::Malformed {
            name: "a post without a kind".into(),
        },
    };
    let (sender, taken) = oneshot::channel();
    let parcel = Parcel {
        events: vec![event],
        mark: Some(Mark::Posted(sender)),
    };
    let handed = timeout(TAKEN_LIMIT, async {
        events.send(parcel).await.is_ok() && taken.await.is_ok()
    });
    let kind = post["t"].as_str().unwrap_or_default();
    let handed = match press::acknowledge(shared, kind, &post["d"]) {
        Some(sign) => tokio::join!(handed, sign).0,
        None => handed.await,
    };
    match handed {
        Ok(true) => Ok(()),
        _ => Err(StatusCode::SERVICE_UNAVAILABLE),
    }
}
