//! The listening socket of the web server.

use std::net::SocketAddr;

use axum::Router;
use tokio::{net::TcpListener, task::JoinSet};
use weirgate_sdk::Stop;

/// A bound web server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Binds the address; requests wait in the backlog until [`Server::serve`].
    ///
    /// # Errors
    /// The system's.
    pub async fn bind(address: SocketAddr) -> std::io::Result<(Self, TcpListener)> {
        let listener = TcpListener::bind(address).await?;
        let server = Self {
            address: listener.local_addr()?,
        };
        Ok((server, listener))
    }

    /// The address, with the real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`.
    pub fn serve(listener: TcpListener, routes: Router, stop: Stop, tasks: &mut JoinSet<()>) {
        let service = routes.into_make_service_with_connect_info::<SocketAddr>();
        tasks.spawn(async move {
            let until = async move { stop.stopped().await };
            let served = axum::serve(listener, service)
                .with_graceful_shutdown(until)
                .await;
            if let Err(error) = served {
                tracing::error!(%error, "the web server ended");
            }
        });
    }
}
