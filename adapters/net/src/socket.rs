//! The WebSocket over which a platform's frames come.
//!
//! Owns its limits, what may be dialled, and the form of frames, which are JSON. It never dials without encryption,
//! unless the platform's HTTP interface itself is not encrypted.

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
/// The longest frame and message, in bytes: some platforms describe a large group in one.
const MAX_FRAME: usize = 32 * 1024 * 1024;
/// Longest reason that is repeated, in characters.
const MAX_TEXT: usize = 120;

/// A connection.
#[derive(Debug)]
pub struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What came.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// A frame.
    Frame(Value),
    /// Something that is no frame.
    Unreadable,
    /// The end, with the platform's code if it gave one.
    End(Option<u16>, String),
}

impl Socket {
    /// Connects to an address that the platform gave; `encrypted` says that its HTTP interface is.
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
        let dialled = connect_async_with_config(url, Some(limits), true);
        match timeout(DIAL_LIMIT, dialled).await {
            Ok(Ok((socket, _))) => Ok(Self(socket)),
            Ok(Err(error)) => Err(line(&error.to_string(), MAX_TEXT)),
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
                    let reason = close.map(|close| line(close.reason.as_str(), MAX_TEXT));
                    return Item::End(code, reason.unwrap_or_default());
                }
                Some(Ok(Message::Binary(_))) => return Item::Unreadable,
                Some(Ok(_)) => {}
                Some(Err(error)) => return Item::End(None, line(&error.to_string(), MAX_TEXT)),
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
            Ok(Err(error)) => Err(line(&error.to_string(), MAX_TEXT)),
            Err(_) => Err(format!("a frame did not leave in {WRITE_LIMIT:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_open_address_is_not_dialled_for_an_encrypted_api() {
        for url in ["ws://127.0.0.1:1", "http://127.0.0.1", ""] {
            let refused = Socket::dial(url, true).await.err();
            let told = refused.as_ref();
            assert!(
                told.is_some_and(|why| why.contains("not encrypted")),
                "{refused:?}"
            );
        }
    }
}
