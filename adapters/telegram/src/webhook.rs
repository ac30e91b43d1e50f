//! Webhook: the platform posts updates to the gateway's web server.
//!
//! Owns the address that the platform is told, the secret by which it is known, and the answer to a post: 200 only when
//! its update is in the journal. The platform posts the next update of a chat after that answer, and repeats a post that
//! was not answered so; order and loss are its part. For the same reason an album comes as single messages.

use std::{fmt, sync::Arc, time::Duration};

use axum::{
    Router,
    body::to_bytes,
    extract::{Request, State},
    http::StatusCode,
    routing::post,
};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Url;
use serde_json::Value;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use teloxide_core::payloads::GetWebhookInfo;
use tokio::{
    sync::{Mutex, Notify, Semaphore},
    time::{Instant, sleep_until, timeout},
};
use weirgate_sdk::{
    AdapterError, Batch, Connection, Event, Ingress, Setup, Stop, backoff::Backoff, text::line,
};

use crate::{
    api::{
        CallError,
        method::{SetWebhook, UPDATES},
    },
    connect,
    receive::{Bot, Receiver},
    settings::Mode,
    telegram::{Shared, unix_time},
    window::Window,
};

/// The header that holds the secret.
const SECRET: &str = "x-telegram-bot-api-secret-token";
/// The longest update, in bytes.
const MAX_UPDATE: usize = 1024 * 1024;
/// Posts that are read at once.
const MAX_POSTS: usize = 64;
/// How long a post may take to arrive, and its update to be accepted.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(10);
const TAKEN_LIMIT: Duration = Duration::from_secs(20);
/// How often the platform is asked whether it still posts here.
const LOOK: Duration = Duration::from_secs(300);
/// Longest text of the platform about its posts, in characters.
const MAX_TEXT: usize = 200;

/// Where the platform posts to.
pub struct Hook {
    /// The whole address, if the gateway knows how it is reached.
    url: Option<String>,
    path: String,
    secret: String,
    posts: Semaphore,
    /// Events are handed in one after another.
    turn: Mutex<()>,
    /// A group moved, and no update told of it.
    moved: Notify,
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Hook {
    /// The hook of an account.
    #[must_use]
    pub fn new(setup: &Setup) -> Self {
        let path = path(setup.account.as_str());
        Self {
            url: setup
                .public_origin
                .as_ref()
                .map(|origin| format!("{origin}{path}")),
            path,
            secret: secret(&setup.secret),
            posts: Semaphore::new(MAX_POSTS),
            turn: Mutex::default(),
            moved: Notify::new(),
        }
    }

    /// A group moved, and no update told of it, so that none would store it.
    pub fn moved(&self) {
        self.moved.notify_one();
    }

    /// The whole address, if the gateway knows how it is reached.
    #[must_use]
    pub fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }
}

/// `/telegram/` and the account's name, which may hold anything.
fn path(account: &str) -> String {
    let mut url: Option<Url> = "http://localhost/telegram".parse().ok();
    if let Some(mut segments) = url.as_mut().and_then(|url| url.path_segments_mut().ok()) {
        segments.push(account);
    }
    url.map_or_else(|| "/telegram/".to_owned(), |url| url.path().to_owned())
}

/// What the platform proves itself with: made of the account's key, which itself is told to nobody.
fn secret(key: &[u8; 32]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return String::new();
    };
    mac.update(b"telegram webhook");
    let bytes = mac.finalize().into_bytes();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The route to which the platform posts, for an account whose updates come so.
#[must_use]
pub fn router(shared: &Arc<Shared>) -> Option<Router> {
    if shared.settings.mode != Mode::Webhook {
        return None;
    }
    let router = Router::new().route(&shared.hook.path, post(take));
    Some(router.with_state(Arc::clone(shared)))
}

/// Tells the platform where to post, and looks now and then whether it does, until `stop`.
///
/// # Errors
/// [`AdapterError::Config`] if the token is refused, or the gateway does not know how it is reached.
pub async fn run(shared: &Shared, stop: &Stop) -> Result<(), AdapterError> {
    let Some(url) = shared.hook.url() else {
        let text = "a webhook needs http.public_url: how the platform reaches the gateway";
        return Err(AdapterError::Config(text.into()));
    };
    let watch = async {
        let bot = connect::introduce(shared).await?;
        if let Some(ingress) = shared.reporter.ingress() {
            let cursor = ingress.cursor(&shared.platform, &shared.account).await;
            Window::read_moves(cursor.as_ref(), &bot.id.to_string().into(), &shared.moves);
        }
        let mut backoff = Backoff::new(shared.settings.reconnect);
        let mut known = false;
        loop {
            let asked = if known {
                look(shared, url).await
            } else {
                announce(shared, url).await
            };
            let pause = match asked {
                Ok(stays) => {
                    backoff.reset();
                    known = stays;
                    if stays { LOOK } else { Duration::ZERO }
                }
                Err(error) => {
                    let pause = backoff.pause(rand::random());
                    connect::failed(shared, &error, pause)?
                }
            };
            let until = Instant::now() + pause;
            loop {
                tokio::select! {
                    () = sleep_until(until) => break,
                    () = shared.hook.moved.notified() => keep_moves(shared, &bot).await,
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.stopped() => Ok(()),
        ended = watch => ended,
    }
}

/// Tells the platform where to post.
async fn announce(shared: &Shared, url: &str) -> Result<bool, CallError> {
    let call = SetWebhook {
        url: url.to_owned(),
        secret_token: shared.hook.secret.clone(),
        allowed_updates: UPDATES,
        drop_pending_updates: false,
    };
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    api.call(&call, shared.settings.call_timeout).await?;
    tracing::info!(account = %shared.account, url, "the platform posts updates here");
    shared.reporter.report(Connection::Up);
    Ok(true)
}

/// Whether the platform still posts here. What it could not deliver lately is reported.
async fn look(shared: &Shared, url: &str) -> Result<bool, CallError> {
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    let info = api
        .call(&GetWebhookInfo::new(), shared.settings.call_timeout)
        .await?;
    if info["url"] != url {
        tracing::warn!(account = %shared.account, "somebody else took the bot's updates; they are taken back");
        return Ok(false);
    }
    match trouble(&info, unix_time() / 1_000) {
        Some(why) => shared.reporter.report(Connection::Degraded(why)),
        None => shared.reporter.report(Connection::Up),
    }
    Ok(true)
}

/// What went wrong with the platform's posts since the last look.
#[must_use]
pub fn trouble(info: &Value, clock: i64) -> Option<String> {
    let at = info["last_error_date"].as_i64()?;
    let lately = clock - at <= i64::try_from(LOOK.as_secs()).unwrap_or(i64::MAX);
    let text = info["last_error_message"].as_str().unwrap_or_default();
    lately.then(|| line(text, MAX_TEXT))
}

async fn take(State(shared): State<Arc<Shared>>, request: Request) -> StatusCode {
    let known = request
        .headers()
        .get(SECRET)
        .is_some_and(|shown| bool::from(shown.as_bytes().ct_eq(shared.hook.secret.as_bytes())));
    if !known || shared.hook.secret.is_empty() {
        return StatusCode::UNAUTHORIZED;
    }
    match timeout(ARRIVAL_LIMIT, read(&shared, request)).await {
        Ok(Ok(update)) => accept(&shared, &update).await,
        Ok(Err(status)) => status,
        Err(_) => StatusCode::REQUEST_TIMEOUT,
    }
}

async fn read(shared: &Shared, request: Request) -> Result<Value, StatusCode> {
    // The semaphore is never closed. The place is given back when the body is read.
    let _place = shared.hook.posts.acquire().await.ok();
    let body = to_bytes(request.into_body(), MAX_UPDATE).await;
    let body = body.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    // What cannot be read will not be better the next time.
    serde_json::from_slice(&body).map_err(|_| StatusCode::OK)
}

/// Hands an update in. Anything but 200 makes the platform post it again.
async fn accept(shared: &Shared, update: &Value) -> StatusCode {
    let (Some(ingress), Some(bot)) = (shared.reporter.ingress(), shared.bot()) else {
        return StatusCode::SERVICE_UNAVAILABLE;
    };
    let mut events: Vec<Event> = Receiver::new(shared, &bot).read(update, unix_time());
    connect::prepare(shared, &mut events).await;
    events.truncate(256);
    if hand_in(shared, &*ingress, &bot, events).await {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

/// Stores the moves of groups that a refused send told of; until that is done each update tries it again.
async fn keep_moves(shared: &Shared, bot: &Bot) {
    if let Some(ingress) = shared
        .reporter
        .ingress()
        .filter(|_| shared.moves.is_unstored())
    {
        hand_in(shared, &*ingress, bot, Vec::new()).await;
    }
}

/// Hands events in; whether they are accepted. Without polling there is no position; the moves of groups that are not
/// stored yet are, with whatever comes next.
async fn hand_in(shared: &Shared, ingress: &dyn Ingress, bot: &Bot, events: Vec<Event>) -> bool {
    let (moves, receipt) = {
        // What is written later has all that was written before.
        let _turn = shared.hook.turn.lock().await;
        let moves = shared.moves.is_unstored().then(|| shared.moves.learned());
        let cursor = || Window::default().here(&bot.id.to_string().into(), &shared.moves);
        let batch = Batch {
            platform: shared.platform.clone(),
            account: shared.account.clone(),
            events,
            cursor: moves.map(|_| cursor()),
        };
        (moves, ingress.accept(batch).await)
    };
    let accepted = matches!(timeout(TAKEN_LIMIT, receipt).await, Ok(Ok(_)));
    if let Some(moves) = moves.filter(|_| accepted) {
        shared.moves.keep(moves);
    }
    accepted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_address_takes_any_name_and_the_secret_is_not_the_key() {
        assert_eq!(path("main"), "/telegram/main");
        assert_eq!(path("a b/ü{x}"), "/telegram/a%20b%2F%C3%BC%7Bx%7D");
        let made = secret(&[7; 32]);
        assert_eq!(made.len(), 64);
        assert_ne!(made, secret(&[8; 32]));
    }

    #[test]
    fn only_lately_failed_posts_are_trouble() {
        let info = json!({ "last_error_date": 1_000, "last_error_message": "Connection\nrefused" });
        assert_eq!(trouble(&info, 1_100).as_deref(), Some("Connection refused"));
        assert_eq!(trouble(&info, 2_000), None);
        assert_eq!(trouble(&json!({}), 1_000), None);
    }
}
