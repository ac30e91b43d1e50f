//! How much of a history is read and stays word for word, by the configuration as it is now and by its age.

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use super::spoken;
use crate::{
    gateway::{Chat as _, Gateway, LIMIT, execute},
    memory::RECORD,
    reload::{reads, started},
};

/// What is not looked at here takes no time.
fn changes(rounds: usize) -> Value {
    json!({
        "memory": {
            "extract": "off",
            "context_window": { "recent_rounds": rounds, "summarize_beyond": false },
        },
        "tools": { "internal": { "enabled": false }, "skills": { "enabled": false } },
        "agent_collaboration": { "subagents": { "enabled": false } },
        "language": "en",
    })
}

#[tokio::test]
async fn more_rounds_are_read_from_the_reload_on_that_wants_them() {
    let model = FakeModel::start().await;
    let gateway = started(&model, changes(10)).await;
    let fake = gateway.onebot().await;
    // The rows of 100 turns are read at least.
    for number in 1..=103 {
        fake.ask(1, &format!("word {number}")).await;
    }
    let told = |text: &str| {
        let last = model.requests().pop().unwrap();
        spoken(&last).iter().any(|said| said == text)
    };
    assert!(!told("user: word 1") && told("user: word 9"));
    gateway.configure(&model, changes(200));
    reads(&gateway, "applied", 1).await;
    fake.ask(1, "word 104").await;
    assert!(told("user: word 1"), "what is kept beside the store is old");
}

#[tokio::test]
async fn what_is_older_than_so_many_hours_is_summarised_unless_that_is_off() {
    for (hours, by_age, summarised) in [(1, true, true), (3, true, false), (1, false, false)] {
        let model = FakeModel::start_with(|asked| {
            let summary = asked.starts_with(RECORD);
            Script::answer(if summary { "[Findings]\nnone" } else { "ok" })
        })
        .await;
        let changes = json!({
            "context": {
                "keep_recent_messages": 2,
                "retention": { "recent_hours": hours, "summarize_after": by_age },
            },
            "memory": { "extract": "off", "context_window": { "recent_rounds": 1 } },
            "language": "en",
        });
        let mut gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        for number in 1..=13 {
            fake.ask(1, &format!("word {number} of what was said long ago"))
                .await;
        }
        gateway.term().await;
        execute(&gateway.database(), "UPDATE history SET at = at - 7200000");
        gateway.up().await;
        assert!(fake.connection_is(true, LIMIT).await);
        fake.ask(1, "and now?").await;
        let case = format!("{hours}, {by_age}");
        if summarised {
            gateway.counts("context_summarised", 1).await;
        }
        fake.ask(1, "and then?").await;
        fake.ask(1, "and at last?").await;
        let last = model.requests().into_iter().rev();
        let mut last = last.filter(|one| !one.last_user_text().starts_with(RECORD));
        let said = spoken(&last.next().unwrap()).join("\n");
        assert_eq!(
            said.contains("what was said before, in short"),
            summarised,
            "{case}"
        );
        assert_eq!(
            !said.contains("user: word 5 of"),
            summarised,
            "{case}: {said}"
        );
        assert_eq!(
            gateway.counted("context_summarised").await,
            u64::from(summarised),
            "{case}"
        );
    }
}
