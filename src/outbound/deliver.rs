//! Delivers replies: in order, at the account's pace, each part once as far as anybody can know.
//!
//! Owns what is done with each class of send error. One task works on one conversation; a task that
//! waits for a frozen conversation holds nobody else up. It never changes a text.

mod attempt;
mod ends;
mod operate;
mod parts;
mod receipt;
mod recover;

use std::{
    collections::HashMap, num::NonZeroUsize, panic::AssertUnwindSafe, sync::Arc, time::Duration,
};

use futures_util::FutureExt;
use lru::LruCache;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use weirgate_sdk::{
    AccountName, Adapter, Capabilities, ConversationKey, Platform, ReplyTarget, Stop, UserKey,
    answer::Format,
};

use receipt::OpenReceipts;

use super::{
    blocks::blocks,
    config::Output,
    governor::{Governor, Wait},
    outbox::{Outbox, Reply},
};
use crate::{
    clock::{Clock, Tick, micros},
    current::Current,
    directory::Directory,
    hook::Hooks,
    inbound::sent::SentMessages,
    media::MediaStore,
    reason::Reason,
    security::redact::Redactor,
    store::{ReceiptOutcome, ReplyBody, Store},
    telemetry::metrics::Queue,
    trace::{Traces, turn_id},
};

/// Where an account's answers go.
pub type Adapters = HashMap<(Platform, AccountName), Arc<dyn Adapter>>;

/// How often a part whose outcome was in doubt is sent in all.
const ATTEMPTS: u32 = 3;
/// Conversations in which the bot may not write that are remembered.
const FORBIDDEN: NonZeroUsize = NonZeroUsize::new(1_024).expect("not zero");
/// The first and the longest pause while a platform is not reachable.
const RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Delivers replies. Cheap to clone.
#[derive(Clone)]
pub struct Deliverer {
    shared: Arc<Shared>,
}

/// What a deliverer is made of.
pub struct Parts {
    /// The outbox.
    pub store: Arc<dyn Store>,
    /// Where answers go.
    pub adapters: Adapters,
    /// Keys behind numbers.
    pub directory: Arc<Directory>,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// The clock.
    pub clock: Clock,
    /// What must not get out.
    pub redactor: Arc<Redactor>,
    /// Told of every message that was sent.
    pub sent: Arc<SentMessages>,
    /// The settings of output.
    pub output: Output,
    /// Plug-ins.
    pub hooks: Hooks,
    /// Files that go out.
    pub media: Option<Arc<MediaStore>>,
    /// Ends the delivery.
    pub stop: Stop,
}

struct Shared {
    store: Arc<dyn Store>,
    adapters: Current<Adapters>,
    directory: Arc<Directory>,
    traces: Arc<Traces>,
    clock: Clock,
    redactor: Arc<Redactor>,
    sent: Arc<SentMessages>,
    output: Current<Output>,
    hooks: Hooks,
    outbox: Outbox,
    governors: Mutex<HashMap<(Platform, AccountName), Governor>>,
    workers: TaskTracker,
    /// Notified when a worker has nothing left.
    rested: tokio::sync::Notify,
    receipts: Mutex<OpenReceipts>,
    /// Where the operator was told that the bot may not write, and when.
    forbidden: Mutex<LruCache<i64, Tick>>,
    runtime: Handle,
    media: Option<Arc<MediaStore>>,
    stop: Stop,
}

impl std::fmt::Debug for Deliverer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deliverer")
            .field("waiting", &self.unsent())
            .finish_non_exhaustive()
    }
}

/// How a reply ended.
enum End {
    /// All parts are out, or given up with a receipt.
    Settled,
    /// The gateway stops: the rest stays in the store.
    Stopped,
}

impl Deliverer {
    /// A deliverer that works until its stop signal. Must be called inside of the runtime.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let Parts {
            store,
            adapters,
            directory,
            traces,
            clock,
            redactor,
            sent,
            output,
            hooks,
            media,
            stop,
        } = parts;
        let outbox = Outbox::new(output.buffer.max_size, output.buffer.overflow_strategy);
        let shared = Shared {
            store,
            adapters: Current::new(adapters),
            directory,
            traces,
            clock,
            redactor,
            sent,
            output: Current::new(output),
            hooks,
            outbox,
            governors: Mutex::default(),
            workers: TaskTracker::new(),
            rested: tokio::sync::Notify::new(),
            receipts: Mutex::default(),
            forbidden: Mutex::new(LruCache::new(FORBIDDEN)),
            runtime: Handle::current(),
            media,
            stop,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The adapter of a conversation, if its account is still configured.
    #[must_use]
    pub fn adapter(&self, key: &ConversationKey) -> Option<Arc<dyn Adapter>> {
        self.shared.adapter(key)
    }

    /// Takes over reloaded settings of output, for replies on their way too.
    pub fn set_output(&self, output: Output) {
        let buffer = &output.buffer;
        self.shared
            .outbox
            .set_limits(buffer.max_size, buffer.overflow_strategy);
        self.shared.output.set(output);
    }

    /// Delivers through these adapters from the next try on. A reply of an account that is not among them
    /// is given up.
    pub fn set_adapters(&self, adapters: Adapters) {
        self.shared.adapters.set(adapters);
    }

    /// Replies that are not sent yet.
    #[must_use]
    pub fn unsent(&self) -> usize {
        self.shared.outbox.waiting()
    }

    /// Whether a reply into this conversation would be sent at once: only then may its intent be written
    /// together with it.
    #[must_use]
    pub fn is_free(&self, conversation: i64) -> bool {
        !self.shared.stop.is_stopped() && self.shared.outbox.is_free(conversation)
    }

    /// Takes over a reply whose outbox row is committed.
    pub fn push(&self, reply: Reply) {
        if self.shared.stop.is_stopped() {
            return;
        }
        let conversation = reply.conversation;
        Queue::Outbound.received(1);
        let pushed = self.shared.outbox.push(reply);
        if pushed.start {
            self.start(conversation);
        }
        if let Some(dropped) = pushed.overflow {
            let shared = Arc::clone(&self.shared);
            self.shared
                .workers
                .spawn(async move { shared.drop_reply(dropped, Reason::ReplyDropped).await });
        }
    }

    fn start(&self, conversation: i64) {
        let shared = Arc::clone(&self.shared);
        self.shared
            .workers
            .spawn(async move { shared.work(conversation).await });
    }

    /// Whether a preview may be shown now; takes its token from the same budget.
    #[must_use]
    pub fn may_preview(&self, conversation: i64, key: &ConversationKey) -> bool {
        let Some(adapter) = self.adapter(key) else {
            return false;
        };
        let capabilities = adapter.capabilities(key);
        self.shared.with_governor(key, |governor, now| {
            governor.take_cosmetic(conversation, capabilities.rates, now)
        })
    }

    /// Waits until the queue of a conversation has room, no longer than `patience`: who answers faster than
    /// the platform takes slows down before answers have to be dropped.
    pub async fn room(&self, conversation: i64, patience: Duration) {
        let Some(room) = self.shared.outbox.room(conversation) else {
            return;
        };
        tokio::select! {
            // An error means that the queue is gone, and with it whatever filled it.
            _ = room => {}
            () = tokio::time::sleep(patience) => {}
            () = self.shared.stop.stopped() => {}
        }
    }

    /// Waits until nothing is left to send and every receipt is written.
    pub async fn idle(&self) {
        loop {
            let rested = self.shared.rested.notified();
            if self.shared.outbox.is_idle() && self.shared.receipts_settled() {
                return;
            }
            rested.await;
        }
    }

    /// Waits until every worker has ended: after `stop`, or when nothing is left to do.
    pub async fn drained(&self) {
        self.shared.workers.close();
        self.shared.workers.wait().await;
    }
}

impl Shared {
    async fn work(self: &Arc<Self>, conversation: i64) {
        while let Some(mut reply) = self.outbox.take(conversation) {
            let (id, part, turn) = (reply.id, reply.part, reply.turn);
            let work = AssertUnwindSafe(self.deliver(&mut reply));
            match work.catch_unwind().await {
                Ok(End::Settled) => {}
                Ok(End::Stopped) => return,
                Err(_) => {
                    // The adapter or its renderer panicked over this reply; the next ones are fine.
                    tracing::error!(reply = id, "a delivery panicked; the reply is given up");
                    self.with_governor(&reply.key, |governor, _| governor.leave(conversation));
                    self.note(turn, id, Reason::SendFailed);
                    self.settle(id, part, failed(Reason::SendFailed)).await;
                    self.unanswered(&reply);
                }
            }
        }
        self.rested.notify_waiters();
    }

    fn adapter(&self, key: &ConversationKey) -> Option<Arc<dyn Adapter>> {
        let account = (key.platform.clone(), key.account.clone());
        self.adapters.get().get(&account).cloned()
    }

    async fn drop_reply(&self, reply: Reply, reason: Reason) {
        self.note(reply.turn, reply.id, reason);
        Queue::Outbound.dropped(reason, 1);
        self.settle(reply.id, reply.part, failed(reason)).await;
        self.unanswered(&reply);
    }

    /// Waits for the account's pace, as [`Self::pace`] does, and stands in nobody's way afterwards.
    async fn wait_for_pace(
        &self,
        reply: &Reply,
        begun: bool,
        capabilities: Capabilities,
        frozen: &mut Tick,
    ) -> Result<(), Held> {
        let waited = self.pace(reply, begun, capabilities, frozen).await;
        if waited.is_err() {
            self.with_governor(&reply.key, |governor, _| governor.leave(reply.conversation));
        }
        waited
    }

    /// Waits for the account's pace. Time for which the platform froze the place is added to `frozen`;
    /// it does not count as age, and a reply that has begun never expires.
    async fn pace(
        &self,
        reply: &Reply,
        begun: bool,
        capabilities: Capabilities,
        frozen: &mut Tick,
    ) -> Result<(), Held> {
        let before = self.clock.tick();
        if !self.sleep_until(reply.due).await {
            return Err(Held::Stopped);
        }
        self.forgive(reply.conversation, before);
        loop {
            let age = self.clock.tick().saturating_sub(reply.since.max(reply.due));
            if !begun && age.saturating_sub(*frozen) > micros(self.output.get().buffer.max_age) {
                return Err(Held::Expired);
            }
            // A reload may have put another adapter in its place.
            let present = self.adapter(&reply.key);
            let capabilities = present.map_or(capabilities, |now| now.capabilities(&reply.key));
            let taken = self.with_governor(&reply.key, |governor, now| {
                governor.take(reply.conversation, capabilities.rates, now)
            });
            let (until, is_frozen) = match taken {
                Ok(()) => return Ok(()),
                Err(Wait::Pace(until)) => (until, false),
                Err(Wait::Frozen(until)) => (until, true),
            };
            let before = self.clock.tick();
            if !self.sleep_until(until).await {
                return Err(Held::Stopped);
            }
            if is_frozen {
                *frozen += self.forgive(reply.conversation, before);
            }
        }
    }

    /// Those who wait behind a reply that had to wait since `before` do not age meanwhile. Says how long.
    fn forgive(&self, conversation: i64, before: Tick) -> Tick {
        let waited = self.clock.tick().saturating_sub(before);
        if waited > 0 {
            self.outbox.forgive(conversation, waited);
        }
        waited
    }

    /// Sleeps until a tick; `false` if the gateway stops first.
    async fn sleep_until(&self, tick: Tick) -> bool {
        if self.stop.is_stopped() {
            return false;
        }
        if tick <= self.clock.tick() {
            return true;
        }
        tokio::select! {
            () = tokio::time::sleep_until(self.clock.instant(tick)) => true,
            () = self.stop.stopped() => false,
        }
    }

    fn with_governor<T>(
        &self,
        key: &ConversationKey,
        act: impl FnOnce(&mut Governor, Tick) -> T,
    ) -> T {
        let now = self.clock.tick();
        let mut governors = self.governors.lock();
        let account = (key.platform.clone(), key.account.clone());
        act(governors.entry(account).or_default(), now)
    }

    fn note(&self, turn: Option<i64>, id: i64, reason: Reason) {
        self.traces
            .note(turn.unwrap_or(id), reason, self.clock.now());
    }
}

/// Why a part is not sent now.
enum Held {
    Stopped,
    Expired,
}

fn failed(reason: Reason) -> ReceiptOutcome {
    ReceiptOutcome::Failed {
        reason: reason.code(),
    }
}

/// The message that a part is a reply to: the last one answered, on the first part only.
fn reply_target(body: &ReplyBody, part: u32) -> Option<ReplyTarget> {
    if part > 0 {
        return None;
    }
    let message = body.answers.last()?;
    let author = UserKey::decode(body.author.as_deref()?)?;
    Some(ReplyTarget {
        message: message.as_str().into(),
        author,
    })
}

/// The text of a part as the adapter renders it; as plain text if its markup was refused.
fn rendered(
    adapter: &dyn Adapter,
    text: &str,
    format: Format,
    redactor: &Redactor,
) -> weirgate_sdk::answer::Rendered {
    adapter.render().render(&blocks(text, format, redactor))
}

#[cfg(test)]
mod tests;
