//! Where memory is kept: over a crash, in a file of its own, in the process; and found by its meaning.

use serde_json::json;
use weirgate_testkit::model::Script;

use super::{agreeing, last, started, whole};
use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT, execute, rows, until},
};

async fn a_crash_loses_nothing_and_deletion_leaves_nothing(on: Engine) {
    let model = agreeing().await;
    let changes = json!({ "language": "en" });
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    gateway.up().await;
    let fake = gateway.onebot().await;
    fake.ask(1, "/memory add My cat is called Pangur.").await;
    fake.ask(1, "/memory add 我对花生过敏").await;
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    // The last answer before the kill may come once more.
    let asked = async |text: &str| {
        fake.send_private(1, text).await;
        while fake.next_reply(LIMIT).await.expect("an answer").text() != "ok" {}
    };
    asked("how is the cat called?").await;
    assert!(
        last(&model)
            .last_user_text()
            .contains("- My cat is called Pangur.")
    );
    asked("花生酱能吃吗？").await;
    let told = last(&model);
    assert!(told.last_user_text().contains("- 我对花生过敏"), "{told:?}");
    fake.ask(1, "/forget all").await;
    assert_eq!(fake.ask(1, "/memory").await, "Nothing is remembered here.");
    if on == Engine::Sqlite {
        gateway.term().await;
        let file = gateway.database();
        let of = |sql: &str| rows(&file, sql).concat();
        assert_eq!(of("SELECT count(*) FROM memory"), "0");
        let bytes = std::fs::read(&file).unwrap();
        let holds = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(
            !holds("花生 过敏") && !holds("pangur"),
            "in the table or in the index"
        );
    }
}

suite!(a_crash_loses_nothing_and_deletion_leaves_nothing);

#[tokio::test]
async fn a_file_of_its_own_keeps_it_and_the_process_alone_does_not() {
    for (backend, stays) in [("sqlite", true), ("memory", false)] {
        let model = agreeing().await;
        let mut gateway = started(&model, json!({ "backend": backend })).await;
        let fake = gateway.onebot().await;
        fake.ask(1, "/memory add My cat is called Pangur.").await;
        assert!(fake.ask(1, "/memory").await.contains("Pangur"));
        gateway.term().await;
        assert_eq!(
            rows(&gateway.database(), "SELECT count(*) FROM memory"),
            ["0"]
        );
        gateway.up().await;
        assert!(fake.connection_is(true, LIMIT).await);
        assert_eq!(
            fake.ask(1, "/memory").await.contains("Pangur"),
            stays,
            "{backend}"
        );
        let file = gateway
            .database()
            .with_file_name("memory")
            .join("memory.db");
        assert_eq!(file.is_file(), stays);
    }
}

#[tokio::test]
async fn with_a_model_of_meanings_other_words_find_it_too() {
    for known in [true, false] {
        let model = agreeing().await;
        let mut changes = json!({ "language": "en" });
        if known {
            changes["models"] = json!({ "embed": "main/meanings" });
        }
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        fake.ask(1, "/memory add The automobile is red.").await;
        fake.ask(1, "/memory add The puppy sleeps.").await;
        fake.ask(1, "which car?").await;
        let asked = whole(&last(&model));
        assert_eq!(asked.contains("The automobile is red."), known, "{asked}");
        assert!(!asked.contains("puppy"), "{asked}");
    }
}

#[tokio::test]
async fn what_was_over_while_nothing_ran_is_not_told_any_more() {
    let model = agreeing().await;
    let mut gateway = started(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for text in ["The parcel locker has the code 4711.", "The tent is green."] {
        model.push(Script::calls(&[(
            "memory",
            json!({ "action": "remember", "text": text, "keep": "day", "importance": 0.5 }),
        )]));
        fake.ask(1, "remember that").await;
    }
    fake.ask(1, "/reset").await;
    gateway.kill().await;
    let day = "UPDATE memory SET updated_at = updated_at - 90000000, recalled_at = 0";
    execute(
        &gateway.database(),
        &format!("{day} WHERE content LIKE '%4711%'"),
    );
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    fake.send_private(
        1,
        "which code has the parcel locker, and what colour is the tent?",
    )
    .await;
    // The answer to the command may come once more.
    while fake.next_reply(LIMIT).await.expect("an answer").text() != "ok" {}
    let told = whole(&last(&model));
    assert!(told.contains("The tent is green."), "{told}");
    assert!(!told.contains("4711"), "{told}");
    // It is looked through at the start, not an hour later.
    let left = || rows(&gateway.database(), "SELECT content FROM memory");
    assert!(
        until(|| left() == ["The tent is green."]).await,
        "{:?}",
        left()
    );
}
