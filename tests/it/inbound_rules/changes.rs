//! Recalled, late and oversized messages.

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, until};

#[tokio::test]
async fn a_recalled_message_that_waits_is_never_asked() {
    let model = FakeModel::start().await;
    let one = json!({ "flow_control": { "auto": { "messages_per_request": 1 } } });
    let gateway = Gateway::start(&model, one).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_group(50, 1, "first", true).await;
    model.wait_for(1).await;
    let second = fake.send_group(50, 1, "second", true).await;
    fake.send_group(50, 1, "third", true).await;
    fake.recall(Some(50), 1, second).await;
    // The recall has been worked off when the queue holds one message only.
    loop {
        fake.send_group(50, 1, "/status", true).await;
        if fake.answer().await.text().contains("yours here: 1") {
            break;
        }
    }
    fake.send_group(50, 1, "/stop", true).await;
    let mut said = fake.answers(3).await;
    said.sort();
    assert_eq!(
        said,
        [
            "(stopped)",
            "Stopped 1 answer. 1 message still in the queue; /cancel drops them.",
            "re: user 1: third",
        ]
    );
    fake.send_segments(
        Some(50),
        1,
        &[
            weirgate_testkit::onebot::reply_to(second),
            weirgate_testkit::onebot::text("/why"),
        ],
    )
    .await;
    let why = fake.answer().await.text();
    assert!(why.contains("recalled"), "{why}");
}

#[tokio::test]
async fn recalling_the_running_question_ends_the_turn_in_silence() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    let question = fake.send_private(1, "oops").await;
    model.wait_for(1).await;
    fake.recall(None, 1, question).await;
    assert!(until(|| model.running() == 0).await);
    assert_eq!(fake.ask(1, "better").await, "re: better");
    assert_eq!(fake.reply_count(), 1);
    let next = model.requests()[1].body.to_string();
    assert!(!next.contains("oops"), "{next}");
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_in_order_and_told() {
    let model = FakeModel::start_with(|text| Script::answer(&text.len().to_string())).await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let told = fake.ask(1, &"很长".repeat(40_000)).await;
    assert_eq!(
        told,
        "This message is too long; at most 64 KiB are possible."
    );
    assert_eq!(model.count(), 0);
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("too_large"), "{why}");
    assert_eq!(
        fake.ask(1, &"x".repeat(60_000)).await,
        "60000",
        "just within the limit"
    );
}

#[tokio::test]
async fn a_message_that_waits_too_long_expires_and_is_told() {
    let model = FakeModel::start().await;
    let changes = json!({
        "input_buffer": { "max_message_age": 1, "overflow_hint": "[too many]" },
        "flow_control": { "auto": { "messages_per_request": 1 } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    fake.send_private(1, "two").await;
    fake.send_private(1, "three").await;
    let told = fake.answer().await.text();
    assert_eq!(
        told,
        "2 messages of yours waited too long and will not be answered."
    );
    fake.send_private(1, "/stop").await;
    fake.answers(2).await;
    let answer = fake.ask(1, "four").await;
    assert!(
        answer.starts_with("re: [too many] (2 messages, within "),
        "{answer}"
    );
    assert!(answer.ends_with("\nfour"), "{answer}");
    assert_eq!(model.count(), 2, "two and three were never asked");
    assert_eq!(gateway.counted("expired").await, 2);
}
