//! What a model schedules for people: told or asked in time, listed, cancelled, kept over a kill.

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, LIMIT, rows};

fn schedule(arguments: Value) -> Script {
    Script::calls(&[("schedule", arguments)])
}

/// What the newest call gave.
fn result(model: &FakeModel) -> String {
    let request = model.requests().pop().expect("a request");
    request.results().pop().expect("a result")
}

#[tokio::test]
async fn a_reminder_and_a_task_are_met_in_time_also_over_a_kill() {
    let model = FakeModel::start().await;
    let limits = json!({ "limits": { "user": { "tokens_per_day": 1_000 } } });
    let mut gateway = Gateway::start(&model, limits).await;
    let fake = gateway.onebot().await;
    let calls = [
        (
            "schedule",
            json!({ "action": "remind", "when": "4s", "text": "tea" }),
        ),
        (
            "schedule",
            json!({ "action": "task", "when": "5s", "text": "sum up the news" }),
        ),
    ];
    model.push(Script::calls(&calls));
    assert_eq!(fake.ask(7, "later").await, "re: later");
    let noted = result(&model);
    assert!(noted.contains("Noted as number "), "{noted}");
    let listed = fake.ask(7, "/remind").await;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("[task] sum up the news"), "{listed}");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let mut told = Vec::new();
    while told.len() < 2 {
        let text = fake.next_reply(LIMIT).await.expect("in time").text();
        // What was being sent when it was killed may come once more.
        if !text.starts_with(listed.lines().next().unwrap()) && !told.contains(&text) {
            told.push(text);
        }
    }
    told.sort();
    assert!(told[1] == "⏰ tea", "{told:?}");
    assert!(told[0].ends_with("sum up the news"), "{told:?}");
    let asked = model.requests().pop().unwrap();
    let said = asked.spoken().pop().unwrap();
    assert!(
        said.contains("put off until") && said.ends_with("\nsum up the news"),
        "{said}"
    );
    assert_eq!(fake.ask(7, "/remind").await, "You have no reminders here.");
    // Its tokens are those of its author: two requests of the first turn, one of the task.
    let spent = "SELECT value FROM setting WHERE key = 'tokens'";
    let spent = rows(&gateway.database(), spent).join(" ");
    assert!(spent.contains("37"), "{spent}");
}

#[tokio::test]
async fn what_was_scheduled_is_listed_and_cancelled_for_its_person_alone() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let daily = json!({ "action": "task", "when": "cron 0 9 * * 1-5", "zone": "Europe/Paris",
        "text": "write the report" });
    model.push(schedule(daily));
    fake.ask_as("member", 50, 100_001, "each morning").await;
    let noted = result(&model);
    let number = noted.split("number ").nth(1).unwrap();
    let number = number.split(':').next().unwrap().to_owned();
    model.push(schedule(json!({ "action": "list" })));
    fake.ask_as("member", 50, 100_001, "what is there").await;
    let listed = result(&model);
    for part in [
        &*number,
        "Europe/Paris",
        "0 9 * * 1-5",
        "[task]",
        "write the report",
    ] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let cancel = json!({ "action": "cancel", "number": number });
    model.push(schedule(cancel.clone()));
    fake.ask_as("member", 50, 100_002, "drop it").await;
    assert!(result(&model).contains("nothing of this number"));
    model.push(schedule(cancel));
    fake.ask_as("member", 50, 100_001, "drop it").await;
    assert!(result(&model).contains("is cancelled"));
    let left = fake.ask_as("member", 50, 100_001, "/remind").await;
    assert_eq!(left, "You have no reminders here.");
}

#[tokio::test]
async fn what_cannot_be_meant_is_told_and_nothing_is_noted() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for (arguments, told) in [
        (json!({ "when": "soon", "text": "x" }), "not understood"),
        (json!({ "when": "10m tea", "text": "x" }), "not understood"),
        (
            json!({ "when": "2020-01-01 10:00", "text": "x" }),
            "is over",
        ),
        (
            json!({ "when": "cron * * * * *", "text": "x" }),
            "too often",
        ),
        (
            json!({ "when": "10m", "zone": "Mars/Base", "text": "x" }),
            "no such time zone",
        ),
        (json!({ "when": "10m", "text": " " }), "text is missing"),
    ] {
        let mut arguments = arguments;
        arguments["action"] = "task".into();
        model.push(schedule(arguments.clone()));
        fake.ask(1, "go").await;
        let got = result(&model);
        assert!(got.contains(told), "{arguments}: {got}");
    }
    assert_eq!(fake.ask(1, "/remind").await, "You have no reminders here.");
    let guests = json!({ "permissions": { "default_role": "guest" } });
    let gateway = Gateway::start(&model, guests).await;
    let fake = gateway.onebot().await;
    model.push(schedule(
        json!({ "action": "task", "when": "10m", "text": "x" }),
    ));
    fake.ask(1, "go").await;
    assert!(result(&model).contains("may not use this tool"));
}

#[tokio::test]
async fn a_task_of_somebody_who_may_not_speak_any_more_is_not_asked_and_none_makes_another() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let task =
        |when: &str| schedule(json!({ "action": "task", "when": when, "text": "what is new?" }));
    model.push(task("1s"));
    assert_eq!(fake.ask(1, "later").await, "re: later");
    // The task schedules one itself.
    model.push(task("10m"));
    let told = fake.answer().await.text();
    assert!(told.ends_with("what is new?"), "{told}");
    assert!(result(&model).contains("schedules nothing more"));
    model.push(task("3s"));
    fake.ask_as("member", 50, 100_001, "later").await;
    let blocked = fake
        .ask_as("owner", 50, 100_009, "/role @100001 blocked")
        .await;
    let count = model.count();
    let done = "SELECT count(*) FROM outbox WHERE kind = 1 AND state < 2";
    let database = gateway.database();
    assert!(
        crate::gateway::until(|| rows(&database, done) == ["0"]).await,
        "{blocked}"
    );
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    assert_eq!(model.count(), count, "nobody was asked");
}
