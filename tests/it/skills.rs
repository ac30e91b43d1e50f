//! Skills through the real gateway: found, listed, read, confined, and left out.
//!
//! Owns the ways to write one and to see what a model was told.

mod folders;
mod office;
mod steps;

use std::path::PathBuf;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, RecordedRequest, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway};

/// The owner of the gateway.
const OWNER: u64 = 1;

/// The folder of skills beside the database.
fn folder(gateway: &Gateway) -> PathBuf {
    gateway.database().with_file_name("skills")
}

/// Writes a file of a skill.
fn write(gateway: &Gateway, path: &str, text: &str) {
    let path = folder(gateway).join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A SKILL.md.
fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: What {name} is for.\n{more}---\n{body}\n")
}

/// A gateway that is not started yet, with somebody who owns it. `changes` are laid over that.
async fn prepared(mut changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [OWNER] } } });
    crate::gateway::merge(&mut changes, owners);
    let gateway = Gateway::prepare(&model, changes);
    (model, gateway)
}

/// Changes by which only skills of one's own are there.
fn only_own() -> Value {
    json!({ "tools": { "skills": { "disabled": ["office-documents", "web-pages"] } } })
}

/// What a request says first.
fn prompt(request: &RecordedRequest) -> String {
    let first = &request.body["messages"][0];
    assert_eq!(first["role"], "system", "{first}");
    first["content"].as_str().unwrap().to_owned()
}

/// The names of the tools that a request offers.
fn offered(request: &RecordedRequest) -> Vec<String> {
    let tools = request.body["tools"].as_array().into_iter().flatten();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Has the model call something for somebody; gives what the calls gave.
async fn called(
    model: &FakeModel,
    fake: &FakeOneBot,
    user: u64,
    calls: &[(&str, Value)],
) -> Vec<String> {
    model.push(Script::calls(calls));
    assert_eq!(fake.ask(user, "go").await, "re: go");
    let got = model.requests().pop().unwrap().told();
    got[got.len() - calls.len()..].to_vec()
}
