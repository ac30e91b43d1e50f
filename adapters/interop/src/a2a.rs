//! A2A 1.0 over the gateway's web server: an agent card, and JSON-RPC whose answers may come as events.
//!
//! Owns who is let in by the bearer token, and what each method does. A task is a message of a caller, so that it can be
//! asked for as long as the store knows it. What a request looks like is `wire`'s.

mod card;
mod stream;
mod wire;

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{
        IntoResponse as _, Response,
        sse::{Event as SseEvent, KeepAlive, Sse},
    },
    routing::{get, post},
};
use futures_util::stream::unfold;
use serde_json::Value;
use weirgate_sdk::{ConversationKey, Event, MessageId, Stop};

use self::{
    stream::Told,
    wire::{Asked, Request, TaskId},
};
use crate::{
    adapter::Shared,
    call::{Call, Progress, Stage},
    fault::Fault,
    hub::Begun,
    recall::recalled,
    said::said,
    submit::{Door, Submission},
};

/// The largest request, in bytes.
const MAX_BODY: usize = 1024 * 1024;
/// How often a stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(15);
/// The header that says the version.
const VERSION: &str = "a2a-version";

/// The routes: the agent under its name. Of several the `first` also has its card where the cards of servers are.
pub(crate) fn router(shared: &Arc<Shared>, first: bool) -> Option<Router> {
    shared.settings.a2a.as_ref()?;
    let path = card::path(&shared.account);
    let mut routes = Router::new()
        .route(&path, post(ask))
        .route(&format!("{path}/{}", card::FILE), get(describe));
    if first {
        routes = routes.route(&format!("/{}", card::FILE), get(describe));
    }
    let limit = DefaultBodyLimit::max(MAX_BODY);
    Some(routes.layer(limit).with_state(Arc::clone(shared)))
}

async fn describe(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let Some(card) = card::card(&shared, host) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let text = card.to_string();
    let tag = card::tag(&text);
    let known = headers.get(header::IF_NONE_MATCH);
    let mut response = if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/json")], text).into_response()
    };
    let told = response.headers_mut();
    told.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=60"),
    );
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        told.insert(header::ETAG, tag);
    }
    response
}

/// What a caller asks.
async fn ask(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let token = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let caller = token.and_then(|(_, token)| shared.callers.find(token.trim()));
    let Some(caller) = caller else {
        let fault = Fault::new(Fault::UNKNOWN_CALLER, "this token opens nothing");
        let refused = Json(wire::refusal(&Value::Null, &fault));
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, refused).into_response();
    };
    let version = headers.get(VERSION).and_then(|value| value.to_str().ok());
    let (id, request) = wire::read(&body, version, shared.settings.max_task);
    match answer(&shared, &caller, &id, request).await {
        Ok(response) => response,
        Err(fault) => Json(wire::refusal(&id, &fault)).into_response(),
    }
}

async fn answer(
    shared: &Arc<Shared>,
    caller: &str,
    id: &Value,
    request: Result<Request, Fault>,
) -> Result<Response, Fault> {
    let request = request?;
    let Some((door, stop)) = shared.door() else {
        return Err(Fault::new(Fault::INTERNAL, "the gateway is stopping"));
    };
    let reply = |result: &Value| Json(wire::reply(id, result)).into_response();
    match request {
        Request::Send(asked) => {
            let at_once = asked.at_once;
            let call = begin(shared, &door, caller, asked)?;
            let progress = waited(&call, at_once, &stop).await;
            Ok(reply(&wire::sent(&task_of(&call), &progress)))
        }
        Request::Stream(asked) => {
            let call = begin(shared, &door, caller, asked)?;
            Ok(events(id.clone(), &call, stop))
        }
        Request::Get(task) => {
            let progress = look(shared, &door, caller, &task).await?;
            Ok(reply(&wire::task(&task, &progress)))
        }
        Request::Cancel(task) => {
            let progress = look(shared, &door, caller, &task).await?;
            if progress.stage.is_over() {
                return Err(Fault::new(Fault::NOT_CANCELABLE, "the task is over"));
            }
            let (conversation, message) = keys(shared, caller, &task);
            shared.hub.cancel(&conversation, &message);
            let submission = Submission {
                event: Event::Deleted {
                    conversation,
                    message,
                },
                call: None,
            };
            door.take(submission).await;
            let cancelled = Progress {
                stage: Stage::Cancelled,
                ..progress
            };
            Ok(reply(&wire::task(&task, &cancelled)))
        }
        Request::Subscribe(task) => {
            let (conversation, message) = keys(shared, caller, &task);
            let found = shared
                .hub
                .find(&conversation, std::slice::from_ref(&message));
            match found.first() {
                Some(call) => Ok(events(id.clone(), call, stop)),
                None => {
                    look(shared, &door, caller, &task).await?;
                    let what = "nothing more comes of this task here: ask for it";
                    Err(Fault::new(Fault::NOT_SUPPORTED, what))
                }
            }
        }
    }
}

/// Begins a task, or finds the one of the same message. It goes on when its caller goes away.
fn begin(
    shared: &Arc<Shared>,
    door: &Door,
    caller: &str,
    asked: Asked,
) -> Result<Arc<Call>, Fault> {
    let key = shared.key(caller, &asked.context);
    let call = match shared.hub.begin(&key, &asked.message.as_str().into()) {
        Begun::New(call) | Begun::Known(call) => call,
        Begun::Full => return Err(Fault::new(Fault::INTERNAL, "too many tasks are under way")),
    };
    let submission = Submission {
        event: Event::Message(Box::new(said(&call, caller, &asked.text, asked.passed))),
        call: Some(Arc::clone(&call)),
    };
    let door = door.clone();
    tokio::spawn(async move { door.take(submission).await });
    Ok(call)
}

/// Waits until a task is over, or kept where that is enough, or the gateway ends.
async fn waited(call: &Call, at_once: bool, stop: &Stop) -> Progress {
    let mut follow = call.follow();
    let enough = |progress: &Progress| {
        progress.stage.is_over() || at_once && progress.stage != Stage::HandedIn
    };
    tokio::select! {
        // The sender lives as long as the call.
        _ = follow.wait_for(enough) => {}
        () = stop.stopped() => {}
    }
    follow.borrow().clone()
}

/// How far a task of a caller has come.
async fn look(
    shared: &Shared,
    door: &Door,
    caller: &str,
    task: &TaskId,
) -> Result<Progress, Fault> {
    let (conversation, message) = keys(shared, caller, task);
    let found = shared
        .hub
        .find(&conversation, std::slice::from_ref(&message));
    if let Some(call) = found.first() {
        return Ok(call.follow().borrow().clone());
    }
    let transcript = door.ingress.transcript();
    let known = recalled(&*transcript, &conversation, &message).await;
    let known = known.map_err(|error| {
        tracing::warn!(account = %shared.account, error, "a task cannot be looked for");
        Fault::new(Fault::INTERNAL, "the store does not answer now")
    })?;
    let Some(mut progress) = known else {
        return Err(Fault::new(Fault::UNKNOWN_TASK, "there is no such task"));
    };
    if shared.hub.was_cancelled(&conversation, &message) {
        progress.stage = Stage::Cancelled;
    }
    Ok(progress)
}

fn keys(shared: &Shared, caller: &str, task: &TaskId) -> (ConversationKey, MessageId) {
    let key = shared.key(caller, &task.context);
    (key, task.message.as_str().into())
}

fn task_of(call: &Call) -> TaskId {
    let context = call.conversation.thread.as_ref();
    TaskId {
        context: context.map(ToString::to_string).unwrap_or_default(),
        message: call.message.to_string(),
    }
}

/// A task as events, until it is over or the gateway ends.
fn events(id: Value, call: &Arc<Call>, stop: Stop) -> Response {
    let told = Told::new(task_of(call), call.follow());
    let events = unfold((told, id, stop), async |(mut told, id, stop)| {
        let event = tokio::select! {
            event = told.next() => event?,
            () = stop.stopped() => return None,
        };
        let event = SseEvent::default().data(wire::reply(&id, &event).to_string());
        Some((Ok::<_, Infallible>(event), (told, id, stop)))
    });
    let alive = KeepAlive::new().interval(ALIVE);
    Sse::new(events).keep_alive(alive).into_response()
}
