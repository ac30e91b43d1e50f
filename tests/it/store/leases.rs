//! Leases: who has an account, how long, and what a process can no longer do that has lost it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{
    SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};
use weirgate::store::{
    Accepted, Begin, Effect, Held, LastStop, PendingReply, Place, Receipt, ReceiptOutcome, Store,
    StoreError, Taken, WaitingFilter, Wanted, Write, commit, postgres::PostgresStore,
};

use super::{Bed, Engine, NOW, finish, message, reply, sent, server_options, wanted};
use crate::postgres::{
    Schema,
    proxy::{Mode, Proxy},
};

/// The longest wait for what a dead process had, less than the ten seconds that are promised.
const TAKEOVER: Duration = Duration::from_secs(9);

async fn open(schema: &Schema) -> Arc<dyn Store> {
    PostgresStore::open(server_options(schema.url()))
        .await
        .unwrap()
}

fn shared() -> Vec<Wanted> {
    vec![Wanted {
        platform: "telegram".into(),
        account: "main".into(),
        shared: true,
    }]
}

async fn held(store: &Arc<dyn Store>, wanted: &[Wanted]) -> Vec<Taken> {
    let Held { taken, .. } = store.hold(wanted).await.unwrap();
    let leases: Vec<i64> = taken.iter().map(|taken| taken.lease).collect();
    store.adopt(&leases);
    taken
}

async fn accept(store: &Arc<dyn Store>, event: &str) -> Result<Accepted, StoreError> {
    let accepted = commit(store, |then| Write::Accept {
        platform: "telegram".into(),
        account: "main".into(),
        messages: vec![message(event)],
        cursor: None,
        then,
    });
    Ok(accepted.await?[0])
}

async fn waiting(store: &Arc<dyn Store>, leases: Option<&[Taken]>) -> Vec<i64> {
    let filter = WaitingFilter {
        leases: leases.map(|taken| taken.iter().map(|taken| taken.lease).collect()),
        ..WaitingFilter::default()
    };
    let rows = store.waiting(0, filter, 100).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

async fn pending(store: &Arc<dyn Store>, taken: &[Taken]) -> Vec<PendingReply> {
    let leases: Vec<i64> = taken.iter().map(|taken| taken.lease).collect();
    store.pending_replies(Some(&leases), 0, 100).await.unwrap()
}

/// Everything that the process did was long ago; others have not said anything since either.
async fn age(schema: &Schema) {
    schema
        .execute("UPDATE process SET until = '-infinity', renewed_at = '-infinity'")
        .await;
}

async fn an_account_is_taken_once_and_again_by_the_next_process(on: Engine) {
    let mut bed = Bed::new(on).await;
    assert!(bed.store().in_force());
    assert_eq!(
        bed.store().hold(&wanted()).await.unwrap().taken,
        [],
        "it has them"
    );
    let id = bed.accept(vec![message("a")]).await[0].id;
    bed.restart().await;
    assert_eq!(
        (bed.before, bed.waiting_ids().await),
        (LastStop::Clean, vec![id])
    );
    bed.crash().await;
    assert_eq!(
        (bed.before, bed.waiting_ids().await),
        (LastStop::Unclean, vec![id])
    );
    let mut more = wanted();
    more[0].account = "third".into();
    let taken = bed.store().hold(&more).await.unwrap().taken;
    assert_eq!(taken.len(), 1);
    assert_eq!(taken[0].before, LastStop::First);
}

#[tokio::test]
async fn an_account_has_one_process_at_a_time_and_the_next_one_when_that_stops() {
    let bed = Bed::new(Engine::Postgres).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let other = open(bed.schema()).await;
    assert_eq!(other.hold(&wanted()).await.unwrap(), Held::default());
    assert!(waiting(&other, None).await.is_empty(), "it is another's");
    let refused = accept(&other, "b").await;
    assert!(
        matches!(&refused, Err(StoreError::Database(why)) if why.contains("without a lease")),
        "{refused:?}"
    );
    bed.store().close().await;
    let taken = held(&other, &wanted()).await;
    assert_eq!(taken.len(), 2);
    assert_eq!(taken[0].before, LastStop::Clean);
    assert_eq!(waiting(&other, Some(&taken)).await, [id]);
    accept(&other, "b").await.unwrap();
}

#[tokio::test]
async fn a_process_that_says_nothing_for_too_long_is_fenced_off() {
    let bed = Bed::new(Engine::Postgres).await;
    let [one, two] = [0, 1].map(|at| message(["a", "b"][at]));
    let ids: Vec<i64> = bed
        .accept(vec![one, two])
        .await
        .iter()
        .map(|row| row.id)
        .collect();
    let mut turn = finish(&ids[..1]);
    turn.replies = vec![reply(ids[0], "x")];
    bed.finish(turn).await.unwrap();
    bed.intent(ids[0], 0).await;
    let other = open(bed.schema()).await;
    age(bed.schema()).await;
    let taken = held(&other, &wanted()).await;
    assert_eq!((taken.len(), taken[0].before), (2, LastStop::Unclean));
    assert_eq!(waiting(&other, Some(&taken)).await, ids[1..]);
    let found = pending(&other, &taken).await;
    assert_eq!((found.len(), found[0].in_doubt), (1, true));
    // Everything that the first one still tries fails, and changes nothing.
    let store = bed.store();
    let fenced = |result: Result<(), StoreError>| {
        assert!(matches!(result, Err(StoreError::Fenced)), "{result:?}");
    };
    fenced(accept(&store, "c").await.map(drop));
    let begin = Begin {
        turn: ids[1],
        at: NOW,
    };
    fenced(
        commit(&store, |then| Write::Begin(begin, then))
            .await
            .map(drop),
    );
    fenced(bed.finish(finish(&ids[1..])).await.map(drop));
    let intent = |then| Write::Intent {
        id: ids[0],
        part: 0,
        then,
    };
    fenced(commit(&store, intent).await);
    let receipt = Receipt {
        id: ids[0],
        part: 0,
        outcome: sent("m", true),
        at: NOW,
    };
    fenced(commit(&store, |then| Write::Receipt(receipt, then)).await);
    fenced(store.healthy().await);
    fenced(store.hold(&wanted()).await.map(drop));
    store.close().await;
    assert_eq!(waiting(&other, Some(&taken)).await, ids[1..]);
    assert_eq!(pending(&other, &taken).await, found);
    let begin = commit(&other, |then| Write::Begin(begin, then)).await;
    assert_eq!(begin.unwrap(), 1, "the other goes on");
}

#[tokio::test]
async fn what_a_killed_process_had_is_taken_within_the_time_that_is_promised() {
    let mut bed = Bed::new(Engine::Postgres).await;
    let other = open(bed.schema()).await;
    assert_eq!(other.hold(&wanted()).await.unwrap(), Held::default());
    let started = Instant::now();
    bed.opened = None;
    let mut expiring = false;
    let taken = loop {
        let found = other.hold(&wanted()).await.unwrap();
        expiring |= found.expiring;
        if !found.taken.is_empty() {
            break found.taken;
        }
        assert!(started.elapsed() < TAKEOVER);
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert_eq!((taken.len(), taken[0].before), (2, LastStop::Unclean));
    assert!(expiring, "a start would wait for that");
}

#[tokio::test]
async fn what_was_taken_is_told_when_the_answer_was_lost() {
    let schema = Schema::new().await;
    let proxy = Proxy::start(schema.address()).await;
    let options = server_options(schema.url_at(proxy.address()));
    let store: Arc<dyn Store> = PostgresStore::open(options).await.unwrap();
    proxy.set(Mode::AfterCommit);
    let taken = held(&store, &wanted()).await;
    assert_eq!(proxy.mode(), Mode::Open, "the connection was broken");
    assert_eq!(taken.len(), 2);
    assert_eq!(store.hold(&wanted()).await.unwrap(), Held::default());
    accept(&store, "a").await.unwrap();
}

#[tokio::test]
async fn what_is_no_longer_wanted_stays_until_the_process_stops() {
    let bed = Bed::new(Engine::Postgres).await;
    assert_eq!(bed.store().hold(&[]).await.unwrap(), Held::default());
    let id = bed.accept(vec![message("a")]).await[0].id;
    assert_eq!(bed.waiting_ids().await, [id]);
    let other = open(bed.schema()).await;
    assert_eq!(other.hold(&wanted()).await.unwrap(), Held::default());
}

#[tokio::test]
async fn a_connection_that_is_cut_costs_no_account() {
    let bed = Bed::new(Engine::Postgres).await;
    let other = open(bed.schema()).await;
    for _ in 0..3 {
        bed.schema().cut().await;
        bed.store().hold(&wanted()).await.unwrap();
        let found = other.hold(&wanted()).await.unwrap();
        assert_eq!(found, Held::default());
    }
    accept(&bed.store(), "a").await.unwrap();
}

#[tokio::test]
async fn each_process_has_a_shared_account_and_takes_over_what_the_dead_one_left() {
    let schema = Schema::new().await;
    let [one, two] = [open(&schema).await, open(&schema).await];
    for store in [&one, &two] {
        let taken = held(store, &shared()).await;
        assert_eq!((taken.len(), taken[0].before), (1, LastStop::First));
    }
    let first = accept(&one, "a").await.unwrap().id;
    let second = accept(&two, "b").await.unwrap().id;
    assert_eq!(waiting(&one, None).await, [first]);
    assert_eq!(waiting(&two, None).await, [second]);
    schema
        .execute("UPDATE process SET until = '-infinity' WHERE id = (SELECT min(id) FROM process)")
        .await;
    let taken = two.hold(&shared()).await.unwrap().taken;
    assert_eq!((taken.len(), taken[0].before), (1, LastStop::Unclean));
    assert_eq!(waiting(&two, None).await, [second], "not adopted yet");
    assert_eq!(waiting(&two, Some(&taken)).await, [first]);
    two.adopt(&[taken[0].lease]);
    assert_eq!(waiting(&two, None).await, [first, second]);
    let late = accept(&one, "c").await;
    assert!(matches!(late, Err(StoreError::Fenced)), "{late:?}");
}

#[tokio::test]
async fn a_taken_lease_goes_when_nothing_belongs_to_it() {
    let schema = Schema::new().await;
    let one = open(&schema).await;
    held(&one, &shared()).await;
    let id = accept(&one, "a").await.unwrap().id;
    let options = server_options(schema.url());
    let two = PostgresStore::open(options).await.unwrap();
    let store: Arc<dyn Store> = two.clone();
    held(&store, &shared()).await;
    schema
        .execute("UPDATE process SET until = '-infinity' WHERE id = (SELECT min(id) FROM process)")
        .await;
    held(&store, &shared()).await;
    let leases = async || schema.texts("SELECT id::text FROM lease ORDER BY id").await;
    two.sweep().await.unwrap();
    assert_eq!(leases().await.len(), 2, "a message waits");
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "x")];
    commit(&store, |then| Write::Finish(Arc::new(turn), then))
        .await
        .unwrap();
    two.sweep().await.unwrap();
    assert_eq!(leases().await.len(), 2, "an answer is not sent");
    let receipt = Receipt {
        id,
        part: 0,
        outcome: ReceiptOutcome::Failed { reason: "gone" },
        at: NOW,
    };
    commit(&store, |then| Write::Receipt(receipt, then))
        .await
        .unwrap();
    two.sweep().await.unwrap();
    assert_eq!(leases().await.len(), 1);
    accept(&store, "b").await.unwrap();
}

#[tokio::test]
async fn that_another_process_wrote_is_seen_with_the_next_write() {
    let schema = Schema::new().await;
    let [one, two] = [open(&schema).await, open(&schema).await];
    for store in [&one, &two] {
        held(store, &shared()).await;
        accept(store, "first").await.unwrap();
    }
    let set = |value: &str| {
        let effect = Effect::Set {
            of: Place {
                conversation: 0,
                person: 1,
            },
            key: "lang".into(),
            value: Some(value.to_owned()),
        };
        let mut turn = finish(&[]);
        turn.effects = vec![effect];
        turn
    };
    let seen = two.others();
    accept(&two, "a").await.unwrap();
    assert_eq!(two.others(), seen, "nobody else has written");
    // It makes no new id.
    commit(&one, |then| Write::Finish(Arc::new(set("en")), then))
        .await
        .unwrap();
    accept(&two, "b").await.unwrap();
    assert!(two.others() > seen);
}

#[tokio::test]
async fn what_a_database_of_the_first_version_holds_is_taken_up_and_its_process_is_fenced_off() {
    let schema = Schema::new().await;
    let first = include_str!("../../../migrations/postgres/0001_journal.sql");
    let first = Migration::new(
        1,
        "journal".into(),
        MigrationType::Simple,
        first.into_sql_str(),
        false,
    );
    Migrator::with_migrations(vec![first])
        .run_direct(None, &mut schema.connect().await, false)
        .await
        .unwrap();
    schema
        .execute(
            r#"INSERT INTO journal (last_id, inbox_floor, secret) VALUES (4, 1, decode(repeat('07', 32), 'hex'));
               INSERT INTO process (opened_at, state) VALUES (0, 1);
               INSERT INTO account (platform, name) VALUES ('telegram', 'main');
               INSERT INTO conversation (key) VALUES ('telegram/main/g1/');
               INSERT INTO person (key) VALUES ('telegram//someone');
               INSERT INTO inbox SELECT id, 1, 'e' || id, 0, 1, 1, 0, 3, 0, FALSE, '{"i":"m"}'
               FROM generate_series(1, 4) AS id;
               INSERT INTO ended (id, state, at) VALUES (1, 0, 0), (3, 0, 0);
               INSERT INTO outbox (id, conversation, turn, kind, state, part, attempts, process, due_at,
                                   created_at, shown, body)
               VALUES (2, 1, 2, 0, 1, 0, 0, 1, 0, 0, FALSE, '{}')"#,
        )
        .await;
    let store = open(&schema).await;
    let taken = held(&store, &wanted()).await;
    assert_eq!(taken[0].wanted.account.as_str(), "second", "it is new");
    assert_eq!(taken[1].before, LastStop::Unclean);
    assert_eq!(waiting(&store, Some(&taken)).await, [4]);
    let found = pending(&store, &taken).await;
    assert_eq!((found.len(), found[0].id, found[0].in_doubt), (1, 2, true));
    // The program of that version writes only while its row is there.
    let old = schema
        .texts("SELECT id::text FROM process WHERE id = 1")
        .await;
    assert!(old.is_empty());
}

suite!(an_account_is_taken_once_and_again_by_the_next_process);
