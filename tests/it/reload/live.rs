//! What is in force at once, and what a running turn keeps.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::{ask, prompt, reads, started};
use crate::gateway::{Chat as _, KEY, until};

/// How long a model pauses in the middle of an answer: longer than a reload takes.
const WHILE: Duration = Duration::from_secs(6);

#[tokio::test]
async fn a_running_turn_keeps_its_model_and_the_next_one_has_the_new() {
    let (one, other) = (FakeModel::start().await, FakeModel::start().await);
    let gateway = started(&one, json!({})).await;
    let fake = gateway.onebot().await;
    // Two pieces with a pause in which the reload happens.
    one.push(Script::pieces(&["slow ", "answer"]).between(WHILE));
    fake.send_private(1, "first").await;
    one.wait_for(1).await;
    gateway.configure(&other, json!({ "models": { "chat": ["main/other"] } }));
    reads(&gateway, "applied", 1).await;
    // Somebody else is answered by the new model while the old one still writes.
    fake.send_private(2, "second").await;
    let mut answers = fake.answers(2).await;
    answers.sort();
    assert_eq!(answers, ["re: second", "slow answer"]);
    assert_eq!(fake.ask(1, "third").await, "re: third");
    assert_eq!((one.count(), other.count()), (1, 2));
    assert_eq!(other.requests()[0].body["model"], "other");
    assert!(fake.ask(1, "/status").await.contains("main/other"));
}

#[tokio::test]
async fn what_waits_is_subject_to_the_new_limits() {
    let model = FakeModel::start().await;
    let slow = json!({ "flow_control": { "user": { "rate": 0.001, "burst": 1 } } });
    let gateway = started(&model, slow).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    fake.send_private(1, "two").await;
    // Somebody else shows that what the first one said was accepted before.
    assert_eq!(fake.ask(2, "three").await, "re: three");
    gateway.configure(&model, json!({}));
    reads(&gateway, "applied", 1).await;
    assert_eq!(fake.answer().await.text(), "re: two");
}

#[tokio::test]
async fn new_secrets_are_redacted_at_once_and_old_ones_still_are() {
    let model = FakeModel::start().await;
    let gateway = started(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let new = "the-new-key-of-all-222";
    assert_eq!(fake.ask(1, new).await, format!("re: {new}"));
    let key = json!({ "providers": { "main": { "api_key": new } } });
    gateway.configure(&model, key);
    reads(&gateway, "applied", 1).await;
    let text = format!("{KEY} and {new}");
    assert_eq!(fake.ask(1, &text).await, "re: [REDACTED] and [REDACTED]");
}

#[tokio::test]
async fn a_secret_that_comes_while_an_answer_is_written_is_redacted_in_it() {
    let model = FakeModel::start().await;
    let gateway = started(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let new = "the-new-key-of-all-333";
    model.push(Script::pieces(&["it is ", new]).between(WHILE));
    fake.send_private(1, "tell").await;
    model.wait_for(1).await;
    let key = json!({ "providers": { "main": { "api_key": new } } });
    gateway.configure(&model, key);
    reads(&gateway, "applied", 1).await;
    assert_eq!(fake.answer().await.text(), "it is [REDACTED]");
}

#[tokio::test]
async fn rights_language_log_and_output_follow() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("one")).await;
    let fake = gateway.onebot().await;
    fake.group_as("member", 7, 42, "/reset").await;
    let denied = fake.answer().await.text();
    assert!(!denied.contains("forgotten"), "{denied}");
    let file = gateway.folder().join("live.log");
    let changes = json!({
        "permissions": { "owners": { "qq": [42] } },
        "language": "zh-CN",
        "observability": { "log": { "level": "debug", "file": { "path": file } } },
        "timezone": "Asia/Shanghai",
        "output": { "platform_adaptation": { "max_length_by_platform": { "qq": 64 } },
            "segmented": { "enable": false, "random_interval": "0,0" } },
    });
    gateway.configure(&model, changes);
    reads(&gateway, "applied", 1).await;
    fake.group_as("member", 7, 42, "/reset").await;
    let done = fake.answer().await.text();
    assert_ne!(done, denied);
    assert!(!done.is_ascii(), "in Chinese: {done}");
    let long = "word ".repeat(20);
    fake.send_private(1, &long).await;
    assert!(fake.answers(2).await.iter().all(|part| part.len() <= 64));
    gateway.logged("DEBUG").await;
    let written = || std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        until(|| written().contains("+08:00")).await,
        "{}",
        written()
    );
    let off = json!({ "observability": { "metrics": false } });
    gateway.configure(&model, off);
    let closed = async {
        while gateway.get("/metrics").await.status != 404 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(crate::gateway::LIMIT, closed).await;
    assert!(in_time.is_ok(), "{}", gateway.log());
    // The owner is none any more.
    fake.group_as("member", 7, 42, "/reset").await;
    assert_eq!(fake.answer().await.text(), denied);
    let told = ask(&model, &fake).await;
    assert!(told.starts_with("Be calm, exact and useful."), "{told}");
}
