//! A server whose connections can all be cut at once.
//!
//! Owns the listening at one address, again and again. Who answers what is the caller's router.

use std::net::SocketAddr;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

/// A listener at an address, and the address that it got.
pub async fn bind(address: SocketAddr) -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(address).await.expect("binds");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves while `open` says so, and again when it does, until its sender is gone.
pub async fn serve(router: Router, listener: TcpListener, mut open: watch::Receiver<bool>) {
    let address = listener.local_addr().expect("an address");
    let mut listener = Some(listener);
    loop {
        let current = match listener.take() {
            Some(listener) => listener,
            None => bind(address).await.0,
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
