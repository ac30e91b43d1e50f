//! Commands that need a yes, typed, where there are no buttons: handing over, deleting, leaving, and what was tried out.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{ADMIN, BOB, GROUP, OWNER, people};
use crate::gateway::{Chat as _, Gateway, rows, to_approve, until};

async fn group(gateway: &Gateway) -> FakeOneBot {
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    people(&fake, GROUP + 1);
    fake
}

#[tokio::test]
async fn a_conversation_is_handed_over_to_who_wants_it() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    for (role, user, text, says) in [
        ("admin", ADMIN, "/transfer @100003", "Only an owner"),
        ("owner", OWNER, "/transfer", "Who is meant?"),
        (
            "owner",
            OWNER,
            "/transfer @100001",
            "that would be yourself",
        ),
        (
            "owner",
            OWNER,
            "/transfer @999999",
            "is not in this conversation",
        ),
    ] {
        let told = said(role, user, text).await;
        assert!(told.contains(says), "{text}: {told}");
    }
    let told = fake.ask(OWNER, "/transfer 100003").await;
    assert!(told.contains("Only an owner"), "{told}");
    let question = said("owner", OWNER, "/transfer @100003").await;
    assert!(
        question.contains("you are to become the owner"),
        "{question}"
    );
    let code = to_approve(&question);
    let listed = said("member", BOB, "/approve").await;
    assert!(
        listed.contains(&format!("{code}: hand the conversation over to 100003")),
        "{listed}"
    );
    // Nobody but he may say yes, and nobody else no but who asked.
    for (role, user, text) in [
        ("admin", ADMIN, format!("/approve {code}")),
        ("owner", OWNER, format!("/approve {code}")),
        ("admin", ADMIN, format!("/deny {code}")),
    ] {
        let told = said(role, user, &text).await;
        assert_eq!(told, "That is for somebody else to answer.", "{text}");
    }
    // From elsewhere it tells nothing, also to him.
    let told = fake
        .ask_as("member", GROUP + 1, BOB, &format!("/approve {code}"))
        .await;
    assert!(told.starts_with("Nothing of that name"), "{told}");
    assert_eq!(
        told,
        fake.ask_as("member", GROUP + 1, BOB, "/approve zzzz").await
    );
    gateway.term().await;
    // Two implementations of one account would push each other out.
    drop(fake);
    gateway.up().await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let told = said("member", BOB, &format!("/approve {}", code.to_uppercase())).await;
    assert_eq!(told, "100003 owns this conversation now.");
    let told = said("member", BOB, &format!("/approve {code}")).await;
    assert_eq!(told, "That was answered before.");
    // Both roles changed, whatever the platform says.
    let told = said("owner", OWNER, "/whoami").await;
    assert!(told.contains("Role: admin"), "{told}");
    let told = said("member", BOB, "/whoami").await;
    assert!(told.contains("Role: owner"), "{told}");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let has = |text: &str| audit.iter().any(|row| row.contains(text));
    assert!(
        has("ownership_transferred") && has("permission_denied"),
        "{audit:?}"
    );
}

#[tokio::test]
async fn who_lost_the_right_meanwhile_hands_nothing_over() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(
        &model,
        json!({ "permissions": { "owners": { "qq": [777_777] } } }),
    )
    .await;
    let fake = group(&gateway).await;
    let question = fake
        .ask_as("owner", GROUP, OWNER, "/transfer @100003")
        .await;
    fake.ask_as("member", GROUP, 777_777, "/role @100001 member")
        .await;
    fake.member(GROUP, OWNER, Some("member"));
    let told = fake
        .ask_as(
            "member",
            GROUP,
            BOB,
            &format!("/approve {}", to_approve(&question)),
        )
        .await;
    assert!(
        told.starts_with("Not done: whoever asked may not"),
        "{told}"
    );
    let told = fake.ask_as("member", GROUP, BOB, "/whoami").await;
    assert!(told.contains("Role: member"), "{told}");
}

#[tokio::test]
async fn what_is_kept_of_a_conversation_is_deleted_as_far_as_was_chosen() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    assert!(fake.ask(BOB, "my secret is 4711").await.starts_with("re: "));
    let kept = fake.ask(BOB, "/memory add The number is 4711.").await;
    assert!(!kept.contains("4711") && kept.contains('#'), "{kept}");
    // In private everybody may, and only for himself.
    let question = fake.ask(BOB, "/delete").await;
    let code = to_approve(&question);
    let told = fake.ask(BOB, &format!("/approve {code}")).await;
    assert_eq!(told, format!("Which? /approve {code} history|all"));
    // What runs and what waits is not answered any more.
    model.push(Script::answer("too late").first(Duration::from_secs(30)));
    fake.send_private(BOB, "a question that runs").await;
    model.wait_for(2).await;
    fake.send_private(BOB, "a question that waits").await;
    let mut told = fake.ask(BOB, &format!("/approve {code} all")).await;
    if !told.starts_with("Deleted") {
        // The turn that was stopped may have said so in time.
        told = fake.answer().await.text();
    }
    assert!(
        told.contains("Waiting messages that are not answered any more: 1"),
        "{told}"
    );
    assert_eq!(gateway.counted("conversation_deleted").await, 1);
    assert!(until(|| model.running() == 0).await, "it was stopped");
    assert_eq!(fake.ask(BOB, "who am I?").await, "re: who am I?");
    let last = model.requests().pop().expect("a request").body;
    assert!(!last.to_string().contains("4711"), "{last}");
    gateway.term().await;
    for table in ["inbox", "outbox", "history", "pending", "setting", "memory"] {
        let all = rows(&gateway.database(), &format!("SELECT * FROM {table}"));
        let tells = all
            .iter()
            .any(|row| row.contains("4711") || row.contains("that waits"));
        assert!(!tells, "{table}: {all:?}");
    }
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    assert!(
        audit.iter().any(|row| row.contains("conversation_deleted")),
        "{audit:?}"
    );
}

#[tokio::test]
async fn who_is_shut_out_stays_so_when_everything_is_deleted() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let said = async |text: &str| fake.ask_as("owner", GROUP, OWNER, text).await;
    for policy in ["blacklist @100003", "allow_media off"] {
        said(&format!("/policy {policy}")).await;
    }
    let code = to_approve(&said("/delete").await);
    let told = said(&format!("/approve {code} all")).await;
    assert!(told.starts_with("Deleted"), "{told}");
    assert_eq!(
        said("/policy blacklist").await,
        "Policy of this conversation:\nblacklist: 100003"
    );
    let told = said("/policy allow_media").await;
    assert!(
        told.ends_with("allow_media: on"),
        "the rest is gone: {told}"
    );
    let told = fake.ask_as("member", GROUP, BOB, "I am back").await;
    assert_eq!(told, "You are not answered here.");
    assert_eq!(model.count(), 0);
}

#[tokio::test]
async fn only_owners_delete_and_leave_groups_and_four_eyes_look() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    for command in ["/delete", "/leave"] {
        let told = said("admin", ADMIN, command).await;
        assert!(told.contains("Only an owner"), "{told}");
    }
    let told = fake.ask(OWNER, "/leave").await;
    assert!(told.contains("Only an owner"), "{told}");
    said("owner", OWNER, "/policy four_eyes on").await;
    let code = to_approve(&said("owner", OWNER, "/leave").await);
    let yes = format!("/approve {code}");
    let told = said("owner", OWNER, &yes).await;
    assert!(told.ends_with("(four eyes)."), "{told}");
    let told = said("admin", ADMIN, &yes).await;
    assert_eq!(told, "That is for somebody else to answer.");
    let told = said("owner", OWNER, &format!("/deny {code}")).await;
    assert!(
        told.starts_with("Not done: leave the conversation"),
        "{told}"
    );
    said("owner", OWNER, "/policy four_eyes off").await;
    let code = to_approve(&said("owner", OWNER, "/leave").await);
    fake.group_as("owner", GROUP, OWNER, &format!("/approve {code}"))
        .await;
    let left = || fake.called().contains(&"set_group_leave".to_owned());
    assert!(until(left).await, "it is gone");
    assert!(fake.next_reply(Duration::from_millis(300)).await.is_none());
}

#[tokio::test]
async fn who_may_not_answer_is_recorded_now_and_then() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let question = fake
        .ask_as("admin", GROUP, ADMIN, "/mute @100003 dry")
        .await;
    let yes = format!("/approve {}", to_approve(&question));
    for _ in 0..9 {
        let told = fake.ask_as("member", GROUP, BOB, &yes).await;
        assert_eq!(told, "That is for somebody else to answer.");
    }
    let records = "SELECT id FROM audit WHERE event = 'permission_denied'";
    let records = rows(&gateway.database(), records).len();
    assert!((1..8).contains(&records), "{records}");
}

#[tokio::test]
async fn what_was_tried_out_is_done_when_an_admin_says_so() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let question = fake
        .ask_as("admin", GROUP, ADMIN, "/mute @100003 10m dry loud")
        .await;
    let code = to_approve(&question);
    assert_eq!(
        question,
        format!(
            "Would mute 100003 for 10m. Nothing was done.\nYes: /approve {code}\nNo: /deny {code}\nWithin 1h."
        )
    );
    let told = fake
        .ask_as("member", GROUP, BOB, &format!("/approve {code}"))
        .await;
    assert_eq!(told, "That is for somebody else to answer.");
    let told = fake
        .ask_as("owner", GROUP, OWNER, &format!("/approve {code}"))
        .await;
    assert_eq!(told, "100003 is muted for 10m. Reason: loud");
    // Whoever asked did it, and beside him stands who said yes; both find it.
    for of in [ADMIN, OWNER, BOB] {
        let shown = fake
            .ask_as("admin", GROUP, ADMIN, &format!("/audit @{of}"))
            .await;
        let line = shown.lines().find(|line| line.contains("user_muted"));
        let line = line.unwrap_or_else(|| panic!("{of}: {shown}"));
        let who = format!("{ADMIN}  → {BOB}");
        let by = format!("approved_by={OWNER}");
        assert!(line.contains(&who) && line.contains(&by), "{line}");
    }
    // Only so many wait at once.
    for _ in 0..20 {
        fake.ask_as("admin", GROUP, ADMIN, "/mute @100003 dry")
            .await;
    }
    let told = fake
        .ask_as("admin", GROUP, ADMIN, "/mute @100003 dry")
        .await;
    assert!(told.starts_with("Not asked: 20 questions wait"), "{told}");
}
