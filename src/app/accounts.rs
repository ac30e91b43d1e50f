//! The adapters that run, one task each.
//!
//! Owns how an account starts, how it makes room for its successor, and how all end. Who gets what is sent
//! is the deliverer's part.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::{task::JoinHandle, time::timeout};
use weirgate_sdk::{AccountName, Adapter, Connection, Ingress, Platform, Stopper};

use super::run_adapter;
use crate::{command::desk::Connections, telemetry::metrics};

/// How long an adapter may take to end.
const END_GRACE: Duration = Duration::from_secs(8);

/// An account.
pub type Key = (Platform, AccountName);

/// The accounts that run.
pub struct Accounts {
    ingress: Arc<dyn Ingress>,
    connections: Arc<Connections>,
    running: HashMap<Key, Running>,
}

struct Running {
    stop: Stopper,
    task: JoinHandle<()>,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.running.keys()).finish()
    }
}

impl Accounts {
    /// No accounts so far. `connections` is what the accounts' states are shown in.
    #[must_use]
    pub fn new(ingress: Arc<dyn Ingress>, connections: Arc<Connections>) -> Self {
        Self {
            ingress,
            connections,
            running: HashMap::new(),
        }
    }

    /// Starts an account that does not run. Must be called inside of the runtime.
    pub fn start(&mut self, adapter: Arc<dyn Adapter>) {
        let key = (adapter.platform(), adapter.account());
        let waiting = Connection::Waiting;
        metrics::adapter_state(&key.0, &key.1, &waiting, false);
        self.connections.lock().insert(key.clone(), waiting);
        let (stop, signal) = Stopper::new();
        let task = tokio::spawn(run_adapter(adapter, Arc::clone(&self.ingress), signal));
        self.running.insert(key, Running { stop, task });
    }

    /// Ends accounts, side by side, and waits until they have; one that does not end in time is cut off.
    pub async fn end(&mut self, keys: &[Key]) {
        let ending = keys
            .iter()
            .filter_map(|key| self.running.remove(key).map(|running| (key, running)));
        let ended = ending.map(async |(key, running)| {
            running.stop.stop();
            let abort = running.task.abort_handle();
            if timeout(END_GRACE, running.task).await.is_err() {
                let (platform, account) = key;
                tracing::warn!(%platform, %account, "an adapter did not end in time; it is cut off");
                abort.abort();
            }
        });
        join_all(ended).await;
    }

    /// Forgets the states of accounts that are gone for good.
    pub fn forget(&self, keys: &[Key]) {
        for (platform, account) in keys {
            self.connections
                .lock()
                .remove(&(platform.clone(), account.clone()));
            metrics::adapter_state(platform, account, &Connection::Waiting, false);
        }
    }

    /// Ends all.
    pub async fn end_all(&mut self) {
        let keys: Vec<Key> = self.running.keys().cloned().collect();
        self.end(&keys).await;
    }
}
