//! A bare bot: the least work that answers a message.
//!
//! Owns the floor that a gateway is compared with: it gives each private message back, or asks a model
//! once and whole. No database, no queues, no rules, no retries.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use axum::body::{Body, to_bytes};
use futures_util::{SinkExt, StreamExt};
use hyper::{
    Request,
    client::conn::http1::{SendRequest, handshake},
    header::{CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, mpsc},
    task::JoinSet,
};
use tokio_tungstenite::{accept_async, tungstenite::Message};

use crate::{
    Fault,
    address::Target,
    onebot::{FIRST_USER, open, text, write_batch},
};

/// Frames that wait for the socket.
const OUTBOX: usize = 1_024;
/// Model calls at once.
const CALLS: usize = 512;
/// Longest answer of a model, in bytes.
const MAX_ANSWER: usize = 1 << 20;

/// What the bot reads of an event.
#[derive(Deserialize)]
struct Event {
    message_type: Option<String>,
    #[serde(default)]
    user_id: u64,
    #[serde(default)]
    message: Value,
}

/// A model and the connections to it that are free.
struct Model {
    target: Target,
    places: Arc<Semaphore>,
    free: Mutex<Vec<SendRequest<Body>>>,
}

/// Serves until the process ends.
///
/// # Errors
/// The address is taken.
pub async fn serve(listen: SocketAddr, model: Option<Target>) -> Result<(), Fault> {
    let listener = TcpListener::bind(listen).await?;
    let model = model.map(|target| {
        Arc::new(Model {
            target,
            places: Arc::new(Semaphore::new(CALLS)),
            free: Mutex::new(Vec::new()),
        })
    });
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                // A connection that fails ends alone; the run at its other end reports what is missing.
                connections.spawn(connection(stream, model.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, model: Option<Arc<Model>>) -> Result<(), Fault> {
    stream.set_nodelay(true)?;
    let (mut sink, mut events) = accept_async(stream).await?.split();
    let (sender, mut frames) = mpsc::channel::<Message>(OUTBOX);
    let mut writer = JoinSet::new();
    writer.spawn(async move {
        while let Some(first) = frames.recv().await {
            if write_batch(&mut sink, first, || frames.try_recv().ok())
                .await
                .is_err()
            {
                return;
            }
        }
        let _ = sink.close().await;
    });
    let mut calls = JoinSet::new();
    while let Some(Ok(frame)) = events.next().await {
        while calls.try_join_next().is_some() {}
        let Some((user, said)) = frame.to_text().ok().and_then(said) else {
            continue;
        };
        let Some(model) = model.as_ref().filter(|_| !said.starts_with('/')) else {
            sender.send(call(user, &said)).await?;
            continue;
        };
        let (model, sender) = (Arc::clone(model), sender.clone());
        let place = Arc::clone(&model.places).acquire_owned().await?;
        calls.spawn(async move {
            if let Ok(answer) = model.ask(&said).await {
                let _ = sender.send(call(user, &answer)).await;
            }
            drop(place);
        });
    }
    Ok(())
}

/// The author and the text of a private message.
fn said(frame: &str) -> Option<(u64, String)> {
    let event: Event = serde_json::from_str(frame).ok()?;
    (event.message_type? == "private").then(|| (event.user_id, text(&event.message)))
}

fn call(user: u64, said: &str) -> Message {
    let call = json!({
        "action": "send_private_msg",
        "params": {
            "user_id": user,
            "message": [{ "type": "text", "data": { "text": said } }],
        },
        "echo": user.saturating_sub(FIRST_USER as u64),
    });
    Message::text(call.to_string())
}

impl Model {
    /// One plain call.
    async fn ask(&self, said: &str) -> Result<String, Fault> {
        let request = json!({
            "model": "model",
            "stream": false,
            "messages": [{ "role": "user", "content": said }],
        });
        let path = self.target.path.trim_end_matches('/');
        let request = Request::post(format!("{path}/chat/completions"))
            .header(HOST, self.target.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(request.to_string()))?;
        let mut connection = self.connection().await?;
        let response = connection.send_request(request).await?;
        let body = to_bytes(Body::new(response.into_body()), MAX_ANSWER).await?;
        self.free().push(connection);
        let answer: Value = serde_json::from_slice(&body)?;
        let content = answer["choices"][0]["message"]["content"].as_str();
        Ok(content.ok_or("the model gave no text")?.to_owned())
    }

    /// A connection that is free and alive, or a new one.
    async fn connection(&self) -> Result<SendRequest<Body>, Fault> {
        loop {
            let free = self.free().pop();
            let Some(mut connection) = free else {
                break;
            };
            if connection.ready().await.is_ok() {
                return Ok(connection);
            }
        }
        let stream = open(self.target.address).await?;
        let (connection, driver) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        Ok(connection)
    }

    /// Never more than there are places.
    fn free(&self) -> std::sync::MutexGuard<'_, Vec<SendRequest<Body>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
