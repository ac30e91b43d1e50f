//! Who answers what.

use std::sync::Arc;

use axum::{Router, routing::any};

use super::{Shared, gateway, rest};

/// The platform's addresses.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/gateway/", any(gateway::answer))
        .fallback(any(rest::answer))
        .with_state(shared)
}
