//! The same for clients without a WebSocket: requests over HTTP, and a stream of events.
//!
//! Owns how a request becomes a line of the protocol and its answer a response; what the line does is the session's. A
//! visitor is shown by the header `Authorization` alone, which no foreign page can send, and pages of foreign origins
//! are refused. `docs/openapi.json` describes it.

mod ask;
pub mod openapi;
mod stream;

use std::{collections::HashMap, convert::Infallible, net::IpAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, FromRequestParts, Path, Query, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use weirgate_sdk::ClientAddress;

use crate::{
    adapter::WebChat,
    http::{MAX_BODY, may_ask, refuse, single},
    incoming::{Hello, Resume, SessionAct},
    outgoing::object,
    session::once::shown,
    texts::{Code, Language},
};

use self::ask::ask;

/// What a preflight allows.
const HEADERS: &str = "authorization, content-type, last-event-id";
const METHODS: &str = "GET, POST, DELETE";

/// The routes below `/api/chat/NAME`.
pub(crate) fn routes(chat: &Arc<WebChat>, base: &str) -> Router<Arc<WebChat>> {
    let of_site = from_fn_with_state(Arc::clone(chat), only_the_site);
    Router::new()
        .route(
            &format!("{base}/visitors"),
            post(visitors).options(preflight),
        )
        .route(
            &format!("{base}/messages"),
            get(history).post(say).options(preflight),
        )
        .route(
            &format!("{base}/sessions"),
            get(sessions).post(begin).options(preflight),
        )
        .route(
            &format!("{base}/sessions/{{session}}"),
            delete(end).options(preflight),
        )
        .route(
            &format!("{base}/sessions/{{session}}/clear"),
            post(clear).options(preflight),
        )
        .route(&format!("{base}/press"), post(press).options(preflight))
        .route(&format!("{base}/stop"), post(stop).options(preflight))
        .route(
            &format!("{base}/events"),
            get(stream::events).options(preflight),
        )
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(of_site)
}

/// Refuses pages of other origins.
async fn only_the_site(State(chat): State<Arc<WebChat>>, request: Request, next: Next) -> Response {
    if may_ask(request.headers(), &chat.settings.origins) {
        return next.run(request).await;
    }
    refuse("this origin may not ask")
}

/// What a browser asks before it lets a page of another origin send headers of its own.
async fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Who asks, as far as a request says.
pub(crate) struct Asking {
    headers: HeaderMap,
    address: Option<IpAddr>,
}

impl<S: Sync> FromRequestParts<S> for Asking {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let address = parts.extensions.get::<ClientAddress>();
        Ok(Self {
            headers: parts.headers.clone(),
            address: address.map(|client| client.0),
        })
    }
}

impl Asking {
    /// A fault in his language.
    fn failed(&self, code: Code) -> Failed {
        Failed(code, language(&self.headers))
    }

    /// The fields of a body, which is one JSON object.
    fn fields(&self, body: &Bytes) -> Result<Map<String, Value>, Failed> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(fields),
            _ => Err(self.failed(Code::BadFrame)),
        }
    }
}

async fn visitors(State(chat): State<Arc<WebChat>>, asking: Asking) -> Result<Response, Failed> {
    let language = language(&asking.headers);
    let token = ask::new_visitor(&chat, asking.address, language);
    let token = token.map_err(|code| asking.failed(code))?;
    Ok((StatusCode::CREATED, Json(json!({ "token": token }))).into_response())
}

async fn say(
    State(chat): State<Arc<WebChat>>,
    asking: Asking,
    body: Bytes,
) -> Result<Response, Failed> {
    let mut fields = asking.fields(&body)?;
    if let Some(text) = fields.remove("text") {
        fields.insert("content".into(), json!({ "text": text }));
    } else {
        fields.remove("content");
    }
    let answer = line(&chat, &asking, "text", fields).await?;
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
}

async fn press(
    State(chat): State<Arc<WebChat>>,
    asking: Asking,
    body: Bytes,
) -> Result<Response, Failed> {
    let fields = asking.fields(&body)?;
    let answer = line(&chat, &asking, "press", fields).await?;
    Ok((StatusCode::ACCEPTED, Json(answer)).into_response())
}

async fn stop(
    State(chat): State<Arc<WebChat>>,
    asking: Asking,
    body: Bytes,
) -> Result<Response, Failed> {
    let fields = asking.fields(&body)?;
    line(&chat, &asking, "stop", fields).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn history(
    State(chat): State<Arc<WebChat>>,
    Query(query): Query<HashMap<String, String>>,
    asking: Asking,
) -> Result<Json<Value>, Failed> {
    let mut fields = Map::new();
    if let Some(session) = query.get("sessionId") {
        fields.insert("sessionId".into(), session.as_str().into());
    }
    for name in ["before", "limit"] {
        if let Some(number) = query.get(name) {
            let number: i64 = number.parse().map_err(|_| asking.failed(Code::BadFrame))?;
            fields.insert(name.into(), number.into());
        }
    }
    Ok(Json(line(&chat, &asking, "history", fields).await?))
}

async fn sessions(State(chat): State<Arc<WebChat>>, asking: Asking) -> Result<Json<Value>, Failed> {
    Ok(Json(line(&chat, &asking, "sessions", Map::new()).await?))
}

async fn begin(State(chat): State<Arc<WebChat>>, asking: Asking) -> Result<Response, Failed> {
    let answer = conversation(&chat, &asking, None, SessionAct::New).await?;
    let label = json!({ "sessionId": answer["sessionId"] });
    Ok((StatusCode::CREATED, Json(label)).into_response())
}

async fn end(
    State(chat): State<Arc<WebChat>>,
    Path(session): Path<String>,
    asking: Asking,
) -> Result<StatusCode, Failed> {
    conversation(&chat, &asking, Some(session), SessionAct::Delete).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn clear(
    State(chat): State<Arc<WebChat>>,
    Path(session): Path<String>,
    asking: Asking,
) -> Result<StatusCode, Failed> {
    conversation(&chat, &asking, Some(session), SessionAct::Clear).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn conversation(
    chat: &Arc<WebChat>,
    asking: &Asking,
    session: Option<String>,
    act: SessionAct,
) -> Result<Value, Failed> {
    let mut fields = object(json!({ "content": { "act": act.name() } }));
    if let Some(session) = session {
        fields.insert("sessionId".into(), session.into());
    }
    line(chat, asking, "session", fields).await
}

/// Asks one line of the protocol and gives what it is answered with, without what only a socket needs.
async fn line(
    chat: &Arc<WebChat>,
    asking: &Asking,
    kind: &'static str,
    mut fields: Map<String, Value>,
) -> Result<Value, Failed> {
    let failed = |code| asking.failed(code);
    let hello = hello(&asking.headers, None).map_err(failed)?;
    fields.insert("type".into(), kind.into());
    let line = Value::Object(fields).to_string();
    let answer = ask(chat, asking.address, hello, (line, kind)).await;
    let mut answer = answer.map_err(failed)?;
    for name in ["type", "epoch", "seq"] {
        answer.remove(name);
    }
    Ok(Value::Object(answer))
}

/// Who asks, and from where he listens on.
pub(crate) fn hello(headers: &HeaderMap, resume: Option<Resume>) -> Result<Hello, Code> {
    let credential = single(headers, header::AUTHORIZATION).and_then(|it| {
        let (scheme, credential) = it.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(credential.trim())
    });
    let credential = credential
        .filter(|it| !it.is_empty())
        .ok_or(Code::NoVisitor)?;
    let mut hello = shown(credential, language(headers));
    hello.resume = resume;
    Ok(hello)
}

fn language(headers: &HeaderMap) -> Language {
    let tag = single(headers, header::ACCEPT_LANGUAGE).unwrap_or_default();
    Language::of(&tag.trim().into())
}

/// Why a request came to nothing, in the client's language.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) Code, pub(crate) Language);

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        let Self(code, language) = self;
        let body = object(json!({ "code": code.name(), "text": code.text(language) }));
        let mut response = (status(code), Json(Value::Object(body))).into_response();
        let headers = response.headers_mut();
        let mut put =
            |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
        match status(code) {
            StatusCode::UNAUTHORIZED => put(header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => put(
                header::RETRY_AFTER,
                if code == Code::TooManyToday {
                    "3600"
                } else {
                    "30"
                },
            ),
            _ => None,
        };
        response
    }
}

/// The HTTP status of a fault.
fn status(code: Code) -> StatusCode {
    match code {
        Code::NoVisitor | Code::BadIdentity | Code::IdentityRequired | Code::HelloFirst => {
            StatusCode::UNAUTHORIZED
        }
        Code::Forbidden | Code::FilesOff => StatusCode::FORBIDDEN,
        Code::TooLong | Code::FileTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::BadFile | Code::RefusedFile => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::TooFast | Code::TooManyToday | Code::TooManySockets | Code::TooManyFiles => {
            StatusCode::TOO_MANY_REQUESTS
        }
        Code::StoreUnavailable | Code::Stopping | Code::HistoryUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Code::UnknownFile => StatusCode::NOT_FOUND,
        Code::Refused | Code::Ignored => StatusCode::CONFLICT,
        Code::BadFrame
        | Code::UnknownType
        | Code::UnknownAct
        | Code::UnknownPart
        | Code::BadLength
        | Code::BadCount
        | Code::BadSize
        | Code::BadValue
        | Code::NotAvailable
        | Code::MissingMessageId
        | Code::BadMessageId
        | Code::BadSessionId
        | Code::TooManySessions
        | Code::Empty
        | Code::TooManyLines => StatusCode::BAD_REQUEST,
    }
}
