//! What happens to turns and answers, and that /why says it.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{FakeOneBot, reply_to, text},
    webchat::WebChatClient,
};

use crate::gateway::{Chat as _, Gateway, KEY, LIMIT, until};

async fn start(changes: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

async fn why(fake: &FakeOneBot, message: i64) -> String {
    fake.send_segments(None, 1, &[reply_to(message), text("/why")])
        .await;
    fake.answer().await.text()
}

#[tokio::test]
async fn a_secret_that_was_taken_out_leaves_a_step() {
    let (model, gateway, fake) = start(json!({})).await;
    model.push(Script::pieces(&["the key is ", &KEY[..9], &KEY[9..]]));
    assert_eq!(fake.ask(1, "tell").await, "the key is [REDACTED]");
    let told = fake.ask(1, "/why").await;
    assert!(told.contains("redacted"), "{told}");
    assert_eq!(fake.ask(1, &format!("/ping {KEY}")).await, "[REDACTED]");
    let told = fake.ask(1, "/why").await;
    assert!(told.contains("redacted"), "{told}");
    assert_eq!(gateway.counted("redacted").await, 2);
}

#[tokio::test]
async fn a_provider_that_is_too_busy_to_the_end_is_named_as_the_reason() {
    let (model, _gateway, fake) = start(json!({
        "error_recovery": { "max_retries": { "rate_limit": 0 } },
    }))
    .await;
    model.push(Script::rate_limited(None));
    assert!(fake.ask(1, "hello").await.starts_with("Sorry"));
    let told = fake.ask(1, "/why").await;
    assert!(told.contains("model_rate_limited"), "{told}");
}

#[tokio::test]
async fn an_answer_that_is_cut_by_the_platforms_limit_says_so() {
    let (_model, _gateway, fake) = start(json!({})).await;
    fake.send_private(1, &format!("/ping {}", "word ".repeat(400)))
        .await;
    fake.answers(2).await;
    let told = fake.ask(1, "/why").await;
    assert!(told.contains("split_for_limit"), "{told}");
}

#[tokio::test]
async fn a_preview_that_was_left_out_leaves_one_step() {
    let slow = json!({ "conversation": 1, "conversation_burst": 1 });
    let (model, gateway, _fake) = start(json!({
        "platforms": { "webchat": { "accounts": { "default": { "limits": slow } } } },
    }))
    .await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let words = ["a piece that is long enough to be shown "; 12];
    model.push(Script::pieces(&words).between(Duration::from_millis(60)));
    client.say("m1", "go").await;
    client.skip_to("end").await;
    client.say("m2", "/why").await;
    let told = loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            break frame["text"].as_str().unwrap().to_owned();
        }
    };
    assert_eq!(told.matches("stream_shed").count(), 1, "{told}");
    assert!(gateway.counted("stream_shed").await > 1);
}

#[tokio::test]
async fn a_message_taken_up_after_a_crash_says_so() {
    let (model, mut gateway, fake) = start(json!({})).await;
    model.push(Script::hang());
    let message = fake.send_private(1, "hello").await;
    model.wait_for(1).await;
    gateway.kill().await;
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    let told = why(&fake, message).await;
    assert!(told.contains("recovered"), "{told}");
}

#[tokio::test]
async fn a_message_that_was_alone_at_every_crash_is_set_aside_and_told() {
    let model = FakeModel::start_with(|_| Script::hang()).await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let message = fake.send_private(1, "poison").await;
    for kill in 1..=3 {
        model.wait_for(kill).await;
        gateway.kill().await;
        gateway.up().await;
    }
    let told = fake.answer().await.text();
    assert!(!told.contains("poison"), "{told}");
    let told = why(&fake, message).await;
    assert!(
        told.contains("failed") && told.contains("quarantined"),
        "{told}"
    );
    assert_eq!(model.count(), 3, "it is not tried again");
}

#[tokio::test]
async fn a_message_whose_row_cannot_be_read_ends_instead_of_coming_back_for_ever() {
    let (model, mut gateway, fake) = start(json!({})).await;
    model.push(Script::hang());
    fake.send_private(1, "hello").await;
    model.wait_for(1).await;
    gateway.kill().await;
    let database = rusqlite::Connection::open(gateway.database()).unwrap();
    let changed = database.execute("UPDATE inbox SET body = '{'", []);
    assert_eq!(changed.unwrap(), 1);
    drop(database);
    gateway.up().await;
    let ended = async {
        while gateway.counted("turn_failed").await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, ended).await.unwrap();
    assert_eq!(fake.ask(1, "next").await, "re: next");
    gateway.term().await;
    let rows = crate::gateway::rows(&gateway.database(), "SELECT reason FROM ended");
    assert_eq!(rows, ["turn_failed"]);
}

#[tokio::test]
async fn a_turn_that_the_store_holds_up_ends_when_it_is_back() {
    let (model, gateway, fake) = start(json!({})).await;
    model.push(Script::answer("late").before_headers(Duration::from_millis(300)));
    let message = fake.send_private(1, "hello").await;
    model.wait_for(1).await;
    // Somebody else writes: the gateway's own writes wait a while, and fail.
    let database = rusqlite::Connection::open(gateway.database()).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    let failed = async {
        while gateway.counted("store_unavailable").await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, failed).await.unwrap();
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(fake.answer().await.text(), "late");
    let told = why(&fake, message).await;
    assert!(told.contains("store_unavailable"), "{told}");
    assert!(until(|| fake.reply_count() == 2).await, "nothing twice");
}
