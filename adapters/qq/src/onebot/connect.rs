//! The listener that the OneBot implementation connects to.
//!
//! Owns accepting, the checks of the handshake (before the upgrade is answered) and the tasks of the
//! connections. A token is compared in constant time and never logged.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use subtle::ConstantTimeEq;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc, oneshot},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    accept_hdr_async_with_config,
    tungstenite::{
        handshake::server::{ErrorResponse, Request, Response},
        http::{HeaderMap, StatusCode, Uri},
        protocol::WebSocketConfig,
    },
};
use weirgate_sdk::{Event, Stop};

use super::{
    links::Role,
    session::{DRAIN_LIMIT, Session},
    wire::{MAX_ID, line},
};
use crate::qq::Shared;

/// Handshakes at once; a further one ends the oldest, so that strangers who say nothing keep nobody out.
const MAX_HANDSHAKES: usize = 16;
/// The longest handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);
/// Connections at once after their handshake, those that were replaced and still drain included.
const MAX_SESSIONS: usize = 16;
/// The longest frame and message, in bytes.
const MAX_FRAME: usize = 16 * 1024 * 1024;
/// At the end: how long calls under way may still be answered, and connections may take to close.
pub const CALLS_LIMIT: Duration = Duration::from_secs(2);
pub const CLOSE_LIMIT: Duration = DRAIN_LIMIT.saturating_add(Duration::from_millis(500));
/// Pause after the system refused to accept, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Who connects, from a handshake that was found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// The bot that it serves.
    pub bot: String,
    /// What the connection is for.
    pub role: Role,
}

/// Why a handshake was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No token.
    NoToken,
    /// A wrong token.
    WrongToken,
    /// No bot id, or none that is a number.
    NoBot,
    /// A role that OneBot does not have.
    UnknownRole,
    /// Another bot than the configured or connected one.
    OtherBot,
}

impl Refusal {
    /// The HTTP status that says so.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::WrongToken | Self::OtherBot => StatusCode::FORBIDDEN,
            Self::NoBot | Self::UnknownRole => StatusCode::BAD_REQUEST,
        }
    }
}

/// Accepts connections until `stop`, then lets calls under way end and closes.
pub async fn serve(
    shared: Arc<Shared>,
    listener: TcpListener,
    events: mpsc::Sender<Vec<Event>>,
    stop: &Stop,
) {
    let sessions = Arc::new(Semaphore::new(MAX_SESSIONS));
    let mut handshakes = Handshakes::default();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.stopped() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let place = handshakes.begin();
                    let (shared, events) = (Arc::clone(&shared), events.clone());
                    let sessions = Arc::clone(&sessions);
                    tasks.spawn(async move {
                        connection(&shared, stream, place, &sessions, &events).await;
                    });
                }
                Err(error) => {
                    tracing::warn!(account = %shared.account, %error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = tasks.join_next() => {}
        }
    }
    drop((listener, events, handshakes));
    let _ = timeout(CALLS_LIMIT, shared.calls.idle()).await;
    shared.links.close();
    let _ = timeout(CLOSE_LIMIT, async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
    tasks.shutdown().await;
}

/// The handshakes under way, oldest first.
#[derive(Default)]
struct Handshakes(VecDeque<oneshot::Sender<()>>);

impl Handshakes {
    /// A place for a new one; it resolves when the handshake has to make room for a newer one. Dropping
    /// it gives the place back.
    fn begin(&mut self) -> oneshot::Receiver<()> {
        self.0.retain(|handshake| !handshake.is_closed());
        if self.0.len() >= MAX_HANDSHAKES {
            self.0.pop_front();
        }
        let (handshake, place) = oneshot::channel();
        self.0.push_back(handshake);
        place
    }
}

async fn connection(
    shared: &Shared,
    stream: TcpStream,
    place: oneshot::Receiver<()>,
    sessions: &Semaphore,
    events: &mpsc::Sender<Vec<Event>>,
) {
    let _ = stream.set_nodelay(true);
    let mut peer = None;
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        match examine(shared, request.headers(), request.uri()) {
            Ok(found) => {
                peer = Some(found);
                Ok(response)
            }
            Err(refusal) => {
                tracing::warn!(account = %shared.account, ?refusal, "connection refused");
                let mut response = ErrorResponse::new(None);
                *response.status_mut() = refusal.status();
                Err(response)
            }
        }
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME));
    let handshake = accept_hdr_async_with_config(stream, check, Some(config));
    let handshake = tokio::select! {
        biased;
        handshake = timeout(HANDSHAKE_LIMIT, handshake) => handshake,
        _ = place => return,
    };
    let socket = match handshake {
        Ok(Ok(socket)) => socket,
        Ok(Err(error)) => {
            tracing::debug!(account = %shared.account, error = line(&error.to_string(), 120), "no handshake");
            return;
        }
        Err(_) => return,
    };
    let Some(Peer { bot, role }) = peer else {
        return;
    };
    let Ok(_session) = sessions.try_acquire() else {
        tracing::warn!(account = %shared.account, "too many connections: one ended");
        return;
    };
    let Some(joined) = shared.links.join(role, &bot) else {
        return;
    };
    tracing::info!(account = %shared.account, bot, ?role, "connected");
    let session = Session {
        shared,
        id: joined.id,
        role,
        bot: &bot,
        events,
    };
    session.run(socket, joined).await;
}

/// Checks a handshake.
///
/// # Errors
/// The first thing that is wrong; the token comes first, so that a stranger learns nothing else.
pub fn examine(shared: &Shared, headers: &HeaderMap, uri: &Uri) -> Result<Peer, Refusal> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(token) = &shared.settings.token {
        let shown = match header("authorization") {
            Some(value) => Some(bearer(value).to_owned()),
            None => uri.query().and_then(access_token),
        };
        let shown = shown
            .filter(|shown| !shown.is_empty())
            .ok_or(Refusal::NoToken)?;
        if !bool::from(shown.as_bytes().ct_eq(token.expose().as_bytes())) {
            return Err(Refusal::WrongToken);
        }
    }
    let bot = header("x-self-id").map_or("", str::trim);
    if bot.is_empty() || bot.len() > MAX_ID || !bot.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::NoBot);
    }
    let role = Role::parse(header("x-client-role")).ok_or(Refusal::UnknownRole)?;
    let configured = shared
        .settings
        .self_id
        .as_deref()
        .is_none_or(|id| id == bot);
    if !configured || !shared.links.admits(bot) {
        return Err(Refusal::OtherBot);
    }
    Ok(Peer {
        bot: bot.to_owned(),
        role,
    })
}

fn bearer(value: &str) -> &str {
    let value = value.trim();
    match value.split_once(' ') {
        Some((scheme, token))
            if ["bearer", "token"]
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known)) =>
        {
            token.trim()
        }
        _ => value,
    }
}

fn access_token(query: &str) -> Option<String> {
    let value = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("access_token="))?;
    Some(percent_decode(value))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |byte: &u8| {
            char::from(*byte)
                .to_digit(16)
                .and_then(|hex| u8::try_from(hex).ok())
        };
        if let (b'%', [high, low, ..]) = (first, after)
            && let (Some(high), Some(low)) = (hex(high), hex(low))
        {
            bytes.push(high * 16 + low);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An address that cannot be had by waiting.
#[must_use]
pub fn is_fault_of_configuration(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    matches!(
        error.kind(),
        AddrInUse | AddrNotAvailable | PermissionDenied
    )
}

#[cfg(test)]
mod tests;
