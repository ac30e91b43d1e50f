//! The dispatcher: starts turns when the scheduler says so, and wakes up when something can run.
//!
//! Owns the scheduler behind its lock, the count of model turns in flight, and the task that chooses.
//! It never runs a turn itself and holds the lock only for single steps.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use weirgate_sdk::Stop;

use super::{
    fair::{Batch, Expired, Next, Policy, Pushed, Scheduler, Stats, Wait, Wanted},
    lane::Lane,
    permits::ProviderPermits,
};
use crate::{
    clock::{Clock, Tick, micros},
    current::Current,
    inbound::{
        keying::filter,
        queue::{Entry, Kind, QueueKey},
        route::Route,
    },
    reason::Reason,
    store::{Store, Waiting},
    telemetry::metrics,
    trace::Traces,
};

/// Commands at once. They take a moment each; beyond this they wait in their queues.
const MAX_COMMANDS: usize = 512;

/// Runs what the dispatcher starts.
#[async_trait]
pub trait Runner: Send + Sync + 'static {
    /// Runs a batch to its end. `permit` names the provider for whose next request a permit is held. Never
    /// panics outside of the turn that it guards.
    async fn run(&self, batch: Batch, permit: Option<String>);
}

/// The scheduler with everything around it.
pub struct Dispatch {
    scheduler: Mutex<Scheduler>,
    changed: Arc<Notify>,
    pace: Current<Pace>,
    in_flight: AtomicUsize,
    commands: AtomicUsize,
    /// Messages up to this id were recovered after an unclean stop and are taken singly.
    single_to: AtomicI64,
    /// What queues left in the store is not read now.
    reading_paused: AtomicBool,
    clock: Clock,
    store: Arc<dyn Store>,
    traces: Arc<Traces>,
    tasks: TaskTracker,
}

impl std::fmt::Debug for Dispatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatch")
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

/// What decides, beside the scheduler, when a model turn may start. A reload replaces it whole.
#[derive(Debug)]
pub struct Pace {
    /// Model turns at once.
    pub max_in_flight: usize,
    /// The providers of the chat models in order, whose limits decide when a turn may start; not empty.
    pub providers: Vec<String>,
    /// How long the first provider is waited for while another lets requests in.
    pub patience: Duration,
    /// The providers' limiters.
    pub permits: Arc<ProviderPermits>,
}

impl Pace {
    /// The provider that the next turn asks first, and when it lets a request in: the first choice, unless
    /// it is shut for longer than another one is worth.
    fn provider(&self, now: Tick) -> (Tick, &str) {
        let at = |provider: &String| self.permits.earliest(provider, now);
        let patience = now.saturating_add(micros(self.patience));
        let mut all = self
            .providers
            .iter()
            .map(|provider| (at(provider), provider.as_str()));
        let Some(first) = all.next() else {
            return (now, "");
        };
        if first.0 <= patience {
            return first;
        }
        all.fold(
            first,
            |best, other| if other.0 < best.0 { other } else { best },
        )
    }
}

/// What a dispatcher is made of.
pub struct Parts {
    /// The scheduler's settings.
    pub policy: Policy,
    /// What else decides when a turn may start.
    pub pace: Pace,
    /// Notified whenever something may have become runnable.
    pub changed: Arc<Notify>,
    /// The clock.
    pub clock: Clock,
    /// Where held-back messages are read from.
    pub store: Arc<dyn Store>,
    /// Why messages wait.
    pub traces: Arc<Traces>,
}

impl Dispatch {
    /// A dispatcher that has not started.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            scheduler: Mutex::new(Scheduler::new(parts.policy)),
            changed: parts.changed,
            pace: Current::new(parts.pace),
            in_flight: AtomicUsize::new(0),
            commands: AtomicUsize::new(0),
            single_to: AtomicI64::new(0),
            reading_paused: AtomicBool::new(false),
            clock: parts.clock,
            store: parts.store,
            traces: parts.traces,
            tasks: TaskTracker::new(),
        }
    }

    /// Queues a message.
    pub fn push(&self, entry: Entry) -> Pushed {
        let pushed = self.step(|scheduler, now| scheduler.push(now, entry));
        self.changed.notify_one();
        pushed
    }

    /// Queues a message that may not be dropped: where there is no room it stays in the store for later.
    pub fn push_kept(&self, entry: Entry) -> Pushed {
        let pushed = self.step(|scheduler, now| scheduler.push_kept(now, entry));
        self.changed.notify_one();
        pushed
    }

    /// Queues a message if there is room for it now.
    ///
    /// # Errors
    /// The message, if there is none.
    pub fn offer(&self, entry: Entry) -> Result<(), Entry> {
        let offered = self.step(|scheduler, now| scheduler.offer(now, entry));
        self.changed.notify_one();
        offered
    }

    /// Leaves what queues left in the store there until the guard is dropped. One guard at a time.
    #[must_use]
    pub fn pause_reading(&self) -> PausedReading<'_> {
        self.reading_paused.store(true, Ordering::Release);
        PausedReading(self)
    }

    /// Changes the settings.
    pub fn set_policy(&self, policy: Policy) {
        self.step(|scheduler, now| scheduler.set_policy(now, policy));
        self.changed.notify_one();
    }

    /// Changes what decides when turns may start.
    pub fn set_pace(&self, pace: Pace) {
        self.pace.set(pace);
        self.changed.notify_one();
    }

    /// Messages up to `id` were recovered after an unclean stop: those that are still in the store are
    /// taken singly as well.
    pub fn single_to(&self, id: i64) {
        self.single_to.fetch_max(id, Ordering::Relaxed);
    }

    /// Takes a waiting message out.
    pub fn remove(&self, key: &QueueKey, id: i64) -> bool {
        let removed = self.step(|scheduler, _| scheduler.remove(key, id));
        self.changed.notify_one();
        removed
    }

    /// Whether a message is one that its queue left in the store.
    #[must_use]
    pub fn holds(&self, key: &QueueKey, id: i64) -> bool {
        self.scheduler.lock().holds(key, id)
    }

    /// Replaces the body of a waiting message.
    pub fn replace(&self, key: &QueueKey, id: i64, body: Box<str>) -> bool {
        self.scheduler.lock().replace(key, id, body)
    }

    /// One step of the scheduler. Why entries began to wait is noted behind it, outside of the lock.
    fn step<T>(&self, act: impl FnOnce(&mut Scheduler, Tick) -> T) -> T {
        let now = self.clock.tick();
        let mut scheduler = self.scheduler.lock();
        let result = act(&mut scheduler, now);
        let waits = scheduler.take_waits();
        drop(scheduler);
        for (id, why) in waits {
            self.traces.note(id, reason(why), self.clock.now());
        }
        result
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
        let expired = self.scheduler.lock().take_expired(self.clock.tick(), limit);
        if !expired.is_empty() {
            // There may be room now for what was held back.
            self.changed.notify_one();
        }
        expired
    }

    /// Starts turns until `stop`.
    pub async fn run(self: Arc<Self>, runner: Arc<dyn Runner>, stop: Stop) {
        // Counts as something that was started: what it is about to start is not missed by a drain.
        let _running = self.tasks.token();
        while !stop.is_stopped() {
            self.refill();
            let pace = self.pace.get();
            let until = match self.next(&pace) {
                Ok((batch, provider)) => {
                    self.start(batch, &pace, provider, &runner);
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

    /// The next batch with the provider that would let it in, or when to ask again.
    fn next<'p>(&self, pace: &'p Pace) -> Result<(Batch, &'p str), Option<Tick>> {
        if self.commands.load(Ordering::Acquire) >= MAX_COMMANDS {
            return Err(None);
        }
        let now = self.clock.tick();
        let room = self.in_flight.load(Ordering::Acquire) < pace.max_in_flight;
        let (permit, provider) = pace.provider(now);
        match self.step(|scheduler, now| scheduler.next(now, room && permit <= now)) {
            Next::Run(batch) => Ok((batch, provider)),
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

    fn start(
        self: &Arc<Self>,
        batch: Batch,
        pace: &Pace,
        provider: &str,
        runner: &Arc<dyn Runner>,
    ) {
        let model = batch.kind == Kind::Message;
        // A retry inside a turn may have been faster; then the new turn waits for its permit like others.
        let held = model && pace.permits.try_take(provider);
        let permit = held.then(|| provider.to_owned());
        self.count(model).fetch_add(1, Ordering::AcqRel);
        let guard = Started {
            dispatch: Arc::clone(self),
            token: batch.token,
            model,
        };
        let runner = Arc::clone(runner);
        self.tasks.spawn(async move {
            let _guard = guard;
            runner.run(batch, permit).await;
        });
    }

    /// Reads on where a queue left messages in the store.
    fn refill(self: &Arc<Self>) {
        while !self.reading_paused.load(Ordering::Acquire) {
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
                let single_to = self.single_to.load(Ordering::Relaxed);
                let entries = rows.into_iter().map(|row| {
                    let single = row.id <= single_to;
                    passed_on(row, wanted.key, single)
                });
                (entries.collect(), more)
            }
            Err(error) => {
                tracing::error!(%error, "waiting messages could not be read; trying again");
                tokio::time::sleep(Duration::from_secs(1)).await;
                (Vec::new(), true)
            }
        };
        self.step(|scheduler, now| scheduler.refill(now, wanted.key, entries, more));
        self.changed.notify_one();
    }
}

/// While it lives nothing is read that queues left in the store.
#[derive(Debug)]
pub struct PausedReading<'a>(&'a Dispatch);

impl Drop for PausedReading<'_> {
    fn drop(&mut self) {
        self.0.reading_paused.store(false, Ordering::Release);
        self.0.changed.notify_one();
    }
}

fn reason(why: Wait) -> Reason {
    match why {
        Wait::Pause => Reason::Debounced,
        Wait::Token => Reason::WaitingForToken,
        Wait::Turn => Reason::WaitingForTurn,
        Wait::Model => Reason::WaitingForModel,
    }
}

/// The entry of a stored message; `None` for control commands, which are never queued.
#[must_use]
pub fn entry(row: Waiting, key: QueueKey, single: bool) -> Option<Entry> {
    let control = Route::from_code(row.route) == Route::Control;
    (!control).then(|| passed_on(row, key, single))
}

/// The entry of any stored message. Control commands look like commands in a slot of their own, which a
/// refill passes over: the reading goes on behind them.
fn passed_on(row: Waiting, key: QueueKey, single: bool) -> Entry {
    let waits = Route::from_code(row.route).queued();
    let (kind, lane, alone) = waits.unwrap_or((Kind::Now, Lane::Control, false));
    Entry {
        id: row.id,
        key,
        account: row.account,
        conversation: row.conversation,
        person: row.person,
        kind,
        lane,
        priority: row.priority,
        single: single || alone,
        body: Some(row.body),
    }
}

/// Gives back what a turn holds, also when it panics or is cancelled.
struct Started {
    dispatch: Arc<Dispatch>,
    token: super::fair::TurnToken,
    model: bool,
}

impl Drop for Started {
    fn drop(&mut self) {
        let count = self.dispatch.count(self.model);
        count.fetch_sub(1, Ordering::AcqRel);
        let token = self.token;
        self.dispatch
            .step(|scheduler, now| scheduler.done(token, now));
        self.dispatch.changed.notify_one();
    }
}

/// Puts the scheduler's figures into the metrics.
pub fn observe(dispatch: &Dispatch) {
    let stats = dispatch.stats();
    for lane in Lane::ALL {
        metrics::queue_depth(
            lane.index(),
            stats.waiting.get(lane.index()).copied().unwrap_or(0),
        );
    }
    metrics::queue_bytes(stats.bytes);
    metrics::turns_in_flight(stats.turns);
}
