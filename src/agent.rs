//! The agent: runs turns.
//!
//! Owns the way from a batch of messages to an answer: permission, command or model, history, and the
//! transaction that ends the turn. It never chooses which turn is next and never sends by itself.

mod admit;
pub mod answer;
mod charge;
pub mod choice;
mod collect;
pub mod command;
pub mod compact;
mod conclude;
pub mod config;
pub mod context;
mod digest;
mod enclosed;
pub mod ending;
pub mod finish;
mod front;
mod heard;
pub mod history;
mod inquiry;
mod kept;
pub mod ledger;
pub mod limits;
mod manage;
pub mod mcp;
mod media;
pub mod memory;
pub mod model;
pub mod peer;
pub mod prompt;
pub mod recent;
mod request;
mod resumed;
pub mod rules;
pub mod running;
mod settings;
pub mod shelf;
pub mod skill;
mod steps;
pub mod subagent;
pub mod suspects;
pub mod terms;
mod thoughts;
pub mod tool;
pub mod turn;
pub mod watched;
mod window;
mod work;

use std::{
    num::NonZeroUsize,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use futures_util::FutureExt;
use lru::LruCache;
use parking_lot::Mutex;

use crate::{
    clock::{Clock, micros},
    command::Desk,
    current::Current,
    hook::Hooks,
    i18n::Text,
    inbound::queue::Kind,
    media::MediaStore,
    outbound::deliver::Deliverer,
    reason::Reason,
    schedule::{
        bucket::{Gcra, Rate},
        dispatch::Runner,
        fair::Batch,
    },
    store::{AuditResult, Begin, Effect, End, EndState, Store, StoreError, Waiting, Write, commit},
    telemetry::{
        metrics::{self, Queue},
        traces,
    },
    trace::{Traces, turn_id},
};

pub use self::settings::Settings;
use self::{
    admit::{Lately, take},
    compact::Compactor,
    ending::Ending,
    inquiry::Inquiries,
    ledger::Ledger,
    media::Media,
    memory::scribe::Scribe,
    recent::Recent,
    rules::Rules,
    running::RunningTurn,
    suspects::{Suspects, TRIES},
    turn::{Input, Turn},
};

/// How often a person's control commands are answered, and how many people are remembered.
const CONTROL_ANSWERS: Rate = Rate {
    per_second: 1.0,
    burst: 5,
};
const CONTROL_PEOPLE: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");

/// How long a command waits for earlier answers of its conversation to leave. A model is slow enough by
/// itself; commands answer faster than any platform takes.
const ROOM: Duration = Duration::from_secs(2);

/// The first and the longest pause of a turn while the store is away.
const STORE_PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// How far the attempts of a turn have come.
struct Progress {
    /// The turn is to be begun in the store.
    must_begin: bool,
    /// It is.
    begun: bool,
    /// It may have run before, here or in a process that ended.
    again: bool,
}

/// Runs turns.
pub struct Agent {
    rules: Arc<Current<Rules>>,
    store: Arc<dyn Store>,
    traces: Arc<Traces>,
    deliverer: Deliverer,
    desk: Desk,
    media: Option<Arc<MediaStore>>,
    hooks: Hooks,
    clock: Clock,
    random: fn() -> f64,
    /// Messages up to this id were recovered after an unclean stop: their turns are always begun in
    /// the store, so that one that crashes the process is found.
    recovered_to: AtomicI64,
    suspects: Suspects,
    recent: Arc<Recent>,
    compactor: Arc<Compactor>,
    scribe: Option<Arc<Scribe>>,
    /// How often people were answered on control commands.
    control_answers: Mutex<LruCache<i64, Gcra>>,
    lately: Lately,
    inquiries: Inquiries,
    ledger: Arc<Ledger>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}

/// What an agent is made of.
pub struct Parts {
    /// What the configuration says; each turn takes what is there at its start.
    pub rules: Arc<Current<Rules>>,
    /// Who delivers.
    pub deliverer: Deliverer,
    /// What commands work with.
    pub desk: Desk,
    /// Files that people send; without it they are only described.
    pub media: Option<Arc<MediaStore>>,
    /// Plug-ins.
    pub hooks: Hooks,
    /// Looks through conversations; `None` if nothing is remembered.
    pub scribe: Option<Arc<Scribe>>,
    /// Who has used what.
    pub ledger: Arc<Ledger>,
    /// Numbers from 0 to 1.
    pub random: fn() -> f64,
}

impl Agent {
    /// An agent.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        let recent = Arc::new(Recent::default());
        let compactor = Compactor {
            store: Arc::clone(&parts.desk.store),
            rules: Arc::clone(&parts.rules),
            recent: Arc::clone(&recent),
            ledger: Arc::clone(&parts.ledger),
            traces: Arc::clone(&parts.desk.traces),
            clock: parts.desk.clock,
            random: parts.random,
            state: Mutex::default(),
        };
        Self {
            store: Arc::clone(&parts.desk.store),
            traces: Arc::clone(&parts.desk.traces),
            clock: parts.desk.clock,
            rules: parts.rules,
            deliverer: parts.deliverer,
            desk: parts.desk,
            media: parts.media,
            hooks: parts.hooks,
            random: parts.random,
            recovered_to: AtomicI64::new(0),
            suspects: Suspects::default(),
            recent,
            compactor: Arc::new(compactor),
            scribe: parts.scribe,
            control_answers: Mutex::new(LruCache::new(CONTROL_PEOPLE)),
            lately: Lately::default(),
            inquiries: Inquiries::default(),
            ledger: parts.ledger,
        }
    }

    /// What looks through conversations; `None` if nothing is remembered.
    #[must_use]
    pub fn scribe(&self) -> Option<Arc<Scribe>> {
        self.scribe.clone()
    }

    /// Messages up to `id` were recovered after an unclean stop; the turns of `begun`, each with its
    /// number of attempts, had begun.
    pub fn recovered_to(&self, id: i64, begun: &[(i64, u32)]) {
        self.suspects.take_over(begun);
        self.recovered_to.fetch_max(id, Ordering::Relaxed);
    }

    /// Runs a control command: at once, beside everything else.
    pub async fn control(&self, row: Waiting) {
        let input = Input {
            rules: self.rules.get(),
            turn: row.id,
            account: row.account,
            conversation: row.conversation,
            person: row.person,
            command: true,
            messages: vec![(row.id, Some(row.body))],
            dropped: None,
            permit: Mutex::new(None),
            quiet: !self.may_answer_control(row.person),
            since: self.clock.tick(),
        };
        self.guarded(input).await;
    }

    /// Runs a turn to its end. A panic inside is caught and the turn tried again, up to the limit. While
    /// the store is away the turn waits in its slot, so that the order of its queue holds.
    async fn guarded(&self, input: Input) {
        let started = self.clock.tick();
        let turn = input.turn;
        // From here on the messages count as taken, for /stop, /cancel and recalls.
        let running = self.desk.running.enter(
            turn,
            input.conversation,
            input.person,
            input.command,
            input.members(),
        );
        let must_begin = !input.command || self.is_recovered(turn);
        let mut progress = Progress {
            must_begin,
            begun: false,
            again: false,
        };
        let _alone = tokio::select! {
            place = self.suspects.admit(turn) => place,
            () = running.stopped() => None,
        };
        let mut pause = STORE_PAUSE.0;
        let mut panics = 0;
        loop {
            let run = AssertUnwindSafe(self.attempt(&input, &running, &mut progress));
            match run.catch_unwind().await {
                Ok(Ok(())) => {
                    metrics::turn_seconds(self.clock.tick().saturating_sub(started));
                    return;
                }
                Ok(Err(StoreError::Database(error))) => {
                    tracing::error!(turn = %turn_id(turn), error, "a turn waits for the store");
                    self.traces
                        .note(turn, Reason::StoreUnavailable, self.clock.now());
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(STORE_PAUSE.1);
                }
                // The message stays in the journal for whoever opens the store next.
                Ok(Err(StoreError::Closed | StoreError::Fenced)) => return,
                Err(_) => {
                    panics += 1;
                    tracing::error!(turn = %turn_id(turn), panics, "a turn panicked");
                    progress = Progress {
                        must_begin: true,
                        begun: false,
                        again: true,
                    };
                    if panics > TRIES + 1 {
                        return;
                    }
                }
            }
        }
    }

    /// Whether a turn may have run before in a process that ended uncleanly.
    fn is_recovered(&self, turn: i64) -> bool {
        turn <= self.recovered_to.load(Ordering::Relaxed)
    }

    async fn attempt(
        &self,
        input: &Input,
        running: &RunningTurn,
        progress: &mut Progress,
    ) -> Result<(), StoreError> {
        let Some(turn) = Turn::load(self, input).await? else {
            return self.end_unreadable(input).await;
        };
        if progress.must_begin && !progress.begun {
            let attempt = self.begin(input.turn).await?;
            progress.begun = true;
            if attempt == 0 {
                // It was recalled between being taken and now.
                return Ok(());
            }
            if self.suspects.is_guilty(input.turn, attempt) {
                let reference = turn_id(input.turn);
                tracing::error!(turn = %reference, attempt, "set aside: every try ended in a crash");
                let text = Text::Quarantined { reference };
                let ending = Ending::failed(text.render(turn.language), Reason::Quarantined);
                let ending = self.noted(input, ending);
                return self.finish(input, &turn, ending, progress.begun).await;
            }
            if attempt > 1 {
                progress.again = true;
                self.traces
                    .note(input.turn, Reason::Recovered, self.clock.now());
            }
        }
        let mut ending = if turn.body().too_large {
            let limit = crate::inbound::body::MAX_BODY;
            let text = Text::TooLarge { limit }.render(turn.language);
            self.noted(input, Ending::failed(text, Reason::TooLarge))
        } else if let Some(waited) = turn.body().resumes {
            self.resumed(input, &turn, running, (waited, Media::default()))
                .await?
        } else if let Some(ending) = self.not_heard(input, &turn).await? {
            self.noted(input, ending)
        } else if input.command {
            self.command(input, &turn, running).await?
        } else {
            // What fails from here on is tried again with what was done.
            let again = std::mem::replace(&mut progress.again, true);
            match self.inquiry(input, &turn, again).await? {
                Some(row) => self.take_words(input, &turn, running, (row, again)).await?,
                None => self.answer(input, &turn, running, again).await?,
            }
        };
        if input.quiet {
            ending.text.clear();
            // What was done is recorded however often; that somebody may not is recorded as often as he is told.
            ending.effects.retain(|effect| {
                !matches!(effect, Effect::Audit(audit) if audit.result == AuditResult::Denied)
            });
        }
        self.finish(input, &turn, ending, progress.begun).await
    }

    /// Ends messages of which nothing can be read any more, so that they are not taken up for ever.
    async fn end_unreadable(&self, input: &Input) -> Result<(), StoreError> {
        let at = self.clock.now();
        let end = |id| End {
            id,
            state: EndState::Failed,
            reason: Reason::TurnFailed.code(),
            at,
        };
        let ends = input.members().into_iter().map(end).collect();
        self.traces.note(input.turn, Reason::TurnFailed, at);
        let notices = Vec::new();
        commit(&self.store, |then| Write::End {
            ends,
            notices,
            then,
        })
        .await
        .map(drop)
    }

    /// Control commands pass every queue, so their answers have a rate of their own: nobody pushes other
    /// people's answers out with them.
    fn may_answer_control(&self, person: i64) -> bool {
        let now = self.clock.tick();
        take(&self.control_answers, person, CONTROL_ANSWERS, 1, now)
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
    async fn run(&self, batch: Batch, permit: Option<String>) {
        let Some(turn) = batch.entries.first().map(|entry| entry.id) else {
            return;
        };
        Queue::Inbound.sent(u64::try_from(batch.entries.len()).unwrap_or(u64::MAX));
        for entry in &batch.entries {
            Queue::Inbound.waited(entry.waited);
            traces::queued(turn, entry.id, entry.waited);
            if entry.id != turn {
                self.traces.note(entry.id, Reason::Merged, self.clock.now());
            }
        }
        let waited = batch
            .entries
            .first()
            .map_or(Duration::ZERO, |entry| entry.waited);
        let input = Input {
            rules: self.rules.get(),
            since: self.clock.tick().saturating_sub(micros(waited)),
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
            permit: Mutex::new(permit),
            quiet: false,
        };
        if input.command {
            self.deliverer.room(input.conversation, ROOM).await;
        }
        self.guarded(input).await;
    }
}
