//! The socket in the data folder: who may speak, and what is refused.

use std::{
    fs::Permissions,
    io::{Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    process::{Uid, getuid},
    thread::set_thread_uid,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};
use weirgate_testkit::model::FakeModel;

use super::tool;
use crate::gateway::{Gateway, LIMIT};

/// A user who owns nothing.
const NOBODY: u32 = 65_534;

fn socket(gateway: &Gateway) -> PathBuf {
    gateway.database().with_file_name("weirgate.sock")
}

/// Sends bytes and reads all lines that come back until the other side closes, or ours is closed.
async fn say(gateway: &Gateway, bytes: &[u8]) -> Vec<Value> {
    let mut stream = UnixStream::connect(socket(gateway)).await.unwrap();
    // The other side may have enough before everything is written.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut text = String::new();
    let read = tokio::time::timeout(LIMIT, stream.read_to_string(&mut text));
    let _ = read.await.expect("it ends");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn it_is_its_owners_alone_and_goes_with_the_gateway() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let mode = std::fs::metadata(socket(&gateway))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    gateway.kill().await;
    assert!(socket(&gateway).exists(), "nobody could remove it");
    tool(&gateway, &["outbox", "list"]).await.done();
    gateway.up().await;
    let hello = say(&gateway, b"{\"v\":1,\"ask\":{\"do\":\"hello\"}}\n").await;
    assert_eq!(hello[0]["ok"]["is"], "hello", "{hello:?}");
    gateway.term().await;
    assert!(!socket(&gateway).exists());
}

/// Says hello as another user, from a thread that is that user's; what comes back, or why nothing does.
fn hello_as(user: u32, path: &Path) -> std::io::Result<String> {
    let speak = || {
        set_thread_uid(Uid::from_raw(user))?;
        let mut stream = std::os::unix::net::UnixStream::connect(path)?;
        stream.set_read_timeout(Some(LIMIT))?;
        // The other side may have closed it already.
        let _ = stream.write_all(b"{\"v\":1,\"ask\":{\"do\":\"hello\"}}\n");
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let read = stream.read_to_string(&mut answer);
        // What was written and not read breaks the connection, which is as good as an end.
        read.map(|_| answer.clone()).or(Ok(answer))
    };
    std::thread::scope(|scope| scope.spawn(speak).join().unwrap())
}

/// Only root can be somebody else: run by another user, this test sees that the folder keeps others out, and no
/// more.
#[tokio::test]
async fn another_user_is_refused_even_where_the_files_let_him_in() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let path = socket(&gateway);
    let folder = path.parent().unwrap();
    let mode = std::fs::metadata(folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{folder:?}");
    if !getuid().is_root() {
        return;
    }
    let forbidden = hello_as(NOBODY, &path).unwrap_err();
    assert_eq!(forbidden.kind(), std::io::ErrorKind::PermissionDenied);
    // As somebody might do who wants his own tools to get in.
    for place in path
        .ancestors()
        .take_while(|place| place.starts_with(gateway.folder()))
    {
        std::fs::set_permissions(place, Permissions::from_mode(0o777)).unwrap();
    }
    assert_eq!(
        hello_as(NOBODY, &path).unwrap(),
        "",
        "nothing is said to him"
    );
    gateway.logged("refused at the control socket").await;
    let own = hello_as(0, &path).unwrap();
    assert!(own.contains("hello"), "{own}");
}

#[tokio::test]
async fn what_it_does_not_understand_is_refused_and_the_next_line_answered() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let lines = [
        "nonsense",
        r#"{"v":1,"ask":{"do":"everything"}}"#,
        r#"{"v":2,"ask":{"do":"hello"}}"#,
        r#"{"v":1,"ask":{"do":"retry_reply","id":-5}}"#,
        r#"{"v":1,"ask":{"do":"drop_reply","id":-9223372036854775808}}"#,
        r#"{"v":1,"ask":{"do":"waiting","after":0,"limit":99999999}}"#,
    ];
    let said = say(&gateway, format!("{}\n", lines.join("\n")).as_bytes()).await;
    let codes: Vec<&str> = said
        .iter()
        .map(|said| said["error"]["code"].as_str().unwrap_or("none"))
        .collect();
    assert_eq!(
        codes,
        [
            "protocol",
            "protocol",
            "protocol",
            "not_found",
            "not_found",
            "none"
        ]
    );
    let long = say(&gateway, "x".repeat(1 << 20).as_bytes()).await;
    assert!(
        long.is_empty() || long[0]["error"]["code"] == "protocol",
        "{long:?}"
    );
}

#[tokio::test]
async fn connections_over_the_limit_are_closed_and_places_come_back() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        let mut stream = UnixStream::connect(socket(&gateway)).await.unwrap();
        stream
            .write_all(b"{\"v\":1,\"ask\":{\"do\":\"hello\"}}\n")
            .await
            .unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        silent.push(stream);
    }
    assert_eq!(say(&gateway, b"").await, [Value::Null; 0]);
    let refused = tool(&gateway, &["outbox", "list"]).await;
    assert!(
        refused.code == 1 && refused.err.contains("does not answer"),
        "{refused:?}"
    );
    drop(silent);
    let started = std::time::Instant::now();
    while tool(&gateway, &["outbox", "list"]).await.code != 0 {
        assert!(started.elapsed() < LIMIT, "{}", gateway.log());
    }
}

#[tokio::test]
async fn a_folder_with_a_long_name_has_one_too() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::bare();
    let folder = gateway.folder().join("x".repeat(120));
    let url = format!("sqlite:{}", folder.join("weirgate.db").display());
    gateway.configure(&model, json!({ "storage": { "url": url } }));
    gateway.up().await;
    assert!(folder.join("weirgate.sock").exists(), "{}", gateway.log());
    tool(&gateway, &["outbox", "list"]).await.done();
}
