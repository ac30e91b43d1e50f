//! The core: everything between adapters and models, built and started without sockets or files of its
//! own.
//!
//! Owns the order in which its parts are made, started and stopped. It knows neither the web server nor
//! how adapters and models are made: those are handed in, by the application and by simulations alike.

mod stops;

use std::{
    collections::BTreeMap,
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::Notify, task::JoinSet, time::timeout};
use weirgate_sdk::{AccountName, Ingress, Platform, Stop};

use self::stops::{Signals, Stops, signals};
use super::{
    Broken, StartError, accounts::Accounts, keeper::Keeper, transcript::StoredTranscript,
    translate, tune, tune::Tuner,
};
use crate::{
    agent::{
        Agent, Parts as AgentParts, ledger::Ledger, memory::Memories, model::Lineup,
        running::Running,
    },
    clock::Clock,
    command::{Desk, alone::OneAtATime, claim::Claim, configure::Configure, desk::Connections},
    config::Config,
    current::Current,
    directory::Directory,
    hook::Hooks,
    inbound::{
        accept::{AccountRules, Intake, OpenEvents, Parts as IntakeParts},
        keying::Keying,
        notice::Notices,
        recover::Recovery,
        sent::{self, SentMessages},
        sweep::Sweep,
    },
    media::MediaStore,
    outbound::{
        deliver::{Adapters, Deliverer, Parts as DeliverParts},
        due::Performer,
    },
    schedule::{dispatch::Dispatch, permits::ProviderPermits},
    security::redact::Redactor,
    store::{Store, StoreError},
    trace::Traces,
};

/// How long running turns may go on when the gateway stops.
const TURN_GRACE: Duration = Duration::from_secs(20);
/// How long answers may still be sent after that.
const SEND_GRACE: Duration = Duration::from_secs(4);
/// How long a send that is under way then may take: longer than any adapter lets one take.
const LAST_SEND: Duration = Duration::from_secs(16);
/// How long the other tasks may take to end.
const END_GRACE: Duration = Duration::from_secs(8);
/// The longest time of [`Live::drain`]: its stages one after the other.
pub(super) const DRAIN: Duration = TURN_GRACE
    .saturating_add(SEND_GRACE)
    .saturating_add(LAST_SEND)
    .saturating_add(END_GRACE)
    .saturating_add(END_GRACE);

/// What a core is made of.
pub struct Parts {
    /// The journal.
    pub store: Arc<dyn Store>,
    /// Where answers go, by platform and account.
    pub adapters: Adapters,
    /// What the core has to know of each of these accounts.
    pub rules: RulesOfAccounts,
    /// The models.
    pub models: Lineup,
    /// What must not get out.
    pub redactor: Redactor,
    /// The clock.
    pub clock: Clock,
    /// Numbers from 0 to 1, for pauses that are not to be regular.
    pub random: fn() -> f64,
    /// The running configuration, if it can be changed.
    pub configure: Option<Arc<dyn Configure>>,
    /// Files that people send; without it they are only described.
    pub media: Option<Arc<MediaStore>>,
    /// Plug-ins.
    pub hooks: Hooks,
    /// What is remembered; `None` if nothing is.
    pub memories: Option<Arc<Memories>>,
}

/// A core that is built and does not run.
pub struct Core {
    shared: Shared,
    agent: Arc<Agent>,
    intake: Arc<Intake>,
    sweep: Sweep,
    adapters: Adapters,
    stops: Stops,
    signals: Signals,
}

/// What several parts lean on.
#[derive(Clone)]
struct Shared {
    store: Arc<dyn Store>,
    clock: Clock,
    keying: Keying,
    traces: Arc<Traces>,
    directory: Arc<Directory>,
    claim: Arc<Claim>,
    put_off: Arc<Notify>,
    database: Option<PathBuf>,
    configure: Option<Arc<dyn Configure>>,
    sent: Arc<SentMessages>,
    running: Arc<Running>,
    connections: Arc<Connections>,
    hooks: Hooks,
    tuner: Tuner,
}

/// A running core.
pub struct Live {
    /// Starts turns.
    pub dispatch: Arc<Dispatch>,
    /// Sends answers.
    pub deliverer: Deliverer,
    /// The connections of all accounts.
    pub connections: Arc<Connections>,
    /// What follows the configuration.
    pub tuner: Tuner,
    /// The adapters that run.
    pub accounts: Arc<tokio::sync::Mutex<Accounts>>,
    /// Takes messages in.
    pub intake: Arc<Intake>,
    directory: Arc<Directory>,
    claim: Arc<Claim>,
    clock: Clock,
    store: Arc<dyn Store>,
    fenced: Arc<AtomicBool>,
    tasks: JoinSet<()>,
    stops: Stops,
}

impl Live {
    /// Lets whoever sends `/claim` with this code own the gateway, if nobody claimed it before. Says
    /// whether the code is good.
    ///
    /// # Errors
    /// The store's.
    pub async fn offer(&self, code: &str) -> Result<bool, StoreError> {
        if self.directory.is_claimed().await? {
            return Ok(false);
        }
        self.claim.open(code.to_owned(), self.clock.tick());
        Ok(true)
    }
}

impl Core {
    /// Builds the core. Must be called inside of the runtime in which it is to run.
    ///
    /// # Errors
    /// [`StartError::Config`] if a part cannot work with its settings.
    pub fn new(config: &Config, parts: Parts) -> Result<Self, StartError> {
        let (stops, signals) = signals();
        let Parts {
            store,
            adapters,
            rules: rules_of_accounts,
            models,
            redactor,
            clock,
            random,
            configure,
            media,
            hooks,
            memories,
        } = parts;
        let redactor = Arc::new(redactor);
        let answers = Arc::new(tune::answers(config)?);
        let pools = Arc::<tune::Pools>::default();
        let made = tune::made(config, &answers, &pools, memories.as_ref())?;
        let traces = Arc::new(Traces::default());
        let directory = Arc::new(Directory::new(Arc::clone(&store)));
        let sent = Arc::new(SentMessages::default());
        let changed = Arc::new(Notify::new());
        let permits = permits(config, clock, &changed);
        let dispatch = tune::dispatch(config, &permits, changed, (&store, &traces, clock));
        let deliverer = Deliverer::new(DeliverParts {
            store: Arc::clone(&store),
            adapters: adapters.clone(),
            directory: Arc::clone(&directory),
            traces: Arc::clone(&traces),
            clock,
            redactor: Arc::clone(&answers),
            sent: Arc::clone(&sent),
            output: config.output.clone(),
            hooks: hooks.clone(),
            media: media.clone(),
            stop: signals.deliver.clone(),
        });
        let rules = tune::rules(config, models, made, permits, &rules_of_accounts);
        let tuner = Tuner {
            rules: Arc::new(Current::new(rules)),
            intake: Arc::new(Current::new(translate::heard_by(config, rules_of_accounts))),
            dispatch,
            deliverer,
            redactor,
            answers,
            media,
            pools,
            memories,
        };
        let shared = Shared {
            store,
            clock,
            keying: Keying::from(&config.input_buffer),
            traces,
            directory,
            claim: Arc::default(),
            put_off: Arc::default(),
            database: config.storage.file().map(Path::to_owned),
            configure,
            sent,
            running: Arc::default(),
            connections: Arc::new(Mutex::new(BTreeMap::new())),
            hooks,
            tuner,
        };
        let agent = Arc::new(shared.agent(random));
        let notices = Arc::new(Notices::new(Arc::clone(&shared.traces), clock));
        let intake = shared.intake(&agent, &notices, signals.intake.clone());
        let sweep = shared.sweep(notices, intake.open());
        Ok(Self {
            shared,
            agent,
            intake: Arc::new(intake),
            sweep,
            adapters,
            stops,
            signals,
        })
    }

    /// Waits for the servers of tools without which the gateway is not to start.
    ///
    /// # Errors
    /// [`StartError::Config`] if one cannot be used.
    pub async fn required(&self) -> Result<(), StartError> {
        let rules = self.shared.tuner.rules.get();
        let required = rules.tools.servers().required().await;
        required.map_err(|error| StartError::Config(format!("tools.mcp.servers: {error}")))
    }

    /// The connections of all accounts.
    #[must_use]
    pub fn connections(&self) -> Arc<Connections> {
        Arc::clone(&self.shared.connections)
    }

    /// Takes up what an earlier process left, then starts everything. Must be called inside of the runtime.
    ///
    /// # Errors
    /// The store's; nothing is left running then.
    pub async fn start(self) -> Result<Live, StoreError> {
        let shared = self.shared;
        let ingress: Arc<dyn Ingress> = self.intake.clone();
        let mut accounts = Accounts::new(ingress, Arc::clone(&shared.connections));
        for adapter in self.adapters.into_values() {
            accounts.start(adapter);
        }
        let wishes = accounts.wishes();
        let fenced = Arc::<AtomicBool>::default();
        let keeper = shared.keeper(&self.agent, &fenced);
        let held = keeper.begin(&wishes.wanted.get()).await?;
        let mut tasks = JoinSet::new();
        // Beside the start: it only helps to recognise replies to older answers, and ends by itself.
        let (store, sent) = (Arc::clone(&shared.store), Arc::clone(&shared.sent));
        tokio::spawn(sent::recall(store, sent));
        let runner: Arc<Agent> = Arc::clone(&self.agent);
        let stop = self.signals.dispatch.clone();
        tasks.spawn(Arc::clone(&shared.tuner.dispatch).run(runner, stop));
        tasks.spawn(self.sweep.run(self.signals.sweep.clone()));
        if let Some(scribe) = self.agent.scribe() {
            tasks.spawn(scribe.run(self.signals.dispatch.clone()));
        }
        tasks.spawn(shared.performer().run(self.signals.dispatch.clone()));
        accounts.take(held);
        let accounts = Arc::new(tokio::sync::Mutex::new(accounts));
        let (full, stop) = (self.signals.dispatch, self.signals.sweep);
        tasks.spawn(keeper.run(Arc::clone(&accounts), wishes, full, stop));
        Ok(Live {
            dispatch: Arc::clone(&shared.tuner.dispatch),
            deliverer: shared.tuner.deliverer.clone(),
            connections: shared.connections,
            tuner: shared.tuner,
            accounts,
            intake: self.intake,
            directory: shared.directory,
            claim: shared.claim,
            clock: shared.clock,
            store: shared.store,
            fenced,
            tasks,
            stops: self.stops,
        })
    }
}

/// What the core has to know of each account.
pub type RulesOfAccounts = HashMap<(Platform, AccountName), AccountRules>;

fn permits(config: &Config, clock: Clock, changed: &Arc<Notify>) -> Arc<ProviderPermits> {
    let limiters = translate::limiters(config);
    Arc::new(ProviderPermits::new(clock, limiters, Arc::clone(changed)))
}

impl Shared {
    fn agent(&self, random: fn() -> f64) -> Agent {
        let Tuner {
            rules,
            dispatch,
            deliverer,
            ..
        } = &self.tuner;
        let desk = Desk {
            version: env!("CARGO_PKG_VERSION"),
            mark: format!("{:032x}", rand::random::<u128>()),
            rules: Arc::clone(rules),
            clock: self.clock,
            store: Arc::clone(&self.store),
            directory: Arc::clone(&self.directory),
            running: Arc::clone(&self.running),
            dispatch: Arc::clone(dispatch),
            deliverer: deliverer.clone(),
            traces: Arc::clone(&self.traces),
            connections: Arc::clone(&self.connections),
            keying: self.keying,
            claim: Arc::clone(&self.claim),
            alone: OneAtATime::default(),
            put_off: Arc::clone(&self.put_off),
            memories: self.tuner.memories.clone(),
            database: self.database.clone(),
            media: self.tuner.media.clone(),
            configure: self.configure.clone(),
        };
        let ledger = Ledger::new(Arc::clone(&self.store), Arc::clone(rules), self.clock);
        let ledger = Arc::new(ledger);
        let kept = (&self.store, &self.traces);
        Agent::new(AgentParts {
            media: self.tuner.media.clone(),
            rules: Arc::clone(rules),
            deliverer: deliverer.clone(),
            desk,
            hooks: self.hooks.clone(),
            scribe: self.tuner.scribe(kept, &ledger, self.clock, random),
            ledger,
            random,
        })
    }

    fn intake(&self, agent: &Arc<Agent>, notices: &Arc<Notices>, stop: Stop) -> Intake {
        Intake::new(IntakeParts {
            store: Arc::clone(&self.store),
            dispatch: Arc::clone(&self.tuner.dispatch),
            agent: Arc::clone(agent),
            directory: Arc::clone(&self.directory),
            traces: Arc::clone(&self.traces),
            notices: Arc::clone(notices),
            running: Arc::clone(&self.running),
            sent: Arc::clone(&self.sent),
            hooks: self.hooks.clone(),
            rules: Arc::clone(&self.tuner.intake),
            keying: self.keying,
            connections: Arc::clone(&self.connections),
            media: self.tuner.media.clone(),
            transcript: Arc::new(StoredTranscript {
                store: Arc::clone(&self.store),
                redactor: Arc::clone(&self.tuner.answers),
            }),
            clock: self.clock,
            stop,
        })
    }

    fn keeper(&self, agent: &Arc<Agent>, fenced: &Arc<AtomicBool>) -> Keeper {
        Keeper {
            store: Arc::clone(&self.store),
            recovery: Recovery {
                store: Arc::clone(&self.store),
                dispatch: Arc::clone(&self.tuner.dispatch),
                deliverer: self.tuner.deliverer.clone(),
                agent: Arc::clone(agent),
                traces: Arc::clone(&self.traces),
                keying: self.keying,
                clock: self.clock,
            },
            sent: Arc::clone(&self.sent),
            fenced: Arc::clone(fenced),
            one_by_one: tokio::sync::Mutex::default(),
        }
    }

    fn performer(&self) -> Performer {
        Performer {
            store: Arc::clone(&self.store),
            deliverer: self.tuner.deliverer.clone(),
            directory: Arc::clone(&self.directory),
            rules: Arc::clone(&self.tuner.rules),
            traces: Arc::clone(&self.traces),
            clock: self.clock,
            added: Arc::clone(&self.put_off),
            queue: (Arc::clone(&self.tuner.dispatch), self.keying),
        }
    }

    fn sweep(&self, notices: Arc<Notices>, open: OpenEvents) -> Sweep {
        Sweep {
            notices,
            dispatch: Arc::clone(&self.tuner.dispatch),
            store: Arc::clone(&self.store),
            directory: Arc::clone(&self.directory),
            rules: Arc::clone(&self.tuner.rules),
            deliverer: self.tuner.deliverer.clone(),
            traces: Arc::clone(&self.traces),
            open,
            keying: self.keying,
            clock: self.clock,
        }
    }
}

impl Live {
    /// Stops: no new turns, running ones finish within a grace time, answers leave, the intake closes
    /// last. What is unfinished stays in the journal. Ends before the store is closed.
    pub async fn drain(&mut self) {
        self.stops.dispatch.stop();
        if timeout(TURN_GRACE, self.dispatch.drained()).await.is_err() {
            tracing::warn!("some turns did not end in time; they are taken up at the next start");
        }
        if timeout(SEND_GRACE, self.deliverer.idle()).await.is_err() {
            let unsent = self.deliverer.unsent();
            tracing::warn!(
                unsent,
                "some answers did not leave in time; they are sent after the next start"
            );
        }
        self.stops.deliver.stop();
        let _ = timeout(LAST_SEND, self.deliverer.drained()).await;
        // Adapters end before the intake: what they still read on the way out is journaled.
        self.accounts.lock().await.end_all().await;
        self.stops.intake.stop();
        self.stops.sweep.stop();
        let _ = timeout(END_GRACE, ended(&mut self.tasks)).await;
    }

    /// Resolves when a part that runs as long as the core has ended by itself, which only a fault can do, or another
    /// process that has taken over.
    pub async fn broken(&mut self) -> Broken {
        self.tasks.join_next().await;
        if self.fenced.load(Ordering::Acquire) {
            Broken::Fenced
        } else {
            Broken::Fault
        }
    }

    /// Closes the store, which marks the stop as clean.
    pub async fn close(self) {
        self.store.close().await;
    }
}

/// Waits until all tasks have ended.
pub(super) async fn ended(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}

macro_rules! opaque {
    ($($name:ident),+) => {$(
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+};
}

opaque!(Parts, Core, Live);
