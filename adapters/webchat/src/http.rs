//! The routes: the files, the page of the site, what the element asks of it, and the socket.
//!
//! Owns what is refused before the upgrade, and the headers that keep the rules: the page has no inline script or
//! style, no foreign source, no frame; what belongs to a site is given to pages of that site alone. It never reads
//! a cookie, so no other page can act in a visitor's name, and no token is ever part of an address.

use std::{fmt::Write, sync::Arc};

use axum::{
    Extension, Json, Router,
    extract::{
        Request, State, WebSocketUpgrade,
        ws::{WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use weirgate_sdk::ClientAddress;

use crate::{
    adapter::{NoPlace, WebChat},
    download,
    files::{File, files, page},
    origin::{check_host, check_origin},
    rest, socket, upload,
};

/// Largest body of a request from a client in bytes, but for files.
pub(crate) const MAX_BODY: usize = 128 * 1024;
/// A socket's buffers in bytes: what is read and written at once, which every socket has, and what may wait behind a
/// slow connection.
const BUFFER: usize = 4 * 1024;
const MAX_WRITE_BUFFER: usize = 4 * 1024 * 1024;

/// Pictures of other servers are allowed because a visitor may ask for one that an answer names; none is loaded before.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      connect-src 'self'; img-src 'self' blob: https:; media-src blob:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The routes of a site: `/site/NAME`, `/ws/NAME` and `/api/chat/NAME`. The `first` site also has the files, and the
/// addresses without a name.
pub(crate) fn router(chat: &Arc<WebChat>, first: bool) -> Router {
    let name = component(chat.account.as_str());
    let page: Arc<File> = Arc::new(page(chat.account.as_str()));
    let show = get(move |headers: HeaderMap| async move { page.answer(&headers) });
    let (socket, about) = (get(open), get(about));
    let mut routes = Router::new()
        .route(&format!("/site/{name}"), show.clone())
        .route(&format!("/ws/{name}"), socket.clone())
        .route(&format!("/api/chat/{name}"), about)
        .route(
            &format!("/api/chat/{name}/files"),
            post(upload::take).options(upload_preflight),
        )
        .route(
            &format!("/api/chat/{name}/files/{{file}}"),
            get(download::give).options(download_preflight),
        )
        .merge(rest::routes(chat, &format!("/api/chat/{name}")));
    if first {
        routes = routes
            .route("/", show)
            .route("/ws", socket.clone())
            .route("/chat", socket);
    }
    let guarded = from_fn_with_state(Arc::clone(chat), guard);
    let mut routes = routes.layer(guarded).with_state(Arc::clone(chat));
    if first {
        for (path, file) in files() {
            routes = routes.route(path, get(|headers: HeaderMap| shared(file, headers)));
        }
    }
    routes
}

/// A file that any page may load.
async fn shared(file: &'static File, headers: HeaderMap) -> Response {
    let mut response = file.answer(&headers);
    put(
        &mut response,
        &[
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "cross-origin",
            ),
            // A drawing that is opened as a page can do nothing.
            (header::CONTENT_SECURITY_POLICY, POLICY),
        ],
    );
    response
}

fn put(response: &mut Response, headers: &[(HeaderName, &'static str)]) {
    for (name, value) in headers {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name.clone(), value);
    }
}

/// Refuses foreign hosts, adds the headers, and lets pages of the site read the answer.
async fn guard(State(chat): State<Arc<WebChat>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = single(headers, header::HOST);
    let origin = origin_of(headers).map(str::to_owned);
    let allowed = check_origin(
        origin.as_deref(),
        host.unwrap_or_default(),
        &chat.settings.origins,
    );
    let mut response = match check_host(host, &chat.settings.hosts) {
        Ok(()) => next.run(request).await,
        Err(_) => refuse("this host is not served here"),
    };
    put(
        &mut response,
        &[
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
        ],
    );
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    let origin = origin.and_then(|origin| HeaderValue::try_from(origin).ok());
    if let (Ok(()), Some(origin)) = (allowed, origin) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// What the element has to know before anybody connects.
async fn about(State(chat): State<Arc<WebChat>>) -> (HeaderMap, Json<Value>) {
    let site = &chat.settings;
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let mut body = json!({
        "title": site.title, "suggestions": site.suggestions, "maxMessage": site.max_message,
        "files": site.files,
    });
    if let Some(limits) = upload::limits(&chat) {
        body["maxFile"] = limits;
    }
    let texts = [
        ("greeting", &site.greeting),
        ("placeholder", &site.placeholder),
        ("color", &site.color),
    ];
    for (name, value) in texts.into_iter().filter(|(_, value)| !value.is_empty()) {
        body[name] = value.as_str().into();
    }
    if site.left {
        body["position"] = "left".into();
    }
    (headers, Json(body))
}

/// What a browser asks before it lets a page of another origin send a file. The guard adds for whom the answer is good.
async fn upload_preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    put(
        &mut response,
        &[
            (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, content-type, x-session, x-file-name",
            ),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ],
    );
    response
}

/// The same before a page of another origin fetches a file.
async fn download_preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    put(
        &mut response,
        &[
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "authorization, x-session",
            ),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ],
    );
    response
}

/// Opens a socket, if the page that asks may.
async fn open(
    State(chat): State<Arc<WebChat>>,
    client: Option<Extension<ClientAddress>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if uri.query().is_some_and(|query| !query.is_empty()) {
        return refuse("no parameters here: a token belongs into the first frame");
    }
    if !may_ask(&headers, &chat.settings.origins) {
        return refuse("this origin may not open the socket");
    }
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let link = match chat.link(client.map(|Extension(client)| client.0)) {
        Ok(link) => link,
        Err(reason) => return no_place(reason),
    };
    let most = chat.settings.max_frame;
    upgrade
        .max_message_size(most)
        .max_frame_size(most)
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_write_buffer_size(MAX_WRITE_BUFFER)
        .on_upgrade(move |socket: WebSocket| socket::serve(chat, link, socket))
}

fn no_place(reason: NoPlace) -> Response {
    let (status, pause, text) = match reason {
        NoPlace::Full => (StatusCode::SERVICE_UNAVAILABLE, "5", "try again later"),
        NoPlace::Address => (
            StatusCode::TOO_MANY_REQUESTS,
            "30",
            "too many connections from this address",
        ),
    };
    (status, [(header::RETRY_AFTER, pause)], text).into_response()
}

/// Where a request comes from, if it says so. A second or unreadable header is as bad as a foreign one.
pub(crate) fn origin_of(headers: &HeaderMap) -> Option<&str> {
    let named = headers.contains_key(header::ORIGIN);
    named.then(|| single(headers, header::ORIGIN).unwrap_or("null"))
}

/// Whether the page that asks is the server's own, or one of these.
pub(crate) fn may_ask(headers: &HeaderMap, origins: &[String]) -> bool {
    let host = single(headers, header::HOST).unwrap_or_default();
    check_origin(origin_of(headers), host, origins).is_ok()
}

/// The value of a header that stands there exactly once.
pub(crate) fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values
        .next()
        .is_none()
        .then(|| first.to_str().ok())
        .flatten()
}

pub(crate) fn refuse(reason: &'static str) -> Response {
    (StatusCode::FORBIDDEN, reason).into_response()
}

/// A name as one part of a path, as `encodeURIComponent` in a browser writes it.
fn component(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(byte.into());
        } else {
            // Writing into a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_browsers_write_them() {
        assert_eq!(component("shop-1.a_b"), "shop-1.a_b");
        assert_eq!(component("店 {x}/*"), "%E5%BA%97%20%7Bx%7D%2F*");
    }
}
