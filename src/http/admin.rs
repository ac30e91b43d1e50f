//! What only the operator may ask: who that is, and /admin/reload.
//!
//! Owns the proof: this machine itself, or the admin token. It never changes anything by itself.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use subtle::ConstantTimeEq;

use super::Own;
use crate::app::reload::{Cause, Report};

/// Headers that a proxy sets: behind one, the peer's address says nothing about who asks.
const PROXY_HEADERS: [&str; 3] = ["forwarded", "x-forwarded-for", "x-real-ip"];

/// Headers that a browser adds to what a page asks for. A page of somebody else may send requests to this
/// machine, and must not act on it.
const PAGE_HEADERS: [&str; 3] = ["origin", "referer", "sec-fetch-site"];

/// POST /admin/reload: reads the configuration again. 200 with what changed, 422 with everything that is
/// wrong, 503 while too many ask.
pub(super) async fn reload(
    State(own): State<Arc<Own>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    let page = PAGE_HEADERS.iter().any(|name| headers.contains_key(*name));
    let may_ask = if page {
        has_token(&own, &headers)
    } else {
        may_ask(&own, peer, &headers)
    };
    if !may_ask {
        return refused();
    }
    let Some(report) = own.reloader.reload(Cause::Admin).await else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many ask; try again\n").into_response();
    };
    let status = match &*report {
        Report::Applied { .. } | Report::Unchanged { .. } => StatusCode::OK,
        Report::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
    };
    (status, Json(report.to_json(own.reloader.redactor()))).into_response()
}

/// Whoever asks is on this machine, or has the admin token.
pub(super) fn may_ask(own: &Own, peer: SocketAddr, headers: &HeaderMap) -> bool {
    let direct = own.direct
        && names_this_machine(headers)
        && PROXY_HEADERS
            .iter()
            .all(|name| !headers.contains_key(*name));
    let local = direct && peer.ip().to_canonical().is_loopback();
    local || has_token(own, headers)
}

/// The answer to anybody else.
pub(super) fn refused() -> Response {
    (StatusCode::FORBIDDEN, "needs the admin token\n").into_response()
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
