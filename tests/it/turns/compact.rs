//! Long conversations: the middle is summarised, and what cannot be sent is said or mended.

use std::{
    sync::Arc,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, RecordedRequest, Script};

use super::spoken;
use crate::gateway::{Chat as _, Gateway, LIMIT, execute};

const CANARY: &str = "Be a lighthouse. Always end with ✅.";

/// What a model is asked that is to summarise begins with this.
const RECORD: &str = "[record of a conversation";

fn changes(context: Value) -> Value {
    let mut changes = json!({
        "context": {
            "system_prompt": CANARY,
            "max_context_tokens": 1_200,
            "compress_threshold": 0.5,
            "keep_recent_messages": 4,
        },
        "memory": { "context_window": { "recent_rounds": 1 } },
        "language": "en",
        // What is declared of tools takes its part of the context.
        "tools": { "internal": { "enabled": false }, "skills": { "enabled": false } },
        "agent_collaboration": { "subagents": { "enabled": false } },
    });
    crate::gateway::merge(&mut changes["context"], context);
    changes
}

/// The facts that a text has, each once, in order.
fn facts(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let mut facts: Vec<String> = words
        .filter(|word| {
            let number = word.strip_prefix('F');
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .map(str::to_owned)
        .collect();
    facts.sort();
    facts.dedup();
    facts
}

/// A model that keeps of a record the facts that are in it and nothing else.
async fn keeper_of_facts() -> FakeModel {
    FakeModel::start_with(|asked| {
        if asked.starts_with(RECORD) {
            Script::answer(&format!("[Findings]\n{}", facts(asked).join(", ")))
        } else {
            Script::answer("ok")
        }
    })
    .await
}

fn is_summary(request: &RecordedRequest) -> bool {
    request.last_user_text().starts_with(RECORD)
}

fn filler() -> String {
    "word ".repeat(40)
}

async fn summarised(gateway: &Gateway, times: u64) {
    gateway.counts("context_summarised", times).await;
}

#[tokio::test]
async fn over_many_summaries_the_prompt_stays_and_no_fact_is_lost() {
    let model = keeper_of_facts().await;
    let gateway = Gateway::start(&model, changes(json!({}))).await;
    let fake = gateway.onebot().await;
    let mut due = 0;
    for number in 1..=40 {
        let fact = if number % 8 == 0 { number / 8 } else { 0 };
        fake.ask(1, &format!("F{fact} holds. {}", filler())).await;
        if number % 12 == 0 {
            due += 1;
            summarised(&gateway, due).await;
        }
    }
    fake.ask(1, "what holds?").await;
    let requests = model.requests();
    for request in requests.iter().filter(|request| !is_summary(request)) {
        let said = spoken(request);
        assert_eq!(said[0], format!("system: {CANARY}"));
        assert!(!said[1..].iter().any(|text| text.starts_with("system: ")));
        assert!(
            said[1].starts_with("user: F0 holds. "),
            "the first stays: {}",
            said[1]
        );
    }
    // The next summary may be asked for already.
    let asked = requests.iter().rfind(|request| !is_summary(request));
    let last = spoken(asked.unwrap());
    let known = facts(&last.join("\n"));
    assert_eq!(known, ["F0", "F1", "F2", "F3", "F4", "F5"], "{last:?}");
    let summary = &last[3];
    assert!(
        summary.starts_with("user: [From the gateway: what was said before, in short."),
        "{summary}"
    );
    assert!(summary.contains("\n> [Findings]\n> F"), "{summary}");
    assert_eq!(last.last().unwrap(), "user: what holds?");
    // Every summary was given the one before.
    let records = requests.iter().filter(|request| is_summary(request));
    let earlier = records.skip(1).all(|request| {
        request
            .last_user_text()
            .contains("> Earlier summary:\n> [Findings]")
    });
    assert!(earlier);
}

#[tokio::test]
async fn a_model_of_its_own_summarises_with_the_instruction_and_the_form() {
    let model = keeper_of_facts().await;
    let mut changes = changes(json!({ "compress_instruction": "Keep it short." }));
    changes["models"] = json!({ "compress": ["main/small"] });
    changes["memory"]["retention"] = json!({ "summary_keep_key_points": 3 });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for number in 1..=12 {
        fake.ask(1, &format!("F{number} {}", filler())).await;
    }
    summarised(&gateway, 1).await;
    for request in model.requests() {
        let expected = if is_summary(&request) {
            "small"
        } else {
            "test"
        };
        assert_eq!(request.body["model"], expected);
        if is_summary(&request) {
            let told = &spoken(&request)[0];
            assert!(told.starts_with("system: Keep it short.\n\n"), "{told}");
            assert!(told.contains("At most 3 points") && told.contains("[Pending]"));
            assert_eq!(request.body["tools"], Value::Null);
        }
    }
}

#[tokio::test]
async fn what_does_not_work_changes_nothing_and_is_not_tried_at_once_again() {
    let broken = Arc::new(AtomicBool::new(true));
    let fails = Arc::clone(&broken);
    let model = FakeModel::start_with(move |asked| {
        if !asked.starts_with(RECORD) {
            Script::answer("ok")
        } else if fails.load(Ordering::Relaxed) {
            // Longer than what it stands for.
            Script::answer(&asked.repeat(2))
        } else {
            Script::answer("[Findings]\nF1")
        }
    })
    .await;
    let gateway = Gateway::start(&model, changes(json!({}))).await;
    let fake = gateway.onebot().await;
    for _ in 1..=12 {
        fake.ask(1, &format!("F1 {}", filler())).await;
    }
    gateway.counts("summary_failed", 1).await;
    assert_eq!(gateway.counted("context_summarised").await, 0);
    let failures = model
        .requests()
        .iter()
        .filter(|request| is_summary(request))
        .count();
    assert!(failures <= 2, "{failures} tries in 12 turns");
    let last = spoken(
        model
            .requests()
            .iter()
            .rfind(|request| !is_summary(request))
            .unwrap(),
    );
    assert!(
        last.len() > 6,
        "the history is there as far as it fits: {last:?}"
    );
    broken.store(false, Ordering::Relaxed);
    for _ in 1..=12 {
        fake.ask(1, &format!("F1 {}", filler())).await;
    }
    summarised(&gateway, 1).await;
}

#[tokio::test]
async fn where_there_is_no_room_the_summary_is_made_before_the_answer() {
    let model = keeper_of_facts().await;
    let changes = changes(json!({ "compress_threshold": 1.0, "max_context_tokens": 1_000 }));
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for number in 1..=8 {
        fake.ask(1, &format!("F{number} {}", filler())).await;
    }
    assert!(!model.requests().iter().any(is_summary));
    fake.ask(1, &format!("F9 {}", "word ".repeat(500))).await;
    let requests = model.requests();
    let [.., summary, answered] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert!(is_summary(summary) && !is_summary(answered));
    let known = facts(&spoken(answered).join("\n"));
    assert_eq!(known.len(), 9, "{known:?}");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("context_summarised"), "{why}");
}

#[tokio::test]
async fn a_summary_that_does_not_come_ends_with_the_time_of_the_turn() {
    let model = FakeModel::start_with(|asked| {
        if asked.starts_with(RECORD) {
            Script::hang()
        } else {
            Script::answer("ok")
        }
    })
    .await;
    let mut changes = changes(json!({ "compress_threshold": 1.0, "max_context_tokens": 1_000 }));
    changes["flow_control"] = json!({ "turn_timeout": 1 });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for number in 1..=8 {
        fake.ask(1, &format!("F{number} {}", filler())).await;
    }
    fake.ask(1, &format!("F9 {}", "word ".repeat(500))).await;
    assert!(model.requests().last().is_some_and(is_summary));
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("turn_timeout"), "{why}");
}

#[tokio::test]
async fn many_short_rounds_are_summarised_too_unless_that_is_off() {
    for on in [true, false] {
        let model = keeper_of_facts().await;
        let mut changes = changes(json!({ "compress_threshold": 1.0 }));
        changes["memory"]["retention"] = json!({ "auto_summary_threshold": 6 });
        changes["memory"]["context_window"]["summarize_beyond"] = json!(on);
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        for number in 1..=9 {
            fake.ask(1, &format!("F{number}")).await;
        }
        if on {
            summarised(&gateway, 1).await;
        }
        assert_eq!(model.requests().iter().any(is_summary), on);
    }
}

#[tokio::test]
async fn what_can_never_fit_is_told_and_changes_nothing() {
    let model = FakeModel::start_with(|_| Script::answer("ok")).await;
    let gateway = Gateway::start(&model, changes(json!({}))).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    let told = fake.ask(1, &"word ".repeat(2_000)).await;
    assert!(
        told.starts_with("That is too long for the model: about 25"),
        "{told}"
    );
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("context_overflow"), "{why}");
    fake.ask(1, "again").await;
    let requests = model.requests();
    assert_eq!(requests.len(), 2, "the model was not asked");
    assert_eq!(
        spoken(&requests[1]),
        [
            &format!("system: {CANARY}"),
            "user: hello",
            "assistant: ok",
            "user: again"
        ]
    );
}

#[tokio::test]
async fn a_history_that_was_damaged_is_mended_while_it_is_read() {
    let model = FakeModel::start_with(|_| Script::answer("ok")).await;
    let mut gateway = Gateway::start(&model, changes(json!({}))).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    fake.ask(1, "more").await;
    assert_eq!(gateway.term().await.code(), Some(0));
    let cut = r#"{"v":1,"parts":[{"type":"call","id":"a","name":"f","arguments":"{\"path\":"}]}"#;
    execute(
        &gateway.database(),
        &format!(
            "UPDATE history SET parts = '{cut}' WHERE id = (SELECT max(id) FROM history);
             UPDATE history SET parts = 'no JSON' WHERE id = (SELECT min(id) FROM history)"
        ),
    );
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.ask(1, "well?").await, "ok");
    let request = model.requests().pop().unwrap();
    let messages = request.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    let call = &messages[2]["tool_calls"][0];
    assert_eq!(call["function"]["arguments"], "{}");
    assert_eq!(messages[3]["tool_call_id"], call["id"]);
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("history_repaired"), "{why}");
}

#[tokio::test]
async fn who_summarises_is_told_no_more_than_he_takes() {
    for name in [
        json!({ "models": { "compress": ["main/small"] } }),
        json!({ "context": { "compress_provider_id": "main/small" } }),
    ] {
        let model = keeper_of_facts().await;
        let mut all = changes(json!({ "max_context_tokens": 6_000 }));
        let small = json!({ "providers": { "main": { "models": { "small": { "context_tokens": 600 } } } } });
        crate::gateway::merge(&mut all, small);
        crate::gateway::merge(&mut all, name);
        let gateway = Gateway::start(&model, all).await;
        let fake = gateway.onebot().await;
        for number in 1..=20 {
            fake.ask(1, &format!("F{number} holds. {}", filler().repeat(4)))
                .await;
        }
        summarised(&gateway, 1).await;
        let requests = model.requests();
        let asked: Vec<_> = requests
            .iter()
            .filter(|request| is_summary(request))
            .collect();
        for request in &asked {
            assert_eq!(request.body["model"], "small");
            let size: usize = spoken(request).iter().map(String::len).sum();
            // Four letters to a token, and what he is to do comes along.
            assert!(size < 600 * 4 + 1_500, "{size}");
        }
        assert!(!asked.is_empty());
    }
}

#[tokio::test]
async fn as_many_rounds_stay_as_were_wished_for() {
    let model = FakeModel::start_with(|_| Script::answer("ok")).await;
    let wished = json!({
        "memory": {
            "context_window": { "recent_rounds": 150 },
            "retention": { "auto_summary_threshold": 300 },
        },
    });
    let mut gateway = Gateway::start(&model, wished).await;
    let fake = gateway.onebot().await;
    for number in 1..=120 {
        fake.ask(1, &format!("F{number} holds")).await;
    }
    // Not only from memory.
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    fake.send_private(1, "what holds?").await;
    model.wait_for(121).await;
    let last = spoken(model.requests().last().unwrap()).join("\n");
    assert_eq!(facts(&last).len(), 120);
    assert_eq!(model.count(), 121, "nothing is summarised");
}
