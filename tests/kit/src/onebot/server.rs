//! The fake implementation as a WebSocket server.
//!
//! Owns the listener and what a client meets at its handshake: most are let in, some meet a fault.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use futures_util::SinkExt;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
        http::StatusCode,
    },
};

use super::{Shared, client};

/// Connections that are kept waiting at most.
const MAX_WAITING: usize = 64;

/// What a client meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// This HTTP status in place of the upgrade.
    Status(u16),
    /// The upgrade, then a frame that the token is wrong, then the end.
    WrongToken,
    /// The upgrade, then a close frame.
    Close,
    /// A connection that breaks at once.
    Broken,
}

/// A listener at a port that is free.
pub(super) async fn bind() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves one client after the other.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let mut open = shared.open.subscribe();
    let mut waiting = VecDeque::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => return,
            },
            _ = open.changed() => {
                waiting.clear();
                continue;
            }
        };
        if !*open.borrow() {
            waiting.push_back(stream);
            if waiting.len() > MAX_WAITING {
                waiting.pop_front();
            }
            continue;
        }
        let _ = stream.set_nodelay(true);
        let door = shared.doors.lock().pop_front();
        if let Some(socket) = meet(&shared, stream, door).await {
            tokio::select! {
                () = client::one(&shared, socket) => {}
                _ = open.wait_for(|open| !open) => {}
            }
            shared.socket.send_replace(None);
        }
    }
}

/// The handshake; `None` if the client is not let in.
async fn meet(
    shared: &Shared,
    stream: TcpStream,
    door: Option<Door>,
) -> Option<WebSocketStream<TcpStream>> {
    if door == Some(Door::Broken) {
        return None;
    }
    let wanted = shared
        .options
        .token
        .as_ref()
        .map(|token| format!("Bearer {token}"));
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        let shown = request.headers().get("authorization");
        let shown = shown.and_then(|shown| shown.to_str().ok());
        let status = match door {
            Some(Door::Status(status)) => Some(status),
            _ if wanted.is_some() && shown != wanted.as_deref() => Some(401),
            _ => None,
        };
        let Some(status) = status else {
            return Ok(response);
        };
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = StatusCode::from_u16(status).expect("a status");
        Err(refusal)
    };
    let mut socket = accept_hdr_async(stream, check).await.ok()?;
    match door {
        Some(Door::WrongToken) => {
            let answer = json!({ "status": "failed", "retcode": 1403, "message": "wrong token" });
            let _ = socket.send(Message::text(answer.to_string())).await;
            let _ = socket.close(None).await;
            None
        }
        Some(Door::Close) => {
            let _ = socket.close(None).await;
            None
        }
        _ => Some(socket),
    }
}
