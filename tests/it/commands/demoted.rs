//! What the platform takes from an admin is gone for what he asked before.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{ADMIN, BOB, GROUP, people};
use crate::gateway::{BOT, Chat as _, Gateway, rows};

const NO: &str = "Only an admin may do that here.";

async fn group(gateway: &Gateway) -> FakeOneBot {
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    fake
}

/// The platform says that he is no admin any more; it has been heard when this ends.
async fn demote(fake: &FakeOneBot) {
    fake.member(GROUP, ADMIN, Some("member"));
    fake.raw(json!({
        "time": 1_790_000_000, "self_id": BOT, "post_type": "notice",
        "notice_type": "group_admin", "sub_type": "unset", "group_id": GROUP, "user_id": ADMIN,
    }))
    .await;
    let told = fake.ask_as("member", GROUP, BOB, "/ping heard").await;
    assert_eq!(told, "heard");
}

/// The newest result that the model was told.
fn result(model: &FakeModel) -> String {
    let said = model.requests().pop().expect("a request").body;
    let mut messages = said["messages"].as_array().expect("messages").iter();
    let result = messages.rfind(|message| message["role"] == "tool");
    result.expect("a result")["content"].to_string()
}

#[tokio::test]
async fn what_an_admin_asked_while_he_was_one_is_refused_once_he_is_not() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    model.push(Script::answer("done").first(Duration::from_secs(2)));
    fake.group_as("admin", GROUP, ADMIN, "a question").await;
    model.wait_for(1).await;
    // It waits behind the turn.
    let forbid = "/policy allow_media off";
    fake.group_as("admin", GROUP, ADMIN, forbid).await;
    demote(&fake).await;
    let told = fake.answers(2).await;
    assert!(told[0].contains("done") && told[1].contains(NO), "{told:?}");
    // Who became one may, without a word of his own before.
    let set = json!({
        "time": 1_790_000_000, "self_id": BOT, "post_type": "notice",
        "notice_type": "group_admin", "sub_type": "set", "group_id": GROUP, "user_id": BOB,
    });
    model.push(Script::answer("done").first(Duration::from_secs(2)));
    fake.group_as("member", GROUP, BOB, "a question").await;
    model.wait_for(2).await;
    fake.group_as("member", GROUP, BOB, "/policy allow_media")
        .await;
    fake.member(GROUP, BOB, Some("admin"));
    fake.raw(set).await;
    let told = fake.answers(2).await;
    assert!(!told[1].contains(NO), "{told:?}");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT event FROM audit");
    assert!(!audit.contains(&"policy_changed".to_owned()), "{audit:?}");
}

#[tokio::test]
async fn a_turn_that_runs_loses_what_its_person_lost() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let write = ("write_file", json!({ "path": "a.txt", "content": "x" }));
    let calls = Script::calls(&[write]);
    model.push(calls.clone());
    fake.group_as("admin", GROUP, ADMIN, "write it down").await;
    fake.answer().await;
    let result = result(&model);
    assert!(!result.contains("may not use"), "{result}");
    model.push(calls.first(Duration::from_secs(2)));
    fake.group_as("admin", GROUP, ADMIN, "write it again").await;
    model.wait_for(3).await;
    demote(&fake).await;
    fake.answer().await;
    let result = self::result(&model);
    assert!(result.contains("may not use this tool"), "{result}");
}

#[tokio::test]
async fn the_platform_is_asked_about_what_an_admin_said_before_a_restart() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    model.push(Script::hang());
    fake.group_as("admin", GROUP, ADMIN, "a question").await;
    model.wait_for(1).await;
    fake.group_as("admin", GROUP, ADMIN, "/policy allow_media")
        .await;
    assert_eq!(fake.ask_as("member", GROUP, BOB, "/ping x").await, "x");
    gateway.kill().await;
    fake.member(GROUP, ADMIN, Some("member"));
    gateway.up().await;
    // What was sent just before the end may come again.
    let mut told = fake.answer().await.text();
    while told == "x" || told.contains("a question") {
        told = fake.answer().await.text();
    }
    assert_eq!(told, NO);
}
