//! Accounts that come, go and change while the gateway runs.

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use super::{reads, started};
use crate::gateway::{Chat as _, Gateway, free_port};

async fn state(gateway: &Gateway) -> Value {
    let ready = gateway.get("/readyz").await;
    serde_json::from_str::<Value>(&ready.body).unwrap()["adapters"].take()
}

#[tokio::test]
async fn an_account_that_changes_its_port_is_reached_there_and_others_keep_their_connections() {
    let model = FakeModel::start().await;
    let mut gateway = started(&model, json!({})).await;
    let mut visitor = WebChatClient::connect(gateway.http()).await;
    visitor.enter(None).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    let old = gateway.onebot_url();
    gateway.move_onebot();
    gateway.configure(&model, json!({}));
    reads(&gateway, "applied", 1).await;
    let moved = gateway.onebot().await;
    // In a group, whose messages have numbers that the first connection did not use.
    moved.group_as("member", 7, 1, "two").await;
    assert_eq!(moved.answer().await.text(), "re: member 1: two");
    assert!(
        weirgate_testkit::onebot::FakeOneBot::connect_with(
            &old,
            crate::gateway::BOT,
            weirgate_testkit::onebot::Options::default()
        )
        .await
        .is_err(),
        "nobody listens on the old port"
    );
    // The socket that was open before is the same one.
    visitor.say("m1", "still here?").await;
    let answer = visitor.skip_to("end").await;
    assert_eq!(answer["messageId"], "m1");
}

#[tokio::test]
async fn an_account_is_added_and_taken_away() {
    let model = FakeModel::start().await;
    let gateway = started(&model, json!({})).await;
    let first = gateway.onebot().await;
    let port = free_port();
    let off = json!({ "account_per_minute": 0, "conversation_interval": 0 });
    let second = json!({ "listen": format!("127.0.0.1:{port}"), "limits": off });
    let changes = json!({ "platforms": { "qq": { "accounts": { "second": second } } } });
    gateway.configure(&model, changes);
    reads(&gateway, "applied", 1).await;
    // Applied means that the account was started; its port opens a moment later.
    gateway.logged(&format!("address=127.0.0.1:{port}")).await;
    let url = format!("ws://127.0.0.1:{port}/");
    let options = weirgate_testkit::onebot::Options::default();
    let fake = weirgate_testkit::onebot::FakeOneBot::connect_with(&url, 20_002, options)
        .await
        .unwrap();
    assert_eq!(fake.ask(5, "to the second").await, "re: to the second");
    assert_eq!(state(&gateway).await["qq/second"], "up");
    assert_eq!(first.ask(5, "to the first").await, "re: to the first");

    gateway.configure(&model, json!({}));
    reads(&gateway, "applied", 2).await;
    let left = state(&gateway).await;
    assert_eq!(left, json!({ "qq/main": "up", "webchat/default": "up" }));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(first.is_connected(), "the other one keeps its connection");
    assert_eq!(first.ask(5, "still there?").await, "re: still there?");
}

#[tokio::test]
async fn how_an_account_is_addressed_changes_without_a_new_connection() {
    let model = FakeModel::start().await;
    let gateway = started(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    let addressing = json!({ "mode": "mention", "wake_words": ["hey bot"] });
    let account = json!({ "main": { "addressing": addressing } });
    gateway.configure(
        &model,
        json!({ "platforms": { "qq": { "accounts": account } } }),
    );
    reads(&gateway, "applied", 1).await;
    assert!(fake.is_connected());
    fake.send_group(7, 1, "hey bot, you there?", false).await;
    assert!(fake.answer().await.text().starts_with("re: "));
    assert_eq!(gateway.log().matches("waiting for the OneBot").count(), 1);
}

#[tokio::test]
async fn the_page_follows_its_settings_and_can_be_switched_off() {
    let model = FakeModel::start().await;
    let gateway = started(&model, json!({})).await;
    let host = ("Host", "chat.example.com");
    let named = async || gateway.get_with("/", &[host]).await.status;
    assert_eq!(named().await, 403);
    let site = json!({ "default": { "hosts": ["chat.example.com"] } });
    gateway.configure(
        &model,
        json!({ "platforms": { "webchat": { "accounts": site } } }),
    );
    reads(&gateway, "applied", 1).await;
    assert_eq!(named().await, 200);
    let mut visitor = WebChatClient::connect(gateway.http()).await;
    visitor.enter(None).await;
    visitor.say("m1", "hi").await;
    visitor.skip_to("end").await;
    gateway.configure(&model, json!({ "platforms": { "webchat": null } }));
    reads(&gateway, "applied", 2).await;
    assert_eq!(gateway.get("/").await.status, 404);
    assert_eq!(gateway.get("/healthz").await.status, 200);
}
