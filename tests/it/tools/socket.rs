//! The socket in the data folder: who may speak, and what is refused.

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};
use weirgate_testkit::model::FakeModel;

use super::tool;
use crate::gateway::{Gateway, LIMIT};

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
