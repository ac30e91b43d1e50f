//! A web chat client over a real WebSocket, for tests and load.
//!
//! Owns one connection. It sends what it is told, keeps frames in the order of their arrival, and never
//! reconnects by itself. Every wait has a limit; a frame that does not come is a failed test.

use std::{net::SocketAddr, time::Duration};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest, http::HeaderValue},
};

/// How long a frame may take.
const WAIT: Duration = Duration::from_secs(10);

/// One open socket.
#[derive(Debug)]
pub struct WebChatClient {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The newest `seq` that was seen.
    pub seq: u64,
    /// The epoch of the last welcome.
    pub epoch: String,
    /// The token of the first welcome.
    pub token: String,
    /// The session of the last welcome.
    pub session: String,
}

impl WebChatClient {
    /// Opens a socket as a program does, without an Origin.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::open(address, &[]).await.unwrap()
    }

    /// Opens a socket with headers of one's own, such as Origin or Host.
    ///
    /// # Errors
    /// The HTTP status, if the upgrade is refused.
    pub async fn open(address: SocketAddr, headers: &[(&'static str, &str)]) -> Result<Self, u16> {
        Self::open_at(&format!("ws://{address}/chat"), headers).await
    }

    /// Opens a socket at an address of one's own.
    ///
    /// # Errors
    /// The HTTP status, if the upgrade is refused.
    pub async fn open_at(url: &str, headers: &[(&'static str, &str)]) -> Result<Self, u16> {
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request
                .headers_mut()
                .insert(*name, HeaderValue::from_str(value).unwrap());
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Self {
                socket,
                seq: 0,
                epoch: String::new(),
                token: String::new(),
                session: String::new(),
            }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("no connection: {error}"),
        }
    }

    /// Sends one JSON frame.
    pub async fn send(&mut self, frame: Value) {
        self.send_text(&frame.to_string()).await;
    }

    /// Sends one text frame as it is.
    pub async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    /// Sends one binary frame.
    pub async fn send_binary(&mut self, bytes: Vec<u8>) {
        self.socket.send(Message::binary(bytes)).await.unwrap();
    }

    /// Says hello with fields of one's own and returns the welcome.
    pub async fn hello(&mut self, mut fields: Value) -> Value {
        fields["type"] = "hello".into();
        self.send(fields).await;
        let welcome = self.next_of("welcome").await;
        let field = |name: &str| welcome[name].as_str().unwrap_or_default().to_owned();
        self.epoch = field("epoch");
        self.session = field("sessionId");
        if welcome.get("token").is_some() {
            self.token = field("token");
        }
        welcome
    }

    /// Says hello as somebody new (without a token) or as the visitor of a token, and takes the
    /// snapshot that follows.
    pub async fn enter(&mut self, token: Option<&str>) -> Value {
        self.hello(json!({ "token": token })).await;
        if let Some(token) = token {
            self.token = token.to_owned();
        }
        self.next_of("history").await
    }

    /// Says hello with the last frame that another connection has seen, and returns the welcome.
    pub async fn resume(&mut self, other: &Self) -> Value {
        self.token.clone_from(&other.token);
        self.seq = other.seq;
        let resume = json!({ "epoch": other.epoch, "seq": other.seq });
        let (token, session) = (&other.token, &other.session);
        self.hello(json!({ "token": token, "sessionId": session, "resume": resume }))
            .await
    }

    /// Sends a message.
    pub async fn say(&mut self, message: &str, text: &str) {
        let content = json!({ "text": text });
        self.send(json!({ "type": "text", "messageId": message, "content": content }))
            .await;
    }

    /// The next frame, or the close code in `{"closed": code}`; 1006 if it broke without one.
    pub async fn next(&mut self) -> Value {
        self.next_within(WAIT).await.expect("no frame in time")
    }

    /// The next frame, if one comes in time.
    pub async fn next_within(&mut self, limit: Duration) -> Option<Value> {
        timeout(limit, self.receive()).await.ok()
    }

    async fn receive(&mut self) -> Value {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(text.as_str()).unwrap();
                    if frame["type"] != "welcome" {
                        self.seq = self.seq.max(frame["seq"].as_u64().unwrap_or(0));
                    }
                    return frame;
                }
                Some(Ok(Message::Close(frame))) => {
                    return json!({ "closed": frame.map_or(1005, |frame| u16::from(frame.code)) });
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return json!({ "closed": 1006 }),
            }
        }
    }

    /// The next frame, which must be of this type.
    pub async fn next_of(&mut self, kind: &str) -> Value {
        let frame = self.next().await;
        assert_eq!(frame["type"], kind, "{frame}");
        frame
    }

    /// The next frame of this type; others are passed over.
    pub async fn skip_to(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await;
            assert!(
                frame.get("closed").is_none(),
                "closed while waiting for {kind}: {frame}"
            );
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// Whether nothing comes for a while: asks for a sign of life and sees only that.
    pub async fn is_quiet(&mut self) -> bool {
        self.send(json!({ "type": "ping" })).await;
        self.next().await["type"] == "pong"
    }

    /// The close code, after passing over frames that came before it.
    pub async fn close_code(&mut self) -> u64 {
        loop {
            if let Some(code) = self.next().await.get("closed") {
                return code.as_u64().unwrap();
            }
        }
    }
}
