//! Models that fail: retries, the next model, patience, and what the person is told.

use std::time::{Duration, Instant};

use serde_json::json;
use weirgate_testkit::model::{Ending, FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, until};

/// The reference in a text such as "... (reference t12)".
fn reference(text: &str) -> &str {
    let (_, rest) = text
        .split_once("(reference ")
        .unwrap_or_else(|| panic!("none in {text}"));
    rest.strip_suffix(')').unwrap()
}

/// A streamed end with a finish reason.
fn finish(content: &str, reason: &str) -> Script {
    let chunk = json!({ "choices": [
        { "index": 0, "delta": { "content": content }, "finish_reason": reason },
    ] });
    Script::raw([format!("data: {chunk}\n\n"), "data: [DONE]\n\n".to_owned()])
}

#[tokio::test]
async fn a_fault_of_the_provider_is_tried_again() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::error(500, "overloaded"));
    model.push(Script::raw([
        r#"data: {"choices":[],"error":{"code":502,"message":"overloaded"}}"#,
        "\n\n",
    ]));
    assert_eq!(fake.ask(1, "hello").await, "re: hello");
    assert_eq!(model.count(), 3);
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("model_retried"), "{why}");
}

#[tokio::test]
async fn when_one_model_fails_the_next_answers() {
    let (first, second) = (
        FakeModel::start().await,
        FakeModel::start_with(|text| Script::answer(&format!("second: {text}"))).await,
    );
    let changes = json!({
        "providers": { "other": { "kind": "openai", "base_url": second.url() } },
        "models": { "chat": ["main/test", "other/big"] },
        "error_recovery": { "max_retries": { "api": 1 } },
    });
    let gateway = Gateway::start(&first, changes).await;
    let fake = gateway.onebot().await;
    first.push(Script::error(500, "overloaded"));
    first.push(Script::error(500, "overloaded"));
    assert_eq!(fake.ask(1, "hello").await, "second: hello");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("model_fell_back"), "{why}");
    assert_eq!((first.count(), second.count()), (2, 1));
    assert_eq!(second.requests()[0].body["model"], "big");
    assert_eq!(
        second.requests()[0].header("authorization"),
        None,
        "its own key, not the other's"
    );
    assert_eq!(
        fake.ask(1, "hello again").await,
        "re: hello again",
        "the first one comes first"
    );
}

#[tokio::test]
async fn retry_after_is_obeyed_for_everybody() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::rate_limited(Some("2")));
    let asked = Instant::now();
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    // The refusal has to reach the gateway before the next question does.
    gateway.get("/readyz").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    fake.send_private(2, "two").await;
    assert_eq!(fake.ask(3, "/ping").await, "pong", "commands need no model");
    model.wait_for(2).await;
    assert!(
        asked.elapsed() >= Duration::from_secs(2),
        "{:?}",
        asked.elapsed()
    );
    let mut said = fake.answers(2).await;
    said.sort();
    assert_eq!(said, ["re: one", "re: two"]);
    assert_eq!(model.count(), 3);
}

#[tokio::test]
async fn a_failure_is_told_once_with_a_reference_that_the_log_has() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::error(401, "invalid key: internal-detail"));
    let told = fake.ask(1, "hello").await;
    assert!(told.starts_with("Sorry, that did not work."), "{told}");
    assert!(
        !told.contains("internal-detail") && !told.contains("401"),
        "{told}"
    );
    let log = gateway.log();
    let turn = format!("turn={}", reference(&told));
    let line = log
        .lines()
        .find(|line| line.contains(&turn) && line.contains("no model answered"));
    assert!(line.is_some_and(|line| line.contains("401")), "{log}");
    assert_eq!(model.count(), 1, "a wrong key is not tried again");
    assert_eq!(fake.ask(1, "better?").await, "re: better?");
}

#[tokio::test]
async fn a_provider_that_nobody_reaches_is_a_failure_in_the_persons_language() {
    let model = FakeModel::start().await;
    let port = crate::gateway::free_port();
    let changes = json!({
        "providers": { "main": { "base_url": format!("http://127.0.0.1:{port}/v1") } },
        "language": "auto",
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    assert!(
        fake.ask(1, "你好，在吗")
            .await
            .starts_with("抱歉，处理失败")
    );
    assert!(
        fake.ask(2, "hello, are you there")
            .await
            .starts_with("Sorry")
    );
}

#[tokio::test]
async fn empty_refused_and_cut_answers_are_told() {
    let model = FakeModel::start().await;
    let changes = json!({ "error_recovery": { "max_retries": { "api": 0 } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let cases = [
        (
            finish("  ", "stop"),
            "The model gave no answer. Please try again.",
            "answer_empty",
        ),
        (
            finish("", "length"),
            "The model used up its length limit before it answered. Ask for less at once, or ask an \
             administrator to raise max_output_tokens.",
            "answer_truncated",
        ),
        (
            finish("", "content_filter"),
            "The model declined to answer this.",
            "answer_refused",
        ),
        (
            finish("Once upon", "length"),
            "Once upon\n\n(cut off at the model's length limit)",
            "answer_truncated",
        ),
        (
            finish("Once upon", "content_filter"),
            "Once upon\n\nThe model declined to answer this.",
            "answer_refused",
        ),
        (finish("Done.", "stop"), "Done.", "done"),
    ];
    for (script, told, reason) in cases {
        model.push(script);
        assert_eq!(fake.ask(1, "hello").await, told);
        let why = fake.ask(1, "/why").await;
        assert!(why.contains(reason), "{reason}: {why}");
    }
    assert_eq!(model.count(), 6);
}

#[tokio::test]
async fn a_turn_that_takes_too_long_is_ended_and_what_was_said_is_kept() {
    let model = FakeModel::start().await;
    let changes = json!({ "flow_control": { "turn_timeout": 1 } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    let told = fake.ask(1, "hello").await;
    assert!(told.starts_with("Sorry, that took too long."), "{told}");
    gateway.logged(&format!("turn={}", reference(&told))).await;
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("turn_timeout"), "{why}");
    model.push(Script::pieces(&["Half of it"]).ending(Ending::Hang));
    assert_eq!(
        fake.ask(1, "go").await,
        "Half of it\n\n(cut off: the answer took too long)"
    );
    assert!(
        until(|| model.running() == 0).await,
        "nothing is left running"
    );
    assert_eq!(fake.ask(1, "next").await, "re: next");
}
