//! Forward WebSocket: the gateway connects to the OneBot implementation.
//!
//! Owns dialling for ever with growing pauses, and learning which bot is at the other end before its
//! first event is read. What is said over the connection is `session`'s business.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use tokio_tungstenite::tungstenite::Message;
use weirgate_sdk::{Stop, backoff::Backoff, text::line};

use super::{
    CALLS_LIMIT, CLOSE_LIMIT, answer,
    dial::{Socket, TOKEN_REFUSED, dial},
    intake::Parcel,
    links::Role,
    session::Session,
    version,
    wire::{self, Frame, MAX_ID},
};
use crate::qq::Shared;

/// How long the other side may take to say which bot it serves.
const GREETING_LIMIT: Duration = Duration::from_secs(10);
/// Frames that may come before that; they are read afterwards, in order.
const MAX_EARLY: usize = 256;
/// A connection that lasted so long was a good one: the next failure begins with a short pause.
const LASTING: Duration = Duration::from_secs(30);

/// Stays connected until `stop`, then lets calls under way end and closes.
pub async fn run(shared: &Shared, url: &str, events: mpsc::Sender<Parcel>, stop: &Stop) {
    let connected = stay_connected(shared, url, events, stop);
    let end = async {
        stop.stopped().await;
        let _ = timeout(CALLS_LIMIT, shared.calls.idle()).await;
        shared.links.close();
        tokio::time::sleep(CLOSE_LIMIT).await;
    };
    tokio::select! {
        () = connected => shared.links.close(),
        () = end => {}
    }
}

async fn stay_connected(shared: &Shared, url: &str, events: mpsc::Sender<Parcel>, stop: &Stop) {
    let mut backoff = Backoff::new(shared.settings.reconnect);
    while !stop.is_stopped() {
        let begun = Instant::now();
        let reason = tokio::select! {
            greeted = greet(shared, url) => match greeted {
                Ok(greeting) => once(shared, greeting, &events, stop).await,
                Err(reason) => Some(reason),
            },
            () = stop.stopped() => return,
        };
        if let Some(reason) = reason {
            shared.links.failed(&reason);
        }
        if begun.elapsed() >= LASTING {
            backoff.reset();
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.pause(rand::random())) => {}
            () = stop.stopped() => {}
        }
    }
}

/// Connects, learns which bot is there, and goes.
///
/// # Errors
/// Why not, for the operator, in one short line.
pub async fn look(shared: &Shared, url: &str) -> Result<String, String> {
    let Greeting {
        mut socket, bot, ..
    } = greet(shared, url).await?;
    // Whatever the other side makes of the farewell, the bot is known.
    let _ = timeout(CLOSE_LIMIT, socket.close(None)).await;
    Ok(bot)
}

/// A connection whose bot is known.
struct Greeting {
    socket: Socket,
    bot: String,
    early: Vec<Message>,
}

/// Serves one connection; gives a reason if it could not begin.
async fn once(
    shared: &Shared,
    greeting: Greeting,
    events: &mpsc::Sender<Parcel>,
    stop: &Stop,
) -> Option<String> {
    let Greeting { socket, bot, early } = greeting;
    let Some(joined) = shared.links.join(Role::Universal, &bot) else {
        return Some("not taken".to_owned());
    };
    tracing::info!(account = %shared.account, bot, "connected");
    let session = Session {
        shared,
        id: joined.id,
        role: Role::Universal,
        bot: &bot,
        events,
    };
    session.attend(socket, joined, early, stop).await;
    None
}

/// Connects and learns who is there: from the answer to the question, or from an event that comes first.
async fn greet(shared: &Shared, url: &str) -> Result<Greeting, String> {
    let mut socket = dial(url, shared.settings.token.as_ref()).await?;
    let mut early = Vec::new();
    let named = timeout(GREETING_LIMIT, name(&mut socket, &mut early)).await;
    let bot = named.unwrap_or_else(|_| Err("it does not say which bot it serves".to_owned()))?;
    match shared.settings.self_id.as_deref() {
        Some(expected) if expected != bot => {
            Err(format!("it serves the bot {bot}, self_id says {expected}"))
        }
        _ => Ok(Greeting { socket, bot, early }),
    }
}

async fn name(socket: &mut Socket, early: &mut Vec<Message>) -> Result<String, String> {
    let question = json!({ "action": version::LOGIN, "params": {}, "echo": version::LOGIN });
    let short = |error: &dyn std::fmt::Display| line(&error.to_string(), 120);
    let question = Message::text(question.to_string());
    socket.send(question).await.map_err(|e| short(&e))?;
    while let Some(item) = socket.next().await {
        let message = item.map_err(|error| short(&error))?;
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Close(frame) => {
                let why = frame.as_ref().map(|frame| short(&frame.reason));
                let why = why.filter(|why| !why.is_empty());
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                return Err(format!("closed by the other side at once{why}"));
            }
            _ => continue,
        };
        let frame: Frame<'_> = serde_json::from_str(text).unwrap_or_default();
        if answer::refuses_token(&frame) {
            return Err(TOKEN_REFUSED.to_owned());
        }
        let event = frame.post_type.is_some();
        let bot = if event {
            wire::id(frame.self_id, MAX_ID)
        } else {
            version::login(frame.data)
        };
        let bot = bot.map(std::borrow::Cow::into_owned);
        // Also what is no frame at all, which is counted later.
        if frame.echo.is_none() {
            if early.len() >= MAX_EARLY {
                return Err("events without the bot that they are for".to_owned());
            }
            early.push(message);
        }
        if let Some(bot) = bot {
            return Ok(bot);
        }
    }
    Err("closed by the other side at once".to_owned())
}
