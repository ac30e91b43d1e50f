//! What holds in a turn whatever format its provider is spoken to in.

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{Ending, FakeModel, Script},
    webchat::WebChatClient,
};

use super::streams::{drafts, finals, until_end};
use crate::gateway::{Chat as _, Gateway, merge};

pub(super) const KINDS: [&str; 3] = ["openai", "anthropic", "openai-responses"];

/// Changes after which the first provider is spoken to in a format.
pub(super) fn speaking(kind: &str) -> Value {
    json!({ "providers": { "main": { "kind": kind } } })
}

pub(super) fn sum(expression: &str) -> (&'static str, Value) {
    ("calculate", json!({ "expression": expression }))
}

#[tokio::test]
async fn calls_run_and_their_results_go_back_and_stay_in_the_history() {
    for kind in KINDS {
        let model = FakeModel::start().await;
        let gateway = Gateway::start(&model, speaking(kind)).await;
        let fake = gateway.onebot().await;
        let first = Script::pieces(&["let me ", "see"]).and_calls(&[sum("0.1 + 0.2"), sum("1/0")]);
        model.push(first);
        model.push(Script::answer("three tenths"));
        assert_eq!(fake.ask(1, "how much?").await, "three tenths", "{kind}");
        let requests = model.requests();
        assert!(
            requests[0].offered().contains(&"calculate".to_owned()),
            "{kind}"
        );
        let expected = ["id0: 0.3", "id1: Error: That is a division by zero."];
        assert_eq!(requests[1].results(), expected, "{kind}");
        let spoken = requests[1].spoken();
        assert!(
            spoken.contains(&"assistant: let me see".to_owned()),
            "{kind} {spoken:?}"
        );
        assert_eq!(
            requests[1].called()[0],
            r#"id0: calculate {"expression":"0.1 + 0.2"}"#
        );
        assert_eq!(fake.ask(1, "and now?").await, "re: and now?");
        let later = model.requests().pop().unwrap();
        assert_eq!(later.results(), expected, "{kind}");
        assert_eq!(later.spoken().last().unwrap(), "user: and now?");
        let log = fake.ask(1, "/log").await;
        assert!(log.contains("tools: calculate"), "{kind} {log}");
    }
}

#[tokio::test]
async fn a_call_that_is_cut_off_never_runs_and_the_model_is_told() {
    let half = r#"{"expression":"1 +"#;
    let cut = |kind: &str| {
        let events = match kind {
            "openai" => vec![
                json!({ "choices": [{ "index": 0, "finish_reason": "tool_calls", "delta": {
                "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "calculate", "arguments": half } }],
            } }] }),
            ],
            "anthropic" => vec![
                json!({ "type": "content_block_start", "index": 0,
                    "content_block": { "type": "tool_use", "id": "a", "name": "calculate", "input": {} } }),
                json!({ "type": "content_block_delta", "index": 0,
                    "delta": { "type": "input_json_delta", "partial_json": half } }),
                json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" } }),
                json!({ "type": "message_stop" }),
            ],
            _ => vec![
                json!({ "type": "response.output_item.added", "output_index": 0, "item": {
                    "type": "function_call", "id": "fc", "call_id": "a", "name": "calculate", "arguments": "" } }),
                json!({ "type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "fc",
                    "delta": half }),
                json!({ "type": "response.completed", "response": { "status": "completed" } }),
            ],
        };
        let events = events.iter().map(|event| format!("data: {event}\n\n"));
        Script::raw([events.collect::<String>()])
    };
    for kind in KINDS {
        let model = FakeModel::start().await;
        let gateway = Gateway::start(&model, speaking(kind)).await;
        let fake = gateway.onebot().await;
        model.push(cut(kind));
        let told = fake.ask(1, "go").await;
        assert!(
            told.contains("None of your last tool calls was run"),
            "{kind} {told}"
        );
        let why = fake.ask(1, "/why").await;
        assert!(why.contains("tool_calls_broken"), "{kind} {why}");
        assert!(model.requests()[1].called().is_empty(), "{kind}");
    }
}

#[tokio::test]
async fn a_broken_stream_is_asked_again_and_replaced() {
    for kind in KINDS {
        let model = FakeModel::start().await;
        let gateway = Gateway::start(&model, speaking(kind)).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        model.push(Script::pieces(&["Good morning, this was said bef"]).ending(Ending::BreakOff));
        let error = r#"{"error":{"message":"overloaded","code":503}}"#;
        model.push(Script::raw([error]));
        model.push(Script::pieces(&["Good ", "morning!"]).thinking("hidden thoughts"));
        client.say("m1", "hi").await;
        let frames = until_end(&mut client).await;
        assert_eq!(finals(&frames), ["Good morning!"], "{kind}");
        let shown = drafts(&frames);
        assert!(!format!("{shown:?}").contains("hidden"), "{kind} {shown:?}");
        assert_eq!(model.count(), 3, "{kind}");
    }
}

#[tokio::test]
async fn a_turn_with_tools_goes_on_with_a_model_of_any_other_format() {
    for first_kind in KINDS {
        for second_kind in KINDS.into_iter().filter(|kind| *kind != first_kind) {
            let (first, second) = (FakeModel::start().await, FakeModel::start().await);
            let mut changes = speaking(first_kind);
            merge(
                &mut changes,
                json!({
                    "providers": { "other": { "kind": second_kind, "base_url": second.url(),
                        "api_key": "k-of-the-second" } },
                    "models": { "chat": ["main/test", "other/big"] },
                    "error_recovery": { "max_retries": { "api": 0 } },
                }),
            );
            let gateway = Gateway::start(&first, changes).await;
            let fake = gateway.onebot().await;
            let kinds = format!("{first_kind} to {second_kind}");
            first.push(Script::pieces(&["I reckon."]).and_calls(&[sum("6 * 7"), sum("1/0")]));
            first.push(Script::error(500, "overloaded"));
            first.push(Script::error(500, "overloaded"));
            second.push(Script::calls(&[sum("40 + 2")]));
            second.push(Script::answer("it is 42"));
            assert_eq!(fake.ask(1, "go").await, "it is 42", "{kinds}");
            let asked = second.requests().remove(0);
            let results = ["id0: 42", "id1: Error: That is a division by zero."];
            assert_eq!(asked.results(), results, "{kinds}");
            let spoken = asked.spoken();
            assert!(
                spoken.contains(&"assistant: I reckon.".to_owned()),
                "{kinds} {spoken:?}"
            );
            // And back: the first one answers again, with what the second one called.
            assert_eq!(fake.ask(1, "and?").await, "re: and?", "{kinds}");
            let later = first.requests().pop().unwrap();
            assert_eq!(later.results().len(), 3, "{kinds}");
        }
    }
}

/// The reasoning in a request that only its model can read.
fn sealed(request: &Value) -> Vec<&str> {
    let items = request["input"].as_array().into_iter().flatten();
    let items = items.filter(|item| item["type"] == "reasoning");
    items
        .map(|item| item["encrypted_content"].as_str().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn what_only_the_model_reads_goes_back_to_it_within_the_turn_and_nowhere_else() {
    let (model, other) = (FakeModel::start().await, FakeModel::start().await);
    let mut changes = speaking("openai-responses");
    let provider = |url: Option<String>| {
        let mut provider = json!({ "kind": "openai-responses",
            "models": { "test": { "reasoning": true, "reasoning_summary": true } } });
        if let Some(url) = url {
            provider["base_url"] = url.into();
        }
        provider
    };
    merge(
        &mut changes,
        json!({
            "providers": { "main": provider(None), "other": provider(Some(other.url())) },
            "models": { "chat": ["main/test", "other/test"] },
            "error_recovery": { "max_retries": { "api": 0 } },
        }),
    );
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::calls(&[sum("6 * 7")]).thinking("first thought"));
    model.push(Script::calls(&[sum("1 + 1")]).thinking("second thought"));
    model.push(Script::error(500, "overloaded"));
    assert_eq!(fake.ask(1, "go").await, "re: go");
    let asked = model.requests();
    assert_eq!(
        asked[0].body["include"],
        json!(["reasoning.encrypted_content"])
    );
    assert_eq!(sealed(&asked[1].body), ["sealed:first thought"]);
    let both = ["sealed:first thought", "sealed:second thought"];
    assert_eq!(sealed(&asked[2].body), both);
    let fallback = other.requests().remove(0);
    assert_eq!(
        fallback.results(),
        ["id0: 42", "id0-2: 2"],
        "it knows what was done"
    );
    assert!(sealed(&fallback.body).is_empty(), "and cannot read that");
    assert_eq!(fake.ask(1, "and?").await, "re: and?");
    let later = model.requests().pop().unwrap();
    assert!(
        sealed(&later.body).is_empty(),
        "another turn has no use for it"
    );
    assert_eq!(later.results().len(), 2);
}

#[tokio::test]
async fn a_wish_that_the_format_does_not_know_is_refused() {
    let model = FakeModel::start().await;
    let changes =
        json!({ "providers": { "main": { "models": { "test": { "reasoning": true } } } } });
    let gateway = Gateway::prepare(&model, changes);
    let output = gateway.command(&["check"]).output().await.unwrap();
    let said = format!("{output:?}");
    assert!(said.contains("openai-responses"), "{said}");
}

#[tokio::test]
async fn a_model_is_asked_for_whole_answers_and_by_the_name_of_its_limit_where_that_is_wanted() {
    for kind in KINDS {
        let wants = json!({ "stream": false, "max_output_tokens": 500 });
        let (name, own) = match kind {
            "openai" => (
                "max_completion_tokens",
                json!({ "limit_name": "max_completion_tokens" }),
            ),
            "anthropic" => ("max_tokens", json!({})),
            _ => ("max_output_tokens", json!({})),
        };
        let model = FakeModel::start().await;
        let mut changes = speaking(kind);
        changes["providers"]["main"]["models"] = json!({ "test": wants });
        merge(&mut changes["providers"]["main"]["models"]["test"], own);
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        assert_eq!(fake.ask(1, "hello").await, "re: hello", "{kind}");
        let asked = model.requests().pop().unwrap().body;
        assert!(asked["stream"] != true, "{kind} {asked}");
        assert_eq!(asked[name], 500, "{kind} {asked}");
        assert!(kind != "openai" || asked["max_tokens"].is_null(), "{asked}");
    }
}
