//! Roles, policies and the first owner, through OneBot and the real database.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot,
};

use crate::gateway::{Chat as _, Gateway, LIMIT, rows, until};

const GROUP: u64 = 50;

#[tokio::test]
async fn roles_are_given_lent_and_taken_by_those_above() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for (user, role) in [(100_001, "owner"), (100_002, "admin"), (100_003, "member")] {
        fake.member(GROUP, user, Some(role));
    }
    // Who is nobody gives nothing.
    let told = fake
        .ask_as("member", GROUP, 100_003, "/role @100004 admin")
        .await;
    assert!(told.contains("Only an admin"), "{told}");
    // An admin cannot make admins, nor touch the creator, whom only the platform knows as such.
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/role @100003 admin")
        .await;
    assert!(told.contains("below your own"), "{told}");
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/role @100001 guest")
        .await;
    assert!(told.contains("not below yours"), "{told}");
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100001 blocked")
        .await;
    assert!(told.contains("cannot be blocked"), "{told}");
    // The creator makes an admin, who may from then on.
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100003 admin 2h")
        .await;
    assert!(told.starts_with("100003 is admin now, until 20"), "{told}");
    let told = fake
        .ask_as("member", GROUP, 100_003, "/role @100005 guest")
        .await;
    assert_eq!(told, "100005 is guest now.");
    let told = fake.ask_as("member", GROUP, 100_003, "/role").await;
    assert!(
        told.contains("100003: admin, until 20") && told.contains("100005: guest"),
        "{told}"
    );
    // In his group alone.
    let told = fake
        .ask_as("member", GROUP + 1, 100_003, "/role @100005 guest")
        .await;
    assert!(told.contains("Only an admin"), "{told}");
    // A guest has no commands of members; what he is says /whoami.
    let told = fake.ask_as("member", GROUP, 100_005, "/output full").await;
    assert!(told.contains("needs a member"), "{told}");
    let told = fake.ask_as("member", GROUP, 100_005, "/whoami").await;
    assert!(
        told.contains("You: 100005") && told.contains("Role: guest (READ, SEND_MESSAGE)"),
        "{told}"
    );
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role 100003 none")
        .await;
    assert!(told.starts_with("100003 has no role of his own"), "{told}");
    let told = fake.ask_as("member", GROUP, 100_003, "/role").await;
    assert!(told.contains("Only an admin"), "{told}");
    for (wrong, says) in [
        ("/role Bob admin", "Who is meant?"),
        (
            "/role @100005 king",
            "There is no role \"king\". Roles: owner, admin, member, guest, blocked, none.",
        ),
        ("/role @100005 guest soon", "\"soon\" is not a time."),
    ] {
        let told = fake.ask_as("owner", GROUP, 100_001, wrong).await;
        assert!(told.starts_with(says), "{wrong}: {told}");
    }
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let has = |text: &str| audit.iter().any(|row| row.contains(text));
    assert!(
        has("role_changed") && has(r#""from":"member","role":"owner","to":"admin "#),
        "{audit:?}"
    );
    assert!(
        has(r#""from":"admin","role":"owner","to":"none""#),
        "{audit:?}"
    );
}

#[tokio::test]
async fn who_is_blocked_is_not_answered_not_even_in_a_turn_that_runs() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer("too late").first(Duration::from_secs(2)));
    fake.group_as("member", GROUP, 100_003, "a question").await;
    model.wait_for(1).await;
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role 100003 blocked")
        .await;
    assert_eq!(told, "100003 is blocked now.");
    assert!(until(|| model.running() == 0).await, "it ends");
    let told = fake.ask_as("owner", GROUP, 100_001, "/ping after").await;
    assert_eq!(told, "after");
    let told = fake.ask_as("member", GROUP, 100_003, "still there?").await;
    assert!(told.contains("You are not answered here"), "{told}");
    assert_eq!(gateway.counted("blocked").await, 1);
    // Told now and then, not each time.
    for number in 0..20 {
        fake.group_as("member", GROUP, 100_003, &format!("again {number}"))
            .await;
    }
    let told = fake.ask_as("owner", GROUP, 100_001, "/ping end").await;
    let denials = fake.replies().len();
    assert!(denials < 15, "{told}: {denials} answers");
    assert_eq!(model.count(), 1);
}

#[tokio::test]
async fn a_policy_holds_and_survives_a_restart() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let set = async |fake: &onebot::FakeOneBot, text: &str| {
        let told = fake
            .ask_as("owner", GROUP, 100_001, &format!("/policy {text}"))
            .await;
        assert!(told.contains("is now: "), "{text}: {told}");
    };
    let told = fake.ask_as("admin", GROUP, 100_002, "/policy").await;
    assert!(
        told.contains("allow_media: on\n") && told.contains("whitelist: none"),
        "{told}"
    );
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/policy allow_ai_responses off")
        .await;
    assert!(told.contains("Only an owner may change that"), "{told}");
    // Media and limits are for whoever moderates.
    let told = fake
        .ask_as("member", GROUP, 100_003, "/policy allow_media off")
        .await;
    assert!(told.contains("Only an admin"), "{told}");
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/policy allow_media off")
        .await;
    assert!(told.contains("is now: off"), "{told}");
    let picture = json!({ "type": "image", "data": { "file": "a.jpg" } });
    fake.group_segments("member", GROUP, 100_003, &[picture])
        .await;
    let told = fake.answer().await.text();
    assert!(told.contains("switched off here"), "{told}");
    assert_eq!(gateway.counted("media_off").await, 1);
    set(&fake, "max_message_length 10").await;
    let told = fake.ask_as("member", GROUP, 100_003, "12345678901").await;
    assert!(told.contains("at most 10 characters"), "{told}");
    set(&fake, "allow_commands off").await;
    let told = fake.ask_as("member", GROUP, 100_003, "/status").await;
    assert!(told.contains("Commands are switched off"), "{told}");
    assert_eq!(gateway.counted("commands_off").await, 1);
    set(&fake, "max_messages_per_minute 1").await;
    assert_eq!(
        fake.ask_as("member", GROUP, 100_006, "one").await,
        "re: member 100006: one"
    );
    let told = fake.ask_as("member", GROUP, 100_006, "two").await;
    assert!(told.contains("at most 1 of your messages"), "{told}");
    assert_eq!(gateway.counted("too_many").await, 1);
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/policy whitelist 100006")
        .await;
    assert!(
        told.starts_with("Not done: that would shut you out"),
        "{told}"
    );
    set(&fake, "allow_ai_responses off").await;
    gateway.term().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await, "it comes again");
    fake.group_as("member", GROUP, 100_007, "hello").await;
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/policy allow_ai_responses")
        .await;
    assert_eq!(
        told,
        "Policy of this conversation:\nallow_ai_responses: off"
    );
    assert_eq!(gateway.counted("answers_off").await, 1);
    assert_eq!(model.count(), 1);
    set(&fake, "allow_ai_responses reset").await;
    assert_eq!(
        fake.ask_as("member", GROUP, 100_007, "hello").await,
        "re: member 100007: hello"
    );
    // Elsewhere nothing has changed.
    assert_eq!(
        fake.ask_as("member", GROUP + 1, 100_003, "12345678901")
            .await,
        "re: member 100003: 12345678901"
    );
}

#[tokio::test]
async fn agent_yaml_moves_commands_and_adds_roles() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": {
        "owners": { "qq": ["100001"] },
        "roles": { "moderator": { "capabilities": ["MANAGE_MEMBER"], "inherits": ["member"] } },
        "commands": { "admin": ["/status"], "public": ["/output"] },
    } });
    let gateway = Gateway::start(&model, changes).await;
    assert!(!gateway.said().contains("/claim"), "it has an owner");
    let fake = gateway.onebot().await;
    let told = fake.ask_as("member", GROUP, 100_003, "/status").await;
    assert!(told.contains("Only an admin"), "{told}");
    let told = fake.ask_as("member", GROUP, 100_003, "/help").await;
    assert!(
        !told.contains("/status") && !told.contains("/role") && told.contains("/output"),
        "{told}"
    );
    let told = fake
        .ask_as("member", GROUP, 100_001, "/role @100003 moderator")
        .await;
    assert_eq!(told, "100003 is moderator now.");
    let told = fake.ask_as("member", GROUP, 100_003, "/status").await;
    assert!(told.starts_with("Weirgate "), "{told}");
    let told = fake.ask_as("member", GROUP, 100_003, "/help admin").await;
    assert!(told.contains("/status") && told.contains("/role"), "{told}");
}

#[tokio::test]
async fn guests_are_told_of_what_was_said_only_where_they_may_read() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let asked = |model: &FakeModel| model.requests().pop().expect("a request").body.to_string();
    fake.ask_as("admin", GROUP, 100_002, "the number is 4711")
        .await;
    fake.ask_as("owner", GROUP, 100_001, "/role @100003 guest")
        .await;
    fake.ask_as("member", GROUP, 100_003, "which number?").await;
    assert!(asked(&model).contains("4711"));
    fake.ask_as("owner", GROUP, 100_001, "/policy allow_guest_read off")
        .await;
    fake.ask_as("member", GROUP, 100_003, "and now?").await;
    assert!(!asked(&model).contains("4711"));
    fake.ask_as("admin", GROUP, 100_002, "and for me?").await;
    assert!(asked(&model).contains("4711"));
}

#[tokio::test]
async fn lists_of_a_policy_shut_people_out_and_let_them_in() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": ["9"] } } });
    let gateway = Gateway::start(&model, owners).await;
    let fake = gateway.onebot().await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    said("owner", 100_001, "/policy blacklist 100003, 100005, 9").await;
    for (user, text) in [(100_003, "hello"), (100_005, "/whoami")] {
        let told = said("member", user, text).await;
        assert!(told.contains("not answered here"), "{text}: {told}");
    }
    assert!(
        said("member", 9, "hello").await.starts_with("re: "),
        "owners of the gateway are heard"
    );
    // The list is of this place and of this platform alone.
    let told = fake.ask_as("member", GROUP + 1, 100_003, "hello").await;
    assert!(told.starts_with("re: "), "{told}");
    said("owner", 100_001, "/policy blacklist none").await;
    said("owner", 100_001, "/policy whitelist 100001 100004").await;
    assert!(said("member", 100_004, "hello").await.starts_with("re: "));
    for (role, user) in [("member", 100_006), ("admin", 100_002)] {
        let told = said(role, user, "hello").await;
        assert!(told.contains("not answered here"), "{role}: {told}");
    }
    said("owner", 100_001, "/policy whitelist reset").await;
    assert!(said("admin", 100_002, "hello").await.starts_with("re: "));
    assert_eq!(gateway.counted("blocked").await, 4);
}

#[tokio::test]
async fn people_of_a_list_are_named_as_in_any_command() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let said = async |text: &str| fake.ask_as("owner", GROUP, 100_001, text).await;
    // Their names are as they said something.
    for user in [100_003, 100_004] {
        fake.ask_as("member", GROUP, user, "/ping").await;
    }
    for (people, list) in [
        ("@100003", "100003"),
        ("@member 100003", "100003"),
        ("@Member 100003, 7, @100004 ，id:abc", "100003 7 100004 abc"),
        ("100003, 8、 100003", "100003 8"),
        ("id:abc", "abc"),
    ] {
        for command in ["/config", "/policy"] {
            let told = said(&format!("{command} blacklist {people}")).await;
            assert_eq!(told, format!("blacklist is now: {list}"), "{people}");
        }
    }
    // What is nobody's changes nothing.
    for (wrong, given) in [
        ("Bob", "Bob"),
        ("@Bob", "@Bob"),
        ("100003 Bob", "Bob"),
        ("telegram:100003", "telegram:100003"),
        ("-5", "-5"),
    ] {
        let told = said(&format!("/policy blacklist {wrong}")).await;
        let says = format!("\"{given}\" is nobody here.");
        assert!(told.starts_with(&says), "{wrong}: {told}");
    }
    let many: String = (0..101).map(|number| format!(" id:x{number}")).collect();
    let told = said(&format!("/policy blacklist{many}")).await;
    assert!(told.starts_with("At most 100 people"), "{told}");
    let told = said("/policy blacklist").await;
    assert!(told.ends_with("blacklist: abc"), "{told}");
    assert_eq!(
        said("/policy blacklist @100003 @100004").await,
        "blacklist is now: 100003 100004"
    );
    let told = fake.ask_as("member", GROUP, 100_004, "hello").await;
    assert!(told.contains("not answered here"), "{told}");
}

#[tokio::test]
async fn what_is_taken_back_gives_nobody_more_than_who_takes_it_may_give() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for (user, role) in [(100_001, "owner"), (100_002, "admin"), (100_003, "admin")] {
        fake.member(GROUP, user, Some(role));
    }
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100003 blocked")
        .await;
    assert_eq!(told, "100003 is blocked now.");
    // Without it he would be an admin again, as the platform says.
    let told = fake
        .ask_as("admin", GROUP, 100_002, "/role @100003 none")
        .await;
    assert!(told.contains("below your own"), "{told}");
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100003 none")
        .await;
    assert!(told.starts_with("100003 has no role of his own"), "{told}");
}

#[tokio::test]
async fn what_waits_is_answered_by_the_role_of_when_its_turn_comes() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.member(GROUP, 100_003, Some("member"));
    let slow = || Script::answer("slow").first(Duration::from_secs(2));
    // He loses the right while one message runs and another waits.
    model.push(slow());
    fake.group_as("member", GROUP, 100_003, "one").await;
    model.wait_for(1).await;
    fake.group_as("member", GROUP, 100_003, "two").await;
    assert!(until(|| rows(&gateway.database(), "SELECT id FROM inbox").len() == 2).await);
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100003 blocked")
        .await;
    assert_eq!(told, "100003 is blocked now.");
    // What runs ends without a word, what waits is refused.
    let told = fake.answer().await.text();
    assert!(told.contains("not answered here"), "{told}");
    assert_eq!(gateway.counted("permission_denied").await, 1);
    assert_eq!(gateway.counted("blocked").await, 1);
    assert_eq!(model.count(), 1);
    // He gets one while a message runs and a command waits that needs it.
    fake.ask_as("owner", GROUP, 100_001, "/role @100003 member")
        .await;
    model.push(slow());
    fake.group_as("member", GROUP, 100_003, "three").await;
    model.wait_for(2).await;
    fake.group_as("member", GROUP, 100_003, "/role 100004 guest")
        .await;
    assert!(until(|| rows(&gateway.database(), "SELECT id FROM inbox").len() == 6).await);
    let told = fake
        .ask_as("owner", GROUP, 100_001, "/role @100003 admin")
        .await;
    assert_eq!(told, "100003 is admin now.");
    assert_eq!(fake.answers(2).await, ["slow", "100004 is guest now."]);
}
