//! Acceptance: a batch of events becomes journal rows, and journal rows become waiting messages.
//!
//! Owns the order: batches are journaled in the order of the calls, and queued in the order of the
//! journal, on the journal's own thread. A batch is accepted whole or not at all.

mod again;
mod behind;
mod burst;
mod change;
mod enqueue;
mod here;
mod plan;

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{
    runtime::Handle,
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{self, error::TrySendError},
    },
};
use weirgate_sdk::{
    AccountName, Batch, Connection, Cursor, InboundMessage, Ingress, Keeper, Manage, NotAccepted,
    Outcome, Platform, Receipt, ReceiptSlot, Stop, Transcript,
};

use self::behind::{Behind, Place};
use super::{
    addressing::Addressing,
    burst::{Bursts, Pause},
    keying::Keying,
    notice::Notices,
    route::Route,
    sent::SentMessages,
};
use crate::{
    agent::{Agent, terms::Terms},
    clock::{Clock, Tick},
    command::desk::Connections,
    current::Current,
    directory::Directory,
    hook::Hooks,
    media::MediaStore,
    reason::Reason,
    schedule::dispatch::Dispatch,
    store::{Accepted, Store, StoreError, Write},
    telemetry::{
        metrics::{self, Queue},
        traces,
    },
    trace::Traces,
};

/// Events whose receipts may be open at once; adapters wait beyond that.
const MAX_OPEN: usize = 16_384;

/// Batches with edits or recalls that wait to be carried out.
const MAX_CHANGES: usize = 1_024;

/// What an account adds to acceptance.
#[derive(Debug, Clone)]
pub struct AccountRules {
    /// When the bot feels addressed.
    pub addressing: Addressing,
    /// Conversations are shown from the store.
    pub shown: bool,
    /// What it gives its people.
    pub terms: Arc<Terms>,
}

/// What the configuration says of acceptance.
#[derive(Debug, Default)]
pub struct IntakeRules {
    /// The rules of each account; batches of others are not taken.
    pub accounts: HashMap<(Platform, AccountName), AccountRules>,
    /// Unaddressed messages are kept as context.
    pub ambient: bool,
    /// What ends a burst of one person in a group.
    pub pause: Pause,
}

/// What acceptance is made of.
pub struct Parts {
    /// The journal.
    pub store: Arc<dyn Store>,
    /// Who queues.
    pub dispatch: Arc<Dispatch>,
    /// Who runs control commands.
    pub agent: Arc<Agent>,
    /// Keys and numbers.
    pub directory: Arc<Directory>,
    /// Reasons.
    pub traces: Arc<Traces>,
    /// Bursts of what is not answered.
    pub notices: Arc<Notices>,
    /// Turns under way.
    pub running: Arc<crate::agent::running::Running>,
    /// What the gateway sent lately.
    pub sent: Arc<SentMessages>,
    /// Plug-ins.
    pub hooks: Hooks,
    /// What the configuration says; each batch takes what is there when it comes.
    pub rules: Arc<Current<IntakeRules>>,
    /// How messages are sorted into queues.
    pub keying: Keying,
    /// The connections of all accounts.
    pub connections: Arc<Connections>,
    /// Files that people hand to adapters.
    pub media: Option<Arc<MediaStore>>,
    /// Past messages for adapters that show them.
    pub transcript: Arc<dyn Transcript>,
    /// The clock.
    pub clock: Clock,
    /// Ends the intake.
    pub stop: Stop,
}

/// The gateway's end of [`Ingress`].
pub struct Intake {
    shared: Arc<Shared>,
    open: Arc<Semaphore>,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Intake").finish_non_exhaustive()
    }
}

/// How many events are handed in and not yet durable.
#[derive(Debug, Clone)]
pub struct OpenEvents(Arc<Semaphore>);

impl OpenEvents {
    /// As of now.
    #[must_use]
    pub fn count(&self) -> usize {
        MAX_OPEN.saturating_sub(self.0.available_permits())
    }
}

struct Shared {
    parts: Parts,
    runtime: Handle,
    changes: mpsc::Sender<Changes>,
    behind: Arc<Behind>,
    bursts: Mutex<Bursts>,
    /// Places for those who are told that they are blocked.
    telling: Arc<Semaphore>,
}

/// Changes of one batch, or none of one whose cursor waits for others, with what is told when they are carried out.
struct Changes {
    steps: Vec<Step>,
    outcomes: Vec<Outcome>,
    slot: ReceiptSlot,
    place: Option<Place>,
    _open: Open,
}

/// The place of a batch among the open ones.
type Open = Arc<Option<OwnedSemaphorePermit>>;

/// What is done with one event once its batch is journaled.
enum Step {
    /// Nothing; the outcome stands.
    Ended(Outcome),
    /// The next accepted rows are those of messages that were said before in the same burst, then this message's.
    Accepted(Vec<Known>, Box<Known>),
    /// An edit of a message.
    Edit(Box<InboundMessage>),
    /// A message was taken back.
    Delete(weirgate_sdk::ConversationKey, weirgate_sdk::MessageId),
    /// The person pressed stop.
    Stop(weirgate_sdk::ConversationKey, weirgate_sdk::UserKey),
}

impl Step {
    /// Whether it is carried out after its batch is journaled.
    fn is_change(&self) -> bool {
        matches!(self, Self::Edit(_) | Self::Delete(..) | Self::Stop(..))
    }
}

/// What is known of a message besides its row.
struct Known {
    conversation: weirgate_sdk::ConversationKey,
    person: weirgate_sdk::UserKey,
    message: weirgate_sdk::MessageId,
    route: Route,
    priority: i8,
    body: Box<str>,
    at: i64,
}

impl Intake {
    /// The intake. Must be called inside of the runtime.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let (changes, queue) = mpsc::channel(MAX_CHANGES);
        let shared = Arc::new(Shared {
            parts,
            runtime: Handle::current(),
            changes,
            behind: Arc::default(),
            bursts: Mutex::default(),
            telling: Arc::new(Semaphore::new(here::TOLD_AT_ONCE)),
        });
        // Ends when the intake is gone, because it holds no sender of its own.
        tokio::spawn(change::in_order(Arc::downgrade(&shared), queue));
        Self {
            shared,
            open: Arc::new(Semaphore::new(MAX_OPEN)),
        }
    }

    /// Tells how many events are open, as long as anybody asks.
    #[must_use]
    pub fn open(&self) -> OpenEvents {
        OpenEvents(Arc::clone(&self.open))
    }
}

#[async_trait]
impl Ingress for Intake {
    async fn accept(&self, batch: Batch) -> Receipt {
        let (slot, receipt) = Receipt::new();
        let since = self.shared.parts.clock.tick();
        Queue::Intake.received(count(batch.events.len()));
        let weight = u32::try_from(batch.events.len().clamp(1, MAX_OPEN)).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        let permit = Arc::clone(&self.open).acquire_many_owned(weight).await.ok();
        if self.shared.parts.stop.is_stopped() {
            Queue::Intake.dropped(Reason::ShuttingDown, count(batch.events.len()));
            slot.resolve(Err(NotAccepted::Stopping));
            return receipt;
        }
        self.shared.accept(batch, slot, permit, since).await;
        receipt
    }

    async fn cursor(&self, platform: &Platform, account: &AccountName) -> Option<Cursor> {
        match self.shared.parts.store.cursor(platform, account).await {
            Ok(cursor) => cursor,
            Err(error) => {
                tracing::error!(%platform, %account, %error, "the cursor could not be read");
                None
            }
        }
    }

    fn connection(&self, platform: &Platform, account: &AccountName, state: Connection) {
        let mut connections = self.shared.parts.connections.lock();
        let key = (platform.clone(), account.clone());
        let previous = connections.insert(key, Some(state.clone())).flatten();
        let hears = |state: &Connection| matches!(state, Connection::Up | Connection::Degraded(_));
        if hears(&state) && !previous.as_ref().is_some_and(hears) {
            let directory = &self.shared.parts.directory;
            directory.standings().missed(platform, account);
        }
        if previous.as_ref() != Some(&state) {
            tracing::info!(%platform, %account, state = crate::command::desk::describe(&state),
                "connection");
            metrics::adapter_state(platform, account, &state, true);
        }
    }

    fn keeper(&self) -> Option<Arc<dyn Keeper>> {
        let media = self.shared.parts.media.clone()?;
        Some(media)
    }

    fn manage(&self) -> Option<Arc<dyn Manage>> {
        let agent = Arc::clone(&self.shared.parts.agent);
        Some(agent)
    }

    fn transcript(&self) -> Arc<dyn Transcript> {
        Arc::clone(&self.shared.parts.transcript)
    }
}

impl Shared {
    async fn accept(
        self: &Arc<Self>,
        batch: Batch,
        slot: ReceiptSlot,
        permit: Option<OwnedSemaphorePermit>,
        since: Tick,
    ) {
        let Batch {
            platform,
            account,
            events,
            mut cursor,
        } = batch;
        let all = self.parts.rules.get();
        let Some(rules) = all.accounts.get(&(platform.clone(), account.clone())) else {
            slot.resolve(Err(NotAccepted::Store(format!(
                "no account {platform}/{account}"
            ))));
            return;
        };
        let mut steps = Vec::with_capacity(events.len());
        let mut messages = Vec::with_capacity(events.len());
        let mut ambient = Vec::new();
        for event in events {
            let addressing = self.addressing(&event, rules).await;
            let here = plan::Here {
                rules,
                addressing: &addressing,
                pause: all.pause,
                shut_out: self.shuts_out(&event).await,
            };
            let step = self.plan(event, &here, &mut messages, &mut ambient);
            metrics::event(&platform, plan::outcome_name(&step));
            steps.push(step);
        }
        if all.ambient {
            self.keep_as_context(ambient).await;
        }
        let idle = messages.is_empty() && cursor.is_none();
        if idle && steps.iter().all(|step| matches!(step, Step::Ended(_))) {
            let outcomes = steps.iter().map(plan::ended).collect();
            slot.resolve(Ok(outcomes));
            return;
        }
        let changes = steps.iter().any(Step::is_change);
        let place = self
            .behind
            .place((&platform, &account), changes, &mut cursor);
        let shared = Arc::clone(self);
        let then = Box::new(
            move |result: Result<Vec<Accepted>, StoreError>| match result {
                Ok(rows) => {
                    let waited = shared.parts.clock.tick().saturating_sub(since);
                    let waited = Duration::from_micros(waited);
                    Queue::Intake.waited(waited);
                    let new = rows.iter().filter(|row| !row.duplicate);
                    new.for_each(|row| traces::accepted(row.id, waited));
                    shared.accepted((steps, place), rows, slot, &Arc::new(permit));
                }
                Err(error) => {
                    let waiting = steps.iter().filter(|step| !matches!(step, Step::Ended(_)));
                    Queue::Intake.dropped(Reason::StoreUnavailable, count(waiting.count()));
                    slot.resolve(Err(NotAccepted::Store(error.to_string())));
                }
            },
        );
        self.parts
            .store
            .write(Write::Accept {
                platform,
                account,
                messages,
                cursor,
                then,
            })
            .await;
    }

    /// The batch is journaled: queue its messages in order. Runs on the journal's thread.
    fn accepted(
        self: &Arc<Self>,
        (steps, place): (Vec<Step>, Option<Place>),
        rows: Vec<Accepted>,
        slot: ReceiptSlot,
        permit: &Open,
    ) {
        let went_on = |step: &Step| match step {
            Step::Ended(_) => 0,
            Step::Accepted(earlier, _) => 1 + earlier.len(),
            _ => 1,
        };
        let went_on: usize = steps.iter().map(went_on).sum();
        let repeated = rows.iter().filter(|row| row.duplicate).count();
        Queue::Intake.sent(count(went_on.saturating_sub(repeated)));
        let mut rows = rows.into_iter();
        let mut outcomes = Vec::with_capacity(steps.len());
        let mut changes = Vec::new();
        for step in steps {
            let outcome = match step {
                Step::Ended(outcome) => outcome,
                Step::Accepted(earlier, known) => {
                    self.burst_is_journaled(&earlier);
                    for (known, row) in earlier.into_iter().zip(&mut rows) {
                        self.queue(row, known, permit);
                    }
                    match rows.next() {
                        Some(row) => self.queue(row, *known, permit),
                        None => Outcome::Ignored,
                    }
                }
                change => {
                    changes.push(change);
                    Outcome::Ignored
                }
            };
            outcomes.push(outcome);
        }
        if place.is_none() {
            slot.resolve(Ok(outcomes));
            return;
        }
        let changes = Changes {
            steps: changes,
            outcomes,
            slot,
            place,
            _open: Arc::clone(permit),
        };
        if let Err(full) = self.changes.try_send(changes) {
            // What was accepted stays accepted; the adapter hands the batch in again.
            let (TrySendError::Full(changes) | TrySendError::Closed(changes)) = full;
            let busy = "too many edits and recalls wait".to_owned();
            changes.slot.resolve(Err(NotAccepted::Store(busy)));
        }
    }
}

/// A number of things as metrics count them.
fn count(things: usize) -> u64 {
    u64::try_from(things).unwrap_or(u64::MAX)
}
