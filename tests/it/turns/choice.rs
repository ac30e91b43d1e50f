//! /model, and what models cost.

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, LIMIT};

fn changes() -> Value {
    let price = json!({ "price": { "input": 1_000.0, "output": 2_000.0 } });
    json!({
        "models": {
            "chat": ["main/test", "main/spare"],
            "choices": ["main/large"],
            "roles": { "member": ["main/test", "main/spare"] },
            "currency": "EUR",
        },
        "providers": { "main": { "models": { "test": price } } },
        "permissions": { "owners": { "qq": [99] } },
        "language": "en",
    })
}

fn asked(model: &FakeModel) -> Vec<String> {
    let requests = model.requests().into_iter();
    requests
        .map(|request| request.body["model"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_conversation_chooses_among_what_the_role_may_use() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes()).await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "/model").await,
        "Model: main/test. Possible: main/test, main/spare, default."
    );
    let refused = fake.ask(1, "/model large").await;
    assert!(
        refused.starts_with("There is no model \"large\" for you."),
        "{refused}"
    );
    assert_eq!(
        fake.ask(1, "/model spare").await,
        "From now on main/spare answers here."
    );
    fake.ask(1, "one").await;
    fake.ask(2, "two").await;
    assert_eq!(
        asked(&model),
        ["spare", "test"],
        "in his conversation alone"
    );
    // It comes first; when it fails the others follow.
    model.push(Script::error(400, "no"));
    fake.ask(1, "three").await;
    assert_eq!(asked(&model)[2..], ["spare", "test"]);
    fake.ask(1, "/model default").await;
    fake.ask(1, "four").await;
    assert_eq!(asked(&model)[4], "test");
    // An owner of the gateway may use all, and who may not use what he chose for a group is answered by another.
    fake.group_as("owner", 7, 99, "/model large").await;
    fake.answer().await;
    fake.send_group(7, 99, "five", true).await;
    fake.answer().await;
    fake.send_group(7, 1, "six", true).await;
    fake.answer().await;
    assert_eq!(asked(&model)[5..], ["large", "test"]);
    fake.group_as("member", 7, 1, "/model spare").await;
    let refused = fake.answer().await.text();
    assert!(!refused.contains("From now on"), "{refused}");
}

#[tokio::test]
async fn what_was_spent_today_is_told_by_person_conversation_and_in_all() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, changes()).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    fake.ask(2, "hello").await;
    fake.ask(2, "hello again").await;
    let amounts = |status: &str| -> Vec<f64> {
        let line = status.lines().find(|line| line.starts_with("Today: "));
        let words = line.unwrap_or_else(|| panic!("{status}")).split(' ');
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let status = fake.ask(2, "/status").await;
    let [own, here, all] = amounts(&status)[..] else {
        panic!("{status}");
    };
    assert!(
        own > 0.0 && (own - here).abs() < 1e-9 && all > own,
        "{status}"
    );
    assert!(status.contains(" EUR (you)"), "{status}");
    let log = fake.ask(1, "/log").await;
    assert!(log.contains(" EUR"), "{log}");
    let metric = gateway
        .metric(r#"weirgate_model_cost_micros_total{provider="main"}"#)
        .await;
    #[expect(clippy::cast_precision_loss, reason = "it is small")]
    let counted = metric as f64 / 1e6;
    assert!((counted - all).abs() < 0.001, "{counted} {status}");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(amounts(&fake.ask(2, "/status").await), [own, here, all]);
    // What comes after a start is added to it.
    fake.ask(2, "once more").await;
    let later = amounts(&fake.ask(2, "/status").await);
    for (before, after) in [own, here, all].iter().zip(later) {
        assert!(after > *before, "{before} {after}");
    }
}
