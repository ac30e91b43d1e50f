//! The world around the gateway: platforms, people and models that are there before and after a crash,
//! and one process after another.
//!
//! Owns each process's runtime, whose drop is the crash. Nothing here looks into the gateway.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::{task::JoinSet, time::Instant};
use weirgate::{
    agent::model::Model,
    app::core::{Core, Live, Parts},
    clock::Clock,
    config::Config,
    hook::Hooks,
    inbound::{accept::AccountRules, addressing::Addressing, config::OverflowStrategy},
    security::redact::Redactor,
    store::{
        Store, WaitingFilter,
        sqlite::{Durability, Options, Retention, SqliteStore},
    },
};
use weirgate_sdk::{Adapter, Streaming};
use weirgate_testkit::scripted::{self, Call, Reaction, ScriptedAdapter};

use super::{
    dice::Dice,
    fault::{Refusals, base, config, mood},
    model::{Manner, SimModel, Watch},
    people::{Deed, Plan, Size},
    store::{Faults, FaultyStore, Ledger},
};

const DAY: Duration = Duration::from_secs(86_400);
/// The longest that anything may take to come to rest, in virtual time.
const REST: Duration = Duration::from_secs(6 * 3_600);

/// The longest that the notice of a burst is held back.
const BURST: Duration = Duration::from_secs(15);

/// How a process ends.
#[derive(Debug, Clone, Copy)]
pub enum End {
    /// Killed after this time, at a random place between two steps of its tasks.
    Killed(Duration, u64),
    /// Killed at this operation of the store, which is committed or not.
    KilledAt(u64, bool),
    /// Stopped after this time.
    Stopped(Duration),
}

/// Everything but the gateway.
pub struct World {
    pub config: Config,
    pub stages: [Arc<ScriptedAdapter>; 2],
    pub ledger: Arc<Mutex<Ledger>>,
    pub watch: Arc<Mutex<Watch>>,
    pub refusals: Arc<Mutex<Refusals>>,
    pub plan: Arc<Plan>,
    /// How each process ended.
    pub processes: Vec<End>,
    /// Parts that were in doubt when a process ended, and how often.
    pub doubts: BTreeMap<(i64, u32), usize>,
    /// How many sends had been asked of each account when the last process ended.
    asked: [usize; 2],
    /// The next deed of each account.
    next: Arc<Mutex<[usize; 2]>>,
    pub folder: TempDir,
    dice: Dice,
    /// Milliseconds since the beginning.
    time: u64,
}

/// What is left at the end of a process that ran until it was at rest.
#[derive(Debug)]
pub struct Rest {
    /// Messages that the store has and nobody works on.
    pub stuck: Vec<i64>,
    /// Figures of the scheduler after everybody's bucket is full again.
    pub stats: weirgate::schedule::fair::Stats,
    /// Replies in memory.
    pub unsent: usize,
}

impl World {
    /// A world of this size.
    pub fn new(seed: u64, size: Size) -> Self {
        let mut dice = Dice::new(seed);
        let stages = [
            ScriptedAdapter::new(scripted::Options {
                platform: "square",
                length: 120,
                ..scripted::Options::default()
            }),
            ScriptedAdapter::new(scripted::Options {
                platform: "window",
                idempotent: true,
                streaming: Streaming::Replace {
                    prefix_stable: true,
                },
                ..scripted::Options::default()
            }),
        ];
        let plan = Plan::new(&stages, size, &mut dice);
        Self {
            config: config(&mut dice),
            stages,
            ledger: Arc::default(),
            watch: Arc::default(),
            refusals: Arc::default(),
            plan: Arc::new(plan),
            processes: Vec::new(),
            doubts: BTreeMap::new(),
            asked: [0; 2],
            next: Arc::default(),
            folder: tempfile::tempdir().unwrap(),
            dice,
            time: 0,
        }
    }

    /// A world in which nobody says anything by plan, with the shipped limits but for these.
    pub fn calm(change: impl FnOnce(&mut Config)) -> Self {
        let nobody = Size {
            users: 1,
            deeds: 0,
            span: 1,
        };
        let mut world = Self::new(0, nobody);
        world.config = base();
        change(&mut world.config);
        world
    }

    /// Runs one process in which nothing fails.
    pub fn quiet<T>(&mut self, work: impl AsyncFnOnce(Process) -> T) -> T {
        for stage in &self.stages {
            stage.mood(|_| Reaction::Show);
        }
        let manner = Manner {
            faults: 0,
            panics: false,
            thinking: 300,
        };
        let result = self.process(Faults::default(), manner, work);
        self.end_of_process();
        result.expect("nothing crashes it")
    }

    /// Runs one process with faults of all kinds to its end.
    pub fn live(&mut self, end: End) {
        self.moods();
        let crash = match end {
            End::KilledAt(count, commit) => Some((count, commit)),
            _ => None,
        };
        let faults = Faults {
            refuse: self.dice.pick(&[0, 0, 2, 5]),
            crash,
        };
        self.begin_process(end);
        let manner = Manner {
            faults: 40,
            panics: self.dice.chance(300),
            thinking: 900,
        };
        self.process(faults, manner, async move |process| {
            let crashed = Arc::clone(&process.store.crashed);
            match end {
                End::Killed(after, steps) => {
                    tokio::time::sleep(after).await;
                    for _ in 0..steps {
                        tokio::task::yield_now().await;
                    }
                }
                End::KilledAt(..) => {
                    // A quiet gateway never reaches the operation.
                    let _ = tokio::time::timeout(DAY / 100, crashed.notified()).await;
                }
                End::Stopped(after) => {
                    tokio::time::sleep(after).await;
                    process.stop().await;
                }
            }
        });
        self.end_of_process();
        self.time += self.dice.below(5_000);
    }

    fn begin_process(&mut self, end: End) {
        self.ledger.lock().process = self.processes.len();
        self.processes.push(end);
    }

    /// Runs one process without faults until nothing is left to do, then stops it.
    pub fn rest(&mut self) -> Rest {
        self.begin_process(End::Stopped(REST));
        self.quiet(async |mut process: Process| {
            let start = Instant::now();
            let mut rested = start;
            // What a burst of dropped messages was about is told, and written, when it is over.
            while rested.elapsed() <= BURST {
                assert!(
                    start.elapsed() < REST,
                    "never at rest: {:?}",
                    process.live.dispatch.stats()
                );
                tokio::time::sleep(Duration::from_secs(1)).await;
                if !process.at_rest() {
                    rested = Instant::now();
                }
            }
            let left = process
                .store
                .waiting(0, WaitingFilter::default(), 100)
                .await
                .unwrap();
            // Long enough for every bucket to be full again.
            tokio::time::sleep(Duration::from_secs(900)).await;
            let rest = Rest {
                stuck: left.iter().map(|row| row.id).collect(),
                stats: process.live.dispatch.stats(),
                unsent: process.live.deliverer.unsent(),
            };
            process.stop().await;
            rest
        })
    }

    /// Whether a message that was answered by process `later` may have fallen out of a full queue before
    /// process `earlier` answered a newer one: only if one of those between them was killed.
    pub fn may_have_been_dropped(&self, earlier: usize, later: usize) -> bool {
        let between = self.processes.iter().take(later).skip(earlier);
        let killed = between.filter(|end| !matches!(end, End::Stopped(_)));
        self.config.input_buffer.overflow_strategy != OverflowStrategy::Block && killed.count() > 0
    }

    /// The store, for questions after the end.
    pub fn store(&self) -> Arc<dyn Store> {
        self.open()
    }

    fn open(&self) -> Arc<dyn Store> {
        SqliteStore::open_inline(Options {
            path: self.folder.path().join("weirgate.db"),
            durability: Durability::Process,
            retention: Retention {
                inbox: DAY,
                outbox: DAY,
                history: DAY,
                audit: DAY,
                media: DAY,
            },
            readers: 1,
            now: || 1,
        })
        .unwrap()
    }

    fn process<T>(
        &mut self,
        faults: Faults,
        manner: Manner,
        work: impl AsyncFnOnce(Process) -> T,
    ) -> Option<T> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (store_dice, model_dice) = (self.dice.fork(), self.dice.fork());
        let start = i64::try_from(1_000_000 + self.time).unwrap();
        let time = self.time;
        let (result, elapsed, store) = runtime.block_on(async {
            let begin = Instant::now();
            let store = FaultyStore::new(self.open(), Arc::clone(&self.ledger), faults, store_dice);
            let model = SimModel::new(
                manner,
                &self.config.input_buffer,
                model_dice,
                Arc::clone(&self.watch),
            );
            let core = Core::new(&self.config, self.parts(&store, model, start)).unwrap();
            let crashed = Arc::clone(&store.crashed);
            let live = tokio::select! {
                biased;
                live = core.start() => Some(live.unwrap()),
                () = crashed.notified() => None,
            };
            let result = match live {
                Some(live) => {
                    let mut people = JoinSet::new();
                    for stage in 0..2 {
                        people.spawn(act(
                            Arc::clone(&self.stages[stage]),
                            Arc::clone(&self.plan),
                            Arc::clone(&self.next),
                            (stage, time, begin),
                        ));
                    }
                    Some(
                        work(Process {
                            live,
                            store: Arc::clone(&store),
                            people,
                        })
                        .await,
                    )
                }
                None => None,
            };
            (result, begin.elapsed(), store)
        });
        drop(runtime);
        store.bury();
        self.time += u64::try_from(elapsed.as_millis()).unwrap();
        result
    }

    fn parts(&self, store: &Arc<FaultyStore>, model: Arc<SimModel>, wall: i64) -> Parts {
        let mut adapters = weirgate::outbound::deliver::Adapters::new();
        let mut rules = std::collections::HashMap::new();
        for stage in &self.stages {
            let key = (stage.platform(), stage.account());
            let adapter: Arc<dyn Adapter> = stage.clone();
            adapters.insert(key.clone(), adapter);
            let addressing = Addressing::default();
            rules.insert(
                key,
                AccountRules {
                    addressing,
                    shown: false,
                    terms: Arc::default(),
                },
            );
        }
        let models: Vec<Arc<dyn Model>> = vec![model];
        Parts {
            store: Arc::<FaultyStore>::clone(store),
            adapters,
            rules,
            models: models.into(),
            memories: None,
            redactor: Redactor::new(Vec::<String>::new()).0,
            clock: Clock::starting_at(wall),
            random: || 0.5,
            configure: None,
            media: None,
            hooks: Hooks::default(),
        }
    }

    /// What may be there twice from now on: what was asked of a platform and has no receipt. In each
    /// conversation that is one part at most.
    fn end_of_process(&mut self) {
        let receipts = &self.ledger.lock().receipts;
        for (number, stage) in self.stages.iter().enumerate() {
            stage.crash();
            let calls = stage.calls();
            let asked: BTreeSet<(i64, u32)> = calls
                .iter()
                .map(|call| (call.outgoing.id, call.outgoing.part))
                .collect();
            for key in asked.into_iter().filter(|key| !receipts.contains(key)) {
                *self.doubts.entry(key).or_default() += 1;
            }
            let mut open: BTreeMap<&str, (i64, u32)> = BTreeMap::new();
            for Call { outgoing, .. } in &calls[self.asked[number]..] {
                let key = (outgoing.id, outgoing.part);
                let place = outgoing.conversation.conversation.as_str();
                if !receipts.contains(&key) {
                    let other = *open.entry(place).or_insert(key);
                    assert_eq!(other, key, "{place}: two parts in doubt at once");
                }
            }
            self.asked[number] = calls.len();
        }
    }

    fn moods(&mut self) {
        for stage in &self.stages {
            let (mut dice, refusals) = (self.dice.fork(), Arc::clone(&self.refusals));
            stage.mood(move |outgoing| mood(&mut dice, &refusals, outgoing));
        }
    }
}

/// A running gateway and the people who use it.
pub struct Process {
    live: Live,
    pub store: Arc<FaultyStore>,
    people: JoinSet<()>,
}

impl Process {
    fn at_rest(&mut self) -> bool {
        while self.people.try_join_next().is_some() {}
        let stats = self.live.dispatch.stats();
        self.people.is_empty()
            && stats.waiting.iter().sum::<usize>() == 0
            && stats.turns == 0
            && self.live.deliverer.unsent() == 0
    }

    /// Whether turns are under way.
    pub fn is_busy(&self) -> bool {
        self.live.dispatch.stats().turns > 0
    }

    /// Stops it as the operator would.
    pub async fn stop(mut self) {
        self.live.drain().await;
        self.live.close().await;
    }
}

/// Hands in what people do, in order, again and again until it is accepted.
async fn act(
    stage: Arc<ScriptedAdapter>,
    plan: Arc<Plan>,
    next: Arc<Mutex<[usize; 2]>>,
    (account, time, begin): (usize, u64, Instant),
) {
    loop {
        let place = next.lock()[account];
        let Some(Deed { at, events }) = plan.deeds[account].get(place) else {
            return;
        };
        tokio::time::sleep_until(begin + Duration::from_millis(at.saturating_sub(time))).await;
        let accepted = match stage.feed(events.clone()).await {
            Some(receipt) => receipt.await.is_ok(),
            None => false,
        };
        if accepted {
            next.lock()[account] += 1;
        } else {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
