//! Whether a message is meant for the bot, and which messages never are.

use serde_json::json;
use weirgate_testkit::{
    model::FakeModel,
    onebot::{FakeOneBot, at, reply_to, text},
};

use crate::gateway::{BOT, Chat as _, Gateway, person, until};

/// What the model was asked, once a last message has gone through the same connection.
async fn asked(model: &FakeModel, fake: &FakeOneBot) -> Vec<String> {
    fake.send_private(999, "last").await;
    while fake.answer().await.text() != "re: last" {}
    // What came before is at least queued now.
    while !fake.ask(999, "/status").await.contains("Waiting: 0") {}
    assert!(until(|| model.running() == 0).await);
    let requests = model.requests();
    let texts = requests
        .iter()
        .map(|request| request.last_user_text().to_owned());
    texts.filter(|text| text != "last").collect()
}

#[tokio::test]
async fn in_a_group_the_bot_answers_who_means_it() {
    let model = FakeModel::start().await;
    let words = json!({ "addressing": { "wake_words": ["weir", "小堰"] } });
    let changes = json!({ "platforms": { "qq": { "accounts": { "main": words } } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 1, "nobody is meant", false).await;
    fake.send_group(50, 1, "mentioned", true).await;
    let answer = fake.answer().await.message_id;
    for words in ["Weir, are you there", "小堰你好"] {
        fake.send_group(50, 2, words, false).await;
        fake.answer().await;
    }
    for words in ["weirdly enough not meant", "who is weir", "你好小堰"] {
        fake.send_group(50, 2, words, false).await;
    }
    fake.send_segments(Some(50), 3, &[reply_to(answer), text("a reply to you")])
        .await;
    fake.answer().await;
    fake.send_segments(
        Some(50),
        4,
        &[reply_to(424_242), text("a reply to somebody")],
    )
    .await;
    fake.send_segments(Some(50), 4, &[at(77), text("another is meant")])
        .await;
    fake.send_group(50, 5, "/ping", false).await;
    assert_eq!(fake.answer().await.text(), "pong");
    fake.send_group(50, 5, "/of-another-bot", false).await;
    fake.send_group(50, 5, "/otherbot", false).await;
    let mut asked = asked(&model, &fake).await;
    asked.sort();
    assert_eq!(
        asked,
        [
            "user 1: mentioned",
            "user 2: Weir, are you there",
            "user 2: 小堰你好",
            "user 3: a reply to you",
        ]
    );
}

#[tokio::test]
async fn a_reply_to_the_bot_is_known_after_a_restart_or_left_alone() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 1, "hello", true).await;
    let answer = fake.answer().await.message_id;
    gateway.term().await;
    gateway.up().await;
    fake.send_segments(
        Some(50),
        1,
        &[reply_to(answer), at(BOT), text("mentioned as well")],
    )
    .await;
    assert!(fake.answer().await.text().contains("mentioned as well"));
}

#[tokio::test]
async fn with_mode_all_everything_in_a_group_is_meant() {
    let model = FakeModel::start().await;
    let all = json!({ "addressing": { "mode": "all" } });
    let changes = json!({ "platforms": { "qq": { "accounts": { "main": all } } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 1, "just talking", false).await;
    assert_eq!(fake.answer().await.text(), "re: user 1: just talking");
}

#[tokio::test]
async fn the_same_event_twice_is_one_message() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for _ in 0..3 {
        fake.private_at(41, 1, "once", 1_700_000_000).await;
    }
    // The same id at another time is another message: ids are short hashes.
    fake.private_at(41, 1, "later", 1_700_000_900).await;
    while !fake.answer().await.text().ends_with("later") {}
    let first = asked(&model, &fake).await.join("\n");
    assert_eq!(first, "once\nlater");
    gateway.term().await;
    gateway.up().await;
    fake.private_at(41, 1, "once", 1_700_000_000).await;
    assert_eq!(asked(&model, &fake).await.join("\n"), first);
    let metrics = gateway.get("/metrics").await.body;
    assert!(
        metrics.contains(r#"weirgate_reasons_total{reason="duplicate"} 1"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn own_messages_ignored_users_and_odd_events_never_start_a_turn() {
    let model = FakeModel::start().await;
    let ignore = json!({ "ignore": [66] });
    let changes = json!({ "platforms": { "qq": { "accounts": { "main": ignore } } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.send_private(BOT, "I said this myself").await;
    fake.send_private(66, "I am another bot").await;
    fake.raw(
        json!({ "post_type": "message_sent", "self_id": BOT, "message_id": 5, "user_id": BOT,
        "message_type": "private", "message": "mine", "time": 1_700_000_000 }),
    )
    .await;
    fake.raw(
        json!({ "post_type": "notice", "notice_type": "notify", "sub_type": "input_status",
        "user_id": 1, "self_id": BOT, "time": 3 }),
    )
    .await;
    fake.raw(json!({ "post_type": "message", "message_type": "private", "self_id": BOT }))
        .await;
    for frame in [
        "",
        "{",
        "[]",
        "null",
        "{\"post_type\":7}",
        "\u{0}",
        "{\"post_type\":\"message\"}",
    ] {
        fake.raw_text(frame).await;
    }
    fake.send_segments(None, 1, &[]).await;
    assert_eq!(asked(&model, &fake).await, [""; 0]);
    assert!(fake.replies().iter().all(|reply| person(reply) == "999"));
    assert!(fake.is_connected());
}
