//! What the model is given: system prompt, history, names, batches, within the budget.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::spoken;
use crate::gateway::{Chat as _, Gateway, KEY};

#[tokio::test]
async fn a_private_turn_has_the_system_prompt_and_the_history_without_names() {
    let model = FakeModel::start().await;
    let changes = json!({ "context": { "system_prompt": "Be a lighthouse." } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.ask(1, "hello").await;
    fake.ask(1, "again").await;
    fake.ask(2, "somebody else").await;
    let requests = model.requests();
    assert_eq!(
        spoken(&requests[1]),
        [
            "system: Be a lighthouse.",
            "user: hello",
            "assistant: re: hello",
            "user: again"
        ]
    );
    assert_eq!(
        spoken(&requests[2]),
        ["system: Be a lighthouse.", "user: somebody else"]
    );
    let body = &requests[0].body;
    assert_eq!(
        (&body["model"], &body["stream"]),
        (&json!("test"), &json!(true))
    );
    assert_eq!(
        requests[0].header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

#[tokio::test]
async fn in_a_group_all_share_a_history_and_speakers_are_named() {
    let model = FakeModel::start().await;
    let changes = json!({ "context": { "system_prompt": "" } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 7, "I am tired", true).await;
    fake.answer().await;
    fake.send_group(50, 8, "who is tired?", true).await;
    fake.answer().await;
    assert_eq!(
        spoken(&model.requests()[1]),
        [
            "user: user 7: I am tired",
            "assistant: re: user 7: I am tired",
            "user: user 8: who is tired?"
        ]
    );
    fake.send_group(51, 8, "another group", true).await;
    fake.answer().await;
    assert_eq!(
        spoken(&model.requests()[2]),
        ["user: user 8: another group"]
    );
}

#[tokio::test]
async fn what_is_overheard_is_kept_in_number_and_for_a_time() {
    for (bounds, told) in [
        (json!({ "max_messages": 2 }), ["two", "three"].as_slice()),
        (json!({ "max_age": 4 }), ["three"].as_slice()),
    ] {
        let model = FakeModel::start().await;
        let mut ambient = json!({ "enable": true });
        crate::gateway::merge(&mut ambient, bounds.clone());
        let changes = json!({ "context": { "system_prompt": "", "ambient": ambient } });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        fake.send_group(50, 7, "one", false).await;
        fake.send_group(50, 7, "two", false).await;
        gateway.counts("not_addressed", 2).await;
        if bounds["max_age"].is_number() {
            // Nothing but time makes them old.
            tokio::time::sleep(Duration::from_millis(4_100)).await;
        }
        fake.send_group(50, 7, "three", false).await;
        fake.send_group(50, 8, "what was said?", true).await;
        fake.answer().await;
        let mut expected: Vec<String> = told
            .iter()
            .map(|text| format!("user: user 7: {text}"))
            .collect();
        expected.push("user: user 8: what was said?".to_owned());
        assert_eq!(spoken(&model.requests()[0]), expected, "{bounds}");
    }
}

#[tokio::test]
async fn the_scope_user_gives_everybody_his_own_history() {
    let model = FakeModel::start().await;
    let changes = json!({ "context": { "system_prompt": "", "scope": "user" } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    fake.send_group(50, 7, "mine", true).await;
    fake.answer().await;
    fake.send_group(50, 8, "other", true).await;
    fake.answer().await;
    assert_eq!(spoken(&model.requests()[1]), ["user: other"]);
}

#[tokio::test]
async fn a_burst_becomes_turns_of_at_most_so_many_messages() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer("first").before_headers(Duration::from_millis(1_500)));
    fake.send_private(1, "n0").await;
    model.wait_for(1).await;
    for number in 1..=7 {
        fake.send_private(1, &format!("n{number}")).await;
    }
    assert_eq!(fake.answer().await.text(), "first");
    fake.answers(2).await;
    let requests = model.requests();
    let asked: Vec<&str> = requests
        .iter()
        .map(|request| request.last_user_text())
        .collect();
    assert_eq!(asked, ["n0", "n1\nn2\nn3\nn4\nn5", "n6\nn7"]);
}

#[tokio::test]
async fn a_command_in_between_parts_a_burst_and_messages_of_others_are_never_merged() {
    let model = FakeModel::start().await;
    let changes = json!({
        "input_buffer": { "per_user_queue": false },
        "context": { "system_prompt": "" },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer("first").before_headers(Duration::from_millis(1_500)));
    fake.send_group(50, 1, "n0", true).await;
    model.wait_for(1).await;
    for (user, text) in [
        (1, "a"),
        (1, "b"),
        (2, "c"),
        (1, "d"),
        (1, "/output full"),
        (1, "e"),
    ] {
        fake.send_group(50, user, text, true).await;
    }
    fake.answers(6).await;
    let requests = model.requests();
    let asked: Vec<&str> = requests
        .iter()
        .map(|request| request.last_user_text())
        .collect();
    assert_eq!(
        asked,
        [
            "user 1: n0",
            "user 1: a\nb",
            "user 2: c",
            "user 1: d",
            "user 1: e"
        ]
    );
    assert_eq!(model.max_concurrency(), 1, "one queue, one turn");
}

#[tokio::test]
async fn a_silent_moment_is_awaited_if_wanted() {
    let model = FakeModel::start().await;
    let changes = json!({ "flow_control": { "debounce": 1.0, "debounce_max": 20 } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for text in ["one", "two", "three"] {
        fake.send_private(1, text).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(fake.answer().await.text(), "re: one\ntwo\nthree");
    assert_eq!(model.count(), 1);
}

#[tokio::test]
async fn a_full_context_keeps_the_system_prompt_and_the_newest_message() {
    let model = FakeModel::start_with(|_| Script::answer("ok")).await;
    let changes = json!({
        "context": {
            "system_prompt": "Be a lighthouse.",
            "max_context_tokens": 1_000,
            "keep_recent_messages": 4,
        },
        "memory": { "context_window": { "recent_rounds": 1, "summarize_beyond": false } },
        "language": "en",
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for number in 1..=5 {
        let filler = "word ".repeat(200);
        fake.ask(1, &format!("number {number} {filler}")).await;
    }
    let requests = model.requests();
    let last = spoken(&requests[4]);
    assert_eq!(last[0], "system: Be a lighthouse.");
    assert!(last.last().unwrap().starts_with("user: number 5 "));
    assert!(
        last.len() <= 6 && !last.iter().any(|text| text.contains("number 1")),
        "{last:?}"
    );
    let size: usize = last.iter().map(String::len).sum();
    assert!(size < 4_500, "{size} characters for 1000 tokens");
    fake.send_private(1, "/why").await;
    let why = fake.answer().await.text();
    assert!(why.contains("context_cut"), "{why}");
}

#[tokio::test]
async fn who_is_not_answered_is_not_overheard() {
    let model = FakeModel::start().await;
    let changes = json!({ "context": { "ambient": { "enable": true } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let owner = async |text: &str| fake.ask_as("owner", 50, 100_001, text).await;
    owner("/role @100002 blocked").await;
    owner("/role @100003 guest").await;
    let stages = [
        ("blacklist none", vec![3, 4]),
        ("blacklist @100003", vec![4]),
        ("whitelist @100001 @100003", vec![]),
        ("blacklist none", vec![3]),
        ("allow_guest_send off", vec![]),
        ("whitelist none", vec![4]),
    ];
    for (stage, (policy, overheard)) in stages.into_iter().enumerate() {
        let told = owner(&format!("/policy {policy}")).await;
        assert!(told.contains("is now"), "{policy}: {told}");
        let says = |user: u64| format!("plum {stage}.{user}");
        for user in 2..5 {
            fake.send_group(50, 100_000 + user, &says(user), false)
                .await;
        }
        owner("what is there?").await;
        let request = model.requests().pop().expect("a request");
        let texts = spoken(&request).join("\n");
        let told = (2..5).filter(|user| texts.contains(&says(*user)));
        assert_eq!(told.collect::<Vec<_>>(), overheard, "{policy}: {texts}");
    }
}

#[tokio::test]
async fn ambient_messages_are_context_only_where_that_is_switched_on() {
    for on in [true, false] {
        let model = FakeModel::start().await;
        let changes = json!({ "context": { "ambient": { "enable": on } } });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        fake.send_group(50, 7, "the sky is green", false).await;
        fake.send_group(50, 8, "what colour?", true).await;
        fake.answer().await;
        let request = spoken(&model.requests()[0]);
        let kept = request
            .iter()
            .any(|text| text == "user: user 7: the sky is green");
        assert_eq!(kept, on, "{request:?}");
        assert_eq!(fake.reply_count(), 1);
    }
}
