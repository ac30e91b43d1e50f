//! The HTTP server.
//!
//! Owns connections, all of which can be cut at once, the token in the path, and what a call meets before it is looked
//! at.

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::Arc,
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, State as Extract},
    http::{HeaderMap, Response, StatusCode, header::CONTENT_TYPE},
    routing::any,
};
use bytes::Bytes;
use futures_util::stream;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::{Shared, answer::Refusal, api, fault::Fault, table};
use crate::upload;

/// The longest request, in bytes: more than the largest file.
const MAX_REQUEST: usize = 51 * 1024 * 1024;

/// A listener at an address.
pub(super) async fn bind(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).await.expect("binds");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves until the task is ended.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let router = Router::new()
        .route("/{bot}/{method}", any(answer))
        .route("/file/{bot}/documents/{id}", any(file))
        .with_state(Arc::clone(&shared));
    let mut listener = Some(listener);
    let mut open = shared.open.subscribe();
    loop {
        let current = match listener.take() {
            Some(listener) => listener,
            None => bind(shared.address).await.0,
        };
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = current.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    let _ = stream.set_nodelay(true);
                    let service = TowerToHyperService::new(router.clone());
                    connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
                }
                _ = open.wait_for(|open| !open) => break,
            }
        }
        drop(current);
        connections.shutdown().await;
        if open.wait_for(|open| *open).await.is_err() {
            return;
        }
    }
}

async fn answer(
    Extract(shared): Extract<Arc<Shared>>,
    Path((bot, method)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    if bot != format!("bot{}", shared.token) {
        return refused(&Refusal {
            code: 401,
            description: "Unauthorized".into(),
            parameters: Value::Null,
        });
    }
    let body = to_bytes(body, MAX_REQUEST).await.unwrap_or_default();
    let form = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| upload::read(kind.to_str().ok()?, &body));
    let parameters = match (form, serde_json::from_slice(&body)) {
        (Some((fields, files)), _) => {
            let mut parameters = upload::as_json(&fields);
            let mut uploaded = HashMap::new();
            for file in files {
                // What an album names stands beside the parameters.
                if table::methods()
                    .get(&method)
                    .is_some_and(|known| known.contains_key(&file.field))
                {
                    parameters[file.field.as_str()] = json!({ "uploaded": file.name });
                }
                uploaded.insert(file.field.clone(), file);
            }
            shared.state.lock().uploaded = uploaded;
            parameters
        }
        _ if body.is_empty() => json!({}),
        (None, Ok(parameters)) => parameters,
        (None, Err(_)) => Value::Null,
    };
    let fault = {
        let mut state = shared.state.lock();
        state.calls.push((method.clone(), parameters.clone()));
        let of_method = state.faults.get_mut(&method).and_then(VecDeque::pop_front);
        of_method.or_else(|| state.faults.get_mut("*")?.pop_front())
    };
    shared.changed();
    match fault {
        None => done(api::call(&shared, &method, &parameters).await),
        Some(Fault::Refused(code, description, parameters)) => refused(&Refusal {
            code,
            description,
            parameters,
        }),
        Some(Fault::Flood(seconds)) => refused(&Refusal::flood(seconds)),
        Some(Fault::Status(status, body)) => respond(status, body.into()),
        Some(Fault::Broken) => broken(),
        Some(Fault::Lost) => {
            let _ = api::call(&shared, &method, &parameters).await;
            broken()
        }
        Some(Fault::Silent) => {
            let _ = api::call(&shared, &method, &parameters).await;
            std::future::pending().await
        }
    }
}

/// The content of a file.
async fn file(
    Extract(shared): Extract<Arc<Shared>>,
    Path((bot, id)): Path<(String, String)>,
) -> Response<Body> {
    let not_found = || {
        refused(&Refusal {
            code: 404,
            description: "Not Found".into(),
            parameters: Value::Null,
        })
    };
    if bot != format!("bot{}", shared.token) {
        return not_found();
    }
    let (fault, content) = {
        let mut state = shared.state.lock();
        state.calls.push(("file".into(), json!({ "file_id": id })));
        let fault = state.faults.get_mut("file").and_then(VecDeque::pop_front);
        (fault, state.files.get(&id).cloned())
    };
    shared.changed();
    match (fault, content) {
        (None, Some(content)) => respond(200, content.into()),
        (Some(Fault::Status(status, body)), _) => respond(status, body.into()),
        // It breaks off in the middle.
        (Some(_), Some(content)) => {
            let half = content.slice(..content.len() / 2);
            let pieces = [Ok(half), Err(std::io::Error::other("broken"))];
            respond(200, Body::from_stream(stream::iter(pieces)))
        }
        (_, None) => not_found(),
    }
}

fn done(result: Result<Value, Refusal>) -> Response<Body> {
    match result {
        Ok(result) => respond(
            200,
            json!({ "ok": true, "result": result }).to_string().into(),
        ),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Response<Body> {
    let mut response = respond(refusal.code, refusal.body().into());
    if let Some(seconds) = refusal.parameters["retry_after"].as_u64() {
        response.headers_mut().insert("retry-after", seconds.into());
    }
    response
}

fn respond(status: u16, body: Body) -> Response<Body> {
    Response::builder()
        .status(StatusCode::from_u16(status).expect("a status"))
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .expect("a response")
}

/// An answer that breaks off before its first byte.
fn broken() -> Response<Body> {
    let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::other("broken")) });
    respond(200, Body::from_stream(broken))
}
