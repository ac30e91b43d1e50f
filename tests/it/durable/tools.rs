//! A process that ends in the middle of a tool: what is not safe to repeat is not run again.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT},
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

suite!(
    a_tool_that_was_running_is_not_run_again_and_the_model_is_told,
    a_tool_that_ended_is_remembered_with_its_result,
);
