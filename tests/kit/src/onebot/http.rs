//! The fake implementation by HTTP: it takes calls, and posts events.
//!
//! Owns the routes, the token, and the signature of what it posts.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing,
};
use futures_util::stream;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha1::Sha1;
use tokio::net::TcpListener;

use super::{
    Door, Shared,
    api::{self, Then},
};
use crate::exchange;

/// Where events go.
#[derive(Debug, Clone)]
pub(super) struct Target {
    address: String,
    path: String,
    secret: String,
}

impl Target {
    pub(super) fn new(url: &str, secret: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("an http address");
        let (address, path) = rest.split_once('/').expect("a path");
        Self {
            address: address.to_owned(),
            path: format!("/{path}"),
            secret: secret.to_owned(),
        }
    }

    pub(super) fn sign(&self, body: &str) -> String {
        let mac = Hmac::<Sha1>::new_from_slice(self.secret.as_bytes());
        let mut mac = mac.expect("any key fits");
        mac.update(body.as_bytes());
        let bytes = mac.finalize().into_bytes();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha1={digits}")
    }
}

/// Posts one event; gives the status of the answer, 0 if there is none.
pub(super) async fn post(
    target: &Target,
    self_id: u64,
    body: &str,
    signature: Option<&str>,
) -> u16 {
    let signature = signature.map_or_else(String::new, |text| format!("x-signature: {text}\r\n"));
    let request = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nx-self-id: {self_id}\r\n\
         {signature}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        target.path,
        target.address,
        body.len()
    );
    exchange::status(&target.address, &request).await
}

/// Takes calls.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let routes = Router::new()
        .route("/{action}", routing::post(take))
        .with_state(shared);
    let _ = axum::serve(listener, routes).await;
}

async fn take(
    State(shared): State<Arc<Shared>>,
    Path(action): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !*shared.open.borrow() {
        return broken();
    }
    let door = shared.doors.lock().pop_front();
    match door {
        Some(Door::Status(status)) => {
            let status = StatusCode::from_u16(status).expect("a status");
            return status.into_response();
        }
        Some(Door::WrongToken) => return StatusCode::FORBIDDEN.into_response(),
        Some(Door::Close | Door::Broken) => return broken(),
        None => {}
    }
    let wanted = shared
        .options
        .token
        .as_ref()
        .map(|token| format!("Bearer {token}"));
    let shown = headers
        .get("authorization")
        .and_then(|shown| shown.to_str().ok());
    match (wanted.as_deref(), shown) {
        (Some(_), None) => return StatusCode::UNAUTHORIZED.into_response(),
        (Some(wanted), Some(shown)) if wanted != shown => {
            return StatusCode::FORBIDDEN.into_response();
        }
        _ => {}
    }
    let Ok(params) = serde_json::from_slice::<Value>(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let call = json!({ "action": action, "params": params }).to_string();
    match api::call(&shared, &call) {
        Then::Answer(answer, after) => {
            tokio::time::sleep(after).await;
            ([("content-type", "application/json")], answer.to_string()).into_response()
        }
        Then::Nothing => std::future::pending().await,
        Then::Break => broken(),
        Then::Garble => ([("content-type", "application/json")], "{\"status\":\"o").into_response(),
        Then::Status(status) => {
            let status = StatusCode::from_u16(status).expect("a status");
            status.into_response()
        }
    }
}

/// An answer that breaks in the middle.
fn broken() -> Response {
    let pieces: [Result<Bytes, std::io::Error>; 2] = [
        Ok(Bytes::from_static(b"{")),
        Err(std::io::Error::other("broken on purpose")),
    ];
    Body::from_stream(stream::iter(pieces)).into_response()
}
