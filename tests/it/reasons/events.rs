//! What comes in and never becomes a message is counted by why.

use serde_json::json;
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use crate::gateway::{BOT, Chat as _, Gateway};

#[tokio::test]
async fn events_that_are_no_messages_to_the_bot_are_counted_by_reason() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.private_at(7, 1, "/ping once", 1_700_000_000).await;
    fake.private_at(7, 1, "/ping once", 1_700_000_000).await;
    // What the account says elsewhere, in both forms in which it is reported.
    fake.private_at(8, BOT, "/ping of the bot", 1_700_000_001)
        .await;
    fake.raw(json!({
        "time": 1_700_000_002, "self_id": BOT, "post_type": "message_sent",
        "message_type": "private", "sub_type": "friend", "message_id": 9, "user_id": BOT,
        "message": [{ "type": "text", "data": { "text": "/ping of the bot" } }],
    }))
    .await;
    fake.send_group(50, 1, "nobody is meant", false).await;
    fake.private_at(10, 1, "  ", 1_700_000_003).await;
    fake.raw(json!({
        "time": 1_700_000_004, "self_id": BOT, "post_type": "notice", "notice_type": "notify",
        "sub_type": "poke", "user_id": 1, "target_id": BOT,
    }))
    .await;
    // No frame, no event, and a message that nobody sent.
    fake.raw_text("{ this is not JSON").await;
    fake.raw(json!({ "hello": "there" })).await;
    fake.raw(json!({
        "time": 1_700_000_005, "self_id": BOT, "post_type": "message", "message_type": "private",
        "message": [{ "type": "text", "data": { "text": "/ping of nobody" } }],
    }))
    .await;
    assert_eq!(fake.answer().await.text(), "once");
    assert_eq!(fake.ask(2, "/ping last").await, "last");
    assert_eq!(fake.reply_count(), 2, "nothing else was answered");
    for (code, count) in [
        ("duplicate", 1),
        ("own_message", 2),
        ("not_addressed", 1),
        ("empty_message", 1),
        ("unsupported_event", 1),
        ("malformed_event", 3),
    ] {
        assert_eq!(gateway.counted(code).await, count, "{code}");
    }
}

#[tokio::test]
async fn frames_that_the_web_chat_cannot_read_are_counted_by_reason() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    for frame in ["{ this is not JSON", r#"{"type":"text","content":"no id"}"#] {
        client.send_text(frame).await;
        client.skip_to("error").await;
    }
    for frame in [
        r#"{"type":"dance"}"#,
        r#"{"type":"setting","content":{"act":"dance"}}"#,
        r#"{"type":"text","messageId":"m","content":""}"#,
    ] {
        client.send_text(frame).await;
        client.skip_to("error").await;
    }
    client.send_binary(vec![1, 2, 3]).await;
    client.skip_to("error").await;
    client.say("m1", "/ping").await;
    client.skip_to("end").await;
    assert_eq!(gateway.counted("malformed_event").await, 3);
    assert_eq!(gateway.counted("unsupported_event").await, 2);
}

#[tokio::test]
async fn a_visitor_over_the_limit_of_the_site_is_told_and_counted() {
    let model = FakeModel::start().await;
    let site = json!({ "visitor_limits": { "minute": 2 } });
    let changes = json!({ "platforms": { "webchat": { "accounts": { "default": site } } } });
    let gateway = Gateway::start(&model, changes).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    for message in ["m1", "m2"] {
        client.say(message, "/ping").await;
        client.skip_to("end").await;
    }
    client.say("m3", "/ping").await;
    let error = client.skip_to("error").await;
    assert_eq!(
        (&error["code"], &error["messageId"]),
        (&json!("too_fast"), &json!("m3"))
    );
    assert!(client.is_quiet().await);
    assert_eq!(gateway.counted("account_limit").await, 1);
    assert_eq!(gateway.journaled().await.len(), 2);
}
