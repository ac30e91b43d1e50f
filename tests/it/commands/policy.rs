//! Keys of /policy: who may set those that give roles, what commands off and their limit leave, and what guests get.

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use super::{ADMIN, BOB, GROUP, OWNER, people};
use crate::gateway::{Chat as _, Gateway, rows, to_approve};

/// An owner of the gateway.
const ROOT: u64 = 777_777;
const TOO_HIGH: &str = "Not done: you can only give roles that are below your own.";

async fn start(permissions: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({ "permissions": permissions })).await;
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    (model, gateway, fake)
}

#[tokio::test]
async fn a_policy_gives_no_role_that_its_maker_could_not_give() {
    let permissions = json!({
        "owners": { "qq": [ROOT] }, "commands": { "admin": ["/policy"], "owner": ["/role"] },
    });
    let (_model, mut gateway, fake) = start(permissions).await;
    let set = async |role: &str, user, text: &str| {
        let text = format!("/policy {text}");
        fake.ask_as(role, GROUP, user, &text).await
    };
    // He may set other keys, but not give roles.
    let told = set("admin", ADMIN, "four_eyes off").await;
    assert!(told.contains("is now: off"), "{told}");
    for key in [
        "default_role guest",
        "default_role reset",
        "anonymous_admins on",
    ] {
        let told = set("admin", ADMIN, key).await;
        assert!(told.starts_with("Only an owner"), "{key}: {told}");
    }
    assert_eq!(set("owner", OWNER, "default_role owner").await, TOO_HIGH);
    let told = fake
        .ask_as("owner", GROUP, OWNER, "/config default_role owner")
        .await;
    assert_eq!(told, TOO_HIGH, "it is the same key");
    for key in [
        "default_role admin",
        "anonymous_admins on",
        "default_role reset",
    ] {
        let told = set("owner", OWNER, key).await;
        assert!(told.contains("is now: "), "{key}: {told}");
    }
    let told = set("member", ROOT, "default_role owner").await;
    assert!(told.contains("is now: owner"), "{told}");
    let told = fake.ask_as("member", GROUP, BOB, "/whoami").await;
    assert!(told.contains("Role: owner"), "{told}");
    gateway.term().await;
    let sql = "SELECT target FROM audit WHERE event = 'permission_denied' AND result = 'denied' \
               AND conversation > 0 ORDER BY id";
    let refused = [
        "default_role",
        "default_role",
        "anonymous_admins",
        "default_role",
        "default_role",
    ];
    assert_eq!(rows(&gateway.database(), sql), refused);
}

#[tokio::test]
async fn who_sets_a_policy_by_a_lower_level_gives_nothing_as_high_as_himself() {
    let permissions = json!({ "commands": { "admin": ["/policy"] } });
    let (_model, _gateway, fake) = start(permissions).await;
    for key in ["default_role admin", "anonymous_admins on"] {
        let text = format!("/policy {key}");
        let told = fake.ask_as("admin", GROUP, ADMIN, &text).await;
        assert_eq!(told, TOO_HIGH, "{key}");
    }
    let told = fake
        .ask_as("admin", GROUP, ADMIN, "/policy default_role guest")
        .await;
    assert!(told.contains("is now: guest"), "{told}");
}

#[tokio::test]
async fn consent_is_taken_where_commands_are_not() {
    let (_model, gateway, fake) = start(json!({})).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    said("owner", OWNER, "/policy allow_commands off").await;
    let off = "Commands are switched off here.";
    assert_eq!(said("member", BOB, "/approve").await, off, "nothing waits");
    let code = to_approve(&said("owner", OWNER, "/transfer @100003").await);
    assert_eq!(said("member", BOB, "/status").await, off);
    let listed = said("member", BOB, "/approve").await;
    assert!(listed.contains(&code), "{listed}");
    let told = said("member", BOB, &format!("/deny {code}")).await;
    assert!(told.starts_with("Not done"), "{told}");
    assert_eq!(gateway.counted("commands_off").await, 2);
    // Nor does it count among so many in a minute.
    said("owner", OWNER, "/policy allow_commands on").await;
    said("owner", OWNER, "/policy max_commands_per_minute 1").await;
    let code = to_approve(&said("owner", OWNER, "/transfer @100003").await);
    said("member", BOB, "/whoami").await;
    let told = said("member", BOB, "/whoami").await;
    assert!(told.contains("at most 1 of your commands"), "{told}");
    let other = said("member", 100_004, "/whoami").await;
    assert!(other.contains("Role: member"), "each has his own: {other}");
    let told = said("member", BOB, &format!("/approve {code}")).await;
    assert!(told.contains("100003"), "{told}");
    let told = said("member", BOB, "/whoami").await;
    assert!(told.contains("Role: owner"), "{told}");
}

#[tokio::test]
async fn who_has_no_other_role_has_that_of_the_policy_and_guests_may_be_shut_out() {
    let permissions = json!({
        "roles": { "helper": { "inherits": ["guest"], "capabilities": ["SEND_COMMAND"] } },
    });
    let (model, gateway, fake) = start(permissions).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let told = said("owner", OWNER, "/policy default_role helper").await;
    assert!(told.contains("is now: helper"), "{told}");
    let told = said("member", BOB, "/whoami").await;
    assert!(told.contains("Role: helper"), "{told}");
    let told = said("admin", ADMIN, "/whoami").await;
    assert!(told.contains("Role: admin"), "he has another: {told}");
    said("owner", OWNER, "/role @100003 guest").await;
    said("owner", OWNER, "/policy allow_guest_send off").await;
    let told = said("member", BOB, "hello").await;
    assert_eq!(told, "You are not answered here.");
    assert_eq!(gateway.counted("permission_denied").await, 1);
    let told = said("member", 100_004, "hello").await;
    assert!(told.starts_with("re: "), "helpers are no guests: {told}");
    said("owner", OWNER, "/policy allow_guest_send reset").await;
    let told = said("member", BOB, "hello").await;
    assert!(told.starts_with("re: "), "{told}");
    assert_eq!(model.count(), 2);
}

#[tokio::test]
async fn a_lent_role_ends_by_itself() {
    let (_model, _gateway, fake) = start(json!({})).await;
    let told = fake
        .ask_as("owner", GROUP, OWNER, "/role @100003 admin 1s")
        .await;
    assert!(told.starts_with("100003 is admin now, until 20"), "{told}");
    let ended = async {
        loop {
            let told = fake.ask_as("member", GROUP, BOB, "/whoami").await;
            if told.contains("Role: member") {
                return;
            }
            assert!(told.contains("Role: admin"), "{told}");
        }
    };
    let ended = tokio::time::timeout(crate::gateway::LIMIT, ended).await;
    assert!(ended.is_ok(), "it does not end");
    let told = fake.ask_as("member", GROUP, BOB, "/mute @100004 10m").await;
    assert_eq!(told, "Only an admin may do that here.");
    let told = fake.ask_as("owner", GROUP, OWNER, "/role").await;
    assert!(!told.contains("100003"), "{told}");
}
