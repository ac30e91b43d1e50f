//! Tools that run only after somebody's yes: who is asked, what he sees, and how the turn goes on.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, LIMIT, rows, to_approve};

const GROUP: u64 = 60;
const OWNER: u64 = 200_001;
const ADMIN: u64 = 200_002;
const MEMBER: u64 = 200_003;

fn write(text: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": "a.txt", "content": text }))
}

fn read() -> (&'static str, Value) {
    ("read_file", json!({ "path": "a.txt" }))
}

fn last(model: &FakeModel) -> Vec<String> {
    model.requests().pop().unwrap().told()
}

async fn asking(names: &[&str]) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let changes = json!({ "tools": { "approval": names } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

#[tokio::test]
async fn a_turn_waits_for_a_yes_over_a_crash_and_goes_on_with_what_was_shown() {
    let (model, mut gateway, fake) = asking(&["write_*"]).await;
    model.push(Script::pieces(&["I write it down."]).and_calls(&[write("`one`"), read()]));
    let question = fake.ask(1, "write it down").await;
    assert!(
        question.contains("I write it down.") && question.contains("May I run write_file"),
        "{question}"
    );
    assert!(
        question.contains("\"content\": \"`one`\"") && question.contains("Within 1h."),
        "{question}"
    );
    let name = to_approve(&question);
    // It holds nothing: the next message is answered, and the model knows that it waits.
    assert_eq!(fake.ask(1, "meanwhile?").await, "re: meanwhile?");
    assert!(
        last(&model).iter().all(|text| text.contains("has not run")),
        "what stands behind it waits too: {:?}",
        last(&model)
    );
    let why = fake.ask(1, "/approve").await;
    assert!(why.contains(&format!("{name}: run write_file")), "{why}");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    model.push(Script::answer("written and read"));
    fake.send_private(1, &format!("/approve {name}")).await;
    // What nobody knew to have arrived when it was killed may come again.
    let mut told = Vec::new();
    while told.last().is_none_or(|text| text != "written and read") {
        told.push(fake.answer().await.text());
    }
    assert!(
        told.contains(&"write_file may run; I go on.".to_owned()),
        "{told:?}"
    );
    let got = last(&model);
    let (wrote, shown) = (&got[got.len() - 2], &got[got.len() - 1]);
    assert_eq!(wrote, "Written.");
    assert!(
        shown.contains("> 1\t`one`"),
        "in the order of the calls: {got:?}"
    );
    let request = model.requests().pop().unwrap().body.to_string();
    let ids: Vec<&str> = request.split("\"tool_call_id\":\"").skip(1).collect();
    let ids: BTreeSet<&str> = ids.iter().filter_map(|id| id.split('"').next()).collect();
    assert_eq!(
        ids.len(),
        got.len(),
        "each call has an id of its own: {ids:?}"
    );
    let again = fake.ask(1, &format!("/approve {name}")).await;
    assert_eq!(again, "That was answered before.");
    assert_eq!(fake.ask(1, "and?").await, "re: and?");
    let kept = last(&model);
    assert!(
        kept.contains(&"Written.".to_owned()),
        "it is remembered: {kept:?}"
    );
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let approved = audit.iter().filter(|row| row.contains("tool_approved"));
    assert_eq!(approved.count(), 1, "{audit:?}");
}

#[tokio::test]
async fn after_a_no_the_model_is_told_and_nothing_runs() {
    let (model, gateway, fake) = asking(&["write_file"]).await;
    model.push(Script::calls(&[write("one")]));
    let question = fake.ask(1, "write").await;
    model.push(Script::answer("then not"));
    fake.send_private(1, &format!("/deny {}", to_approve(&question)))
        .await;
    let mut told = fake.answers(2).await;
    told.sort();
    assert_eq!(
        told,
        ["Not done: run write_file. The answer is no.", "then not"]
    );
    let got = last(&model).pop().unwrap();
    assert!(got.contains("a person refused it"), "{got}");
    model.push(Script::calls(&[read()]));
    fake.ask(1, "look").await;
    let got = last(&model).pop().unwrap();
    assert!(got.contains("no such file"), "{got}");
    assert_eq!(gateway.counted("tool_asked").await, 1);
}

#[tokio::test]
async fn in_a_group_an_admin_is_asked_and_with_four_eyes_another_one() {
    let (model, _gateway, fake) = asking(&["calculate"]).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let sum = || ("calculate", json!({ "expression": "6 * 7" }));
    model.push(Script::calls(&[sum()]));
    let name = to_approve(&said("member", MEMBER, "reckon").await);
    let told = said("member", MEMBER, &format!("/approve {name}")).await;
    assert_eq!(told, "That is for somebody else to answer.");
    model.push(Script::answer("it is done"));
    fake.group_as("admin", GROUP, ADMIN, &format!("/approve {name}"))
        .await;
    let mut told = fake.answers(2).await;
    told.sort();
    assert_eq!(told, ["calculate may run; I go on.", "it is done"]);
    assert_eq!(last(&model).pop().unwrap(), "42");

    said("owner", OWNER, "/policy four_eyes on").await;
    model.push(Script::calls(&[sum()]));
    let name = to_approve(&said("admin", ADMIN, "reckon").await);
    let told = said("admin", ADMIN, &format!("/approve {name}")).await;
    assert!(told.ends_with("(four eyes)."), "{told}");
    model.push(Script::answer("done again"));
    fake.group_as("owner", GROUP, OWNER, &format!("/approve {name}"))
        .await;
    let told = fake.answers(2).await;
    assert!(told.contains(&"done again".to_owned()), "{told:?}");
}

#[tokio::test]
async fn when_nobody_answers_in_time_the_model_is_told() {
    let (model, gateway, fake) = asking(&["calculate"]).await;
    fake.ask_as("owner", GROUP, OWNER, "/policy approval_time 1s")
        .await;
    model.push(Script::calls(&[(
        "calculate",
        json!({ "expression": "1 + 1" }),
    )]));
    model.push(Script::answer("nobody was there"));
    let question = fake.ask_as("member", GROUP, MEMBER, "reckon").await;
    assert_eq!(fake.answer().await.text(), "nobody was there");
    let got = last(&model).pop().unwrap();
    assert!(got.contains("nobody gave one in time"), "{got}");
    let late = format!("/approve {}", to_approve(&question));
    let told = fake.ask_as("admin", GROUP, ADMIN, &late).await;
    assert!(told.starts_with("Too late"), "{told}");
    assert_eq!(gateway.counted("pending_expired").await, 1);
}

#[tokio::test]
async fn who_lost_the_right_meanwhile_runs_nothing_and_what_cannot_be_shown_is_not_asked() {
    let (model, _gateway, fake) = asking(&["calculate", "write_file"]).await;
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    model.push(Script::calls(&[(
        "calculate",
        json!({ "expression": "1 + 1" }),
    )]));
    let name = to_approve(&said("member", MEMBER, "reckon").await);
    said("owner", OWNER, &format!("/role @{MEMBER} guest")).await;
    model.push(Script::answer("it may not"));
    fake.group_as("admin", GROUP, ADMIN, &format!("/approve {name}"))
        .await;
    fake.answers(2).await;
    let got = last(&model).pop().unwrap();
    assert!(got.contains("may not use this tool"), "{got}");

    let long = json!({ "path": "a.txt", "content": "x".repeat(8_000) });
    model.push(Script::calls(&[("write_file", long)]));
    let told = said("admin", ADMIN, "reckon long").await;
    assert!(told.starts_with("re: "), "{told}");
    let got = last(&model).pop().unwrap();
    assert!(got.contains("too long to be shown"), "{got}");
}

#[tokio::test]
async fn who_ceased_to_be_an_admin_meanwhile_has_the_rights_of_what_he_is() {
    let (model, gateway, fake) = asking(&["write_file"]).await;
    // The platform tells who somebody is.
    fake.member(GROUP, ADMIN, Some("admin"));
    fake.member(GROUP, MEMBER, Some("admin"));
    let said = async |role: &str, user, text: &str| fake.ask_as(role, GROUP, user, text).await;
    let go_on = async |code: &str| {
        model.push(Script::answer("I go on"));
        fake.group_as("admin", GROUP, ADMIN, &format!("/approve {code}"))
            .await;
        fake.answers(2).await;
        last(&model).pop().unwrap()
    };
    model.push(Script::calls(&[write("one")]));
    let name = to_approve(&said("admin", MEMBER, "write").await);
    assert_eq!(go_on(&name).await, "Written.");
    model.push(Script::calls(&[write("two")]));
    let name = to_approve(&said("admin", MEMBER, "write").await);
    fake.member(GROUP, MEMBER, Some("member"));
    let told = go_on(&name).await;
    assert!(
        told.contains("may not use this tool"),
        "{told}: {}",
        gateway.log()
    );
    // One who has left is nobody in particular.
    model.push(Script::calls(&[write("three")]));
    let name = to_approve(&said("admin", MEMBER, "write").await);
    fake.member(GROUP, MEMBER, None);
    let told = go_on(&name).await;
    assert!(told.contains("may not use this tool"), "{told}");
}
