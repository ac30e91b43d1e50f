//! The listening socket of the web server.
//!
//! Owns the accept loop: how many connections there may be, how long a client may take for the head of a
//! request, and how connections end when the gateway stops. It knows no route.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo};
use hyper::{
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::task::TaskTracker;
use weirgate_sdk::Stop;

use crate::current::Current;

/// Connections at once; a further one is closed at once.
const MAX_CONNECTIONS: usize = 4_096;
/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause after the system could not give a connection, for example for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

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

    /// Serves until `stop`, and then until the requests under way are answered. Each request goes by the
    /// routes that are there when it comes.
    pub fn serve(
        listener: TcpListener,
        routes: Arc<Current<Router>>,
        stop: Stop,
        tasks: &mut JoinSet<()>,
    ) {
        tasks.spawn(accept(listener, routes, stop));
    }
}

async fn accept(listener: TcpListener, routes: Arc<Current<Router>>, stop: Stop) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.stopped() => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            continue;
        };
        let (routes, stop) = (Arc::clone(&routes), stop.clone());
        connections.spawn(async move {
            let _place = place;
            serve(stream, peer, routes, stop).await;
        });
    }
    connections.close();
    connections.wait().await;
}

async fn serve(stream: TcpStream, peer: SocketAddr, routes: Arc<Current<Router>>, stop: Stop) {
    // Small frames are what a chat is made of.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request| {
        request.extensions_mut().insert(ConnectInfo(peer));
        TowerToHyperService::new(Router::clone(&routes.get())).call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a web connection ended");
    }
}
