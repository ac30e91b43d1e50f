//! The adapters that run, one task each, and those that would if another process did not have their accounts.
//!
//! Owns how an account starts, how it makes room for its successor, and how all end. Who gets what is sent
//! is the deliverer's part.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{sync::Notify, task::JoinHandle, time::timeout};
use weirgate_sdk::{AccountName, Adapter, Connection, Ingress, Platform, Stopper};

use super::{adapters::probe, run_adapter};
use crate::{command::desk::Connections, current::Current, store::Wanted, telemetry::metrics};

/// How long an adapter may take to end.
const END_GRACE: Duration = Duration::from_secs(8);

/// An account.
pub type Key = (Platform, AccountName);

/// The accounts that are configured.
pub struct Accounts {
    ingress: Arc<dyn Ingress>,
    connections: Arc<Connections>,
    configured: HashMap<Key, Arc<dyn Adapter>>,
    /// Those that are this process's.
    held: HashSet<Key>,
    running: HashMap<Key, Running>,
    /// All have ended: none is started any more.
    ended: bool,
    wishes: Arc<Wishes>,
}

/// Which accounts this process would have.
#[derive(Debug)]
pub struct Wishes {
    /// All of them.
    pub wanted: Current<Vec<Wanted>>,
    /// Notified when there is one more.
    pub changed: Notify,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            wanted: Current::new(Vec::new()),
            changed: Notify::new(),
        }
    }
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
            configured: HashMap::new(),
            held: HashSet::new(),
            running: HashMap::new(),
            ended: false,
            wishes: Arc::default(),
        }
    }

    /// Which accounts this process would have.
    #[must_use]
    pub fn wishes(&self) -> Arc<Wishes> {
        Arc::clone(&self.wishes)
    }

    /// Starts an account that does not run, now or when it is this process's. Must be called inside of the
    /// runtime.
    pub fn start(&mut self, adapter: Arc<dyn Adapter>) {
        let key = (adapter.platform(), adapter.account());
        self.configured.insert(key.clone(), adapter);
        self.wish();
        if self.held.contains(&key) {
            self.run(&key);
        } else {
            self.show(&key, None);
        }
    }

    /// These accounts are this process's from now on: those that are configured start.
    pub fn take(&mut self, keys: Vec<Key>) {
        for key in keys {
            if !self.running.contains_key(&key) {
                self.run(&key);
            }
            self.held.insert(key);
        }
        metrics::leases_held(self.held.len());
    }

    fn run(&mut self, key: &Key) {
        let Some(adapter) = self.configured.get(key).filter(|_| !self.ended) else {
            return;
        };
        let adapter = Arc::clone(adapter);
        self.show(key, Some(Connection::Waiting));
        let (stop, signal) = Stopper::new();
        let task = tokio::spawn(run_adapter(adapter, Arc::clone(&self.ingress), signal));
        self.running.insert(key.clone(), Running { stop, task });
    }

    fn show(&self, key: &Key, state: Option<Connection>) {
        // Not connected, whether it waits or is on standby.
        let waiting = Connection::Waiting;
        metrics::adapter_state(&key.0, &key.1, state.as_ref().unwrap_or(&waiting), false);
        self.connections.lock().insert(key.clone(), state);
    }

    fn wish(&self) {
        let wanted = self
            .configured
            .iter()
            .map(|((platform, account), adapter)| {
                let (platform, account) = (platform.clone(), account.clone());
                Wanted {
                    platform,
                    account,
                    // What is shown from the store can be shown by any process.
                    shared: probe(&**adapter).transcript,
                }
            });
        let mut wanted: Vec<Wanted> = wanted.collect();
        wanted.sort_by(|one, other| {
            (&one.platform, &one.account).cmp(&(&other.platform, &other.account))
        });
        self.wishes.wanted.set(wanted);
        self.wishes.changed.notify_one();
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

    /// Forgets accounts that are gone for good. What this process has of them stays its own until it stops.
    pub fn forget(&mut self, keys: &[Key]) {
        for key in keys {
            self.configured.remove(key);
            self.show(key, None);
            self.connections.lock().remove(key);
        }
        self.wish();
    }

    /// Ends all, for good.
    pub async fn end_all(&mut self) {
        self.ended = true;
        let keys: Vec<Key> = self.running.keys().cloned().collect();
        self.end(&keys).await;
    }
}
