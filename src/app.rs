//! The application: builds the parts from the configuration, starts them, drains and stops them.
//!
//! Owns the order in which parts start and stop. It holds no logic of its own.

mod accounts;
pub mod adapters;
mod build;
pub mod core;
mod error;
mod keeper;
mod kept_files;
pub mod log;
mod mirror;
mod overlay;
pub mod reload;
mod transcript;
mod translate;
pub mod tune;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use tokio::task::JoinSet;
use weirgate_sdk::{Adapter, AdapterError, Connection, Ingress, Stopper};

pub use build::{
    Startup, adapters_to_check, embedder, models_to_check, open_unused_store, server_options,
    store_on_server,
};
pub use error::StartError;
pub use translate::{agents, ground};

use self::{
    core::{Live, ended},
    reload::Reloading,
};
use crate::{
    http::{Readiness, server::Server},
    telemetry::{
        logging,
        traces::{FINISH, Tracing},
    },
};

/// Why a gateway cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A part of it has ended by a fault.
    Fault,
    /// Another process has taken over, because this one gave no sign of life for too long.
    Fenced,
}

/// How long the web server may take to end.
const END_GRACE: Duration = Duration::from_secs(4);
/// The longest time from SIGTERM to the end of the process, less what the store needs for its last commit.
/// Whoever stops the gateway must have more patience than this.
pub const DRAIN: Duration = core::DRAIN
    .saturating_add(END_GRACE)
    .saturating_add(FINISH)
    .saturating_add(logging::FLUSH);
/// The first and the longest pause before an adapter that ended is started again.
const RESTART_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// A running gateway.
pub struct App {
    core: Live,
    readiness: Arc<Readiness>,
    server: Server,
    greetings: Vec<String>,
    tasks: JoinSet<()>,
    tracing: Option<Tracing>,
    stop: Stopper,
    reloading: Reloading,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

impl App {
    /// Builds and starts everything.
    ///
    /// # Errors
    /// What kept it from starting; nothing is left running then.
    pub async fn start(startup: Startup) -> Result<Self, StartError> {
        Box::pin(build::build(startup)).await
    }

    /// Reads the configuration again, because the operator asked for it. What comes of it is in the log.
    pub fn reload(&self) {
        self.reloading.ask();
    }

    /// What is printed for the operator: the addresses at which the gateway is reached.
    #[must_use]
    pub fn greetings(&self) -> Vec<String> {
        self.greetings.clone()
    }

    /// The address of the web server.
    #[must_use]
    pub fn http_address(&self) -> std::net::SocketAddr {
        self.server.address()
    }

    /// Resolves when a part of the core has ended by a fault, or because another process has taken over: what is
    /// accepted would no longer be answered.
    pub async fn broken(&mut self) -> Broken {
        self.core.broken().await
    }

    /// Stops: no new turns, running ones finish within a grace time, answers leave, the intake closes
    /// last. What is unfinished stays in the journal.
    pub async fn drain(mut self) {
        self.readiness.drain();
        self.reloading.end();
        self.core.drain().await;
        self.stop.stop();
        let _ = tokio::time::timeout(END_GRACE, ended(&mut self.tasks)).await;
        self.core.close().await;
        if let Some(tracing) = self.tracing.take() {
            tracing.finish().await;
        }
        tracing::info!("stopped");
    }
}

/// Runs an adapter for ever: one that ends by itself is started again after a growing pause.
async fn run_adapter(
    adapter: Arc<dyn Adapter>,
    ingress: Arc<dyn Ingress>,
    stop: weirgate_sdk::Stop,
) {
    let key = (adapter.platform(), adapter.account());
    let mut pause = RESTART_PAUSE.0;
    while !stop.is_stopped() {
        let started = tokio::time::Instant::now();
        let run = AssertUnwindSafe(adapter.run(Arc::clone(&ingress), stop.clone()));
        let ended = run
            .catch_unwind()
            .await
            .unwrap_or_else(|_| Err(AdapterError::Failed("it panicked".to_owned())));
        if stop.is_stopped() {
            return;
        }
        let error = match ended {
            Ok(()) => "it ended by itself".to_owned(),
            Err(AdapterError::Config(error) | AdapterError::Failed(error)) => error,
        };
        if started.elapsed() > RESTART_PAUSE.1 {
            pause = RESTART_PAUSE.0;
        }
        let (platform, account) = (&key.0, &key.1);
        tracing::error!(%platform, %account, error, ?pause, "an adapter is down; starting it again");
        ingress.connection(platform, account, Connection::Down(error));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.stopped() => {}
        }
        pause = (pause * 2).min(RESTART_PAUSE.1);
    }
}
