//! The server behind the fake provider.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State as Extract;
use axum::http::{HeaderMap, Response, StatusCode, header::CONTENT_TYPE};
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures_util::stream::{self, Stream};
use serde_json::Value;
use tokio::sync::oneshot;

use super::asked::last_user_text;
use super::script::{Ending, Format, Script, Wanted};
use super::{MAX_RECORDS, RecordedRequest, State, meaning, messages, responses};

/// Serves until `stopped` resolves. The runtime ends here, and every connection with it.
pub(super) fn run(listener: TcpListener, state: Arc<State>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime for the fake provider");
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a tokio listener");
        let counted = state.clone();
        let listener = listener.tap_io(move |connection| {
            counted.running.lock().connections += 1;
            let _ = connection.set_nodelay(true);
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(completions))
            .route("/v1/messages", post(in_messages))
            .route("/v1/responses", post(in_responses))
            .route("/v1/embeddings", post(embeddings))
            .layer(axum::extract::DefaultBodyLimit::max(64 * 1024 * 1024))
            .with_state(state);
        tokio::select! {
            _ = axum::serve(listener, router) => {}
            _ = stopped => {}
        }
    });
}

/// Counts a request as running until its body has gone out or the client has left.
struct Guard(Arc<State>);

impl Guard {
    fn new(state: Arc<State>) -> Self {
        let mut running = state.running.lock();
        running.now += 1;
        running.most = running.most.max(running.now);
        drop(running);
        Self(state)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.running.lock().now -= 1;
    }
}

async fn completions(
    Extract(state): Extract<Arc<State>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    answer(state, headers, body, Format::ChatCompletions).await
}

async fn in_messages(
    Extract(state): Extract<Arc<State>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    answer(state, headers, body, Format::Messages).await
}

async fn in_responses(
    Extract(state): Extract<Arc<State>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    answer(state, headers, body, Format::Responses).await
}

/// Is not counted among the requests: it is no turn's.
async fn embeddings(body: Bytes) -> axum::Json<Value> {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    axum::Json(meaning::answer(&body))
}

async fn answer(
    state: Arc<State>,
    headers: HeaderMap,
    body: Bytes,
    format: Format,
) -> Response<Body> {
    let guard = Guard::new(state.clone());
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let refused = match format {
        Format::Responses => Some(responses::check(&body)),
        Format::Messages => Some(messages::check(&body)),
        Format::ChatCompletions => None,
    };
    let script = match refused {
        Some(Err(refusal)) => Script::refused(&refusal),
        _ => {
            let script = state.scripts.lock().pop_front();
            script.unwrap_or_else(|| (state.responder)(last_user_text(&body)))
        }
    };
    let wanted = Wanted {
        stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
        sealed: responses::wants_sealed(&body),
        model: body["model"].as_str().unwrap_or_default().to_owned(),
    };
    record(&state, &headers, body);
    pause(script.before_headers).await;
    respond(&script, format, &wanted, guard)
}

fn record(state: &State, headers: &HeaderMap, body: Value) {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            (
                name.as_str().to_owned(),
                String::from_utf8_lossy(value.as_bytes()).into_owned(),
            )
        })
        .collect();
    let mut records = state.records.lock();
    if records.len() == MAX_RECORDS {
        records.pop_front();
    }
    records.push_back(RecordedRequest { headers, body });
    drop(records);
    state.count.send_modify(|count| *count += 1);
}

fn respond(script: &Script, format: Format, wanted: &Wanted, guard: Guard) -> Response<Body> {
    let (content_type, slices) = script.render(format, wanted);
    let mut response = Response::builder()
        .status(StatusCode::from_u16(script.status).expect("a valid status"))
        .header(CONTENT_TYPE, content_type);
    for (name, value) in &script.headers {
        response = response.header(name, value);
    }
    let body = body(slices, script.first, script.between, script.ending, guard);
    response
        .body(Body::from_stream(body))
        .expect("a valid response")
}

fn body(
    slices: Vec<Bytes>,
    first: Duration,
    between: Duration,
    ending: Ending,
    guard: Guard,
) -> impl Stream<Item = io::Result<Bytes>> {
    let start = (slices.into_iter().peekable(), first, guard);
    stream::unfold(Some(start), move |step| async move {
        let (mut slices, delay, guard) = step?;
        if slices.peek().is_none() && ending == Ending::Complete {
            return None;
        }
        // Even without a delay the server gets a chance to write what it has.
        tokio::task::yield_now().await;
        pause(delay).await;
        match (slices.next(), ending) {
            (Some(slice), _) => Some((Ok(slice), Some((slices, between, guard)))),
            (None, Ending::BreakOff) => Some((Err(io::Error::other("broken off")), None)),
            (None, _) => std::future::pending().await,
        }
    })
}

async fn pause(delay: Duration) {
    if !delay.is_zero() {
        // More than the timer can take means for ever.
        match tokio::time::Instant::now().checked_add(delay) {
            Some(then) => tokio::time::sleep_until(then).await,
            None => std::future::pending().await,
        }
    }
}
