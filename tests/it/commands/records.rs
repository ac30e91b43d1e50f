//! What is recorded of answers, of refusals by a rule, and of what is remembered for others.

use serde_json::json;
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use super::{ADMIN, BOB, GROUP, OWNER, matrix::asked, people};
use crate::gateway::{Chat as _, Gateway, rows, to_approve};

const SECOND: u64 = 100_004;

async fn group(gateway: &Gateway) -> FakeOneBot {
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    fake
}

/// The records of these events, oldest first: event, result, target, and whether they belong to a conversation.
fn recorded(gateway: &Gateway, events: &[&str]) -> Vec<String> {
    let sql = "SELECT event, result, target, conversation > 0 FROM audit ORDER BY id";
    let mut all = rows(&gateway.database(), sql);
    all.retain(|row| events.iter().any(|event| row.starts_with(event)));
    all
}

#[tokio::test]
async fn answers_are_recorded_where_they_were_given() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let transfer = to_approve(&said("owner", OWNER, "/transfer @100003").await);
    let told = said("admin", ADMIN, &format!("/approve {transfer}")).await;
    assert_eq!(told, "That is for somebody else to answer.");
    let told = said("member", BOB, &format!("/deny {transfer}")).await;
    assert!(told.starts_with("Not done"), "{told}");
    said("owner", OWNER, "/policy four_eyes on").await;
    let leave = to_approve(&said("owner", OWNER, "/leave").await);
    let told = said("owner", OWNER, &format!("/approve {leave}")).await;
    assert!(told.ends_with("(four eyes)."), "{told}");
    let shown = said("admin", ADMIN, "/audit").await;
    let lines = |event: &str| shown.lines().filter(|line| line.contains(event)).count();
    assert_eq!(
        (lines("permission_denied  denied"), lines("approval_denied")),
        (2, 1),
        "{shown}"
    );
    gateway.term().await;
    assert_eq!(
        recorded(&gateway, &["permission_denied", "approval_denied"]),
        [
            format!("permission_denied|denied|{transfer}|1"),
            format!("approval_denied|done|{transfer}|1"),
            format!("permission_denied|denied|{leave}|1"),
        ]
    );
}

#[tokio::test]
async fn what_the_rank_forbids_is_recorded_in_every_way_of_asking() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let told = said("admin", ADMIN, "/warnings @100001 clear").await;
    assert!(told.contains("does not stand below you"), "{told}");
    let tried = to_approve(&said("owner", OWNER, "/mute @100003 10m dry").await);
    said("owner", OWNER, "/role @100003 admin").await;
    let told = said("admin", ADMIN, &format!("/approve {tried}")).await;
    assert!(told.contains("does not stand below you"), "{told}");
    let told = said("owner", OWNER, &format!("/approve {tried}")).await;
    assert_eq!(told, "100003 is muted for 10m.", "the question stays open");
    gateway.term().await;
    assert_eq!(
        recorded(&gateway, &["permission_denied"]),
        [
            format!("permission_denied|denied|{OWNER}|1"),
            format!("permission_denied|denied|{BOB}|1"),
        ]
    );
}

#[tokio::test]
async fn wrong_codes_of_the_gateway_are_recorded_now_and_then() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for number in 0..12 {
        let told = asked(&fake, BOB, &format!("/claim WRONG{number}")).await;
        assert!(told.starts_with("That code is wrong"), "{told}");
    }
    gateway.term().await;
    let records = recorded(&gateway, &["gateway_claimed"]);
    assert!((1..10).contains(&records.len()), "{records:?}");
    let wrong = format!("gateway_claimed|denied|qq//{BOB}|1");
    assert!(records.iter().all(|row| *row == wrong), "{records:?}");
    let all = rows(&gateway.database(), "SELECT * FROM audit");
    assert!(all.iter().all(|row| !row.contains("WRONG")), "{all:?}");
}

#[tokio::test]
async fn what_others_are_told_is_recorded_when_it_changes() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": { "owners": { "qq": [99] } } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let number = |told: &str| -> String { told.chars().filter(char::is_ascii_digit).collect() };
    let rule = number(&said("admin", ADMIN, "/memory rule tone be kind").await);
    let everywhere = number(&asked(&fake, 99, "/memory global closed on Sunday").await);
    // What is one's own, or comes from one's own words, is nobody else's business.
    asked(&fake, BOB, "/memory rule tone be brief").await;
    let own = number(&said("admin", SECOND, "/memory add tea is at four").await);
    assert_eq!(
        said("admin", SECOND, &format!("/forget {own}")).await,
        "Forgotten."
    );
    let others = number(&said("admin", SECOND, "/memory add coffee is at five").await);
    let told = said("admin", ADMIN, &format!("/forget {others}")).await;
    assert_eq!(told, "Forgotten.");
    said("admin", ADMIN, "/memory rule tone").await;
    said("admin", SECOND, "/memory add lunch is at noon").await;
    said("admin", ADMIN, "/forget all").await;
    asked(&fake, 99, &format!("/forget {everywhere}")).await;
    gateway.term().await;
    assert_eq!(
        recorded(&gateway, &["memory_changed"]),
        [
            format!("memory_changed|done|#{rule} tone|1"),
            format!("memory_changed|done|#{everywhere}|1"),
            format!("memory_changed|done|#{others}|1"),
            format!("memory_changed|done|#{rule} tone|1"),
            "memory_changed|done|1|1".to_owned(),
            format!("memory_changed|done|#{everywhere}|1"),
        ]
    );
    let all = rows(&gateway.database(), "SELECT * FROM audit").concat();
    for words in ["kind", "Sunday", "coffee", "lunch"] {
        assert!(!all.contains(words), "{words}: {all}");
    }
}
