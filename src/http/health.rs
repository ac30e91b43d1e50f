//! /healthz and /readyz.
//!
//! Owns what they say, and that the log tells when the store goes away and comes back, not how often somebody asked. It
//! never says why the store fails to whoever asks.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use axum::{Json, extract::State, http::StatusCode};
use serde::Serialize;

use super::Own;
use crate::command::desk::state_word;

/// /healthz: the process answers.
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

#[derive(Serialize)]
pub(super) struct Report {
    ready: bool,
    draining: bool,
    store: String,
    adapters: BTreeMap<String, String>,
}

/// /readyz: whether messages are taken and answered now. An adapter that is not connected, or whose account
/// another process has, does not make the gateway unready: its state is in the body.
pub(super) async fn ready(State(own): State<Arc<Own>>) -> (StatusCode, Json<Report>) {
    let readiness = &own.readiness;
    let store = readiness.store.healthy().await;
    let draining = readiness.draining.load(Ordering::Relaxed);
    let adapters: BTreeMap<String, String> = readiness
        .connections
        .lock()
        .iter()
        .map(|((platform, account), state)| {
            (
                format!("{platform}/{account}"),
                state_word(state.as_ref()).to_owned(),
            )
        })
        .collect();
    let ready = store.is_ok() && !draining;
    let failed_before = readiness.failing.swap(store.is_err(), Ordering::Relaxed);
    let store = match store {
        Ok(()) => {
            if failed_before {
                tracing::info!("the store is ready again");
            }
            "ok".to_owned()
        }
        Err(error) => {
            if !failed_before {
                // The error may name paths; it is for the operator's log, not for whoever asks.
                tracing::error!(%error, "the store is not ready");
            }
            "failing".to_owned()
        }
    };
    let status = if ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (
        status,
        Json(Report {
            ready,
            draining,
            store,
            adapters,
        }),
    )
}
