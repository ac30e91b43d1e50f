//! OneBot v11 as both sides of a run speak it.
//!
//! Owns the handshake, the JSON of private messages and of calls, and the writing of frames in batches.
//! Only what a run needs: text between one account and its friends.

use std::{net::SocketAddr, time::Duration};

use axum::http::HeaderValue;
use futures_util::{Sink, SinkExt};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Error, Message, client::IntoClientRequest},
};

use crate::{Fault, address::Target};

/// The bot's number.
pub const BOT: u64 = 10_001;
/// The number of the first user.
pub const FIRST_USER: usize = 20_000_000;
/// Longest handshake.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// A connection to a bot.
pub type Socket = WebSocketStream<TcpStream>;

/// Connects as an implementation that carries events and calls on one connection.
///
/// # Errors
/// Nobody listens, or the bot refuses.
pub async fn connect(target: &Target, token: Option<&str>) -> Result<Socket, Fault> {
    let mut request = format!("ws://{}{}", target.address, target.path).into_client_request()?;
    let headers = request.headers_mut();
    headers.insert("x-self-id", HeaderValue::from(BOT));
    headers.insert("x-client-role", HeaderValue::from_static("Universal"));
    if let Some(token) = token {
        let value = HeaderValue::from_str(&format!("Bearer {token}"))?;
        headers.insert("authorization", value);
    }
    let stream = open(target.address).await?;
    let (socket, _) = timeout(HANDSHAKE, client_async(request, stream)).await??;
    Ok(socket)
}

/// A connection on which small frames are not held back.
///
/// # Errors
/// Nobody listens.
pub async fn open(address: SocketAddr) -> Result<TcpStream, Fault> {
    let stream = timeout(HANDSHAKE, TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The announcement of a new connection.
#[must_use]
pub fn lifecycle(time: u64) -> Message {
    let event = json!({
        "time": time,
        "self_id": BOT,
        "post_type": "meta_event",
        "meta_event_type": "lifecycle",
        "sub_type": "connect",
    });
    Message::text(event.to_string())
}

/// A message of a friend; `time` is in seconds since 1970.
#[must_use]
pub fn private(time: u64, id: u64, user: usize, text: &str) -> Message {
    let number = FIRST_USER.saturating_add(user);
    let event = json!({
        "time": time,
        "self_id": BOT,
        "post_type": "message",
        "message_type": "private",
        "sub_type": "friend",
        "message_id": id,
        "user_id": number,
        "sender": { "user_id": number, "nickname": format!("user {user}") },
        "message": [{ "type": "text", "data": { "text": text } }],
        "raw_message": text,
        "font": 14,
    });
    Message::text(event.to_string())
}

/// What a bot sends: a call.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// What is to be done.
    pub action: String,
    /// With what.
    #[serde(default)]
    params: Value,
    /// To be given back with the answer.
    #[serde(default)]
    echo: Value,
}

impl Call {
    /// The user and the text, if the call sends a private message.
    #[must_use]
    pub fn sent(&self) -> Option<(usize, String)> {
        if !matches!(self.action.as_str(), "send_private_msg" | "send_msg") {
            return None;
        }
        let user = match self.params.get("user_id")? {
            Value::String(text) => text.parse().ok()?,
            number => usize::try_from(number.as_u64()?).ok()?,
        };
        Some((
            user.checked_sub(FIRST_USER)?,
            text(self.params.get("message")?),
        ))
    }

    /// The answer; a message that was sent gets the id.
    #[must_use]
    pub fn answer(&self, id: u64) -> Message {
        let data = match self.action.as_str() {
            "send_private_msg" | "send_msg" => json!({ "message_id": id }),
            "get_login_info" => json!({ "user_id": BOT, "nickname": "bot" }),
            "get_status" => json!({ "online": true, "good": true }),
            "get_version_info" => json!({
                "app_name": env!("CARGO_PKG_NAME"),
                "app_version": env!("CARGO_PKG_VERSION"),
                "protocol_version": "v11",
            }),
            _ => Value::Null,
        };
        let (status, code) = match data {
            Value::Null => ("failed", 1_404),
            _ => ("ok", 0),
        };
        let answer = json!({ "status": status, "retcode": code, "data": data, "echo": self.echo });
        Message::text(answer.to_string())
    }
}

/// The text of a message, given as segments or as a string.
#[must_use]
pub fn text(message: &Value) -> String {
    match message {
        Value::String(text) => text.clone(),
        Value::Array(segments) => {
            let texts = segments
                .iter()
                .filter_map(|segment| segment["data"]["text"].as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}

/// Writes a frame and those that `next` has ready, then flushes: one system call for many frames.
///
/// # Errors
/// The connection is gone.
pub async fn write_batch<S>(
    sink: &mut S,
    first: Message,
    mut next: impl FnMut() -> Option<Message>,
) -> Result<(), Error>
where
    S: Sink<Message, Error = Error> + Unpin,
{
    /// Most frames before a flush, so that the first of them does not wait for long.
    const BATCH: usize = 64;
    sink.feed(first).await?;
    for _ in 1..BATCH {
        let Some(frame) = next() else {
            break;
        };
        sink.feed(frame).await?;
    }
    sink.flush().await
}
