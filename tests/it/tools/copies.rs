//! `backup` and `restore`: a copy is whole, whatever happens meanwhile, and brings back what waited.

use std::{
    collections::BTreeSet, fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration,
};

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::Script as Send,
};

use super::{listed, tool};
use crate::gateway::{Chat as _, Gateway, rows};

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn is_whole(path: &Path) {
    assert_eq!(rows(path, "PRAGMA integrity_check"), ["ok"]);
}

#[tokio::test]
async fn a_copy_under_load_is_whole_and_what_waited_in_it_is_answered() {
    let model = FakeModel::start().await;
    let changes = json!({ "flow_control": { "max_turns_in_flight": 1 } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "before").await, "re: before");
    model.push(Script::hang());
    for user in 1..=20 {
        fake.send_private(user, &format!("waits {user}")).await;
    }
    model.wait_for(2).await;
    while listed(&gateway, &["queue", "list", "--json"], "rows")
        .await
        .len()
        < 20
    {}

    let copy = gateway.folder().join("copy.db");
    let busy = async {
        for number in 0..200 {
            fake.send_private(99, &format!("load {number}")).await;
        }
    };
    let arguments = ["backup", name(&copy)];
    let (said, ()) = tokio::join!(tool(&gateway, &arguments), busy);
    assert!(said.done().contains("copy.db ("));
    is_whole(&copy);
    let mode = fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = tool(&gateway, &["backup", name(&copy)]).await;
    assert!(
        again.code == 1 && again.err.contains("exists already"),
        "{again:?}"
    );

    let refused = tool(&gateway, &["restore", name(&copy)]).await;
    assert!(
        refused.code == 1 && refused.err.contains("in use by another process"),
        "{refused:?}"
    );
    gateway.kill().await;
    let before = rows(&gateway.database(), "SELECT max(id) FROM inbox");
    let restored = tool(&gateway, &["restore", name(&copy)]).await.done();
    let (_, kept) = restored.split_once("kept as ").unwrap();
    let (kept, _) = kept.split_once(". What").unwrap();
    is_whole(Path::new(kept));
    assert_eq!(rows(Path::new(kept), "SELECT max(id) FROM inbox"), before);
    is_whole(&gateway.database());

    // The connection comes back by itself, and nobody says anything new.
    gateway.up().await;
    let mut waited = BTreeSet::new();
    while waited.len() < 20 {
        let text = fake.answer().await.text();
        if text.starts_with("re: waits ") {
            assert!(waited.insert(text.clone()), "{text} came twice");
        }
    }
    fake.send_private(1, "after").await;
    while fake.answer().await.text() != "re: after" {}
    let reused = format!(
        "SELECT count(*) FROM inbox WHERE body LIKE '%after%' AND id <= {}",
        before[0]
    );
    assert_eq!(
        rows(&gateway.database(), &reused),
        ["0"],
        "no id is used again"
    );
}

#[tokio::test]
async fn a_stopped_gateway_is_copied_too_and_a_reply_in_the_copy_arrives() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.script(Send::TimeOut);
    fake.ask(1, "hello").await;
    gateway.term().await;
    let copies = gateway.folder().join("copies");
    fs::create_dir(&copies).unwrap();
    tool(&gateway, &["backup", name(&copies)]).await.done();
    let made: Vec<_> = fs::read_dir(&copies).unwrap().collect();
    assert_eq!(made.len(), 1, "{made:?}");
    let copy = made[0].as_ref().unwrap().path();
    fs::remove_dir_all(gateway.database().parent().unwrap()).unwrap();
    tool(&gateway, &["restore", name(&copy)]).await.done();
    tool(&gateway, &["outbox", "retry", "--all"]).await.done();
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: hello");
}

#[tokio::test]
async fn what_is_no_whole_copy_of_ours_is_refused_and_changes_nothing() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for number in 0..50 {
        fake.ask(1, &format!("{number} {}", "words ".repeat(100)))
            .await;
    }
    gateway.term().await;
    let copy = gateway.folder().join("copy.db");
    tool(&gateway, &["backup", name(&copy)]).await.done();
    let whole = fs::read(&copy).unwrap();
    let bad = gateway.folder().join("bad.db");
    let other = gateway.folder().join("other.db");
    rusqlite::Connection::open(&other)
        .and_then(|other| other.execute_batch("CREATE TABLE inbox (id)"))
        .unwrap();
    let newer = gateway.folder().join("newer.db");
    fs::write(&newer, &whole).unwrap();
    rusqlite::Connection::open(&newer)
        .and_then(|newer| {
            newer.execute_batch("UPDATE _sqlx_migrations SET version = version + 998")
        })
        .unwrap();
    let mut torn = whole.clone();
    let middle = torn.len() / 2 / 4096 * 4096;
    torn[middle..middle + 8192].fill(0x5a);
    let cases = [
        (Vec::new(), "damaged"),
        (b"not a database at all, but some text".to_vec(), "damaged"),
        (whole[..whole.len() / 2].to_vec(), "damaged"),
        (torn, "damaged"),
        (fs::read(&other).unwrap(), "damaged"),
        (
            fs::read(&newer).unwrap(),
            "and this program knows versions up to",
        ),
    ];
    let before = fs::read(gateway.database()).unwrap();
    for (bytes, reason) in cases {
        fs::write(&bad, bytes).unwrap();
        let said = tool(&gateway, &["restore", name(&bad)]).await;
        assert!(said.code == 1 && said.err.contains(reason), "{said:?}");
        assert!(fs::read(gateway.database()).unwrap() == before, "{reason}");
    }
    let missing = tool(&gateway, &["restore", "nowhere.db"]).await;
    assert!(
        missing.code == 1 && missing.err.contains("nowhere.db"),
        "{missing:?}"
    );
    gateway.up().await;
    assert!(fake.connection_is(true, Duration::from_secs(20)).await);
    assert_eq!(fake.ask(1, "still there?").await, "re: still there?");
}

#[tokio::test]
async fn a_folder_that_never_had_a_database_gets_one() {
    let model = FakeModel::start().await;
    let gateway = Gateway::prepare(&model, json!({}));
    let missing = tool(&gateway, &["backup", "copy.db"]).await;
    assert!(
        missing.code == 1 && missing.err.contains("no database"),
        "{missing:?}"
    );
    fs::write(gateway.folder().join("bad.db"), "nothing").unwrap();
    let bad = tool(&gateway, &["restore", "bad.db"]).await;
    assert_eq!(bad.code, 1, "{bad:?}");
    assert!(!gateway.database().exists());
}
