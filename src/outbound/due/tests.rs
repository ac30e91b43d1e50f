//! Bans that the gateway ends, and reminders, in virtual time, over restarts and failures.

use std::{collections::HashMap, path::Path, time::Duration};

use weirgate_sdk::{
    Adapter, PlatformRole, Stopper, UserId,
    moderation::{Action, Moderates as _, ModerationError},
};
use weirgate_testkit::{
    clock::until,
    scripted::{Options, ScriptedAdapter},
};

use super::{lift::Ordered, *};
use crate::{
    hook::Hooks,
    inbound::config::InputBuffer,
    outbound::{
        config::Output,
        deliver::{Deliverer, Parts},
    },
    store::{
        Accept, Finish, HistoryScope, Meeting, Place, TurnState,
        config::{Durability, Retention},
        sqlite::{Options as StoreOptions, SqliteStore},
    },
};

const DAY: Duration = Duration::from_secs(86_400);
const START: i64 = 1_000;

struct Process {
    store: Arc<dyn Store>,
    stopper: Stopper,
    work: tokio::task::JoinHandle<()>,
    added: Arc<Notify>,
    directory: Arc<Directory>,
}

fn open(path: &Path) -> Arc<dyn Store> {
    SqliteStore::open_inline(StoreOptions {
        path: path.to_owned(),
        durability: Durability::Process,
        retention: Retention {
            inbox: DAY,
            outbox: DAY,
            history: DAY,
            audit: DAY,
            media: DAY,
        },
        readers: 1,
        now: || START,
    })
    .unwrap()
}

/// A process that begins at this time of the clock.
fn start(path: &Path, stage: &Arc<ScriptedAdapter>, at: i64) -> Process {
    let store = open(path);
    let (stopper, stop) = Stopper::new();
    let clock = Clock::starting_at(at);
    let directory = Arc::new(Directory::new(Arc::clone(&store)));
    let adapter: Arc<dyn Adapter> = stage.clone();
    let traces = Arc::<Traces>::default();
    let deliverer = Deliverer::new(Parts {
        media: None,
        redactor: Arc::default(),
        sent: Arc::default(),
        store: Arc::clone(&store),
        adapters: HashMap::from([((stage.platform(), stage.account()), adapter)]),
        directory: Arc::clone(&directory),
        traces: Arc::clone(&traces),
        clock,
        output: Output::default(),
        hooks: Hooks::default(),
        stop: stop.clone(),
    });
    let added = Arc::<Notify>::default();
    let dispatch = crate::app::tune::default_dispatch(&store, &traces, clock);
    let performer = Performer {
        store: Arc::clone(&store),
        deliverer,
        directory: Arc::clone(&directory),
        rules: Arc::new(Current::new(crate::app::tune::default_rules(clock))),
        traces,
        clock,
        added: Arc::clone(&added),
        queue: (dispatch, Keying::from(&InputBuffer::default())),
    };
    Process {
        store,
        stopper,
        work: tokio::spawn(performer.run(stop)),
        added,
        directory,
    }
}

impl Process {
    /// A turn ends with what this action leaves for later.
    async fn order(&self, stage: &ScriptedAdapter, action: &Action, now: i64) {
        let event = format!("{action:?}{now}");
        self.turn(stage, event, now, |conversation, turn| {
            let ordered = Ordered {
                conversation,
                turn,
                shown: "Bob",
                language: Language::En,
                now,
            };
            Lift::after(stage, action, ordered)
        })
        .await;
    }

    /// Ann wants to be reminded.
    async fn remind(&self, stage: &ScriptedAdapter, due: i64, pattern: Option<&str>) {
        let remind = Remind {
            text: "tea".to_owned(),
            who: stage.user("ann").encode(),
            role: PlatformRole::default(),
            message: "m".to_owned(),
            pattern: pattern.map(str::to_owned),
            language: "en".to_owned(),
            zone: None,
            task: None,
        };
        self.turn(stage, "remind".to_owned(), START, |conversation, turn| {
            let subject = format!("{}{turn}", subjects(1));
            vec![Effect::Defer(remind.at(due, conversation, turn, subject))]
        })
        .await;
    }

    /// A turn ends with these effects of its conversation and number.
    async fn turn(
        &self,
        stage: &ScriptedAdapter,
        event: String,
        now: i64,
        effects: impl FnOnce(i64, i64) -> Vec<Effect>,
    ) {
        let message = Accept {
            conversation: stage.key("g1"),
            person: stage.user("ann"),
            event: event.into(),
            event_until: 1 << 40,
            at: now,
            route: 0,
            priority: 0,
            shown: false,
            body: r#"{"i":"m","t":"hi"}"#.into(),
        };
        let (platform, account) = (stage.platform(), stage.account());
        let rows = commit(&self.store, |then| Write::Accept {
            platform,
            account,
            messages: vec![message],
            cursor: None,
            then,
        })
        .await
        .unwrap();
        let (conversation, turn) = (rows[0].conversation, rows[0].id);
        let finish = Finish {
            turn,
            begun: false,
            members: vec![turn],
            state: TurnState::Done,
            reason: None,
            history: Vec::new(),
            scope: HistoryScope {
                conversation,
                person: 0,
            },
            replies: Vec::new(),
            effects: effects(conversation, turn),
            at: now,
        };
        commit(&self.store, |then| Write::Finish(Arc::new(finish), then))
            .await
            .unwrap();
        self.added.notify_one();
    }

    async fn end(self) {
        self.stopper.stop();
        self.work.await.unwrap();
        self.store.close().await;
    }
}

fn ban(time: Option<u64>) -> Action {
    Action::Ban {
        user: UserId::from("42"),
        time: time.map(Duration::from_secs),
    }
}

fn unban() -> Action {
    Action::Unban {
        user: UserId::from("42"),
    }
}

fn stage() -> (tempfile::TempDir, Arc<ScriptedAdapter>) {
    let options = Options {
        moderates: true,
        ..Options::default()
    };
    (tempfile::tempdir().unwrap(), ScriptedAdapter::new(options))
}

#[tokio::test(start_paused = true)]
async fn a_ban_ends_in_time_and_once() {
    let (folder, stage) = stage();
    let process = start(&folder.path().join("db"), &stage, START);
    stage.bench.fail([]);
    process.order(&stage, &ban(Some(600)), START).await;
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert_eq!(stage.bench.acts(), []);
    assert!(until(DAY, || !stage.texts("g1").is_empty()).await);
    assert_eq!(stage.texts("g1"), ["Bob may come back: the time is over."]);
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.texts("g1").len(), 1);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_of_mind_counts() {
    let (folder, stage) = stage();
    let process = start(&folder.path().join("db"), &stage, START);
    process.order(&stage, &ban(Some(600)), START).await;
    process.order(&stage, &unban(), START + 1).await;
    process.order(&stage, &ban(Some(600)), START + 2).await;
    process.order(&stage, &ban(None), START + 3).await;
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.bench.acts(), [], "it is for good now");
    process
        .order(&stage, &ban(Some(600)), START + 86_400_000)
        .await;
    let longer = ban(Some(1_200));
    process.order(&stage, &longer, START + 86_400_000).await;
    tokio::time::sleep(Duration::from_secs(1_100)).await;
    assert_eq!(stage.texts("g1"), [""; 0]);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert_eq!(stage.texts("g1").len(), 1);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_due_while_nobody_runs_is_done_at_the_next_start() {
    let (folder, stage) = stage();
    let path = folder.path().join("db");
    let process = start(&path, &stage, START);
    stage.act(&stage.key("g1"), &ban(None)).await.unwrap();
    process.order(&stage, &ban(Some(600)), START).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.end().await;
    let process = start(&path, &stage, START + 7_000_000);
    assert!(until(DAY, || !stage.texts("g1").is_empty()).await);
    assert_eq!(stage.bench.acts(), [ban(None), unban()]);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_the_platform_does_not_do_now_is_tried_again_and_what_it_refuses_is_told() {
    let (folder, stage) = stage();
    let process = start(&folder.path().join("db"), &stage, START);
    stage.act(&stage.key("g1"), &ban(None)).await.unwrap();
    stage.bench.fail([
        ModerationError::Unavailable("away".to_owned()),
        ModerationError::NotConfirmed("lost".to_owned()),
        ModerationError::BotLacksRight,
    ]);
    process.order(&stage, &ban(Some(600)), START).await;
    assert!(until(DAY, || !stage.texts("g1").is_empty()).await);
    assert_eq!(stage.bench.acts().len(), 4);
    let told = &stage.texts("g1")[0];
    assert!(
        told.starts_with("Bob was to be let in again by now, but: I may not"),
        "{told}"
    );
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.bench.acts().len(), 4, "it is given up");
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn who_asked_is_reminded_in_time_and_once() {
    let (folder, stage) = stage();
    let process = start(&folder.path().join("db"), &stage, START);
    process.remind(&stage, START + 600_000, None).await;
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert_eq!(stage.texts("g1"), [""; 0]);
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.texts("g1"), ["⏰ tea"]);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_again_comes_at_each_of_its_times_also_over_a_restart() {
    let (folder, stage) = stage();
    let path = folder.path().join("db");
    let process = start(&path, &stage, START);
    // Six in the morning, in UTC; the first day of 1970 is a Thursday.
    let six = 6 * 3_600_000;
    process.remind(&stage, six, Some("0 6 * * *")).await;
    tokio::time::sleep(2 * DAY).await;
    assert_eq!(stage.texts("g1"), ["⏰ tea"; 2]);
    process.end().await;
    // Three times pass while nobody is there; the first that waited is told late, the others are not made up for.
    let days = |days: i64| days * 86_400_000;
    let process = start(&path, &stage, START + days(5));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let told = stage.texts("g1");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[2].contains("1970-01-03 06:00"), "{told:?}");
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.texts("g1").len(), 4);
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn an_announcement_reaches_everybody_once_a_portion_at_a_time_also_over_a_restart() {
    let (folder, stage) = stage();
    let path = folder.path().join("db");
    let process = start(&path, &stage, START);
    // The one in which it was asked for is `g1`.
    let all: Vec<String> = (2..1_202).map(|number| format!("g{number}")).collect();
    for name in &all {
        let meeting = Box::new(Meeting {
            conversation: stage.key(name),
            person: stage.user("ann"),
        });
        let met = commit(&process.store, |then| Write::Meet(meeting, then));
        met.await.unwrap();
    }
    process
        .turn(&stage, "e".to_owned(), START, |conversation, turn| {
            let announce = Announce::new("hello all".to_owned());
            vec![Effect::Defer(announce.at(START, conversation, turn))]
        })
        .await;
    // They are reached in the order in which they were met. To look at all of them each time would take long.
    let reached = |name: &str| !stage.texts(name).is_empty();
    assert!(until(DAY, || reached("g750")).await);
    let waiting = process.store.deferred(5_000).await.unwrap().len();
    assert!(waiting < 502, "{waiting} wait at once");
    process.end().await;
    let process = start(&path, &stage, START + 7_000_000);
    assert!(until(DAY, || reached("g1201")).await);
    tokio::time::sleep(DAY).await;
    assert!(all.iter().all(|name| stage.texts(name) == ["hello all"]));
    assert!(stage.texts("g1").is_empty());
    process.end().await;
}

#[tokio::test(start_paused = true)]
async fn who_may_not_speak_is_not_reminded_while_that_is_so() {
    let (folder, stage) = stage();
    let path = folder.path().join("db");
    let process = start(&path, &stage, START);
    process
        .remind(&stage, 6 * 3_600_000, Some("0 6 * * *"))
        .await;
    let due = process.store.deferred(1).await.unwrap();
    let place = Place::of_conversation(due[0].conversation);
    let shut_out = async |event: &str, value: Option<&str>| {
        let set = Effect::Set {
            of: place,
            key: "policy:blacklist".into(),
            value: value.map(str::to_owned),
        };
        process
            .turn(&stage, event.to_owned(), START, |_, _| vec![set])
            .await;
        process.directory.changed(place);
    };
    shut_out("policy", Some("ann")).await;
    tokio::time::sleep(3 * DAY).await;
    assert_eq!(stage.texts("g1"), [""; 0]);
    // He may again, and is told from then on.
    shut_out("again", None).await;
    tokio::time::sleep(DAY).await;
    assert_eq!(stage.texts("g1"), ["⏰ tea"]);
    process.end().await;
}
