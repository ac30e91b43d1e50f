//! Why a message waits: a pause of its sender, a token, an earlier turn, the model.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{FakeOneBot, reply_to, text},
};

use crate::gateway::{Chat as _, Gateway};

async fn start(changes: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

async fn why(fake: &FakeOneBot, user: u64, message: i64) -> String {
    fake.send_segments(None, user, &[reply_to(message), text("/why")])
        .await;
    fake.answer().await.text()
}

/// The kinds of waiting that have been noted, with their numbers.
async fn waits(gateway: &Gateway) -> [u64; 4] {
    let mut counts = [0; 4];
    let codes = [
        "debounced",
        "waiting_for_token",
        "waiting_for_turn",
        "waiting_for_model",
    ];
    for (count, code) in counts.iter_mut().zip(codes) {
        *count = gateway.counted(code).await;
    }
    counts
}

#[tokio::test]
async fn what_runs_at_once_does_not_wait() {
    let (_model, gateway, fake) = start(json!({})).await;
    assert_eq!(fake.ask(1, "hello").await, "re: hello");
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    let told = fake.ask(1, "/why").await;
    assert!(!told.contains("waiting"), "{told}");
    assert_eq!(waits(&gateway).await, [0; 4]);
}

#[tokio::test]
async fn messages_in_quick_succession_wait_for_a_pause_and_become_one_turn() {
    let (model, gateway, fake) = start(json!({ "flow_control": { "debounce": 1 } })).await;
    let first = fake.send_private(1, "one").await;
    let second = fake.send_private(1, "two").await;
    fake.send_private(1, "three").await;
    assert_eq!(fake.answer().await.text(), "re: one\ntwo\nthree");
    assert_eq!(model.count(), 1, "one turn");
    let told = why(&fake, 1, first).await;
    assert!(told.contains("debounced"), "{told}");
    let told = why(&fake, 1, second).await;
    assert!(
        told.contains("debounced") && told.contains("merged"),
        "{told}"
    );
    assert_eq!(waits(&gateway).await, [1, 0, 0, 0]);
    assert_eq!(gateway.counted("merged").await, 2);
}

#[tokio::test]
async fn a_turn_that_is_full_waits_for_no_pause() {
    let pause = 30;
    let changes = json!({
        "flow_control": {
            "debounce": pause,
            "debounce_max": pause,
            "auto": { "messages_per_request": 3 },
        },
    });
    let (model, _gateway, fake) = start(changes).await;
    let said = Instant::now();
    for words in ["one", "two", "three"] {
        fake.send_private(1, words).await;
    }
    assert_eq!(fake.answer().await.text(), "re: one\ntwo\nthree");
    assert!(said.elapsed() < Duration::from_secs(pause), "it waited");
    assert_eq!(model.count(), 1);
}

#[tokio::test]
async fn a_message_that_waits_for_a_token_says_so() {
    let (_model, gateway, fake) = start(json!({
        "flow_control": { "user": { "rate": 1, "burst": 1 } },
    }))
    .await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    let second = fake.send_private(1, "two").await;
    assert_eq!(fake.answer().await.text(), "re: two");
    let told = why(&fake, 1, second).await;
    assert!(told.contains("waiting_for_token"), "{told}");
    // The question itself waited as well.
    assert_eq!(waits(&gateway).await, [0, 2, 0, 0]);
}

#[tokio::test]
async fn a_message_behind_another_turn_says_so_while_it_waits() {
    let (model, gateway, fake) = start(json!({})).await;
    model.push(Script::hang());
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    let second = fake.send_private(1, "two").await;
    let third = fake.send_private(1, "three").await;
    for message in [second, third] {
        let told = why(&fake, 1, message).await;
        assert!(told.contains("waiting_for_turn"), "{told}");
    }
    assert_eq!(waits(&gateway).await, [0, 0, 2, 0]);
    fake.send_private(1, "/stop").await;
    fake.answers(3).await;
    assert_eq!(waits(&gateway).await, [0, 0, 2, 0], "once each");
}

#[tokio::test]
async fn a_message_that_waits_for_the_model_says_so_while_it_waits() {
    let (model, gateway, fake) =
        start(json!({ "flow_control": { "max_turns_in_flight": 1 } })).await;
    model.push(Script::answer("first").before_headers(Duration::from_secs(3)));
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    let mut waiting = Vec::new();
    for user in 2..=4 {
        waiting.push((user, fake.send_private(user, "me too").await));
    }
    for (user, message) in waiting {
        let told = why(&fake, user, message).await;
        assert!(told.contains("waiting_for_model"), "{told}");
    }
    assert_eq!(fake.answer().await.text(), "first");
    assert_eq!(fake.answers(3).await, ["re: me too"; 3]);
    assert_eq!(waits(&gateway).await, [0, 0, 0, 3]);
}
