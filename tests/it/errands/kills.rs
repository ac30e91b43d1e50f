//! A process that ends in the middle of an errand: what was only looked at is done anew, what may have been done is told.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::{errand, told};
use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT},
};

async fn an_errand_that_only_looked_is_done_anew(on: Engine) {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, json!({})).await;
    gateway.up().await;
    let fake: FakeOneBot = gateway.onebot().await;
    let order = (
        "schedule",
        json!({ "action": "remind", "when": "1h", "text": "tea" }),
    );
    model.push(Script::calls(&[order, errand("look it up")]));
    model.push(Script::calls(&[(
        "calculate",
        json!({ "expression": "1" }),
    )]));
    model.push(Script::hang());
    fake.send_private(2, "go").await;
    model.wait_for(3).await;
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    model.push(Script::answer("looked up"));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.answer().await.text(), "re: go");
    let back = told(&model);
    // What stood before it in the same answer was written down, and is not done again.
    assert!(back[0].contains("may have been done"), "{back:?}");
    assert!(back[1].contains("> looked up"), "{back:?}");
    assert_eq!(
        model.requests()[3].last_user_text(),
        "look it up",
        "from its beginning"
    );
    let all = fake.ask(2, "/remind").await;
    assert_eq!(all.matches("tea").count(), 1, "{all}");
}

/// An errand edits a file, and the process aborts at a point; gives what the model was told of it, and what /why says.
async fn edited(on: Engine, point: &str) -> (Vec<String>, String) {
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
    assert_eq!(fake.ask(2, "begin").await, "re: begin");
    let edit = (
        "edit_file",
        json!({ "path": "note.txt", "old": "one", "new": "one one" }),
    );
    model.push(Script::calls(&[errand("edit it"), errand("look at it")]));
    // Whichever of the two is asked first edits, and once.
    model.push(Script::calls(&[edit]));
    model.push(Script::calls(&[(
        "calculate",
        json!({ "expression": "1" }),
    )]));
    model.push(Script::answer("done"));
    model.push(Script::answer("done"));
    fake.send_private(2, "edit it").await;
    let status = gateway.ended().await;
    assert_eq!(status.code(), None, "it was to abort: {}", gateway.log());
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.set("WEIRGATE_FAILPOINT", "");
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let mut said = fake.answer().await.text();
    while said != "re: edit it" {
        said = fake.answer().await.text();
    }
    let back = told(&model);
    let why = fake.ask(2, "/why").await;
    model.push(Script::calls(&[(
        "read_file",
        json!({ "path": "note.txt" }),
    )]));
    fake.ask(2, "read it").await;
    let read = told(&model).pop().unwrap();
    assert!(
        read.contains("> 1\tone one\n"),
        "it was edited once: {read}"
    );
    (back, why)
}

async fn an_errand_that_may_have_done_something_is_told_as_unsure(on: Engine) {
    let (back, why) = edited(on, "step.before:2").await;
    let unsure = back
        .iter()
        .filter(|text| text.contains("may have been done"));
    assert_eq!(unsure.count(), 1, "{back:?}");
    assert!(why.contains("tool_unsure"), "{why}");
}

async fn an_errand_that_ended_is_remembered_with_its_report(on: Engine) {
    let (back, why) = edited(on, "step.after:2").await;
    assert!(
        back.iter()
            .rev()
            .take(2)
            .all(|text| text.contains("> done")),
        "{back:?}"
    );
    assert!(!why.contains("tool_unsure"), "{why}");
}

suite!(
    an_errand_that_only_looked_is_done_anew,
    an_errand_that_may_have_done_something_is_told_as_unsure,
    an_errand_that_ended_is_remembered_with_its_report,
);
