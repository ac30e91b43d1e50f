//! The agent: runs turns.
//!
//! Owns the way from a batch of messages to an answer: permission, command or model, history, and the
//! transaction that ends the turn. It never chooses which turn is next and never sends by itself.

pub mod answer;
pub mod config;
pub mod context;
pub mod finish;
pub mod history;
pub mod model;
pub mod running;
pub mod turn;

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt;

use crate::{
    clock::Clock,
    command::Desk,
    hook::Hooks,
    i18n::{Language, Text},
    inbound::queue::Kind,
    outbound::{compose::Composer, deliver::Deliverer},
    reason::Reason,
    schedule::{dispatch::Runner, fair::Batch, permits::ProviderPermits},
    store::{Begin, Store, StoreError, Waiting, Write, commit},
    telemetry::metrics,
    trace::{Traces, turn_id},
};

use self::{
    answer::Ending,
    config::Context,
    model::Chain,
    turn::{Input, Turn},
};

/// How often a turn is tried before its messages are set aside.
const MAX_ATTEMPTS: u32 = 3;

/// What the agent is told by the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The context of model requests.
    pub context: Context,
    /// Global owners as (platform, id).
    pub owners: Vec<(String, String)>,
    /// The platform's own roles count.
    pub platform_roles: bool,
    /// The language, unless a person chose his own; `None` follows the messages.
    pub language: Option<Language>,
    /// The longest turn.
    pub turn_timeout: Duration,
    /// What the hint about dropped messages begins with.
    pub overflow_hint: String,
}

/// Runs turns.
pub struct Agent {
    settings: Settings,
    store: Arc<dyn Store>,
    traces: Arc<Traces>,
    deliverer: Deliverer,
    composer: Arc<Composer>,
    chain: Chain,
    permits: Arc<ProviderPermits>,
    desk: Desk,
    hooks: Hooks,
    clock: Clock,
    random: fn() -> f64,
    /// Messages up to this id were recovered after an unclean stop: their turns are always begun in
    /// the store, so that one that crashes the process is found.
    recovered_to: AtomicI64,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}

/// What an agent is made of.
pub struct Parts {
    /// What the configuration says.
    pub settings: Settings,
    /// Who delivers.
    pub deliverer: Deliverer,
    /// Who composes replies.
    pub composer: Arc<Composer>,
    /// The models.
    pub chain: Chain,
    /// The providers' limiters.
    pub permits: Arc<ProviderPermits>,
    /// What commands work with.
    pub desk: Desk,
    /// Plug-ins.
    pub hooks: Hooks,
    /// Numbers from 0 to 1.
    pub random: fn() -> f64,
}

impl Agent {
    /// An agent.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            store: Arc::clone(&parts.desk.store),
            traces: Arc::clone(&parts.desk.traces),
            clock: parts.desk.clock,
            settings: parts.settings,
            deliverer: parts.deliverer,
            composer: parts.composer,
            chain: parts.chain,
            permits: parts.permits,
            desk: parts.desk,
            hooks: parts.hooks,
            random: parts.random,
            recovered_to: AtomicI64::new(0),
        }
    }

    /// Messages up to `id` were recovered after an unclean stop.
    pub fn recovered_to(&self, id: i64) {
        self.recovered_to.store(id, Ordering::Relaxed);
    }

    /// Runs a control command: at once, beside everything else.
    pub async fn control(&self, row: Waiting) {
        let input = Input {
            turn: row.id,
            account: row.account,
            conversation: row.conversation,
            person: row.person,
            command: true,
            messages: vec![(row.id, Some(row.body))],
            dropped: None,
        };
        self.guarded(input).await;
    }

    /// Runs a turn; a panic inside is caught and the turn tried again, up to the limit.
    async fn guarded(&self, input: Input) {
        let started = self.clock.tick();
        let turn = input.turn;
        let mut begin = !input.command || turn <= self.recovered_to.load(Ordering::Relaxed);
        for attempt in 1..=MAX_ATTEMPTS + 1 {
            let run = AssertUnwindSafe(self.attempt(&input, begin));
            match run.catch_unwind().await {
                Ok(Ok(())) => {
                    metrics::turn_seconds(self.clock.tick().saturating_sub(started));
                    return;
                }
                Ok(Err(error)) => {
                    // The message stays in the journal and is taken up at the next start.
                    tracing::error!(turn = %turn_id(turn), %error, "a turn could not be written");
                    self.traces
                        .note(turn, Reason::StoreUnavailable, self.clock.now());
                    return;
                }
                Err(_) => {
                    tracing::error!(turn = %turn_id(turn), attempt, "a turn panicked");
                    begin = true;
                }
            }
        }
    }

    async fn attempt(&self, input: &Input, begin: bool) -> Result<(), StoreError> {
        let turn = Turn::load(self, input).await?;
        if begin {
            let attempt = self.begin(input.turn).await?;
            if attempt > MAX_ATTEMPTS {
                let reference = turn_id(input.turn);
                tracing::error!(turn = %reference, "set aside: three tries ended in a crash");
                self.traces
                    .note(input.turn, Reason::Quarantined, self.clock.now());
                let text = Text::Quarantined { reference };
                let ending = Ending::failed(text.render(turn.language), Reason::Quarantined);
                return self.finish(input, &turn, ending, begin).await;
            }
            if attempt > 1 {
                self.traces
                    .note(input.turn, Reason::Recovered, self.clock.now());
            }
        }
        let ending = if turn.body().too_large {
            let limit = crate::inbound::body::MAX_BODY;
            self.noted(
                input,
                Ending::failed(
                    Text::TooLarge { limit }.render(turn.language),
                    Reason::TooLarge,
                ),
            )
        } else if input.command {
            self.noted(input, self.command(input, &turn).await?)
        } else {
            self.answer(input, &turn).await?
        };
        self.finish(input, &turn, ending, begin).await
    }

    /// Notes why a turn that asked no model ends as it does.
    fn noted(&self, input: &Input, ending: Ending) -> Ending {
        if let Some(reason) = ending.reason {
            self.traces.note(input.turn, reason, self.clock.now());
        }
        ending
    }

    async fn begin(&self, turn: i64) -> Result<u32, StoreError> {
        let begin = Begin {
            turn,
            at: self.clock.now(),
        };
        commit(&self.store, |then| Write::Begin(begin, then)).await
    }
}

#[async_trait]
impl Runner for Agent {
    async fn run(&self, batch: Batch) {
        let Some(turn) = batch.entries.first().map(|entry| entry.id) else {
            return;
        };
        for entry in &batch.entries {
            metrics::queue_wait(entry.waited);
        }
        let input = Input {
            turn,
            account: batch.account,
            conversation: batch.conversation,
            person: batch.person,
            command: batch.kind != Kind::Message,
            messages: batch
                .entries
                .into_iter()
                .map(|entry| (entry.id, entry.body))
                .collect(),
            dropped: batch.dropped,
        };
        self.guarded(input).await;
    }
}
