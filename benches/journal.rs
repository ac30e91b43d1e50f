//! The journal's speed: accepting with 1, 64 and 2,000 callers, and a message's whole life.
//!
//! Each caller waits for its own commit before it goes on, as an adapter does; the figures are messages a
//! second. The store is a file in the folder for temporary files, durable against the end of the process.

#![expect(clippy::expect_used, reason = "a benchmark ends where its setup fails")]

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tokio::{runtime::Runtime, task::JoinSet};
use weirgate::store::{
    Accept, Accepted, Finish, HistoryScope, NewReply, Receipt, ReceiptOutcome, Store, TurnState,
    Write, commit,
    sqlite::{Durability, Options, Retention, SqliteStore},
};
use weirgate_sdk::{ConversationKey, UserKey};

const NOW: i64 = 1_800_000_000_000;

async fn store(folder: &tempfile::TempDir) -> Arc<dyn Store> {
    let keep = Duration::from_hours(24);
    let options = Options {
        path: folder.path().join("weirgate.db"),
        durability: Durability::Process,
        retention: Retention {
            inbox: keep,
            outbox: keep,
            history: keep,
            audit: keep,
            media: keep,
        },
        readers: 1,
        now: || NOW,
    };
    SqliteStore::open(options).await.expect("the folder is new")
}

/// A message of one of 1,000 people in one of 100 groups, about 500 bytes.
fn message(number: u64) -> Accept {
    let group = format!("g{}", number % 100);
    Accept {
        conversation: ConversationKey {
            platform: "onebot".into(),
            account: "main".into(),
            conversation: group.into(),
            thread: None,
        },
        person: UserKey {
            platform: "onebot".into(),
            realm: "".into(),
            id: format!("{}", number % 1000).into(),
        },
        event: format!("{number:016}").into(),
        event_until: NOW + 3_600_000,
        at: NOW,
        route: 0,
        priority: 0,
        shown: false,
        body: format!(r#"{{"i":"{number}","t":"{}"}}"#, "x".repeat(470)).into(),
    }
}

async fn accept(store: &Arc<dyn Store>, number: u64) -> Accepted {
    let accepted = commit(store, |then| Write::Accept {
        platform: "onebot".into(),
        account: "main".into(),
        messages: vec![message(number)],
        cursor: None,
        then,
    });
    accepted.await.expect("it is accepted").remove(0)
}

async fn live(store: &Arc<dyn Store>, number: u64) {
    let accepted = accept(store, number).await;
    let reply = NewReply {
        conversation: accepted.conversation,
        turn: Some(accepted.id),
        sending: true,
        shown: false,
        due_at: NOW,
        body: format!(r#"{{"t":"{}","f":"plain"}}"#, "y".repeat(180)).into(),
    };
    let finish = Finish {
        turn: accepted.id,
        begun: false,
        members: vec![accepted.id],
        state: TurnState::Done,
        reason: None,
        history: Vec::new(),
        scope: HistoryScope {
            conversation: accepted.conversation,
            person: 0,
        },
        replies: vec![reply],
        effects: Vec::new(),
        at: NOW,
    };
    commit(store, |then| Write::Finish(Arc::new(finish), then))
        .await
        .expect("it ends");
    let outcome = ReceiptOutcome::Sent {
        message: Some(format!("m{number}")),
        last: true,
    };
    let receipt = Receipt {
        id: accepted.id,
        part: 0,
        outcome,
        at: NOW,
    };
    commit(store, |then| Write::Receipt(receipt, then))
        .await
        .expect("it is sent");
}

/// `count` messages by `callers` callers, from `first` on.
async fn run(
    store: &Arc<dyn Store>,
    callers: u64,
    first: u64,
    count: u64,
    whole: bool,
) -> Duration {
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for caller in 0..callers.min(count) {
        let store = Arc::clone(store);
        tasks.spawn(async move {
            for number in (first + caller..first + count).step_by(callers as usize) {
                if whole {
                    live(&store, number).await;
                } else {
                    black_box(accept(&store, number).await);
                }
            }
        });
    }
    tasks.join_all().await;
    started.elapsed()
}

fn journal(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let store = runtime.block_on(store(&folder));
    let mut next = 0;
    let mut group = criterion.benchmark_group("journal");
    group.throughput(Throughput::Elements(1)).sample_size(20);
    for (name, whole) in [("accept", false), ("life", true)] {
        for callers in [1_u64, 64, 2000] {
            group.bench_function(BenchmarkId::new(name, callers), |bencher| {
                bencher.iter_custom(|count| {
                    let first = next;
                    next += count;
                    runtime.block_on(run(&store, callers, first, count, whole))
                });
            });
        }
    }
    group.finish();
    runtime.block_on(store.close());
}

criterion_group!(benches, journal);
criterion_main!(benches);
