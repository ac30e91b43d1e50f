//! The dispatcher: starts turns when the scheduler says so, and wakes up when something can run.
//!
//! Owns the scheduler behind its lock, the count of model turns in flight, and the task that chooses.
//! It never runs a turn itself and holds the lock only for single steps.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use weirgate_sdk::Stop;

use super::{
    fair::{Batch, Expired, Next, Policy, Pushed, Scheduler, Stats, Wanted},
    permits::ProviderPermits,
};
use crate::{
    clock::{Clock, Tick},
    inbound::{
        keying::filter,
        queue::{Entry, Kind, QueueKey},
        route::Route,
    },
    store::{Store, Waiting},
    telemetry::metrics,
};

/// Commands at once. They take a moment each; beyond this they wait in their queues.
const MAX_COMMANDS: usize = 512;

/// Runs what the dispatcher starts.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Runs a batch to its end. Never panics outside of the turn that it guards.
    async fn run(&self, batch: Batch);
}

/// The scheduler with everything around it.
pub struct Dispatch {
    scheduler: Mutex<Scheduler>,
    changed: Arc<Notify>,
    permits: Arc<ProviderPermits>,
    provider: String,
    max_in_flight: usize,
    in_flight: AtomicUsize,
    commands: AtomicUsize,
    clock: Clock,
    store: Arc<dyn Store>,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatch")
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

/// What a dispatcher is made of.
pub struct Parts {
    /// The scheduler's settings.
    pub policy: Policy,
    /// Model turns at once.
    pub max_in_flight: usize,
    /// The provider of the first chat model, whose limit decides when a turn may start.
    pub provider: String,
    /// The providers' limiters.
    pub permits: Arc<ProviderPermits>,
    /// Notified whenever something may have become runnable.
    pub changed: Arc<Notify>,
    /// The clock.
    pub clock: Clock,
    /// Where held-back messages are read from.
    pub store: Arc<dyn Store>,
}

impl Dispatch {
    /// A dispatcher that has not started.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            scheduler: Mutex::new(Scheduler::new(parts.policy)),
            changed: parts.changed,
            permits: parts.permits,
            provider: parts.provider,
            max_in_flight: parts.max_in_flight,
            in_flight: AtomicUsize::new(0),
            commands: AtomicUsize::new(0),
            clock: parts.clock,
            store: parts.store,
            tasks: TaskTracker::new(),
        }
    }

    /// Queues a message.
    pub fn push(&self, entry: Entry) -> Pushed {
        let now = self.clock.tick();
        let pushed = self.scheduler.lock().push(now, entry);
        self.changed.notify_one();
        pushed
    }

    /// Changes the settings, for example after a recovery that must not drop anything.
    pub fn set_policy(&self, policy: Policy) {
        self.scheduler.lock().set_policy(self.clock.tick(), policy);
        self.changed.notify_one();
    }

    /// Takes a waiting message out.
    pub fn remove(&self, key: &QueueKey, id: i64) -> bool {
        let removed = self.scheduler.lock().remove(key, id);
        self.changed.notify_one();
        removed
    }

    /// Replaces the body of a waiting message.
    pub fn replace(&self, key: &QueueKey, id: i64, body: Box<str>) -> bool {
        self.scheduler.lock().replace(key, id, body)
    }

    /// How many messages wait in a queue.
    #[must_use]
    pub fn depth(&self, key: &QueueKey) -> usize {
        self.scheduler.lock().depth(key)
    }

    /// The scheduler's figures.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.scheduler.lock().stats(self.clock.tick())
    }

    /// Messages that have waited too long, at most `limit`.
    pub fn take_expired(&self, limit: usize) -> Vec<Expired> {
        self.scheduler.lock().take_expired(self.clock.tick(), limit)
    }

    /// Starts turns until `stop`.
    pub async fn run(self: Arc<Self>, runner: Arc<dyn Runner>, stop: Stop) {
        while !stop.is_stopped() {
            self.refill();
            let until = match self.next() {
                Ok(batch) => {
                    self.start(batch, &runner);
                    continue;
                }
                Err(until) => until,
            };
            let sleep = async {
                match until {
                    Some(tick) => tokio::time::sleep_until(self.clock.instant(tick)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep => {}
                () = stop.stopped() => {}
            }
        }
    }

    /// Waits until everything that was started has ended.
    pub async fn drained(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// The next batch, or when to ask again.
    fn next(&self) -> Result<Batch, Option<Tick>> {
        if self.commands.load(Ordering::Acquire) >= MAX_COMMANDS {
            return Err(None);
        }
        let now = self.clock.tick();
        let room = self.in_flight.load(Ordering::Acquire) < self.max_in_flight;
        let permit = self.permits.earliest(&self.provider);
        let mut scheduler = self.scheduler.lock();
        match scheduler.next(now, room && permit <= now) {
            Next::Run(batch) => Ok(batch),
            Next::Wait(until) if room && permit > now => {
                Err(Some(until.map_or(permit, |until| until.min(permit))))
            }
            Next::Wait(until) => Err(until),
        }
    }

    fn count(&self, model: bool) -> &AtomicUsize {
        if model {
            &self.in_flight
        } else {
            &self.commands
        }
    }

    fn start(self: &Arc<Self>, batch: Batch, runner: &Arc<dyn Runner>) {
        let model = batch.kind == Kind::Message;
        if model {
            // The dispatcher is alone in taking first permits, so what was there a moment ago is there.
            let _ = self.permits.try_take(&self.provider);
        }
        self.count(model).fetch_add(1, Ordering::AcqRel);
        let guard = Started {
            dispatch: Arc::clone(self),
            token: batch.token,
            model,
        };
        let runner = Arc::clone(runner);
        self.tasks.spawn(async move {
            let _guard = guard;
            runner.run(batch).await;
        });
    }

    /// Reads on where a queue left messages in the store.
    fn refill(self: &Arc<Self>) {
        loop {
            // A statement of its own, so that the lock is not held while a task is started.
            let wanted = self.scheduler.lock().refill_wanted();
            let Some(wanted) = wanted else {
                return;
            };
            let dispatch = Arc::clone(self);
            self.tasks
                .spawn(async move { dispatch.read_on(wanted).await });
        }
    }

    async fn read_on(&self, wanted: Wanted) {
        let limit = usize::try_from(wanted.room).unwrap_or(1).clamp(1, 256);
        let read = self
            .store
            .waiting(wanted.after, filter(&wanted.key), limit)
            .await;
        let (entries, more) = match read {
            Ok(rows) => {
                let more = rows.len() >= limit;
                (
                    rows.into_iter()
                        .filter_map(|row| entry(row, wanted.key, false))
                        .collect(),
                    more,
                )
            }
            Err(error) => {
                tracing::error!(%error, "waiting messages could not be read; trying again");
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                (Vec::new(), true)
            }
        };
        self.scheduler
            .lock()
            .refill(self.clock.tick(), wanted.key, entries, more);
        self.changed.notify_one();
    }
}

/// The entry of a stored message; `None` for control commands, which are never queued.
#[must_use]
pub fn entry(row: Waiting, key: QueueKey, single: bool) -> Option<Entry> {
    let Route::Queued(kind, lane) = Route::from_code(row.route) else {
        return None;
    };
    Some(Entry {
        id: row.id,
        key,
        account: row.account,
        conversation: row.conversation,
        person: row.person,
        kind,
        lane,
        priority: row.priority,
        single,
        body: Some(row.body),
    })
}

/// Gives back what a turn holds, also when it panics or is cancelled.
struct Started {
    dispatch: Arc<Dispatch>,
    token: super::fair::TurnToken,
    model: bool,
}

impl Drop for Started {
    fn drop(&mut self) {
        let now = self.dispatch.clock.tick();
        let count = self.dispatch.count(self.model);
        count.fetch_sub(1, Ordering::AcqRel);
        self.dispatch.scheduler.lock().done(self.token, now);
        self.dispatch.changed.notify_one();
    }
}

/// Puts the scheduler's figures into the metrics.
pub fn observe(dispatch: &Dispatch) {
    let stats = dispatch.stats();
    for lane in super::lane::Lane::ALL {
        metrics::queue_depth(
            lane.index(),
            stats.waiting.get(lane.index()).copied().unwrap_or(0),
        );
    }
    metrics::queue_bytes(stats.bytes);
    metrics::turns_in_flight(stats.turns);
}
