//! The server.
//!
//! Owns connections, all of which can be cut at once, and who answers what.

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, routing::any};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{net::TcpListener, task::JoinSet};

use super::{Shared, gateway, rest};

/// A listener at an address.
pub(super) async fn bind(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).await.expect("binds");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves until the task is ended.
pub(super) async fn serve(shared: Arc<Shared>, listener: TcpListener) {
    let router = Router::new()
        .route("/gateway/", any(gateway::answer))
        .fallback(any(rest::answer))
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
                    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    connections.spawn(connection.with_upgrades());
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
