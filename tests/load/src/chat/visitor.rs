//! One visitor of the web chat.
//!
//! Owns his socket, with buffers small enough that thousands fit, and the moments at which pieces of his answer came.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    sync::watch,
    time::{timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{Message, client::IntoClientRequest, protocol::WebSocketConfig},
};

use crate::{Fault, address::Target, onebot, stamp};

/// Longest handshake and greeting, on a machine that is busy with thousands of them.
const GREETING: Duration = Duration::from_secs(30);
/// An answer that has shown nothing for so long has no end.
const SILENCE: Duration = Duration::from_secs(60);
/// Bytes that are read at once.
const BUFFER: usize = 4 * 1024;

/// Somebody who has said hello.
pub struct Visitor {
    socket: WebSocketStream<TcpStream>,
    end: watch::Receiver<bool>,
}

/// What somebody was shown.
#[derive(Debug, Default)]
pub struct Heard {
    /// How old the newest word of each piece was.
    pub pieces: Vec<Duration>,
    /// The answer came to its end.
    pub ended: bool,
}

impl Visitor {
    /// Opens a socket and says hello.
    ///
    /// # Errors
    /// The gateway does not take it.
    pub async fn open(chat: Target, end: watch::Receiver<bool>) -> Result<Self, Fault> {
        let opening = async {
            let request = format!("ws://{}{}", chat.address, chat.path).into_client_request()?;
            let stream = onebot::open(chat.address).await?;
            let config = WebSocketConfig::default()
                .read_buffer_size(BUFFER)
                .write_buffer_size(0);
            let (mut socket, _) = client_async_with_config(request, stream, Some(config)).await?;
            let hello = json!({ "type": "hello" }).to_string();
            socket.send(Message::text(hello)).await?;
            loop {
                let frame = socket.next().await.ok_or("closed before the welcome")??;
                if kind(&frame).as_deref() == Some("welcome") {
                    return Ok::<_, Fault>(socket);
                }
            }
        };
        let socket = timeout(GREETING, opening).await??;
        Ok(Self { socket, end })
    }

    /// Listens and says nothing, until the measurement is over; says whether the socket was open all the time.
    pub async fn stay(mut self) -> bool {
        loop {
            tokio::select! {
                frame = self.socket.next() => match frame {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return false,
                    // Pings are answered by the library when the next frame is read.
                    Some(Ok(_)) => {}
                },
                _ = self.end.wait_for(|over| *over) => return true,
            }
        }
    }

    /// Says something and reads the answer to its end.
    pub async fn speak(mut self) -> Heard {
        let mut heard = Heard::default();
        let said = json!({ "type": "text", "messageId": "m1", "content": "hello #a1" }).to_string();
        if self.socket.send(Message::text(said)).await.is_err() {
            return heard;
        }
        let mut newest = Duration::ZERO;
        loop {
            let until = tokio::time::Instant::now() + SILENCE;
            let Ok(Some(Ok(frame))) = timeout_at(until, self.socket.next()).await else {
                return heard;
            };
            let Some(frame) = read(&frame) else { continue };
            match frame["type"].as_str() {
                Some("text") if frame["final"] != true => {
                    let shown = frame["html"].as_str().and_then(stamp::newest);
                    if let Some(written) = shown.filter(|written| *written > newest) {
                        newest = written;
                        heard
                            .pieces
                            .push(stamp::since_1970().saturating_sub(written));
                    }
                }
                Some("end") => {
                    heard.ended = true;
                    return heard;
                }
                _ => {}
            }
        }
    }
}

fn read(frame: &Message) -> Option<Value> {
    match frame {
        Message::Text(text) => serde_json::from_str(text.as_str()).ok(),
        _ => None,
    }
}

fn kind(frame: &Message) -> Option<String> {
    Some(read(frame)?["type"].as_str()?.to_owned())
}
