//! Reload: a configuration that was read again takes the place of the running one, whole or not at all.
//!
//! Owns the one task that reloads, so that reloads never overlap, and the order in which the parts take over.
//! Everything that can fail is built first; then each part is told. It never drops what waits or runs.

mod engine;
mod report;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use weirgate_sdk::{Stop, Stopper};

pub(super) use engine::{Engine, Parts};
pub use report::Report;

use crate::{
    command::configure::{Configure, Refused, Reloaded, Shown},
    config::{CONFIG_FILE, Environment, KnownPlatform, overrides::Overrides, watch::watch},
    security::redact::Redactor,
};

/// Requests that wait while one is carried out; one more is refused.
const MAX_ASKS: usize = 8;
/// Who asks for a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The file has changed.
    File,
    /// SIGHUP.
    Signal,
    /// The operator, over the web server.
    Admin,
    /// Somebody by /config or /reload.
    Command,
    /// Another process on the same database.
    OtherProcess,
}

/// Where the configuration comes from.
#[derive(Debug, Clone)]
pub struct Source {
    /// The variables of the process.
    pub environment: fn(&str) -> Option<String>,
    /// The platforms of this build.
    pub platforms: fn() -> Vec<KnownPlatform>,
}

impl Source {
    fn environment(&self) -> &Environment<'static> {
        &self.environment
    }
}

/// What the engine is asked.
enum Ask {
    /// Read it again.
    Reload(Cause, oneshot::Sender<Arc<Report>>),
    /// Show a key and those below it.
    Show(String, oneshot::Sender<Vec<Shown>>),
    /// Show the defaults.
    Defaults(oneshot::Sender<Vec<Shown>>),
    /// Set keys, or take them back.
    Set(Changes, oneshot::Sender<Result<(), Refused>>),
    /// Put in place what another process has set.
    Take(Overrides),
}

/// Keys with their new values; `None` takes one back.
type Changes = Vec<(String, Option<String>)>;

/// Asks for reloads. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Reloader {
    asks: mpsc::Sender<Ask>,
    redactor: Redactor,
}

/// The receiving end of a [`Reloader`].
pub(super) struct Asks(mpsc::Receiver<Ask>);

impl Reloader {
    /// A reloader whose requests are carried out once [`start`] was called.
    pub(super) fn new(redactor: Redactor) -> (Self, Asks) {
        let (asks, received) = mpsc::channel(MAX_ASKS);
        (Self { asks, redactor }, Asks(received))
    }

    /// Reloads and says what came of it. `None` if too many ask already, or the gateway stops.
    pub async fn reload(&self, cause: Cause) -> Option<Arc<Report>> {
        let (answer, answered) = oneshot::channel();
        self.asks.try_send(Ask::Reload(cause, answer)).ok()?;
        answered.await.ok()
    }

    /// Puts in place what is set at run time by now, if that is not what holds here.
    pub(super) async fn take(&self, overrides: Overrides) {
        // The engine is gone only when the gateway stops.
        let _ = self.asks.send(Ask::Take(overrides)).await;
    }

    /// What must not get out with an answer.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}

#[async_trait]
impl Configure for Reloader {
    async fn show(&self, key: &str) -> Vec<Shown> {
        let (answer, answered) = oneshot::channel();
        // While too many ask nothing can be told.
        if self
            .asks
            .try_send(Ask::Show(key.to_owned(), answer))
            .is_err()
        {
            return Vec::new();
        }
        answered.await.unwrap_or_default()
    }

    async fn reload(&self) -> Option<Reloaded> {
        let report = Self::reload(self, Cause::Command).await?;
        Some(report.to_lines(&self.redactor))
    }

    async fn defaults(&self) -> Vec<Shown> {
        let (answer, answered) = oneshot::channel();
        if self.asks.try_send(Ask::Defaults(answer)).is_err() {
            return Vec::new();
        }
        answered.await.unwrap_or_default()
    }

    async fn set(&self, changes: &[(&str, Option<&str>)]) -> Result<(), Refused> {
        let (answer, answered) = oneshot::channel();
        let changes = changes
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned)))
            .collect();
        let ask = Ask::Set(changes, answer);
        self.asks.try_send(ask).map_err(|_| Refused::Busy)?;
        answered.await.unwrap_or(Err(Refused::Busy))
    }
}

/// The tasks of reloading.
pub(super) struct Reloading {
    reloader: Reloader,
    stop: Stopper,
    engine: JoinHandle<()>,
    watch: JoinHandle<()>,
}

/// Carries out what is asked for, and watches the file.
pub(super) fn start(engine: Engine, reloader: Reloader, asks: Asks) -> Reloading {
    let (stop, signal) = Stopper::new();
    let path = engine.path().map(Path::to_owned);
    let path = path.unwrap_or_else(|| PathBuf::from(CONFIG_FILE));
    let own = reloader.clone();
    let watching = watch(path, signal.clone(), async move || {
        // Without an answer the engine is busy with others; what it reads then is as new as this.
        let _ = own.reload(Cause::File).await;
    });
    Reloading {
        reloader,
        stop,
        engine: tokio::spawn(carry_out(engine, asks, signal)),
        watch: tokio::spawn(watching),
    }
}

async fn carry_out(mut engine: Engine, mut asks: Asks, stop: Stop) {
    loop {
        let ask = tokio::select! {
            biased;
            () = stop.stopped() => return,
            ask = asks.0.recv() => ask,
        };
        // Whoever asked may have gone.
        match ask {
            None => return,
            Some(Ask::Reload(cause, answer)) => {
                let _ = answer.send(Arc::new(engine.reload(cause).await));
            }
            Some(Ask::Show(key, answer)) => {
                let _ = answer.send(engine.show(&key));
            }
            Some(Ask::Defaults(answer)) => {
                let _ = answer.send(engine.defaults());
            }
            Some(Ask::Set(changes, answer)) => {
                let _ = answer.send(engine.set(&changes).await);
            }
            Some(Ask::Take(overrides)) => engine.take(overrides).await,
        }
    }
}

impl Reloading {
    /// Asks for a reload without waiting for it.
    pub(super) fn ask(&self) {
        let (answer, _) = oneshot::channel();
        let ask = Ask::Reload(Cause::Signal, answer);
        if self.reloader.asks.try_send(ask).is_err() {
            tracing::warn!("the configuration is not read again: too many ask already");
        }
    }

    /// Ends at once. What a reload under way still waits for is the end of accounts, which the stop waits for
    /// too.
    pub(super) fn end(self) {
        self.stop.stop();
        self.watch.abort();
        self.engine.abort();
    }
}
