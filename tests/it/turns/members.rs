//! A model that moderates for the one who asks: with his rights, after a yes, once.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::commands::{ADMIN, BOB, GROUP, OWNER, people};
use crate::gateway::{BOT, Chat as _, Gateway, LIMIT, rows, to_approve};

const OTHER: u64 = 210_003;
const EVE: u64 = 210_005;

async fn group(gateway: &Gateway) -> FakeOneBot {
    let fake = gateway.onebot().await;
    people(&fake, GROUP);
    for (user, role) in [(OTHER, "admin"), (EVE, "member")] {
        fake.member(GROUP, user, Some(role));
    }
    fake
}

fn moderate(arguments: Value) -> Script {
    Script::calls(&[("moderate", arguments)])
}

fn kick(user: u64) -> Script {
    moderate(json!({ "action": "kick", "user": user.to_string(), "reason": "spam" }))
}

/// What the model was told last.
fn told(model: &FakeModel) -> String {
    model.requests().pop().unwrap().told().pop().unwrap()
}

fn is_offered(model: &FakeModel) -> bool {
    let request = model.requests().pop().unwrap();
    let tools = request.body["tools"].as_array().cloned();
    let mut tools = tools.unwrap_or_default().into_iter();
    tools.any(|tool| tool["function"]["name"] == "moderate")
}

fn times(fake: &FakeOneBot, action: &str) -> usize {
    let called = fake.called();
    called.iter().filter(|name| *name == action).count()
}

/// Somebody answers what waits, and the turn goes on to this answer.
async fn answer(fake: &FakeOneBot, model: &FakeModel, role: &str, user: u64, text: &str) {
    model.push(Script::answer("I have gone on"));
    fake.group_as(role, GROUP, user, text).await;
    let told = fake.answers(2).await;
    assert!(told.contains(&"I have gone on".to_owned()), "{told:?}");
}

#[tokio::test]
async fn who_may_not_moderate_has_no_model_do_it() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    model.push(kick(EVE));
    fake.ask_as("member", GROUP, BOB, "throw 210005 out").await;
    let got = told(&model);
    assert!(got.contains("may not use this tool here"), "{got}");
    assert!(!is_offered(&model), "a member is not offered it");
    // In private nobody can be moderated, whoever asks.
    fake.ask(OWNER, "hello").await;
    assert!(!is_offered(&model));
    fake.ask_as("admin", GROUP, ADMIN, "hello").await;
    assert!(is_offered(&model));
    for (arguments, says) in [
        (json!({ "user": "100001" }), "does not stand below you"),
        (json!({ "user": "210003" }), "does not stand below you"),
        (json!({ "user": "100002" }), "that would be yourself"),
        (json!({ "user": "Nobody" }), "Who is meant?"),
        (json!({}), "Who is meant?"),
        (json!({ "user": "999999" }), "nobody of that id is here"),
        (json!({ "user": "100003", "time": "10m" }), "is not a time"),
    ] {
        let mut arguments = arguments;
        arguments["action"] = "kick".into();
        model.push(moderate(arguments.clone()));
        let said = fake.ask_as("admin", GROUP, ADMIN, "throw out").await;
        assert!(said.starts_with("re: "), "nobody is asked: {said}");
        let got = told(&model);
        assert!(got.contains(says), "{arguments}: {got}");
    }
    fake.member(GROUP, BOT, Some("member"));
    model.push(kick(BOB));
    fake.ask_as("admin", GROUP, ADMIN, "throw Bob out").await;
    let got = told(&model);
    assert!(got.contains("I am not an admin here"), "{got}");
    assert_eq!(times(&fake, "set_group_kick"), 0);
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let denied = |target: &str| {
        let mut audit = audit.iter();
        audit.any(|row| row.contains("permission_denied") && row.contains(target))
    };
    assert!(denied("moderate") && denied("100001"), "{audit:?}");
    let kicked = audit.iter().any(|row| row.contains("user_kicked"));
    assert!(!kicked, "{audit:?}");
}

#[tokio::test]
async fn an_admin_has_a_member_removed_after_a_yes_and_nobody_after_a_no() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    model.push(kick(BOB));
    let question = fake.ask_as("admin", GROUP, ADMIN, "throw Bob out").await;
    assert!(
        question.contains("Would kick 100003. Nothing was done.")
            && question.contains("\"reason\": \"spam\""),
        "{question}"
    );
    assert_eq!(times(&fake, "set_group_kick"), 0);
    let code = to_approve(&question);
    let refused = format!("/approve {code}");
    let said = fake.ask_as("member", GROUP, EVE, &refused).await;
    assert_eq!(said, "That is for somebody else to answer.");
    let no = format!("/deny {code}");
    answer(&fake, &model, "admin", ADMIN, &no).await;
    assert!(told(&model).contains("a person refused it"));
    assert_eq!(times(&fake, "set_group_kick"), 0);

    model.push(kick(BOB));
    let question = fake.ask_as("admin", GROUP, ADMIN, "do it").await;
    let yes = format!("/approve {}", to_approve(&question));
    answer(&fake, &model, "admin", OTHER, &yes).await;
    let got = told(&model);
    assert!(got.contains("100003 was removed. Reason: spam"), "{got}");
    assert_eq!(times(&fake, "set_group_kick"), 1);
    assert!(!fake.is_member(GROUP, BOB) && fake.is_member(GROUP, EVE));
    let again = fake.ask_as("admin", GROUP, OTHER, &yes).await;
    assert_eq!(again, "That was answered before.");
    assert_eq!(times(&fake, "set_group_kick"), 1);
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let count = |event: &str| audit.iter().filter(|row| row.contains(event)).count();
    assert_eq!(
        (count("user_kicked"), count("tool_approved")),
        (1, 1),
        "{audit:?}"
    );
}

#[tokio::test]
async fn who_stands_higher_by_the_time_of_the_yes_is_left_alone() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    let mute = json!({ "action": "mute", "user": "100003", "time": "10m" });
    model.push(moderate(mute.clone()));
    let question = fake.ask_as("admin", GROUP, ADMIN, "mute Bob").await;
    assert!(
        question.contains("Would mute 100003 for 10m."),
        "{question}"
    );
    let yes = format!("/approve {}", to_approve(&question));
    fake.ask_as("owner", GROUP, OWNER, "/role @100003 admin")
        .await;
    answer(&fake, &model, "admin", ADMIN, &yes).await;
    assert!(told(&model).contains("does not stand below you"));
    assert_eq!(times(&fake, "set_group_ban"), 0);
    fake.ask_as("owner", GROUP, OWNER, "/role @100003 member")
        .await;

    // Where four eyes are wanted, the yes is another's.
    fake.ask_as("owner", GROUP, OWNER, "/policy four_eyes on")
        .await;
    model.push(moderate(mute));
    let question = fake.ask_as("admin", GROUP, ADMIN, "now mute Bob").await;
    let yes = format!("/approve {}", to_approve(&question));
    let said = fake.ask_as("admin", GROUP, ADMIN, &yes).await;
    assert!(said.ends_with("(four eyes)."), "{said}");
    answer(&fake, &model, "admin", OTHER, &yes).await;
    assert!(told(&model).contains("100003 is muted for 10m."));
    assert_eq!(times(&fake, "set_group_ban"), 1);
}

#[tokio::test]
async fn a_yes_after_a_kill_does_it_once_to_whom_it_named() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    // By the name under which he writes.
    fake.ask_as("member", GROUP, BOB, "buy now").await;
    model.push(moderate(
        json!({ "action": "kick", "user": format!("member {BOB}"), "reason": "spam" }),
    ));
    let question = fake.ask_as("admin", GROUP, ADMIN, "throw him out").await;
    assert!(question.contains("\"user\": \"100003\""), "{question}");
    let yes = format!("/approve {}", to_approve(&question));
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(times(&fake, "set_group_kick"), 0);
    model.push(Script::answer("he is gone"));
    fake.group_as("admin", GROUP, OTHER, &yes).await;
    while fake.answer().await.text() != "he is gone" {}
    assert!(told(&model).contains("was removed"), "{}", told(&model));
    assert_eq!(times(&fake, "set_group_kick"), 1);
    let again = fake.ask_as("admin", GROUP, OTHER, &yes).await;
    assert_eq!(again, "That was answered before.");
    assert_eq!(times(&fake, "set_group_kick"), 1);
}

#[tokio::test]
async fn a_warning_counts_like_that_of_the_command_and_a_moved_right_holds() {
    let model = FakeModel::start().await;
    let changes = json!({ "permissions": { "commands": { "owner": ["kick"] } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = group(&gateway).await;
    model.push(kick(BOB));
    fake.ask_as("admin", GROUP, ADMIN, "throw Bob out").await;
    assert!(told(&model).contains("Only an owner"), "{}", told(&model));
    model.push(moderate(
        json!({ "action": "warn", "user": "100003", "reason": "loud" }),
    ));
    let question = fake.ask_as("admin", GROUP, ADMIN, "warn Bob").await;
    assert!(question.contains("Would warn 100003."), "{question}");
    let yes = format!("/approve {}", to_approve(&question));
    answer(&fake, &model, "admin", ADMIN, &yes).await;
    let got = told(&model);
    assert!(got.contains("100003 is warned (1 of 3)."), "{got}");
    let said = fake
        .ask_as("admin", GROUP, ADMIN, "/warnings @100003")
        .await;
    assert!(said.contains("loud"), "{said}");
}
