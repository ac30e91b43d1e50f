//! The first owner of a gateway: a code of its start, good for an hour and for one.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use super::matrix::asked;
use crate::gateway::{Chat as _, Gateway, LIMIT, rows};

const GROUP: u64 = 50;
const WRONG: &str = "That code is wrong";

/// The code that the last start printed.
fn code(gateway: &Gateway) -> String {
    let said = gateway.said();
    let rest = said.split("/claim ").nth(1).expect("a code is printed");
    rest.split(' ').next().unwrap_or_default().to_owned()
}

async fn claim(fake: &FakeOneBot, user: u64, code: &str) -> String {
    asked(fake, user, &format!("/claim {code}")).await
}

#[tokio::test]
async fn the_first_owner_claims_the_gateway_with_the_code_of_its_start() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let code = code(&gateway);
    assert!(!gateway.log().contains(&code), "the log keeps the code");
    let told = claim(&fake, 100_003, "NOTTHECODE").await;
    assert!(told.starts_with(WRONG), "{told}");
    let told = claim(&fake, 100_003, &code).await;
    assert_eq!(told, "You own this gateway from now on.");
    // Used by him alone, also when he says it again.
    for user in [100_004, 100_003] {
        let told = claim(&fake, user, &code).await;
        assert!(told.starts_with(WRONG), "{told}");
    }
    gateway.term().await;
    gateway.up().await;
    assert!(!gateway.said().contains("/claim"), "{}", gateway.said());
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    let told = fake.ask_as("member", GROUP, 100_003, "/whoami").await;
    assert!(told.ends_with("You own this gateway."), "{told}");
    let told = fake
        .ask_as("member", GROUP, 100_003, "/role 100004 owner")
        .await;
    assert_eq!(told, "100004 is owner now.");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    assert!(
        audit.iter().any(|row| row.contains("gateway_claimed")),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_code_is_good_for_an_hour_and_the_next_start_has_another() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    if !gateway.with_clock() {
        return;
    }
    gateway.up().await;
    let fake = gateway.onebot().await;
    let old = code(&gateway);
    gateway.turn_clock("+3660 x1");
    // The leap may break the connection, and what waits in it is too old; whoever asks here is told so and nobody else.
    loop {
        fake.send_private(1, "/status").await;
        let told = fake.next_reply(Duration::from_secs(2)).await;
        if told.is_some_and(|told| told.text().contains(", up 1h")) {
            break;
        }
    }
    let told = claim(&fake, 100_003, &old).await;
    assert!(told.starts_with(WRONG), "{told}");
    let told = asked(&fake, 100_003, "/whoami").await;
    assert!(!told.contains("own this gateway"), "{told}");
    let owners = "SELECT key FROM setting WHERE key LIKE 'owner:%'";
    assert_eq!(rows(&gateway.database(), owners), [""; 0]);
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    let new = code(&gateway);
    assert_ne!(new, old);
    let told = claim(&fake, 100_003, &old).await;
    assert!(told.starts_with(WRONG), "{told}");
    let told = claim(&fake, 100_003, &new).await;
    assert_eq!(told, "You own this gateway from now on.");
}

#[tokio::test]
async fn a_code_is_not_guessed_and_nobody_hidden_owns_anything() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let code = code(&gateway);
    // An anonymous admin has the code: nobody is behind him who could own anything.
    fake.raw(json!({
        "time": 1_700_000_000, "self_id": fake.self_id(), "post_type": "message",
        "message_type": "group", "sub_type": "anonymous", "message_id": 77, "user_id": 80_000_000,
        "group_id": GROUP, "anonymous": { "id": 5, "name": "Somebody", "flag": "x" },
        "sender": { "user_id": 80_000_000, "nickname": "Somebody", "card": "" },
        "message": [
            { "type": "at", "data": { "qq": fake.self_id().to_string() } },
            { "type": "text", "data": { "text": format!(" /claim {code}") } },
        ],
    }))
    .await;
    let told = fake.answer().await.text();
    assert!(told.starts_with(WRONG), "{told}");
    for guess in 0..20 {
        claim(&fake, 200_000 + guess, "NOTTHECODE").await;
    }
    let told = claim(&fake, 100_003, &code).await;
    assert!(told.starts_with(WRONG), "{told}");
}
