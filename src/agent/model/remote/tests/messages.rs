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
        cached: 3,
        ..Usage::default()
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
    let kept = json!({"type": "ephemeral"});
    assert_eq!(
        body["system"],
        json!([{"type": "text", "text": "be kind", "cache_control": kept}])
    );
    let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"x": 1}});
    let gave =
        |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": text});
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "so"}, used("a"), used("b")]},
        {"role": "user", "content": [
            gave("a", "one"),
            {"type": "tool_result", "tool_use_id": "b", "content": "two", "cache_control": kept},
            {"type": "text", "text": "and?"},
        ]},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(body["tools"][0]["input_schema"], json!({"type": "object"}));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(body["max_tokens"], 8192);
}

/// Where a request asks for its beginning to be kept, as paths.
fn kept(body: &serde_json::Value) -> Vec<String> {
    fn look(at: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        if at.get("cache_control").is_some() {
            found.push(path.to_owned());
        }
        let list = at.as_array().into_iter().flatten().enumerate();
        list.for_each(|(place, one)| look(one, &format!("{path}/{place}"), found));
        let map = at.as_object().into_iter().flatten();
        map.for_each(|(key, one)| look(one, &format!("{path}/{key}"), found));
    }
    let mut found = Vec::new();
    look(body, "", &mut found);
    found.sort();
    found
}

#[tokio::test]
async fn the_beginning_that_comes_again_is_kept_and_nothing_where_that_is_off() {
    let fake = FakeModel::start().await;
    let called = Message {
        calls: vec![ToolCall {
            id: "a".into(),
            name: "f".into(),
            arguments: "{}".into(),
        }],
        ..message(Role::Assistant, "")
    };
    let result = Message {
        answers: Some("a".into()),
        ..message(Role::Tool, "one")
    };
    let mut said = vec![
        message(Role::System, "be kind"),
        message(Role::User, "first"),
    ];
    let ask = async |said: &[Message]| {
        let asked = request(said.to_vec());
        drop(speaks_messages(&fake).open(&asked).await.unwrap());
        kept(&fake.requests().pop().unwrap().body)
    };
    assert_eq!(ask(&said).await, ["/system/0"]);
    said.extend([message(Role::Assistant, "yes"), message(Role::User, "and?")]);
    let earlier = "/messages/1/content/0";
    assert_eq!(ask(&said).await, [earlier, "/system/0"]);
    said.extend([called, result]);
    let newest = "/messages/4/content/0";
    assert_eq!(ask(&said).await, [earlier, newest, "/system/0"]);
    let off = client(&fake.url(), |options| {
        options.format = Format::Messages;
        options.uncached = true;
    });
    drop(off.open(&request(said)).await.unwrap());
    assert_eq!(kept(&fake.requests().pop().unwrap().body), [""; 0]);
}

#[tokio::test]
async fn what_the_cache_gave_and_took_is_counted_apart() {
    let usage = json!({"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20});
    let got = once(events(&[
        json!({"type": "message_start", "message": {"usage": usage}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "y"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]))
    .await
    .unwrap();
    let expected = Usage {
        prompt: 125,
        completion: 7,
        total: 132,
        cached: 100,
        cache_written: 20,
    };
    assert_eq!(got.usage.last(), Some(&expected));
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
