//! The web server: health, metrics, and what adapters serve.
//!
//! Owns the listening socket and the routes that are the gateway's own. It never knows what an adapter
//! serves and never answers a question about a conversation.

mod admin;
pub mod client;
pub mod config;
mod health;
mod metrics;
pub mod server;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use weirgate_sdk::settings::Secret;

use self::client::{Network, Proxies, locate};
use crate::{
    app::reload::Reloader, command::desk::Connections, store::Store, telemetry::metrics::Exporter,
};

/// The longest time of an ordinary request. WebSockets are not ordinary.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time of a request of the operator: accounts may have to end and start for it.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(60);

/// What /readyz looks at.
pub struct Readiness {
    store: Arc<dyn Store>,
    connections: Arc<Connections>,
    draining: AtomicBool,
    /// The store was not ready when it was last looked at.
    failing: AtomicBool,
}

impl std::fmt::Debug for Readiness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readiness")
            .field("draining", &self.draining)
            .finish_non_exhaustive()
    }
}

impl Readiness {
    /// Ready as long as the store is and nothing drains.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, connections: Arc<Connections>) -> Self {
        Self {
            store,
            connections,
            draining: AtomicBool::new(false),
            failing: AtomicBool::new(false),
        }
    }

    /// The gateway is stopping.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }
}

/// What the gateway's own routes need.
pub(crate) struct Own {
    pub(crate) readiness: Arc<Readiness>,
    /// `None` if metrics are switched off.
    pub(crate) exporter: Option<Exporter>,
    pub(crate) admin_token: Option<Secret>,
    /// Clients reach the gateway directly: nothing says that a proxy stands in front of it.
    pub(crate) direct: bool,
    pub(crate) reloader: Reloader,
    /// Proxies that say for whom they speak.
    pub(crate) trusted_proxies: Vec<Network>,
}

/// All routes.
pub(crate) fn router(own: Own, adapters: Vec<Router>) -> Router {
    let proxies = Proxies::new(own.trusted_proxies.clone());
    let own = Arc::new(own);
    let within = |limit| {
        let late = axum::http::StatusCode::SERVICE_UNAVAILABLE;
        tower_http::timeout::TimeoutLayer::with_status_code(late, limit)
    };
    let admin = Router::new()
        .route("/admin/reload", post(admin::reload))
        .layer(within(ADMIN_TIMEOUT))
        .with_state(Arc::clone(&own));
    let mut routes = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .layer(within(REQUEST_TIMEOUT))
        .with_state(own)
        .merge(admin);
    for adapter in adapters {
        routes = routes.merge(adapter);
    }
    routes.layer(from_fn_with_state(proxies, locate))
}
