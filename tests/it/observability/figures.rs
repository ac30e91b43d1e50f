//! The figures of the queues, as Prometheus reads them.

use std::collections::BTreeMap;

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT, until},
};

/// All series with their values.
async fn figures(gateway: &Gateway) -> BTreeMap<String, f64> {
    let body = gateway.get("/metrics").await.body;
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.rsplit_once(' '));
    let pairs = pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
    pairs.collect()
}

fn queue(figures: &BTreeMap<String, f64>, what: &str, queue: &str) -> f64 {
    let name = format!(r#"weirgate_queue_{what}{{queue="{queue}"}}"#);
    figures.get(&name).copied().unwrap_or(-1.0)
}

#[tokio::test]
async fn each_queue_tells_what_came_and_went_and_how_long_it_waited() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    fake.ask(1, "/ping").await;
    // The figures of a send follow the send.
    fake.ask(2, "/ping").await;
    let all = figures(&gateway).await;
    assert_eq!(queue(&all, "received_total", "intake"), 3.0, "{all:#?}");
    assert_eq!(queue(&all, "sent_total", "intake"), 3.0);
    assert_eq!(queue(&all, "wait_seconds_count", "intake"), 3.0);
    assert_eq!(queue(&all, "received_total", "inbound"), 3.0);
    assert_eq!(queue(&all, "sent_total", "inbound"), 3.0);
    assert_eq!(queue(&all, "wait_seconds_count", "inbound"), 3.0);
    assert_eq!(queue(&all, "received_total", "outbound"), 3.0);
    assert_eq!(queue(&all, "sent_total", "outbound"), 3.0);
    assert_eq!(queue(&all, "wait_seconds_count", "outbound"), 3.0);
    for name in [
        r#"weirgate_queue_depth{queue="intake",lane=""}"#,
        r#"weirgate_queue_depth{queue="outbound",lane=""}"#,
        r#"weirgate_queue_depth{queue="inbound",lane="direct"}"#,
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_resident_memory_bytes",
        "weirgate_database_size_bytes",
        r#"weirgate_model_request_seconds_count{provider="main"}"#,
        r#"weirgate_adapter_state_changes_total{platform="qq",account="main",state="up"}"#,
    ] {
        assert!(all.contains_key(name), "{name} in {all:#?}");
    }
    assert!(all["weirgate_database_size_bytes"] > 4096.0);
}

suite!(descriptors_do_not_grow_with_what_is_answered);

async fn descriptors_do_not_grow_with_what_is_answered(on: Engine) {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, json!({})).await;
    gateway.up().await;
    let fake = gateway.onebot().await;
    let mut counts = Vec::new();
    for round in 0..6 {
        for user in 0..50 {
            fake.send_private(user, &format!("hello {round}")).await;
        }
        let answered = 50 * (round + 1);
        assert!(fake.replied(answered, LIMIT).await, "{}", gateway.log());
        counts.push(figures(&gateway).await["process_open_fds"]);
    }
    // As many connections to the model are kept as there were turns at once, and a few to the database.
    let grown = counts[5] - counts[0];
    assert!(grown < 70.0, "{counts:?}");
}

#[tokio::test]
async fn a_database_on_a_server_has_a_size_too() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(Engine::Postgres, &model, json!({})).await;
    gateway.up().await;
    let started = std::time::Instant::now();
    let bytes = loop {
        match figures(&gateway).await.get("weirgate_database_size_bytes") {
            Some(bytes) => break *bytes,
            None => assert!(started.elapsed() < LIMIT, "{}", gateway.log()),
        }
    };
    // Each table has at least a page or an index.
    assert!(bytes >= 10.0 * 8192.0, "{bytes}");
}

#[tokio::test]
async fn what_a_queue_drops_is_told_by_reason() {
    let model = FakeModel::start().await;
    let changes = json!({ "input_buffer": { "max_queue_size": 2 } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "holds the turn").await;
    model.wait_for(1).await;
    for number in 0..5 {
        fake.send_private(1, &format!("waits {number}")).await;
    }
    fake.ask(2, "/ping").await;
    let all = figures(&gateway).await;
    let name =
        r#"weirgate_queue_dropped_total{queue="inbound",reason="queue_full_dropped_oldest"}"#;
    assert_eq!(all.get(name), Some(&3.0), "{all:#?}");
    let depth = r#"weirgate_queue_depth{queue="inbound",lane="direct"}"#;
    let mut waiting = None;
    for _ in 0..100 {
        waiting = figures(&gateway).await.get(depth).copied();
        if waiting == Some(2.0) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(waiting, Some(2.0));
    let metrics = || gateway.log().contains("connection");
    assert!(until(metrics).await);
}

#[tokio::test]
async fn redactions_are_counted() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let before = figures(&gateway).await["weirgate_redactions_total"];
    let told = fake.ask(1, &format!("say {}", crate::gateway::KEY)).await;
    assert!(told.contains("[REDACTED]"), "{told}");
    assert!(figures(&gateway).await["weirgate_redactions_total"] > before);
}
