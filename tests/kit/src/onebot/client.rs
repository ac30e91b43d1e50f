//! The connection of the fake implementation.
//!
//! Owns the socket, reading calls and writing answers and events, and reconnecting.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::mpsc,
    task::JoinSet,
};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{
        Error, Message,
        client::IntoClientRequest,
        http::{HeaderName, HeaderValue},
    },
};

use super::{
    Refused, Shared,
    api::{self, Then},
    events,
};

/// Frames that wait for the socket.
const OUTBOX: usize = 1_024;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connects once.
pub(super) async fn open(shared: &Shared) -> Result<Socket, Refused> {
    let failed = |error: &dyn std::fmt::Display| Refused::Failed(error.to_string());
    let mut request = shared
        .url
        .as_str()
        .into_client_request()
        .map_err(|e| failed(&e))?;
    let mut headers = vec![
        ("x-self-id", shared.self_id.to_string()),
        ("x-client-role", shared.options.role.to_owned()),
    ];
    if let Some(token) = &shared.options.token {
        headers.push(("authorization", format!("Bearer {token}")));
    }
    headers.extend(shared.options.headers.iter().cloned());
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| failed(&e))?;
        if value.is_empty() {
            request.headers_mut().remove(name);
        } else {
            let value = HeaderValue::from_str(&value).map_err(|e| failed(&e))?;
            request.headers_mut().insert(name, value);
        }
    }
    match connect_async(request).await {
        Ok((socket, _)) => {
            if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
                let _ = stream.set_nodelay(true);
            }
            Ok(socket)
        }
        Err(Error::Http(response)) => Err(Refused::Status(response.status().as_u16())),
        Err(error) => Err(failed(&error)),
    }
}

/// Serves the first connection and those that follow it.
pub(super) async fn serve(shared: Arc<Shared>, first: Socket) {
    let mut socket = first;
    loop {
        one(&shared, socket).await;
        shared.socket.send_replace(None);
        let Some(pause) = shared.options.reconnect else {
            return;
        };
        socket = loop {
            tokio::time::sleep(pause).await;
            if let Ok(socket) = open(&shared).await {
                break socket;
            }
        };
    }
}

/// Serves one connection to its end.
pub(super) async fn one<S>(shared: &Shared, socket: WebSocketStream<S>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (mut sink, mut stream) = socket.split();
    let (sender, mut frames) = mpsc::channel::<Message>(OUTBOX);
    let _ = sender.try_send(Message::text(events::lifecycle(shared).to_string()));
    shared.socket.send_replace(Some(sender.clone()));
    let mut later = JoinSet::new();
    let write = async {
        while let Some(frame) = frames.recv().await {
            let mut next = Some(frame);
            while let Some(frame) = next {
                if sink.feed(frame).await.is_err() {
                    return;
                }
                next = frames.try_recv().ok();
            }
            if sink.flush().await.is_err() {
                return;
            }
        }
    };
    let read = async {
        while let Some(Ok(message)) = stream.next().await {
            let Message::Text(text) = message else {
                continue;
            };
            match api::call(shared, &text) {
                Then::Answer(answer, after) => {
                    let answer = Message::text(answer.to_string());
                    if after.is_zero() {
                        if sender.send(answer).await.is_err() {
                            return;
                        }
                    } else {
                        let sender = sender.clone();
                        later.spawn(async move {
                            tokio::time::sleep(after).await;
                            let _ = sender.send(answer).await;
                        });
                    }
                }
                Then::Nothing | Then::Status(_) => {}
                Then::Garble => {
                    if sender.send(Message::text("{\"status\":\"o")).await.is_err() {
                        return;
                    }
                }
                Then::Break => return,
            }
        }
    };
    tokio::select! {
        () = write => {}
        () = read => {}
        () = shared.drop_now.notified() => {}
    }
}
