//! /metrics: for this machine, and with the admin token for others.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use subtle::ConstantTimeEq;

use super::Own;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Headers that a proxy sets: behind one, the peer's address says nothing about who asks.
const PROXY_HEADERS: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

/// /metrics.
pub(super) async fn metrics(
    State(own): State<Arc<Own>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    let Some(exporter) = &own.exporter else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let direct = PROXY_HEADERS
        .iter()
        .all(|name| !headers.contains_key(*name));
    let local = direct && peer.ip().to_canonical().is_loopback();
    if !local && !has_token(&own, &headers) {
        return (StatusCode::FORBIDDEN, "needs the admin token\n").into_response();
    }
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], exporter.render()).into_response()
}

fn has_token(own: &Own, headers: &HeaderMap) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    match (given, &own.admin_token) {
        (Some(given), Some(token)) => given.as_bytes().ct_eq(token.expose().as_bytes()).into(),
        _ => false,
    }
}
