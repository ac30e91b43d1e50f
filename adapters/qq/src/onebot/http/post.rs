//! Events that the implementation posts.
//!
//! Owns the route and its checks: the signature over the raw body (compared in constant time), the size,
//! the number of requests at once, the age. An event is answered when it is durable. The answer is always
//! empty: OneBot would take a body for an instruction.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use sha1::Sha1;
use tokio::{
    sync::{Semaphore, mpsc, oneshot},
    time::{Instant, timeout},
};
use weirgate_sdk::{Event, settings::Secret};

use crate::{
    onebot::{
        intake::Parcel,
        life::Life,
        receive::{Received, Receiver},
        session::{no_frame, unix_time},
        wire::{self, Frame, MAX_ID},
    },
    qq::Shared,
};

/// The largest event, in bytes.
const MAX_EVENT: usize = 4 * 1024 * 1024;
/// Requests at once; with [`MAX_EVENT`] the most memory that strangers can take. A further one waits.
const MAX_REQUESTS: usize = 16;
/// How long a request may wait for its turn, and take to arrive.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(10);
/// How long an event may take to become durable before the implementation is told that it did not.
const TAKEN_LIMIT: Duration = Duration::from_secs(8);
/// A signed request proves no time: one whose event is further away than this, in seconds, may be an old one
/// that somebody sends again, after the gateway's duplicate check has forgotten it.
const MAX_AGE: i64 = 600;

/// Where events of one account go.
#[derive(Debug)]
pub struct Inbox {
    secret: Secret,
    requests: Semaphore,
    state: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// `None` while the account does not run.
    events: Option<mpsc::Sender<Parcel>>,
    life: Option<Life>,
}

impl Inbox {
    /// Takes what is signed with `secret`.
    #[must_use]
    pub fn new(secret: Secret) -> Self {
        Self {
            secret,
            requests: Semaphore::new(MAX_REQUESTS),
            state: Mutex::default(),
        }
    }

    /// Begins to take events.
    pub fn open(&self, events: mpsc::Sender<Parcel>) {
        *self.state.lock() = Open {
            events: Some(events),
            life: None,
        };
    }

    /// Takes no more.
    pub fn close(&self) {
        *self.state.lock() = Open::default();
    }

    /// Heartbeats were announced and no longer come.
    #[must_use]
    pub fn is_silent(&self, now: Instant) -> bool {
        let state = self.state.lock();
        state.life.as_ref().is_some_and(|life| life.is_overdue(now))
    }

    fn spoken(&self, interval: Option<Duration>, fixed: Option<Duration>) {
        let now = Instant::now();
        let mut state = self.state.lock();
        let life = state.life.get_or_insert_with(|| Life::new(now, fixed));
        life.spoken(now);
        if let Some(interval) = interval {
            life.announced(interval);
        }
    }
}

/// The route of an account; `None` if it is not one that gets its events by HTTP.
#[must_use]
pub fn router(shared: &Arc<Shared>) -> Option<Router> {
    shared.http.as_ref()?;
    let path = format!("/onebot/{}", percent_encode(shared.account.as_str()));
    let router = Router::new().route(&path, post(take));
    Some(router.with_state(Arc::clone(shared)))
}

async fn take(State(shared): State<Arc<Shared>>, request: Request) -> StatusCode {
    let Some(http) = &shared.http else {
        return StatusCode::NOT_FOUND;
    };
    let Some(events) = http.inbox.state.lock().events.clone() else {
        return StatusCode::SERVICE_UNAVAILABLE;
    };
    let event = match timeout(ARRIVAL_LIMIT, read(&shared, &http.inbox, request)).await {
        Ok(Ok(event)) => event,
        Ok(Err(status)) => return status,
        Err(_) => return StatusCode::REQUEST_TIMEOUT,
    };
    let (sender, taken) = oneshot::channel();
    let parcel = Parcel {
        events: vec![event],
        mark: Some(sender),
    };
    let handed = timeout(TAKEN_LIMIT, async {
        events.send(parcel).await.is_ok() && taken.await.is_ok()
    });
    match handed.await {
        Ok(true) => StatusCode::NO_CONTENT,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Reads a request to the event in it.
///
/// # Errors
/// The status that ends the request: what is wrong, or 204 if there is nothing to hand in.
async fn read(shared: &Shared, inbox: &Inbox, request: Request) -> Result<Event, StatusCode> {
    // The semaphore is never closed. The place is given back when the body is read and gone.
    let _place = inbox.requests.acquire().await.ok();
    let (head, body) = request.into_parts();
    let body = to_bytes(body, MAX_EVENT).await;
    let body = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    check(&inbox.secret, &head.headers, &body).inspect_err(|refused| {
        tracing::warn!(account = %shared.account, status = refused.as_u16(), "a posted event refused");
    })?;
    match serde_json::from_slice::<Frame<'_>>(&body) {
        Ok(frame) => event(shared, inbox, &frame),
        Err(_) => Ok(no_frame()),
    }
}

/// The event of a frame whose sender is known.
fn event(shared: &Shared, inbox: &Inbox, frame: &Frame<'_>) -> Result<Event, StatusCode> {
    let known = shared
        .settings
        .self_id
        .clone()
        .or_else(|| shared.links.bot());
    let said = wire::id(frame.self_id, MAX_ID);
    let bot = known.as_deref().or(said.as_deref());
    let bot = bot.ok_or(StatusCode::BAD_REQUEST)?;
    inbox.spoken(None, shared.settings.heartbeat_timeout);
    let now = unix_time();
    let event = match Receiver::new(shared, bot).read(frame, now, shared.known()) {
        Received::Event(event) => event,
        Received::Heartbeat { interval, online } => {
            inbox.spoken(interval, shared.settings.heartbeat_timeout);
            if let (Some(online), Some((link, _))) = (online, shared.links.route()) {
                shared.links.online(link, online);
                shared.links.silent(link, false);
            }
            return Err(StatusCode::NO_CONTENT);
        }
        Received::Answer | Received::Nothing => return Err(StatusCode::NO_CONTENT),
    };
    let age = wire::integer(frame.time).map_or(0, |time| (now / 1_000).saturating_sub(time));
    if age.saturating_abs() > MAX_AGE {
        tracing::warn!(
            account = %shared.account, age,
            "an event of another time refused; do the clocks of both machines agree?"
        );
        return Err(StatusCode::BAD_REQUEST);
    }
    shared.heard(bot, &event);
    shared.requested(bot, frame);
    Ok(event)
}

/// Whether the body is signed with the secret.
///
/// # Errors
/// The status that says what is wrong.
fn check(secret: &Secret, headers: &HeaderMap, body: &[u8]) -> Result<(), StatusCode> {
    let shown = headers.get("x-signature").ok_or(StatusCode::UNAUTHORIZED)?;
    let shown = shown.to_str().ok().and_then(signature);
    let shown = shown.ok_or(StatusCode::FORBIDDEN)?;
    let mac = Hmac::<Sha1>::new_from_slice(secret.expose().as_bytes());
    let mut mac = mac.map_err(|_| StatusCode::FORBIDDEN)?;
    mac.update(body);
    // Constant time.
    mac.verify_slice(&shown).map_err(|_| StatusCode::FORBIDDEN)
}

/// The bytes of `sha1=` and 40 hexadecimal digits.
fn signature(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim().strip_prefix("sha1=")?;
    if digits.len() != 40 {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let bytes = digits.as_bytes().chunks_exact(2).map(|pair| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    });
    bytes.collect()
}

/// A name as one part of a path.
#[must_use]
pub fn percent_encode(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            path.push(char::from(byte));
        } else {
            path.push_str(&format!("%{byte:02X}"));
        }
    }
    path
}

#[cfg(test)]
mod tests;
