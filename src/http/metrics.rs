//! /metrics: for the operator.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{Own, admin};

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// /metrics.
pub(super) async fn metrics(
    State(own): State<Arc<Own>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    let Some(exporter) = &own.exporter else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if !admin::may_ask(&own, peer, &headers) {
        return admin::refused();
    }
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], exporter.render()).into_response()
}
