//! A process that ends in the middle of a tool: what is not safe to repeat is not run again.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT, to_approve},
};

/// The results in the last request.
fn results(model: &FakeModel) -> Vec<String> {
    let last = model.requests().pop().unwrap();
    let messages = last.body["messages"].as_array().unwrap().iter();
    let tools = messages.filter(|message| message["role"] == "tool");
    tools
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

/// Edits a file, and aborts at a point; then what the model was told at last, and what /why says.
async fn edited(on: Engine, point: &str) -> (String, String) {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, json!({})).await;
    gateway.set("WEIRGATE_FAILPOINT", point);
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    let write = (
        "write_file",
        json!({ "path": "note.txt", "content": "one" }),
    );
    model.push(Script::calls(&[write]));
    assert_eq!(fake.ask(1, "begin").await, "re: begin");

    model.push(Script::calls(&[
        ("calculate", json!({ "expression": "6 * 7" })),
        (
            "edit_file",
            json!({ "path": "note.txt", "old": "one", "new": "one one" }),
        ),
    ]));
    fake.send_private(1, "edit it").await;
    let status = gateway.ended().await;
    assert_eq!(status.code(), None, "it was to abort: {}", gateway.log());
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.set("WEIRGATE_FAILPOINT", "");
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.answer().await.text(), "re: edit it");
    let got = results(&model);
    assert_eq!(got[got.len() - 2], "42", "{got:?}");
    let why = fake.ask(1, "/why").await;
    model.push(Script::calls(&[(
        "read_file",
        json!({ "path": "note.txt" }),
    )]));
    fake.ask(1, "read it").await;
    let read = results(&model).pop().unwrap();
    assert!(
        read.contains("> 1\tone one\n"),
        "it was edited once: {read}"
    );
    (got[got.len() - 1].clone(), why)
}

async fn a_tool_that_was_running_is_not_run_again_and_the_model_is_told(on: Engine) {
    let (told, why) = edited(on, "step.before:2").await;
    assert!(told.contains("may have been done"), "{told}");
    assert!(why.contains("tool_unsure"), "{why}");
}

async fn a_tool_that_ended_is_remembered_with_its_result(on: Engine) {
    let (told, why) = edited(on, "step.after:2").await;
    assert_eq!(told, "Replaced.");
    assert!(!why.contains("tool_unsure"), "{why}");
}

/// A call waits for a yes, and the process aborts at a point behind it; then what the model was told of the call.
async fn approved(on: Engine, point: &str) -> String {
    let model = FakeModel::start().await;
    let changes = json!({ "tools": { "approval": ["edit_file"] } });
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    gateway.set("WEIRGATE_FAILPOINT", point);
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    let write = (
        "write_file",
        json!({ "path": "note.txt", "content": "one" }),
    );
    model.push(Script::calls(&[write]));
    assert_eq!(fake.ask(1, "begin").await, "re: begin");
    let edit = json!({ "path": "note.txt", "old": "one", "new": "one one" });
    model.push(Script::calls(&[("edit_file", edit)]));
    let question = fake.ask(1, "edit").await;
    let name = to_approve(&question);
    fake.send_private(1, &format!("/approve {name}")).await;
    let status = gateway.ended().await;
    assert_eq!(status.code(), None, "it was to abort: {}", gateway.log());
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.set("WEIRGATE_FAILPOINT", "");
    model.push(Script::answer("it goes on"));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    while fake.answer().await.text() != "it goes on" {}
    let again = fake.ask(1, &format!("/approve {name}")).await;
    assert_eq!(again, "That was answered before.");
    results(&model).pop().unwrap()
}

async fn a_yes_is_not_lost_whether_it_was_written_down_or_not(on: Engine) {
    for point in ["settle.before", "settle.after"] {
        assert_eq!(approved(on, point).await, "Replaced.", "{point}");
    }
}

async fn an_approved_tool_that_was_running_is_not_run_again(on: Engine) {
    let told = approved(on, "step.before:2").await;
    assert!(told.contains("may have been done"), "{told}");
}

async fn a_program_that_was_running_is_not_run_again(on: Engine) {
    let model = FakeModel::start().await;
    let programs = tempfile::tempdir().unwrap();
    let changes = json!({ "tools": { "folder": programs.path() } });
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    let folder = programs.path().join("order");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest =
        json!({ "name": "order", "description": "Orders.", "command": ["/bin/sh", "run.sh"] });
    std::fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
    let script = "echo ordered >> orders\n/bin/sleep 20\n";
    std::fs::write(folder.join("run.sh"), script).unwrap();
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    model.push(Script::calls(&[("order", json!({}))]));
    fake.send_private(1, "order it").await;
    let orders = folder.join("orders");
    assert!(crate::gateway::until(|| orders.exists()).await);
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.answer().await.text(), "re: order it");
    let told = results(&model).pop().unwrap();
    assert!(told.contains("may have been done"), "{told}");
    let ordered = std::fs::read_to_string(&orders).unwrap();
    assert_eq!(ordered, "ordered\n", "it was ordered once");
}

suite!(
    a_program_that_was_running_is_not_run_again,
    a_yes_is_not_lost_whether_it_was_written_down_or_not,
    an_approved_tool_that_was_running_is_not_run_again,
    a_tool_that_was_running_is_not_run_again_and_the_model_is_told,
    a_tool_that_ended_is_remembered_with_its_result,
);
