//! What holds for PostgreSQL only: the server that is away, the connection that breaks, the commit whose
//! answer is lost.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use weirgate::store::{
    Accepted, Begin, Store, StoreError, WaitingFilter, Write, commit,
    postgres::{OpenError, PostgresStore},
};

use super::{Bed, Engine, NOW, finish, hold, message, person, reply, server_options};
use crate::postgres::{
    Schema,
    proxy::{Mode, Proxy},
};

/// A store behind a proxy.
async fn behind_proxy() -> (Schema, Proxy, Arc<dyn Store>) {
    let schema = Schema::new().await;
    let proxy = Proxy::start(schema.address()).await;
    let options = server_options(schema.url_at(proxy.address()));
    let store: Arc<dyn Store> = PostgresStore::open(options).await.unwrap();
    hold(&store).await;
    (schema, proxy, store)
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

async fn waiting(store: &Arc<dyn Store>) -> Vec<i64> {
    let all = WaitingFilter::default();
    let rows = store.waiting(0, all, 100).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// The error of an open that must fail.
async fn refused(url: String) -> OpenError {
    let opened = PostgresStore::open(server_options(url)).await;
    opened.map(drop).unwrap_err()
}

#[tokio::test]
async fn an_operation_that_fails_takes_no_neighbour_with_it() {
    let bed = Bed::new(Engine::Postgres).await;
    bed.schema()
        .execute(
            "CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE EXCEPTION 'poisoned'; END $$;
             CREATE TRIGGER poison BEFORE INSERT ON inbox FOR EACH ROW
             WHEN (NEW.body LIKE '%poison%') EXECUTE FUNCTION poison()",
        )
        .await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let store = bed.store();
    for number in 0..50 {
        let told = Arc::clone(&told);
        let mut message = message(&format!("e{number}"));
        if number % 10 == 3 {
            message.body = r#"{"i":"poison"}"#.into();
        }
        // Each in a place of its own, so that names which were rolled back would show.
        message.conversation.conversation = format!("g{number}").into();
        let write = Write::Accept {
            platform: "telegram".into(),
            account: "main".into(),
            messages: vec![message],
            cursor: None,
            then: Box::new(move |result| told.lock().unwrap().push((number, result))),
        };
        store.write(write).await;
    }
    store.healthy().await.unwrap();
    let told = std::mem::take(&mut *told.lock().unwrap());
    assert!(
        told.iter().map(|(number, _)| *number).eq(0..50),
        "each is told, in order"
    );
    let waiting = bed.waiting().await;
    for (number, result) in told {
        match result {
            Ok(accepted) => {
                let row = waiting.iter().find(|row| row.id == accepted[0].id).unwrap();
                let key = store.conversation(row.conversation).await.unwrap().unwrap();
                assert_eq!(key.conversation.as_str(), format!("g{number}"));
            }
            Err(error) => {
                assert_eq!(number % 10, 3, "{error}");
                assert!(matches!(&error, StoreError::Database(text) if text.contains("poisoned")));
            }
        }
    }
    assert_eq!(waiting.len(), 45);
}

/// Operations of one batch that depend on each other, handed in without waiting for any of them.
#[tokio::test]
async fn what_one_batch_says_of_one_message_happens_in_its_order() {
    let bed = Bed::new(Engine::Postgres).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let store = bed.store();
    let attempts = Arc::new(Mutex::new(Vec::new()));
    let begin = |turn: i64| {
        let attempts = Arc::clone(&attempts);
        let then = Box::new(move |attempt: Result<u32, _>| {
            attempts.lock().unwrap().push(attempt.unwrap());
        });
        Write::Begin(Begin { turn, at: NOW }, then)
    };
    for _ in 0..3 {
        store.write(begin(id)).await;
    }
    let mut turn = finish(&[id]);
    turn.begun = true;
    turn.replies = vec![reply(id, "one"), reply(id, "two")];
    store
        .write(Write::Finish(Arc::new(turn), Box::new(|_| {})))
        .await;
    for part in 0..3 {
        let then = Box::new(|_| {});
        store.write(Write::Intent { id, part, then }).await;
        let receipt = weirgate::store::Receipt {
            id,
            part,
            outcome: super::sent(&format!("m{part}"), part == 2),
            at: NOW,
        };
        store.write(Write::Receipt(receipt, Box::new(|_| {}))).await;
    }
    store.healthy().await.unwrap();
    assert_eq!(*attempts.lock().unwrap(), [1, 2, 3]);
    let pending = store.pending_replies(None, 0, 10).await.unwrap();
    assert_eq!(pending.len(), 1, "the first answer is sent");
    assert!(pending[0].id > id);
    let sent = format!("SELECT message FROM outbox WHERE id = {id}");
    assert_eq!(bed.schema().texts(&sent).await, ["m0\nm1\nm2"]);
}

#[tokio::test]
async fn a_connection_that_is_cut_is_made_again_and_nothing_fails() {
    let bed = Bed::new(Engine::Postgres).await;
    let store = bed.store();
    for number in 0..5 {
        accept(&store, &format!("e{number}")).await.unwrap();
        assert_eq!(waiting(&store).await.len(), number + 1);
        bed.schema().cut().await;
    }
    store.healthy().await.unwrap();
    assert_eq!(waiting(&store).await.len(), 5);
}

#[tokio::test]
async fn a_commit_that_was_not_asked_for_is_done_again() {
    let (_schema, proxy, store) = behind_proxy().await;
    let first = accept(&store, "a").await.unwrap();
    proxy.set(Mode::BeforeCommit);
    let second = accept(&store, "b").await.unwrap();
    assert!(!second.duplicate);
    assert_eq!(proxy.mode(), Mode::Open, "the connection was broken");
    assert_eq!(waiting(&store).await, [first.id, second.id]);
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_told_as_what_it_was() {
    let (_schema, proxy, store) = behind_proxy().await;
    let id = accept(&store, "a").await.unwrap().id;
    proxy.set(Mode::AfterCommit);
    // It cannot be done twice, so it was not.
    let mut turn = finish(&[id]);
    turn.replies = vec![reply(id, "one")];
    let ids = commit(&store, |then| Write::Finish(Arc::new(turn), then)).await;
    assert_eq!(ids.unwrap(), [id]);
    assert_eq!(proxy.mode(), Mode::Open, "the connection was broken");
    assert_eq!(store.pending_replies(None, 0, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn while_the_database_is_away_new_operations_fail_and_the_open_one_waits() {
    let (_schema, proxy, store) = behind_proxy().await;
    proxy.set(Mode::AfterCommitThenDown);
    let open = tokio::spawn({
        let store = Arc::clone(&store);
        async move { accept(&store, "a").await }
    });
    let started = Instant::now();
    while proxy.refused() == 0 {
        assert!(started.elapsed() < Duration::from_secs(20));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let late = accept(&store, "b").await;
    assert!(matches!(late, Err(StoreError::Database(_))), "{late:?}");
    assert!(store.healthy().await.is_err());
    assert!(!open.is_finished(), "nobody knows yet");
    proxy.set(Mode::Open);
    let accepted = open.await.unwrap().unwrap();
    assert_eq!(waiting(&store).await, [accepted.id]);
    assert!(!accept(&store, "b").await.unwrap().duplicate);
}

#[tokio::test]
async fn a_database_that_lost_commits_is_written_no_more() {
    let (schema, proxy, store) = behind_proxy().await;
    for event in ["a", "b"] {
        accept(&store, event).await.unwrap();
    }
    schema
        .execute("UPDATE process SET commits = commits - 1")
        .await;
    proxy.set(Mode::BeforeCommit);
    for _ in 0..2 {
        let fenced = accept(&store, "c").await;
        assert!(matches!(fenced, Err(StoreError::Fenced)), "{fenced:?}");
    }
    assert_eq!(waiting(&store).await.len(), 2);
}

#[tokio::test]
async fn a_question_is_limited_in_time() {
    let bed = Bed::new(Engine::Postgres).await;
    let mut locker = bed.schema().connect().await;
    sqlx::raw_sql("BEGIN; LOCK TABLE inbox IN ACCESS EXCLUSIVE MODE")
        .execute(&mut locker)
        .await
        .unwrap();
    let started = Instant::now();
    let read = bed.store().waiting(0, WaitingFilter::default(), 10).await;
    assert!(matches!(read, Err(StoreError::Database(_))), "{read:?}");
    assert!(started.elapsed() < Duration::from_secs(10));
    sqlx::raw_sql("ROLLBACK")
        .execute(&mut locker)
        .await
        .unwrap();
    assert_eq!(bed.waiting().await, []);
}

#[tokio::test]
async fn a_tool_is_refused_while_a_gateway_is_at_work_and_writes_nothing_beside_one() {
    let mut bed = Bed::new(Engine::Postgres).await;
    let id = bed.accept(vec![message("a")]).await[0].id;
    let options = || server_options(bed.schema().url());
    let refused = PostgresStore::open_unused(options()).await.map(drop);
    assert!(
        matches!(refused, Err(OpenError::InUse { .. })),
        "{refused:?}"
    );
    bed.store().close().await;
    let tool: Arc<dyn Store> = PostgresStore::open_unused(options()).await.unwrap();
    let begin = |store: Arc<dyn Store>| async move {
        let begin = Begin { turn: id, at: NOW };
        commit(&store, |then| Write::Begin(begin, then)).await
    };
    assert_eq!(begin(Arc::clone(&tool)).await.unwrap(), 1);
    assert_eq!(waiting(&tool).await, [id], "it sees what belongs to nobody");
    bed.restart().await;
    let late = begin(tool).await;
    assert!(matches!(late, Err(StoreError::Fenced)), "{late:?}");
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_both_versions() {
    let bed = Bed::new(Engine::Postgres).await;
    bed.store().close().await;
    bed.schema()
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'future', TRUE, '', 1)",
        )
        .await;
    let error = refused(bed.schema().url()).await;
    assert!(
        matches!(error, OpenError::Newer { found: 9999, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_password() {
    let schema = Schema::new().await;
    let proxy = Proxy::start(schema.address()).await;
    proxy.set(Mode::Down);
    let url = format!("postgres://bot:pass-word-1@{}/chat", proxy.address());
    let options = server_options(url.clone());
    assert!(!format!("{options:?}").contains("pass-word-1"));
    let error = refused(url).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    let text = format!("{error} {error:?}");
    assert!(
        text.contains(&format!("chat at {}", proxy.address())),
        "{text}"
    );
    assert!(!text.contains("pass-word-1"), "{text}");
    let error = refused("postgres://bot:pass-word-1@[x/chat".to_owned()).await;
    assert!(matches!(error, OpenError::Address), "{error}");
}

#[tokio::test]
async fn a_pooler_that_leaves_out_the_settings_of_the_session_is_told() {
    let schema = Schema::new().await;
    let proxy = Proxy::start(schema.address()).await;
    proxy.set(Mode::WithoutOptions);
    let error = refused(schema.url_at(proxy.address())).await;
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("pooler"), "{error}");
    proxy.set(Mode::Open);
    let opened = PostgresStore::open(server_options(schema.url_at(proxy.address()))).await;
    opened.unwrap();
}

#[tokio::test]
async fn a_character_that_the_database_does_not_know_is_no_error() {
    let bed = Bed::new(Engine::Postgres).await;
    let mut odd = message("a\0b");
    (odd.person, odd.body) = (person("some\0one"), "{\"i\":\"x\\u0000\"}".into());
    let first = bed.accept(vec![odd.clone()]).await[0];
    assert!(bed.accept(vec![odd]).await[0].duplicate);
    let store = bed.store();
    let found = store.fate(first.conversation, Some("x\0"), first.person, i64::MAX);
    assert_eq!(found.await.unwrap().unwrap().id, first.id);
}
