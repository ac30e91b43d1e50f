//! The routes: the page, its files, and the socket.
//!
//! Owns what is refused before the upgrade, and the headers that keep the page's rules: no inline
//! script or style, no foreign source, no frame. It never reads a cookie, and no token is ever part of
//! an address.

use std::sync::Arc;

use axum::{
    Router,
    extract::{
        Request, State, WebSocketUpgrade,
        ws::{WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};

use crate::{
    adapter::WebChat,
    origin::{check_host, check_origin},
    socket,
};

/// Largest frame and message from a client in bytes.
const MAX_FRAME: usize = 128 * 1024;
/// A socket's buffers in bytes: what is written at once, and what may wait behind a slow connection.
const WRITE_BUFFER: usize = 16 * 1024;
const MAX_WRITE_BUFFER: usize = 4 * 1024 * 1024;

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/chat.js");
const STYLE: &str = include_str!("page/chat.css");
const ICON: &str = include_str!("page/icon.svg");

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The routes of a site.
pub(crate) fn router(chat: &Arc<WebChat>) -> Router {
    Router::new()
        .route("/", get(|| file("text/html; charset=utf-8", PAGE)))
        .route(
            "/chat.js",
            get(|| file("text/javascript; charset=utf-8", SCRIPT)),
        )
        .route("/chat.css", get(|| file("text/css; charset=utf-8", STYLE)))
        .route("/icon.svg", get(|| file("image/svg+xml", ICON)))
        .route("/chat", get(open))
        .layer(from_fn_with_state(Arc::clone(chat), guard))
        .with_state(Arc::clone(chat))
}

async fn file(kind: &'static str, text: &'static str) -> Response {
    (
        [
            (header::CONTENT_TYPE, kind),
            (header::CACHE_CONTROL, "no-cache"),
        ],
        text,
    )
        .into_response()
}

/// Refuses foreign hosts and adds the headers.
async fn guard(State(chat): State<Arc<WebChat>>, request: Request, next: Next) -> Response {
    let host = single(request.headers(), header::HOST);
    let mut response = match check_host(host, &chat.settings.hosts) {
        Ok(()) => next.run(request).await,
        Err(_) => refuse("this host is not served here"),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Opens a socket, if the page that asks may.
async fn open(
    State(chat): State<Arc<WebChat>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if uri.query().is_some_and(|query| !query.is_empty()) {
        return refuse("no parameters here: a token belongs into the first frame");
    }
    let host = single(&headers, header::HOST).unwrap_or_default();
    let origin = match headers.get_all(header::ORIGIN).iter().count() {
        0 => None,
        // A second or unreadable header is as bad as a foreign one.
        _ => Some(single(&headers, header::ORIGIN).unwrap_or("null")),
    };
    if check_origin(origin, host, &chat.settings.origins).is_err() {
        return refuse("this origin may not open the socket");
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Some(link) = chat.link() else {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::RETRY_AFTER, "5")],
            "try again later",
        )
            .into_response();
    };
    upgrade
        .max_message_size(MAX_FRAME)
        .max_frame_size(MAX_FRAME)
        .read_buffer_size(WRITE_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_write_buffer_size(MAX_WRITE_BUFFER)
        .on_upgrade(move |socket: WebSocket| socket::serve(chat, link, socket))
}

/// The value of a header that stands there exactly once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values
        .next()
        .is_none()
        .then(|| first.to_str().ok())
        .flatten()
}

fn refuse(reason: &'static str) -> Response {
    (StatusCode::FORBIDDEN, reason).into_response()
}
