//! The WebSocket over which events come.
//!
//! Owns its limits, what may be dialled, and the form of frames. It never sends the token over a connection that is not
//! encrypted, unless the HTTP API itself is not.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};
use weirgate_sdk::text::line;

/// The longest time until a connection stands.
const DIAL_LIMIT: Duration = Duration::from_secs(10);
/// How long a frame may take to leave.
const WRITE_LIMIT: Duration = Duration::from_secs(10);
/// The longest frame and message, in bytes: a large server is described in one.
const MAX_FRAME: usize = 32 * 1024 * 1024;
/// Version and form of the platform's protocol.
const QUERY: &str = "/?v=10&encoding=json";

/// A connection.
#[derive(Debug)]
pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What came.
#[derive(Debug)]
pub enum Item {
    /// A frame.
    Frame(Value),
    /// Something that is no frame.
    Unreadable,
    /// The end, with the platform's code if it gave one.
    End(Option<u16>, String),
}

impl Socket {
    /// Connects to an address that the platform gave.
    ///
    /// # Errors
    /// Why not, for the operator, in one short line.
    pub async fn dial(url: &str, encrypted: bool) -> Result<Self, String> {
        let is_safe = url.starts_with("wss://") || (!encrypted && url.starts_with("ws://"));
        if !is_safe {
            return Err("the platform gave an address that is not encrypted".to_owned());
        }
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MAX_FRAME))
            .max_frame_size(Some(MAX_FRAME));
        let url = format!("{}{QUERY}", url.trim_end_matches('/'));
        let dialled = connect_async_with_config(url, Some(limits), true);
        match timeout(DIAL_LIMIT, dialled).await {
            Ok(Ok((socket, _))) => Ok(Self(socket)),
            Ok(Err(error)) => Err(line(&error.to_string(), 120)),
            Err(_) => Err(format!("no connection in {DIAL_LIMIT:?}")),
        }
    }

    /// The next item. Nothing is lost if the wait for it is given up.
    pub async fn next(&mut self) -> Item {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => {
                    return match serde_json::from_str(text.as_str()) {
                        Ok(frame) => Item::Frame(frame),
                        Err(_) => Item::Unreadable,
                    };
                }
                Some(Ok(Message::Close(close))) => {
                    let code = close.as_ref().map(|close| u16::from(close.code));
                    let reason = close.map(|close| line(close.reason.as_str(), 120));
                    return Item::End(code, reason.unwrap_or_default());
                }
                Some(Ok(Message::Binary(_))) => return Item::Unreadable,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Item::End(None, line(&error.to_string(), 120)),
                None => return Item::End(None, "the connection ended".to_owned()),
            }
        }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Why it did not leave.
    pub async fn send(&mut self, frame: &Value) -> Result<(), String> {
        let sent = self.0.send(Message::text(frame.to_string()));
        match timeout(WRITE_LIMIT, sent).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(line(&error.to_string(), 120)),
            Err(_) => Err(format!("a frame did not leave in {WRITE_LIMIT:?}")),
        }
    }
}
