//! A model server of known speed.
//!
//! Owns the chat completions it answers, streamed or whole: the tags of the last user message, then as
//! many words as it was told, at a fixed pace. It understands nothing and keeps nothing.

use std::{convert::Infallible, io, net::SocketAddr, time::Duration};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    time::{Instant, sleep_until},
};

use crate::{Fault, stamp, tag};

/// How fast answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time to the first token, in milliseconds.
    pub first_ms: u64,
    /// Tokens of an answer.
    pub tokens: u32,
    /// Time between two tokens, in milliseconds.
    pub inter_ms: u64,
    /// Each token says when it was written.
    pub stamped: bool,
}

impl Pace {
    /// When a token is due after the request. Counted from the request, so that late timers do not add up.
    fn due(&self, token: u32) -> Duration {
        let between = self.inter_ms.saturating_mul(u64::from(token));
        Duration::from_millis(self.first_ms.saturating_add(between))
    }
}

/// Serves until the process ends.
///
/// # Errors
/// The address is taken.
pub async fn serve(listen: SocketAddr, pace: Pace) -> Result<(), Fault> {
    let listener = TcpListener::bind(listen).await?.tap_io(|stream| {
        let _: io::Result<()> = stream.set_nodelay(true);
    });
    let routes = Router::new()
        .route("/v1/chat/completions", post(complete))
        .with_state(pace);
    axum::serve(listener, routes).await?;
    Ok(())
}

async fn complete(State(pace): State<Pace>, Json(request): Json<Value>) -> Response {
    let start = Instant::now();
    let opening = opening(&request);
    if request["stream"] == true {
        return streamed(start, pace, opening);
    }
    sleep_until(start + pace.due(pace.tokens.saturating_sub(1))).await;
    let mut text = opening;
    text.extend((1..pace.tokens).map(|_| " word"));
    Json(json!({
        "id": "load",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 1, "completion_tokens": pace.tokens, "total_tokens": pace.tokens + 1 },
    }))
    .into_response()
}

fn streamed(start: Instant, pace: Pace, opening: String) -> Response {
    let pieces = stream::unfold(0, move |token| {
        let opening = opening.clone();
        async move {
            if token > pace.tokens {
                return None;
            }
            if token < pace.tokens {
                sleep_until(start + pace.due(token)).await;
            }
            let piece = match token {
                0 => chunk(&json!({ "role": "assistant", "content": opening }), None),
                _ if token == pace.tokens => {
                    format!("{}data: [DONE]\n\n", chunk(&json!({}), Some("stop")))
                }
                _ if pace.stamped => chunk(&json!({ "content": stamp::word() }), None),
                _ => chunk(&json!({ "content": " word" }), None),
            };
            Some((Ok::<_, Infallible>(Bytes::from(piece)), token + 1))
        }
    });
    let headers = [(CONTENT_TYPE, "text/event-stream")];
    (headers, Body::from_stream(pieces)).into_response()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let chunk = json!({
        "id": "load",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "model",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    });
    format!("data: {chunk}\n\n")
}

/// How the answer begins: every tag of the last user message, for a turn may answer several messages.
fn opening(request: &Value) -> String {
    let messages = request["messages"].as_array();
    let last = messages
        .into_iter()
        .flatten()
        .rfind(|message| message["role"] == "user");
    let content = match last.map(|message| &message["content"]) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    let tags: Vec<String> = tag::words(&content)
        .map(|word| format!("#{word}"))
        .collect();
    if tags.is_empty() {
        "untagged".to_owned()
    } else {
        tags.join(" ")
    }
}

#[cfg(test)]
mod tests;
