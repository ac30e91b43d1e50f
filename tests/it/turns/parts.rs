//! The tool `context`: what fills the context is told, and a part that is dropped is gone, for who may.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::spoken;
use crate::gateway::{BOT, Chat as _, Gateway, LIMIT, rows};

const MARK: &str = "[dropped from the context]";
const GROUP: u64 = 62;

fn context(arguments: Value) -> Script {
    Script::calls(&[("context", arguments)])
}

fn show() -> Script {
    context(json!({ "action": "show" }))
}

fn drop_part(name: &str) -> Script {
    context(json!({ "action": "drop", "parts": [name] }))
}

/// What the model was told last.
fn told(model: &FakeModel) -> String {
    model.requests().pop().unwrap().told().pop().unwrap()
}

/// The name of the part whose line says this.
fn part(listing: &str, says: &str) -> String {
    let mut lines = listing.lines();
    let line = lines
        .find(|line| line.contains(" tokens (") && line.contains(says))
        .unwrap_or_else(|| panic!("no part says {says}: {listing}"));
    let line = line.trim_start_matches("> ");
    line.split(' ').next().unwrap().to_owned()
}

/// How often a text stands in the stored histories.
fn stored(gateway: &Gateway, text: &str) -> usize {
    let rows = rows(&gateway.database(), "SELECT parts FROM history");
    rows.iter().filter(|row| row.contains(text)).count()
}

#[tokio::test]
async fn a_message_that_is_dropped_is_gone_from_the_turn_the_store_and_later_turns_also_over_a_crash()
 {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let long = format!("PELICAN {}", "word ".repeat(400));
    model.push(Script::answer("I have read it"));
    fake.ask(1, &long).await;
    fake.ask(1, "and this stays").await;
    model.push(show());
    fake.ask(1, "what fills it?").await;
    let listing = told(&model);
    assert!(listing.contains("the system prompt"), "{listing}");
    let (pelican, stays) = (part(&listing, "PELICAN"), part(&listing, "this stays"));
    let place = |name: &str| listing.find(name).unwrap();
    assert!(
        place(&pelican) < place(&stays),
        "the largest come first: {listing}"
    );

    model.push(drop_part(&pelican));
    model.push(Script::hang());
    let asked = model.requests().len();
    fake.send_private(1, "drop it").await;
    model.wait_for(asked + 2).await;
    let request = model.requests().pop().unwrap();
    let said = spoken(&request).join("\n");
    assert!(!said.contains("PELICAN") && said.contains(MARK), "{said}");
    assert!(
        said.contains("user: and this stays") && said.contains("I have read it"),
        "{said}"
    );
    assert_eq!(stored(&gateway, "PELICAN word"), 0, "at once");

    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    model.wait_for(asked + 3).await;
    assert!(fake.answers(1).await.concat().contains("drop it"));
    let said = spoken(&model.requests().pop().unwrap()).join("\n");
    assert!(!said.contains("PELICAN") && said.contains(MARK), "{said}");
    model.push(show());
    fake.ask(1, "and now?").await;
    let listing = told(&model);
    assert!(
        !listing.contains(&pelican) && listing.contains(&stays),
        "{listing}"
    );
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let written = audit.iter().filter(|row| row.contains("context_dropped"));
    assert_eq!(written.count(), 1, "{audit:?}");
    assert!(!audit.concat().contains("PELICAN"), "no words: {audit:?}");
}

#[tokio::test]
async fn a_result_of_the_turn_under_way_is_dropped_too_and_stays_so() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let long = vec!["1"; 300].join("+");
    let sum = || Script::calls(&[("calculate", json!({ "expression": long }))]);
    model.push(sum());
    model.push(show());
    fake.ask(1, "add them").await;
    let name = part(&told(&model), "call of calculate");
    // The same call has the same name.
    fake.ask(1, "/reset").await;
    model.push(sum());
    model.push(drop_part(&name));
    let answer = fake.ask(1, "add them again").await;
    assert_eq!(answer, "re: add them again");
    let request = model.requests().pop().unwrap();
    let got = request.told();
    assert_eq!(got[0], MARK);
    assert!(got[1].starts_with("Dropped 1 parts"), "{got:?}");
    assert!(
        !request.called().concat().contains("1+1+1"),
        "{:?}",
        request.called()
    );
    fake.ask(1, "later").await;
    let request = model.requests().pop().unwrap();
    assert_eq!(request.told()[0], MARK);
    assert!(!request.called().concat().contains("1+1+1"));
}

async fn group(gateway: &Gateway) -> FakeOneBot {
    let fake = gateway.onebot().await;
    for (user, role) in [(BOT, "member"), (7, "member"), (8, "admin")] {
        fake.member(GROUP, user, Some(role));
    }
    fake
}

#[tokio::test]
async fn what_a_group_shares_is_dropped_for_who_may_reset_it_and_nobody_else() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = group(&gateway).await;
    model.push(Script::answer("noted"));
    fake.ask_as("member", GROUP, 7, "PELICAN is the word").await;
    model.push(show());
    fake.ask_as("member", GROUP, 7, "what fills it?").await;
    let pelican = part(&told(&model), "message of member 7: PELICAN");

    model.push(drop_part(&pelican));
    fake.ask_as("member", GROUP, 7, "drop it").await;
    assert!(
        told(&model).contains("may not have that dropped"),
        "{}",
        told(&model)
    );
    assert!(stored(&gateway, "PELICAN is the word") > 0);

    model.push(context(
        json!({ "action": "drop", "parts": ["0000000000"] }),
    ));
    fake.ask_as("admin", GROUP, 8, "drop it").await;
    assert!(
        told(&model).contains("There are no such parts"),
        "{}",
        told(&model)
    );

    model.push(drop_part(&pelican));
    fake.ask_as("admin", GROUP, 8, "drop it now").await;
    assert!(
        told(&model).starts_with("Dropped 1 parts"),
        "{}",
        told(&model)
    );
    fake.ask_as("member", GROUP, 7, "what was the word?").await;
    let said = spoken(&model.requests().pop().unwrap()).join("\n");
    assert!(
        !said.contains("PELICAN is the word") && said.contains(MARK),
        "{said}"
    );
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let denied = audit
        .iter()
        .any(|row| row.contains("permission_denied") && row.contains("context"));
    let done = audit.iter().any(|row| row.contains("context_dropped"));
    assert!(denied && done, "{audit:?}");
}

#[tokio::test]
async fn where_each_has_a_history_of_his_own_he_may_drop_from_it_in_a_group_too() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({ "context": { "scope": "user" } })).await;
    let fake = group(&gateway).await;
    fake.ask_as("member", GROUP, 7, "PELICAN is the word").await;
    model.push(show());
    fake.ask_as("member", GROUP, 7, "what fills it?").await;
    let pelican = part(&told(&model), "PELICAN");
    model.push(drop_part(&pelican));
    fake.ask_as("member", GROUP, 7, "drop it").await;
    assert!(
        told(&model).starts_with("Dropped 1 parts"),
        "{}",
        told(&model)
    );
}
