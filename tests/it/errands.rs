//! Errands that a model gives away, through the real gateway.
//!
//! Owns the ways to give one and to see what it was told.

mod bounds;
#[cfg(feature = "failpoints")]
mod kills;
mod named;
mod reports;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, RecordedRequest, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway};

/// The owner of the gateway.
const OWNER: u64 = 1;

/// An errand without a name.
fn errand(task: &str) -> (&'static str, Value) {
    ("delegate", json!({ "task": task }))
}

/// An errand for an agent of a name.
fn for_agent(name: &str, task: &str) -> (&'static str, Value) {
    ("delegate", json!({ "agent": name, "task": task }))
}

/// A gateway that is not started yet, with somebody who owns it. `changes` are laid over that.
async fn prepared(mut changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [OWNER] } } });
    crate::gateway::merge(&mut changes, owners);
    let gateway = Gateway::prepare(&model, changes);
    (model, gateway)
}

/// The same, started.
async fn started(changes: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let (model, mut gateway) = prepared(changes).await;
    gateway.up().await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// What a request says first.
fn prompt(request: &RecordedRequest) -> String {
    let first = &request.body["messages"][0];
    assert_eq!(first["role"], "system", "{first}");
    first["content"].as_str().unwrap().to_owned()
}

/// The results of the last request.
fn told(model: &FakeModel) -> Vec<String> {
    model.requests().pop().unwrap().told()
}

/// The request by which an errand with this task began.
fn begun(model: &FakeModel, task: &str) -> RecordedRequest {
    let mut requests = model.requests().into_iter();
    let found = requests.find(|request| request.last_user_text() == task);
    found.expect("an errand with this task")
}

/// Has the model give an errand for somebody that is refused at once; gives what it was told.
async fn refused(model: &FakeModel, fake: &FakeOneBot, user: u64, given: (&str, Value)) -> String {
    model.push(Script::calls(&[given]));
    assert_eq!(fake.ask(user, "go").await, "re: go");
    told(model).pop().unwrap()
}

/// Has the model give an errand for somebody, in which these are called; gives what the calls gave in there, and what came
/// back.
async fn done(
    model: &FakeModel,
    fake: &FakeOneBot,
    user: u64,
    given: (&str, Value),
    calls: &[(&str, Value)],
) -> (Vec<String>, String) {
    model.push(Script::calls(&[given]));
    if !calls.is_empty() {
        model.push(Script::calls(calls));
    }
    model.push(Script::answer("it is done"));
    let before = model.count();
    assert_eq!(fake.ask(user, "go").await, "re: go");
    let requests = model.requests();
    let inside = requests
        .get(before + 2)
        .map(RecordedRequest::told)
        .unwrap_or_default();
    let back = requests.last().unwrap().told().pop().unwrap();
    (inside, back)
}
