//! Steps that wait for people: who is asked about what, and how the rest goes on, over a crash too.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{OWNER, only_own, prepared, program, run, runs, steps, told, write};
use crate::gateway::{Chat as _, Gateway, LIMIT, merge, rows, to_approve};

const NOTE: &str = r#"
steps:
  - {id: find, type: tool, tool: lookup}
  - {id: note, type: tool, tool: order, args: {text: "{{steps.find}}"}}
  - {id: sum, type: tool, tool: calculate, args: {expression: "6 * 7"}}
"#;

/// A gateway with a skill whose second step needs a yes.
async fn asking(changes: serde_json::Value) -> (FakeModel, Gateway, FakeOneBot) {
    let mut all = only_own();
    merge(&mut all, json!({ "tools": { "approval": ["order"] } }));
    merge(&mut all, changes);
    let (model, mut gateway) = prepared(all).await;
    write(&gateway, "note/steps.yaml", &steps("note", NOTE));
    // Members may call them in a group too.
    let looks = json!({ "access": "read" });
    program(&gateway, "lookup", looks.clone(), "printf tea");
    program(&gateway, "order", looks, "echo ordered");
    gateway.up().await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// Asks somebody; gives the name behind which the question waits, and the question.
async fn question(model: &FakeModel, fake: &FakeOneBot) -> (String, String) {
    model.push(Script::calls(&[run("note", json!({}))]));
    let question = fake.ask(2, "note it").await;
    (to_approve(&question), question)
}

/// Says something, and waits until the model's last words come.
async fn answered(model: &FakeModel, fake: &FakeOneBot, text: &str) -> String {
    model.push(Script::answer("it goes on"));
    fake.send_private(2, text).await;
    while fake.answer().await.text() != "it goes on" {}
    told(model)
}

#[tokio::test]
async fn a_step_waits_for_a_yes_over_a_crash_and_the_rest_goes_on_behind_it() {
    let (model, mut gateway, fake) = asking(json!({})).await;
    let (name, asked) = question(&model, &fake).await;
    assert!(asked.contains("May I run order (note: note)"), "{asked}");
    assert!(
        asked.contains(r#""text": "tea""#),
        "the exact arguments: {asked}"
    );
    assert!(runs(&gateway, "order").is_empty());
    // It holds nothing.
    assert_eq!(fake.ask(2, "meanwhile?").await, "re: meanwhile?");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let got = answered(&model, &fake, &format!("/approve {name}")).await;
    assert_eq!(got, "(steps of note: find done, note done, sum done)\n42");
    assert_eq!(
        runs(&gateway, "lookup").len(),
        1,
        "what was done before is not done again"
    );
    assert_eq!(runs(&gateway, "order"), [r#"{"text":"tea"}"#]);
    let again = fake.ask(2, &format!("/approve {name}")).await;
    assert_eq!(again, "That was answered before.");
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let approved = audit.iter().filter(|row| row.contains("tool_approved"));
    assert_eq!(approved.count(), 1, "{audit:?}");
}

#[tokio::test]
async fn a_no_ends_the_steps() {
    let (model, gateway, fake) = asking(json!({})).await;
    let (name, _) = question(&model, &fake).await;
    let got = answered(&model, &fake, &format!("/deny {name}")).await;
    assert!(
        got.starts_with("Error: (steps of note: find done, note failed)\nThe step note failed: It did not run: a person refused it."),
        "{got}"
    );
    assert!(runs(&gateway, "order").is_empty());
    assert_eq!(runs(&gateway, "lookup").len(), 1);
}

#[tokio::test]
async fn what_was_changed_meanwhile_is_not_gone_on_with() {
    let (model, gateway, fake) = asking(json!({})).await;
    let (name, _) = question(&model, &fake).await;
    let other = steps("note", &format!("version: 2{}", NOTE.replace("6 * 7", "1")));
    write(&gateway, "note/steps.yaml", &other);
    let seen = async {
        while !fake
            .ask(OWNER, "/skill show note")
            .await
            .contains("version: 2")
        {}
    };
    assert!(tokio::time::timeout(LIMIT, seen).await.is_ok());
    let got = answered(&model, &fake, &format!("/approve {name}")).await;
    assert!(
        got.starts_with("Error: (steps of note: find done)\nThe rest was not done: the skill was changed meanwhile"),
        "{got}"
    );
    assert!(runs(&gateway, "order").is_empty());
}

#[tokio::test]
async fn the_whole_may_need_a_yes_as_well_and_each_is_asked_once() {
    let changes = json!({ "tools": { "approval": ["run_skill", "order"] } });
    let (model, gateway, fake) = asking(changes).await;
    let (name, asked) = question(&model, &fake).await;
    assert!(asked.contains("May I run run_skill"), "{asked}");
    assert!(runs(&gateway, "lookup").is_empty());
    fake.send_private(2, &format!("/approve {name}")).await;
    let mut asked = String::new();
    while !asked.contains("May I run order (note: note)") {
        asked = fake.answer().await.text();
    }
    let name = to_approve(&asked);
    let got = answered(&model, &fake, &format!("/approve {name}")).await;
    assert_eq!(got, "(steps of note: find done, note done, sum done)\n42");
    assert_eq!(runs(&gateway, "lookup").len(), 1);
    assert_eq!(runs(&gateway, "order").len(), 1);
}

#[tokio::test]
async fn who_lost_the_right_meanwhile_has_no_step_done() {
    let (model, gateway, fake) = asking(json!({})).await;
    model.push(Script::calls(&[run("note", json!({}))]));
    let asked = fake.ask_as("member", 50, 7, "note it").await;
    let name = to_approve(&asked);
    fake.ask_as("owner", 50, 9, "/role @7 guest").await;
    model.push(Script::answer("it may not"));
    fake.group_as("admin", 50, 8, &format!("/approve {name}"))
        .await;
    fake.answers(2).await;
    assert_eq!(
        told(&model),
        "Error: The person who asks may not use this tool here."
    );
    assert!(runs(&gateway, "order").is_empty());
}

#[tokio::test]
async fn a_step_may_ask_the_person_and_go_on_with_what_he_says() {
    let text = "steps:\n  - {id: find, type: tool, tool: lookup}\n  - {id: size, type: tool, tool: ask_person, args: {question: Which size?, \
                choices: [S, M]}}\n  - {id: order, type: tool, tool: order, args: {text: \"{{steps.size}}\"}}\n";
    let changes = json!({ "tools": { "approval": [] } });
    let (model, mut gateway, fake) = asking(changes).await;
    gateway.term().await;
    write(&gateway, "note/steps.yaml", &steps("note", text));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    model.push(Script::calls(&[run("note", json!({}))]));
    let asked = fake.ask(2, "order").await;
    assert!(asked.starts_with("Which size?\n\n1. S\n2. M"), "{asked}");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let got = answered(&model, &fake, "2").await;
    assert!(
        got.contains("(steps of note: find done, size done, order done)\n> ordered"),
        "{got}"
    );
    assert_eq!(
        runs(&gateway, "order"),
        [r#"{"text":"The person answers: M"}"#]
    );
    assert_eq!(runs(&gateway, "lookup").len(), 1);
}

#[tokio::test]
async fn a_file_of_a_step_goes_out_with_the_question_and_once() {
    let text = "steps:\n  - {type: tool, tool: write_file, args: {path: list.txt, content: tea}}\n  - {type: tool, tool: send_file, args: \
                {path: list.txt}}\n  - {id: note, type: tool, tool: order}\n";
    let (model, mut gateway, fake) = asking(json!({})).await;
    gateway.term().await;
    write(&gateway, "note/steps.yaml", &steps("note", text));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let (name, _) = question(&model, &fake).await;
    let sent = fake.answer().await;
    assert_eq!(sent.params["name"], "list.txt", "{:?}", sent.params);
    let got = answered(&model, &fake, &format!("/approve {name}")).await;
    assert!(
        got.contains("(steps of note: 1 done, 2 done, note done)\n> ordered"),
        "{got}"
    );
    assert_eq!(fake.ask(2, "and?").await, "re: and?", "no file comes again");
}

#[tokio::test]
async fn of_two_that_run_at_once_each_is_asked_about_and_none_is_done_twice() {
    let changes = json!({ "tool_calling": { "strategy": "eager" } });
    let (model, gateway, fake) = asking(changes).await;
    let calls = [run("note", json!({})), run("note", json!({}))];
    model.push(Script::calls(&calls));
    let mut asked = fake.ask(2, "note it twice").await;
    for _ in 0..2 {
        assert!(asked.contains("May I run order (note: note)"), "{asked}");
        let name = to_approve(&asked);
        fake.send_private(2, &format!("/approve {name}")).await;
        assert_eq!(fake.answer().await.text(), "order may run; I go on.");
        asked = fake.answer().await.text();
    }
    let request = model.requests().pop().unwrap();
    let got = request.told();
    let done = "(steps of note: find done, note done, sum done)\n42";
    assert_eq!(got[got.len() - 2..], [done, done], "{got:?}");
    assert_eq!(runs(&gateway, "lookup").len(), 2);
    assert_eq!(runs(&gateway, "order").len(), 2);
}
