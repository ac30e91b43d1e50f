//! /queue, /backup, /reload and /broadcast: for whom, what they say, and what they do.

use std::fs;

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, LIMIT, rows, until};

const OWNER: u64 = 9;

async fn owned(model: &FakeModel) -> Gateway {
    let owners = json!({ "permissions": { "owners": { "qq": ["9"] } } });
    Gateway::start(model, owners).await
}

#[tokio::test]
async fn the_queue_of_a_group_is_shown_and_emptied() {
    let model = FakeModel::start().await;
    let gateway = owned(&model).await;
    let fake = gateway.onebot().await;
    let none = fake.ask_as("admin", 50, 100_001, "/queue").await;
    assert_eq!(none, "Nothing waits here.");
    model.push(Script::hang());
    fake.group_as("member", 50, 100_002, "one").await;
    model.wait_for(1).await;
    for text in ["two", "three"] {
        fake.group_as("member", 50, 100_002, text).await;
    }
    assert!(until(|| rows(&gateway.database(), "SELECT id FROM inbox").len() == 4).await);
    let shown = fake.ask_as("admin", 50, 100_001, "/queue").await;
    assert!(shown.starts_with("member 100002: 3, for "), "{shown}");
    let refused = fake.ask_as("member", 50, 100_003, "/queue").await;
    assert_eq!(refused, "Only an admin may do that here.");
    let nobody = fake.ask_as("admin", 50, 100_001, "/queue drop").await;
    assert_eq!(nobody, "Dropped of admin 100001: 0.");
    let dropped = fake
        .ask_as("admin", 50, 100_001, "/queue drop @100002")
        .await;
    assert_eq!(dropped, "Dropped of 100002: 2.");
    let left = fake.ask_as("admin", 50, 100_001, "/queue").await;
    assert!(
        left.starts_with("member 100002: 1, for "),
        "what runs stays: {left}"
    );
    let audit = "SELECT target || ' ' || details FROM audit WHERE event = 'queue_dropped'";
    let audit = rows(&gateway.database(), audit);
    assert!(
        audit.len() == 1 && audit[0].contains("100002 ") && audit[0].contains(r#""messages":2"#),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_copy_that_was_asked_for_in_a_chat_can_be_put_back() {
    let model = FakeModel::start().await;
    let mut gateway = owned(&model).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "before").await, "re: before");
    let refused = fake.ask(1, "/backup").await;
    assert_eq!(refused, "Only an owner of the gateway may do that.");
    let said = fake.ask(OWNER, "/backup").await;
    let path = said.split(' ').nth(1).expect("a path").to_owned();
    assert!(
        said.starts_with("Copied: ") && path.contains("/backups/weirgate-"),
        "{said}"
    );
    gateway.term().await;
    let restored = crate::tools::tool(&gateway, &["restore", &path]).await;
    assert!(restored.done().contains("is restored"));
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    // The command that made the copy has ended in it, so what is answered next is what is asked next.
    assert_eq!(fake.ask(1, "after").await, "re: after");
    let folder = gateway.database().with_file_name("backups");
    for number in 1..20 {
        fs::write(folder.join(number.to_string()), "").expect("a file");
    }
    let full = fake.ask(OWNER, "/backup").await;
    assert!(full.contains("there are 20 copies"), "{full}");
}

#[tokio::test]
async fn a_reload_from_a_chat_says_what_changed_or_what_is_wrong() {
    let model = FakeModel::start().await;
    let owners = |more: serde_json::Value| {
        let mut changes = json!({ "permissions": { "owners": { "qq": ["9"] } } });
        crate::gateway::merge(&mut changes, more);
        changes
    };
    let gateway = Gateway::start(&model, owners(json!({}))).await;
    let fake = gateway.onebot().await;
    assert_eq!(
        fake.ask(1, "/reload").await,
        "Only an owner of the gateway may do that."
    );
    let same = fake.ask(OWNER, "/reload").await;
    assert_eq!(same, "Nothing has changed.");
    gateway.write("agent.yaml", "language: klingon\n");
    let wrong = fake.ask(OWNER, "/reload").await;
    assert!(
        wrong.starts_with("Nothing was changed: the configuration is wrong.")
            && wrong.contains("language"),
        "{wrong}"
    );
    assert_eq!(gateway.counted("bad_arguments").await, 1);
    let longer = owners(json!({ "context": { "keep_recent_messages": 9 } }));
    gateway.configure(&model, longer);
    let done = fake.ask(OWNER, "/reload").await;
    assert!(
        done.starts_with("The configuration is in force.")
            && done.contains("context.keep_recent_messages")
            || done == "Nothing has changed.",
        "the file may have been seen before: {done}"
    );
}

#[tokio::test]
async fn an_announcement_is_counted_first_and_then_reaches_every_conversation_once() {
    let model = FakeModel::start().await;
    let gateway = owned(&model).await;
    let fake = gateway.onebot().await;
    for user in 1..=3 {
        fake.ask(user, "/ping").await;
    }
    fake.ask_as("member", 50, 100_001, "/ping").await;
    let refused = fake.ask(1, "/broadcast hello").await;
    assert_eq!(refused, "Only an owner of the gateway may do that.");
    let dry = fake.ask(OWNER, "/broadcast Back at noon.").await;
    assert!(dry.starts_with("This would go to 4 conversations"), "{dry}");
    let told = fake.ask(OWNER, "/broadcast Back at noon. --yes").await;
    assert!(told.starts_with("It goes to 4 conversations"), "{told}");
    let mut said = fake.answers(4).await;
    said.dedup();
    assert_eq!(said, ["Back at noon."]);
    let left = "SELECT count(*) FROM outbox WHERE kind = 1 AND state < 2";
    assert!(until(|| rows(&gateway.database(), left) == ["0"]).await);
    let empty = fake.ask(OWNER, "/broadcast --yes").await;
    assert_eq!(empty, "/broadcast TEXT, with at most 2000 characters.");
}
