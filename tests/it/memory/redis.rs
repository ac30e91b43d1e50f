//! A memory on a Redis server: it outlives the gateway, and its absence takes nothing else down.

use serde_json::json;

use super::{agreeing, last, number, started, whole};
use crate::{
    gateway::{Chat as _, LIMIT},
    redis::Redis,
};

#[tokio::test]
async fn what_is_remembered_outlives_both_and_is_really_gone_when_it_is_forgotten() {
    let mut server = Redis::start();
    let model = agreeing().await;
    let redis = json!({ "host": "127.0.0.1", "port": server.port(), "prefix": "mine:" });
    let memory = json!({ "backend": "redis", "redis": redis, "extract": "off" });
    let mut gateway = started(&model, memory).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/memory add My dog is called Rex.").await;
    let told = fake.ask(1, "/memory add 我的猫叫咪咪。").await;
    let id = number(&told);
    gateway.term().await;
    server.kill();
    server.up();
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    fake.ask(1, "how is my dog called?").await;
    assert!(whole(&last(&model)).contains("Rex"));
    fake.ask(1, "我的猫叫什么？").await;
    assert!(
        whole(&last(&model)).contains("咪咪"),
        "words of two characters are found"
    );
    fake.ask(2, "how is the dog of user 1 called?").await;
    assert!(
        !last(&model).last_user_text().contains("Rex"),
        "nobody else is told"
    );

    assert_eq!(fake.ask(1, &format!("/forget {id}")).await, "Forgotten.");
    assert_eq!(
        server.ask("DBSIZE").as_deref().map(|size| size != ":1"),
        Some(true)
    );
    assert_eq!(fake.ask(1, "/forget all").await, "Forgotten.");
    // Nothing but the number of the last entry is left, in no index either.
    assert_eq!(server.ask("DBSIZE").as_deref(), Some(":1"));
    assert_eq!(server.ask("GET mine:last").as_deref(), Some("$1"));
}

#[tokio::test]
async fn while_the_server_is_away_turns_go_on_without_it() {
    let mut server = Redis::start();
    let model = agreeing().await;
    let url = format!("redis://127.0.0.1:{}/3", server.port());
    let memory = json!({ "backend": "redis", "redis": { "url": url }, "extract": "off" });
    let mut gateway = started(&model, memory).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/memory add My dog is called Rex.").await;
    server.kill();
    assert_eq!(fake.ask(1, "how is my dog called?").await, "ok");
    assert!(!last(&model).last_user_text().contains("Rex"));
    gateway.logged("the memory did not answer").await;
    assert!(gateway.counted("memory_failed").await >= 1);
    // Whoever asks for it is told so, and not that something is broken.
    let away = "What I remember cannot be reached now";
    for command in [
        "/memory",
        "/memory find dog",
        "/memory add My cat is grey.",
        "/forget all",
    ] {
        let told = fake.ask(1, command).await;
        assert!(told.starts_with(away), "{command}: {told}");
    }
    // It comes back by itself.
    server.up();
    let started = std::time::Instant::now();
    loop {
        fake.ask(1, "/reset").await;
        fake.ask(1, "how is my dog called?").await;
        if last(&model).last_user_text().contains("Rex") {
            break;
        }
        assert!(started.elapsed() < LIMIT, "{}", gateway.log());
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    // A gateway starts without it, too.
    gateway.term().await;
    server.kill();
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.ask(1, "hello").await, "ok");
}
