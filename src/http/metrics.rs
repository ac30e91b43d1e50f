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
    let direct = own.direct
        && names_this_machine(&headers)
        && PROXY_HEADERS
            .iter()
            .all(|name| !headers.contains_key(*name));
    let local = direct && peer.ip().to_canonical().is_loopback();
    if !local && !has_token(&own, &headers) {
        return (StatusCode::FORBIDDEN, "needs the admin token\n").into_response();
    }
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], exporter.render()).into_response()
}

/// The Host is an address or `localhost`. A name may have been pointed at this machine by a foreign page
/// that now reads what it gets.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
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
