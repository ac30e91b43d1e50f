//! /healthz, /readyz, /metrics and the log, as probes and machines read them.

use serde_json::{Value, json};
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Chat as _, Gateway, until};

#[tokio::test]
async fn probes_tell_the_state_of_each_part() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let alive = gateway.get("/healthz").await;
    assert_eq!((alive.status, alive.body.as_str()), (200, "ok\n"));
    let state = |body: &str| serde_json::from_str::<Value>(body).unwrap();
    let ready = gateway.get("/readyz").await;
    assert_eq!(
        (ready.status, state(&ready.body)),
        (
            200,
            json!({ "ready": true, "draining": false, "store": "ok", "adapters": {
            "qq/main": "waiting", "webchat/default": "up" } })
        )
    );
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    let ready = gateway.get("/readyz").await;
    assert_eq!(state(&ready.body)["adapters"]["qq/main"], "up");
    assert_eq!(gateway.get("/nothing").await.status, 404);
}

#[tokio::test]
async fn a_listener_that_is_in_use_is_reported_and_does_not_stop_the_rest() {
    let model = FakeModel::start().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = json!({ "listen": taken.local_addr().unwrap().to_string() });
    let changes = json!({ "platforms": { "qq": { "accounts": { "main": listen } } } });
    let gateway = Gateway::start(&model, changes).await;
    gateway.logged("an adapter is down").await;
    let ready = gateway.get("/readyz").await;
    assert_eq!(ready.status, 200);
    assert!(ready.body.contains(r#""qq/main":"down""#), "{}", ready.body);
}

#[tokio::test]
async fn metrics_are_for_this_machine_or_for_the_token() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({ "http": { "admin_token_file": "token" } }));
    gateway.write("token", "the-admin-token-0123456789\n");
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    // The figure of a send follows the send.
    fake.ask(1, "/ping").await;
    let metrics = gateway.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    for line in [
        "weirgate_accepted_messages_total 2",
        r#"weirgate_outbox_sends_total{platform="qq",outcome="sent"}"#,
        r#"weirgate_adapters_up{platform="qq",account="main"} 1"#,
        "# TYPE weirgate_turn_seconds histogram",
    ] {
        assert!(metrics.body.contains(line), "{line} in {}", metrics.body);
    }
    let proxied = ("X-Forwarded-For", "203.0.113.9");
    assert_eq!(gateway.get_with("/metrics", &[proxied]).await.status, 403);
    let wrong = ("Authorization", "Bearer the-admin-token-012345678");
    assert_eq!(
        gateway.get_with("/metrics", &[proxied, wrong]).await.status,
        403
    );
    let right = ("Authorization", "Bearer the-admin-token-0123456789");
    assert_eq!(
        gateway.get_with("/metrics", &[proxied, right]).await.status,
        200
    );
}

#[tokio::test]
async fn metrics_can_be_switched_off() {
    let model = FakeModel::start().await;
    let off = json!({ "observability": { "metrics": false } });
    let gateway = Gateway::start(&model, off).await;
    assert_eq!(gateway.get("/metrics").await.status, 404);
}

#[tokio::test]
async fn a_json_log_is_one_object_a_line_with_the_turn_in_it() {
    let model = FakeModel::start().await;
    let log = json!({ "format": "json", "level": "debug" });
    let mut gateway = Gateway::start(&model, json!({ "observability": { "log": log } })).await;
    let fake = gateway.onebot().await;
    model.push(weirgate_testkit::model::Script::error(401, "no"));
    let told = fake.ask(1, "hello\n\"quoted\" \u{1b}[31m").await;
    let (_, reference) = told.split_once("reference ").unwrap();
    let reference = reference.trim_end_matches(')');
    let with_turn = || {
        let log = gateway.log();
        log.lines().any(|line| {
            let entry: Value = serde_json::from_str(line).unwrap_or_default();
            entry.to_string().contains("no model answered")
                && entry
                    .to_string()
                    .contains(&format!(r#""turn":"{reference}""#))
        })
    };
    assert!(until(with_turn).await, "{}", gateway.log());
    gateway.term().await;
    for line in gateway.log().lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert!(entry["level"].is_string(), "{line}");
    }
}
