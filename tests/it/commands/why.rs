//! /why: what became of a message, also of one that was dropped, and who may ask.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{FakeOneBot, reply_to, text},
};

use crate::gateway::{Chat as _, Gateway};

async fn why(fake: &FakeOneBot, user: u64, message: i64) -> String {
    fake.send_segments(None, user, &[reply_to(message), text("/why")])
        .await;
    fake.answer().await.text()
}

#[tokio::test]
async fn why_explains_answered_dropped_and_unknown_messages() {
    let model = FakeModel::start().await;
    let changes = json!({
        "input_buffer": { "max_queue_size": 1 },
        "flow_control": { "auto": { "messages_per_request": 1 } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let answered = fake.send_private(1, "hello").await;
    fake.answer().await;
    let told = why(&fake, 1, answered).await;
    assert!(
        told.contains(": done") && told.contains("answer: sen"),
        "sending or sent: {told}"
    );

    model.push(Script::hang());
    fake.send_private(1, "one").await;
    model.wait_for(2).await;
    let dropped = fake.send_private(1, "two").await;
    fake.send_private(1, "three").await;
    let notice = fake.answer().await.text();
    assert!(
        notice.contains("1 older message of yours fell out"),
        "{notice}"
    );
    let told = why(&fake, 1, dropped).await;
    assert!(
        told.contains("dropped") && told.contains("queue_full_dropped_oldest"),
        "{told}"
    );
    assert_eq!(
        why(&fake, 1, 424_242).await,
        "I know of no such message here."
    );
}

#[tokio::test]
async fn why_follows_the_answer_back_to_its_question() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.send_private(1, "hello").await;
    let answer = fake.answer().await.message_id;
    let told = why(&fake, 1, answer).await;
    assert!(told.contains(": done"), "{told}");
}

#[tokio::test]
async fn why_of_somebody_elses_message_is_for_moderators() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let message = fake.send_group(50, 1, "hello", true).await;
    fake.answer().await;
    fake.send_segments(Some(50), 2, &[reply_to(message), text("/why")])
        .await;
    assert_eq!(
        fake.answer().await.text(),
        "Only an admin may do that here."
    );
    assert_eq!(gateway.counted("permission_denied").await, 1);
    fake.send_segments(Some(50), 1, &[reply_to(message), text("/why")])
        .await;
    assert!(fake.answer().await.text().contains(": done"));
}

#[tokio::test]
async fn why_still_knows_after_a_restart() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(
        &model,
        json!({ "error_recovery": {
        "max_retries": { "api": 0 } } }),
    )
    .await;
    let fake = gateway.onebot().await;
    model.push(Script::error(500, "broken"));
    let message = fake.send_private(1, "hello").await;
    assert!(fake.answer().await.text().starts_with("Sorry"));
    gateway.term().await;
    gateway.up().await;
    let told = why(&fake, 1, message).await;
    assert!(
        told.contains("failed") && told.contains("model_failed"),
        "{told}"
    );
}
