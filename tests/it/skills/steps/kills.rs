//! A process that ends in the middle of steps: what was done stays done, what may have been done is told, the rest goes on.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{super::folder, asked, program, run, runs, steps, told, write};
use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT, merge, to_approve, until},
};

/// Tools and skills where they are with a database file.
fn beside() -> Value {
    json!({ "tools": { "folder": "$XDG_DATA_HOME/weirgate/tools",
        "skills": { "registry_path": "$XDG_DATA_HOME/weirgate/skills" } } })
}

/// A gateway with a skill and the programs that it calls; `safe` may be called again.
async fn started(on: Engine, text: &str, slow: &str) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, beside()).await;
    write(&gateway, "note/steps.yaml", &steps("note", text));
    let safe = json!({ "repeatable": true, "access": "read" });
    program(&gateway, "safe", safe, "printf tea");
    program(&gateway, "order", json!({}), "printf ordered");
    program(&gateway, "slow", json!({}), slow);
    gateway.up().await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// Begins the skill.
async fn begun(model: &FakeModel, fake: &FakeOneBot) {
    let calls: [(&str, Value); 1] = [run("note", json!({}))];
    model.push(Script::calls(&calls));
    fake.send_private(2, "go").await;
}

/// Kills the process and starts it again; gives what the model was told at last.
async fn killed(model: &FakeModel, gateway: &mut Gateway, fake: &FakeOneBot) -> String {
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    while fake.answer().await.text() != "re: go" {}
    told(model)
}

async fn a_step_that_was_running_is_not_run_again_and_ends_the_steps(on: Engine) {
    let text = "steps:\n  - {id: a, type: tool, tool: order}\n  - {id: b, type: tool, tool: slow, on_error: continue}\n  - {id: c, type: tool, \
                tool: safe}\n";
    let (model, mut gateway, fake) = started(on, text, "exec /bin/sleep 60").await;
    begun(&model, &fake).await;
    assert!(until(|| !runs(&gateway, "slow").is_empty()).await);
    let got = killed(&model, &mut gateway, &fake).await;
    assert!(
        got.starts_with("Error: (steps of note: a done, b failed)\nThe step b failed: ")
            && got.contains("may have been done"),
        "{got}"
    );
    for (name, times) in [("order", 1), ("slow", 1), ("safe", 0)] {
        assert_eq!(runs(&gateway, name).len(), times, "{name}");
    }
    let why = fake.ask(2, "/why").await;
    assert!(why.contains("tool_unsure"), "{why}");
}

async fn what_was_done_stays_done_and_the_rest_goes_on(on: Engine) {
    let text = "steps:\n  - {id: a, type: tool, tool: safe}\n  - {id: b, type: tool, tool: order, args: {text: \"{{steps.a}}\"}}\n  - {id: c, \
                type: llm, prompt: \"Say {{steps.b}}\"}\n  - {id: d, type: tool, tool: order, args: {text: \"{{steps.c}}\"}}\n";
    let (model, mut gateway, fake) = started(on, text, "").await;
    begun(&model, &fake).await;
    model.push(Script::hang());
    model.wait_for(2).await;
    model.push(Script::answer("said"));
    let got = killed(&model, &mut gateway, &fake).await;
    assert!(
        got.contains("(steps of note: a done, b done, c done, d done)\n> ordered"),
        "{got}"
    );
    assert!(asked(&model).last_user_text().contains("> ordered"));
    assert_eq!(runs(&gateway, "safe").len(), 1);
    let ordered = [r#"{"text":"tea"}"#, r#"{"text":"said"}"#];
    assert_eq!(runs(&gateway, "order"), ordered, "each once");
    let why = fake.ask(2, "/why").await;
    assert!(!why.contains("tool_unsure"), "{why}");
}

async fn steps_that_only_looked_are_done_anew(on: Engine) {
    let text = "steps:\n  - {id: a, type: tool, tool: safe}\n  - {id: b, type: llm, prompt: \"Say {{steps.a}}\"}\n";
    let (model, mut gateway, fake) = started(on, text, "").await;
    begun(&model, &fake).await;
    model.push(Script::hang());
    model.wait_for(2).await;
    // The model is asked anew what it wants as well: nothing was written down.
    model.push(Script::calls(&[run("note", json!({}))]));
    model.push(Script::answer("said"));
    let got = killed(&model, &mut gateway, &fake).await;
    assert!(
        got.contains("(steps of note: a done, b done)\n> said"),
        "{got}"
    );
    assert_eq!(runs(&gateway, "safe").len(), 2);
}

async fn a_yes_to_a_step_is_used_once(on: Engine) {
    let text =
        "steps:\n  - {id: a, type: tool, tool: order}\n  - {id: b, type: tool, tool: slow}\n";
    let model = FakeModel::start().await;
    let mut changes = beside();
    merge(&mut changes, json!({ "tools": { "approval": ["slow"] } }));
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    write(&gateway, "note/steps.yaml", &steps("note", text));
    program(&gateway, "order", json!({}), "printf ordered");
    program(&gateway, "slow", json!({}), "exec /bin/sleep 60");
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    begun(&model, &fake).await;
    let question = fake.answer().await.text();
    let name = to_approve(&question);
    fake.send_private(2, &format!("/approve {name}")).await;
    assert!(until(|| !runs(&gateway, "slow").is_empty()).await);
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    model.push(Script::answer("it goes on"));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    while fake.answer().await.text() != "it goes on" {}
    let got = told(&model);
    assert!(
        got.starts_with("Error: (steps of note: a done, b failed)")
            && got.contains("may have been done"),
        "{got}"
    );
    assert_eq!(runs(&gateway, "order").len(), 1);
    assert_eq!(runs(&gateway, "slow").len(), 1);
}

/// The process aborts at a point of the journal between two steps that each may run but once; gives how often they ran, and
/// what the model was told.
async fn aborted(on: Engine, point: &str) -> ([usize; 2], String) {
    let text =
        "steps:\n  - {id: a, type: tool, tool: order}\n  - {id: b, type: tool, tool: slow}\n";
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, beside()).await;
    write(&gateway, "note/steps.yaml", &steps("note", text));
    program(&gateway, "order", json!({}), "printf ordered");
    program(&gateway, "slow", json!({}), "printf slow");
    gateway.set("WEIRGATE_FAILPOINT", point);
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    begun(&model, &fake).await;
    let status = gateway.ended().await;
    assert_eq!(status.code(), None, "it was to abort: {}", gateway.log());
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.set("WEIRGATE_FAILPOINT", "");
    // Where nothing was written down the model is asked anew.
    if point == "step.before:1" {
        model.push(Script::calls(&[run("note", json!({}))]));
    }
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    while fake.answer().await.text() != "re: go" {}
    let ran = ["order", "slow"].map(|name| runs(&gateway, name).len());
    (ran, told(&model))
}

async fn wherever_it_ends_no_step_is_done_twice(on: Engine) {
    // Written are: that the first is about to run, that it ended, the same of the second, and the result of the whole.
    for (point, ran, end) in [
        ("step.before:1", [1, 1], "a done, b done"),
        ("step.after:1", [0, 0], "a failed"),
        ("step.before:2", [1, 0], "a failed"),
        ("step.after:2", [1, 1], "a done, b done"),
        ("step.before:3", [1, 1], "a done, b done"),
        ("step.after:3", [1, 0], "a done, b failed"),
        ("step.before:4", [1, 1], "a done, b failed"),
        ("step.after:4", [1, 1], "a done, b done"),
        ("step.before:5", [1, 1], "a done, b done"),
        ("step.after:5", [1, 1], "a done, b done"),
    ] {
        let (times, told) = aborted(on, point).await;
        assert_eq!(times, ran, "{point}: {told}");
        assert!(
            told.contains(&format!("(steps of note: {end})")),
            "{point}: {told}"
        );
        let unsure = end.ends_with("failed");
        assert_eq!(
            told.contains("may have been done"),
            unsure,
            "{point}: {told}"
        );
    }
}

async fn a_step_that_was_running_is_told_of_also_where_nothing_goes_on(on: Engine) {
    let text = "steps:\n  - {id: a, type: tool, tool: slow}\n";
    for (more, why) in [
        (None, "no skill of this name"),
        (Some("version: 2\n"), "the skill was changed meanwhile"),
        (Some("rights: global\n"), "may not use this tool"),
    ] {
        let (model, mut gateway, fake) = started(on, text, "exec /bin/sleep 60").await;
        begun(&model, &fake).await;
        assert!(until(|| !runs(&gateway, "slow").is_empty()).await);
        match more {
            None => std::fs::remove_dir_all(folder(&gateway).join("note")).unwrap(),
            Some(more) => {
                let other = steps("note", &format!("{more}{text}"));
                write(&gateway, "note/steps.yaml", &other);
            }
        }
        let got = killed(&model, &mut gateway, &fake).await;
        assert!(
            got.contains(why) && got.contains("may have been done"),
            "{got}"
        );
        assert_eq!(runs(&gateway, "slow").len(), 1);
    }
}

suite!(
    a_step_that_was_running_is_told_of_also_where_nothing_goes_on,
    wherever_it_ends_no_step_is_done_twice,
    a_step_that_was_running_is_not_run_again_and_ends_the_steps,
    what_was_done_stays_done_and_the_rest_goes_on,
    steps_that_only_looked_are_done_anew,
    a_yes_to_a_step_is_used_once,
);
