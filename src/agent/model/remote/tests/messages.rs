//! The messages format: requests, streams, calls, errors.

use serde_json::json;

use super::*;

fn speaks_messages(fake: &FakeModel) -> Remote {
    let root = fake.url();
    client(root.trim_end_matches("/v1"), |options| {
        options.format = Format::Messages;
    })
}

async fn once(script: Script) -> Result<Got, (Got, ModelError)> {
    let fake = FakeModel::start().await;
    fake.push(script);
    ask(&speaks_messages(&fake), "hi").await
}

#[tokio::test]
async fn an_answer_streams_with_its_cost_and_its_key_is_in_its_own_header() {
    let fake = FakeModel::start().await;
    let got = ask(&speaks_messages(&fake), "早上好").await.unwrap();
    let usage = vec![Usage {
        prompt: 10,
        completion: 4,
        total: 14,
    }];
    assert_eq!((got.text.as_str(), got.usage), ("re: 早上好", usage));
    assert_eq!(got.finish, [FinishReason::Stop]);
    let asked = &fake.requests()[0];
    assert_eq!(asked.header("x-api-key"), Some("k-very-secret"));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(asked.header("authorization"), None);
}

#[tokio::test]
async fn a_conversation_with_calls_becomes_blocks() {
    let fake = FakeModel::start().await;
    let call = |id: &str| ToolCall {
        id: id.into(),
        name: "f".into(),
        arguments: r#"{"x":1}"#.into(),
    };
    let result = |id: &str, text: &str| Message {
        answers: Some(id.into()),
        ..message(Role::Tool, text)
    };
    let called = Message {
        calls: vec![call("a"), call("b")],
        reasoning: Some("hm".into()),
        ..message(Role::Assistant, "so")
    };
    let mut asked = request(vec![
        message(Role::System, "be kind"),
        message(Role::User, "hi"),
        called,
        result("a", "one"),
        result("b", "two"),
        message(Role::User, "and?"),
    ]);
    asked.offered = Offered {
        tools: [Offer {
            name: "f".into(),
            description: "does f".into(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        callable: false,
    };
    drop(speaks_messages(&fake).open(&asked).await.unwrap());
    fake.wait_for(1).await;
    let body = &fake.requests()[0].body;
    assert_eq!(body["system"], "be kind");
    let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"x": 1}});
    let gave =
        |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "so"}, used("a"), used("b")]},
        {"role": "user", "content": [gave("a", "one"), gave("b", "two"), {"type": "text", "text": "and?"}]},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["max_tokens"], 8192);
}

#[tokio::test]
async fn calls_come_whole() {
    let calls = [("f", json!({"x": 1})), ("g", json!({}))];
    let got = once(Script::pieces(&["so"]).and_calls(&calls))
        .await
        .unwrap();
    let called = got.calls.unwrap().unwrap();
    let called: Vec<_> = called
        .iter()
        .map(|call| (&*call.id, &*call.name, &*call.arguments))
        .collect();
    assert_eq!(called, [("id0", "f", r#"{"x":1}"#), ("id1", "g", "{}")]);
    assert_eq!(
        (got.text.as_str(), got.finish),
        ("so", vec![FinishReason::ToolCalls])
    );
}

fn events(values: &[serde_json::Value]) -> Script {
    let text: String = values
        .iter()
        .map(|value| format!("data: {value}\n\n"))
        .collect();
    Script::raw([text])
}

#[tokio::test]
async fn thinking_cuts_and_unknown_events_are_told_apart() {
    let block = |kind: &str| json!({"type": "content_block_start", "index": 0, "content_block": {"type": kind}});
    let delta = |delta: serde_json::Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    let stop = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let end = json!({"type": "message_stop"});
    let got = once(events(&[
        block("thinking"),
        delta(json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(json!({"type": "signature_delta", "signature": "xyz"})),
        json!({"type": "something_new", "index": "odd"}),
        delta(json!({"type": "text_delta", "text": "yes"})),
        stop("max_tokens"),
        end.clone(),
    ]))
    .await;
    let got = got.unwrap();
    assert_eq!(
        (got.reasoning.as_deref(), got.text.as_str()),
        (Some("hm"), "yes")
    );
    assert_eq!(got.finish, [FinishReason::Length]);
    let begun = json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}});
    let cut = once(events(&[
        begun,
        delta(json!({"type": "input_json_delta", "partial_json": "{\"x\":"})),
        stop("max_tokens"),
        end.clone(),
    ]))
    .await;
    assert_eq!(cut.unwrap().calls, Some(Err(Broken::CutOff)));
    let (_, error) = once(events(&[
        delta(json!({"type": "text_delta", "text": "y"})),
        end,
    ]))
    .await
    .unwrap_err();
    assert_eq!(
        error.kind,
        ErrorClass::Network,
        "an end without a reason is none"
    );
}

#[tokio::test]
async fn errors_in_a_stream_are_errors() {
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let (_, told) = once(events(&[error])).await.unwrap_err();
    assert!(
        told.recoverable && told.message.contains("Overloaded"),
        "{told:?}"
    );
    let (_, told) = once(Script::error(429, "slow down")).await.unwrap_err();
    assert_eq!(told.kind, ErrorClass::RateLimit);
}

#[test]
fn addresses_of_the_format_are_joined() {
    for base in [
        "https://a.example",
        "https://a.example/",
        "https://a.example/v1",
        "https://a.example/v1/messages",
    ] {
        let url = endpoint(base, Format::Messages).unwrap();
        assert_eq!(url.as_str(), "https://a.example/v1/messages", "{base}");
    }
}
