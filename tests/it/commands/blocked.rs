//! Who is blocked in the whole gateway, and what his messages leave behind.

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::{BOB, GROUP, OWNER, people};
use crate::gateway::{Chat as _, Gateway, LIMIT, rows, until};

const NOT_ANSWERED: &str = "You are not answered here.";

#[tokio::test]
async fn an_owner_of_the_gateway_blocks_somebody_everywhere() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [9, 8] } } });
    let mut gateway = Gateway::start(&model, owners).await;
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    assert_eq!(
        fake.ask(9, "/block").await,
        "Nobody is blocked in the whole gateway."
    );
    // Neither by who owns a group nor whoever owns the gateway.
    let told = fake.ask_as("owner", GROUP, OWNER, "/block 100003").await;
    assert_eq!(told, "Only an owner of the gateway may do that.");
    for owner in ["8", "9"] {
        let told = fake.ask(9, &format!("/block {owner}")).await;
        assert_eq!(told, "Not done: he owns the gateway.");
    }
    // A turn that runs ends without its answer.
    model.push(Script::answer("too late").first(std::time::Duration::from_secs(2)));
    fake.send_private(BOB, "a question").await;
    model.wait_for(1).await;
    let told = fake.ask_as("member", GROUP, 9, "/block @100003").await;
    assert_eq!(told, "qq//100003 is not answered anywhere any more.");
    assert!(until(|| model.running() == 0).await, "it ends");
    let before = fake.reply_count();
    assert_eq!(fake.ask(BOB, "hello").await, NOT_ANSWERED);
    assert_eq!(fake.reply_count(), before + 1, "and nothing else");
    // Also as an admin of a group, and after a start.
    for (role, group) in [("member", GROUP), ("owner", GROUP + 1)] {
        let told = fake.ask_as(role, group, BOB, "hello").await;
        assert_eq!(told, NOT_ANSWERED, "{role}");
    }
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    assert_eq!(fake.ask(BOB, "/ping").await, NOT_ANSWERED);
    let list = fake.ask(9, "/block").await;
    assert!(
        list.starts_with("qq//100003: 20") && list.ends_with(" UTC"),
        "{list}"
    );
    for (who, told) in [
        ("7", "qq//7 was not blocked in the whole gateway."),
        ("qq//100003", "qq//100003 is answered again."),
        ("100003", "qq//100003 was not blocked in the whole gateway."),
    ] {
        assert_eq!(fake.ask(9, &format!("/unblock {who}")).await, told);
    }
    assert_eq!(fake.ask(BOB, "hello").await, "re: hello");
    // Somebody of another platform, who never came here.
    let told = fake.ask(9, "/block telegram//42").await;
    assert_eq!(told, "telegram//42 is not answered anywhere any more.");
    assert_eq!(model.count(), 2);
    gateway.term().await;
    let query = "SELECT event || ' ' || target || ' ' || result FROM audit
                 WHERE event LIKE 'person_%' OR result = 'denied' AND target <> '' ORDER BY id";
    let audit = rows(&gateway.database(), query);
    assert_eq!(
        audit,
        [
            "command_blocked block denied",
            "permission_denied qq//8 denied",
            "permission_denied qq//9 denied",
            "person_blocked qq//100003 done",
            "command_blocked ping denied",
            "person_unblocked qq//100003 done",
            "person_blocked telegram//42 done",
        ]
    );
}

#[tokio::test]
async fn whom_agent_yaml_blocks_is_unblocked_there_alone() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": {
        "owners": { "qq": [9] }, "blocked": { "qq": [1, 9] },
    } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "hello").await, NOT_ANSWERED);
    let told = fake.ask_as("owner", GROUP, 1, "/whoami").await;
    assert_eq!(told, NOT_ANSWERED);
    assert_eq!(
        fake.ask(9, "hello").await,
        "re: hello",
        "owners stand above it"
    );
    assert_eq!(
        fake.ask(9, "/block").await,
        "qq//1: agent.yaml\nqq//9: agent.yaml"
    );
    let told = fake.ask(9, "/unblock 1").await;
    assert_eq!(
        told,
        "qq//1 is blocked by permissions.blocked in agent.yaml: take him out there."
    );
    gateway.term().await;
    gateway.configure(
        &model,
        json!({ "permissions": { "owners": { "qq": [9] } } }),
    );
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    assert_eq!(fake.ask(1, "hello").await, "re: hello");
}

#[tokio::test]
async fn who_is_blocked_leaves_nothing_in_the_journal_and_is_told_once_in_a_while() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(
        &model,
        json!({ "permissions": { "blocked": { "qq": [7] } } }),
    )
    .await;
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    let told = fake
        .ask_as("owner", GROUP, OWNER, "/role @100003 blocked")
        .await;
    assert_eq!(told, "100003 is blocked now.");
    assert_eq!(
        fake.ask_as("member", GROUP, BOB, "secret one").await,
        NOT_ANSWERED
    );
    assert_eq!(fake.ask(7, "secret two").await, NOT_ANSWERED);
    for (number, text) in ["secret three", "/ping secret", "/stop", "/nosuch"]
        .iter()
        .enumerate()
    {
        fake.group_as("member", GROUP, BOB, text).await;
        fake.send_private(7, text).await;
        let count = 4 + 2 * u64::try_from(number).unwrap();
        gateway.counts("blocked", count).await;
    }
    // What is not for the bot is only that, also from him.
    fake.send_group(GROUP, BOB, "secret chatter", false).await;
    gateway.counts("not_addressed", 1).await;
    let end = fake.ask_as("owner", GROUP, OWNER, "/ping end").await;
    assert_eq!(end, "end");
    assert_eq!(fake.reply_count(), 4, "he is told once in each place");
    assert_eq!(gateway.counted("blocked").await, 10);
    gateway.term().await;
    assert_eq!(gateway.journaled().await.len(), 2, "the owner's commands");
    for table in ["inbox", "outbox", "history"] {
        let kept = format!("SELECT body FROM {table} WHERE body LIKE '%secret%'");
        let kept = kept.replace(
            "body FROM history WHERE body",
            "parts FROM history WHERE parts",
        );
        assert_eq!(rows(&gateway.database(), &kept), [""; 0], "{table}");
    }
    let denied = "SELECT event || ' ' || turn FROM audit WHERE result = 'denied' ORDER BY id";
    assert_eq!(
        rows(&gateway.database(), denied),
        ["permission_denied 0", "permission_denied 0"]
    );
    let operators = "SELECT p.key FROM audit a JOIN person p ON p.id = a.operator
                     WHERE a.result = 'denied' ORDER BY a.id";
    assert_eq!(
        rows(&gateway.database(), operators),
        ["qq//100003", "qq//7"]
    );
}

#[tokio::test]
async fn who_is_more_on_the_platform_than_where_everybody_is_blocked_is_heard() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    fake.ask_as("owner", GROUP, OWNER, "/policy default_role blocked")
        .await;
    let told = fake.ask_as("member", GROUP, BOB, "hello").await;
    assert_eq!(told, NOT_ANSWERED);
    let told = fake.ask_as("admin", GROUP, super::ADMIN, "hello").await;
    assert!(told.starts_with("re: "), "{told}");
}
