//! A database that goes away under a running gateway: what probes and the log say, and what becomes of messages.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use crate::{
    gateway::{Gateway, LIMIT},
    postgres::{
        Schema,
        proxy::{Mode, Proxy},
    },
};

/// Asks until the probe has this status, and gives what it said.
async fn probed(gateway: &Gateway, status: u16) -> Value {
    let started = Instant::now();
    loop {
        let told = gateway.get("/readyz").await;
        if told.status == status {
            return serde_json::from_str(&told.body).unwrap();
        }
        assert!(started.elapsed() < LIMIT, "{} {}", told.status, told.body);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_told_once_and_nothing_is_accepted_until_it_is_back() {
    let model = FakeModel::start().await;
    let schema = Schema::new().await;
    let proxy = Proxy::start(schema.address()).await;
    let storage = json!({ "storage": { "url": schema.url_at(proxy.address()) } });
    let gateway = Gateway::start(&model, storage).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    proxy.set(Mode::Down);
    schema.cut().await;
    let told = probed(&gateway, 503).await;
    assert_eq!(
        (&told["ready"], &told["draining"], &told["store"]),
        (&json!(false), &json!(false), &json!("failing"))
    );
    for _ in 0..3 {
        assert_eq!(gateway.get("/readyz").await.status, 503);
    }
    assert_eq!(gateway.get("/healthz").await.status, 200);
    client.say("m1", "hello").await;
    let refused = client.skip_to("error").await;
    assert_eq!(
        (&refused["code"], &refused["messageId"]),
        (&json!("store_unavailable"), &json!("m1"))
    );
    assert_eq!(model.count(), 0);
    proxy.set(Mode::Open);
    let told = probed(&gateway, 200).await;
    assert_eq!(
        (&told["ready"], &told["store"]),
        (&json!(true), &json!("ok"))
    );
    client.say("m1", "hello").await;
    assert_eq!(client.skip_to("end").await["messageId"], "m1");
    assert_eq!(model.count(), 1);
    let log = gateway.log();
    for words in ["the store is not ready", "the store is ready again"] {
        assert_eq!(log.matches(words).count(), 1, "{words}: {log}");
    }
}
