//! The responses format: requests, streams, calls, errors.

use serde_json::{Value, json};

use super::*;
use crate::agent::model::Sealed;

fn speaks_responses(fake: &FakeModel) -> Remote {
    client(&fake.url(), |options| {
        options.format = Format::Responses;
        options.takes.pictures = true;
        options.reasoning = true;
        options.reasoning_summary = true;
    })
}

async fn told(script: Script) -> Result<Got, (Got, ModelError)> {
    let fake = FakeModel::start().await;
    fake.push(script);
    ask(&speaks_responses(&fake), "hi").await
}

async fn events(values: &[Value]) -> Result<Got, (Got, ModelError)> {
    let text: String = values
        .iter()
        .map(|value| format!("data: {value}\n\n"))
        .collect();
    told(Script::raw([text])).await
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn begun(at: i64, id: &str, name: &str) -> Value {
    let item = json!({"type": "function_call", "id": id, "call_id": format!("call-{id}"), "name": name, "arguments": ""});
    json!({"type": "response.output_item.added", "output_index": at, "item": item})
}

fn piece(at: i64, id: &str, more: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": id, "delta": more})
}

fn whole(at: i64, id: &str, arguments: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "output_index": at, "item_id": id,
        "arguments": arguments})
}

#[tokio::test]
async fn the_request_leaves_nothing_with_the_provider() {
    let fake = FakeModel::start().await;
    let model = speaks_responses(&fake);
    let sealed = |model: &str| {
        Sealed {
        model: model.into(),
        items: json!([{"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "sealed:x"}])
            .to_string(),
    }
    };
    let called = |sealed: Sealed, id: &str| Message {
        sealed: Some(sealed),
        calls: vec![ToolCall {
            id: id.into(),
            name: "f".into(),
            arguments: "{}".into(),
        }],
        reasoning: Some("a summary".into()),
        ..message(Role::Assistant, "")
    };
    let result = |id: &str| Message {
        answers: Some(id.into()),
        ..message(Role::Tool, "one")
    };
    let png = "data:image/png;base64,iVBORw0KGgo=";
    let shown = Message {
        enclosed: vec![enclosed(Medium::Picture, "image/png", png)],
        ..message(Role::User, "look")
    };
    let mut asked = request(vec![
        message(Role::System, "be kind"),
        shown,
        called(sealed("local/tiny"), "a"),
        result("a"),
        called(sealed("another/model"), "b"),
        result("b"),
    ]);
    asked.offered = Offered {
        tools: [Offer {
            name: "f".into(),
            description: "does f".into(),
            parameters: json!({"type": "object"}),
        }]
        .into(),
        callable: true,
    };
    asked.max_output_tokens = Some(99);
    drop(model.open(&asked).await.unwrap());
    fake.wait_for(1).await;
    let seen = fake.requests().remove(0);
    assert_eq!(seen.header("authorization"), Some("Bearer k-very-secret"));
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let gave = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "one"});
    let expected = json!({
        "model": "tiny", "stream": true, "store": false, "instructions": "be kind",
        "include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}, "max_output_tokens": 99,
        "tools": [{"type": "function", "name": "f", "description": "does f",
            "parameters": {"type": "object"}, "strict": false}],
        "input": [
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": png},
            ]},
            {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "sealed:x"},
            call("a"), gave("a"), call("b"), gave("b"),
        ],
    });
    assert_eq!(seen.body, expected);
    let plain = client(&fake.url(), |options| options.format = Format::Responses);
    drop(plain.open(&asked).await.unwrap());
    fake.wait_for(2).await;
    let body = fake.requests().remove(1).body;
    assert!(body.get("include").is_none() && body.get("reasoning").is_none());
    assert!(!body.to_string().contains("sealed:x") && !body.to_string().contains("input_image"));
}

#[tokio::test]
async fn what_only_the_model_reads_is_kept_once_and_a_summary_is_read() {
    for stream in [true, false] {
        let fake = FakeModel::start().await;
        fake.push(Script::calls(&[("f", json!({"x": 1}))]).thinking("hm"));
        let model = client(&fake.url(), |options| {
            options.format = Format::Responses;
            options.reasoning = true;
            options.stream = stream;
        });
        let got = ask(&model, "hi").await.unwrap();
        assert_eq!(got.reasoning.as_deref(), Some("hm"), "{stream}");
        let sealed: Value = serde_json::from_str(&got.sealed.unwrap()).unwrap();
        let expected = json!([{"type": "reasoning", "id": "rs_0", "encrypted_content": "sealed:hm",
            "summary": [{"type": "summary_text", "text": "hm"}]}]);
        assert_eq!(sealed, expected, "{stream}");
        assert_eq!(got.calls.unwrap().unwrap()[0].arguments, r#"{"x":1}"#);
    }
    let large = "x".repeat(600 * 1024);
    let item = json!({"type": "reasoning", "id": "r", "summary": [], "encrypted_content": large});
    let got = events(&[completed(json!([item]))]).await.unwrap();
    assert_eq!(got.sealed, None, "more than is sent back");
}

#[tokio::test]
async fn calls_side_by_side_are_not_mixed_up() {
    let got = events(&[
        begun(1, "a", "f"),
        begun(2, "b", "g"),
        piece(2, "b", "{\"y\""),
        piece(1, "a", "{\"x\":"),
        piece(2, "b", ":2}"),
        piece(1, "a", "1}"),
        whole(2, "b", r#"{"y":2}"#),
        whole(1, "a", r#"{"x":1}"#),
        completed(json!([])),
    ])
    .await
    .unwrap();
    let called = got.calls.unwrap().unwrap();
    let called: Vec<_> = called
        .iter()
        .map(|call| (&*call.id, &*call.name, &*call.arguments))
        .collect();
    assert_eq!(
        called,
        [("call-a", "f", r#"{"x":1}"#), ("call-b", "g", r#"{"y":2}"#)]
    );
    assert_eq!(got.finish, [FinishReason::ToolCalls]);
}

#[tokio::test]
async fn calls_that_are_cut_or_mixed_run_nothing() {
    let broken = |events: Vec<Value>| async move {
        let got = self::events(&events).await.unwrap();
        got.calls.unwrap().unwrap_err()
    };
    let lost = vec![
        begun(0, "a", "f"),
        piece(0, "a", "{\"x\":"),
        piece(0, "a", "}"),
        whole(0, "a", r#"{"x":1}"#),
        completed(json!([])),
    ];
    assert_eq!(broken(lost).await, Broken::Mixed);
    let never = vec![begun(0, "a", "f"), completed(json!([]))];
    assert_eq!(broken(never).await, Broken::Arguments);
    let strange = vec![piece(3, "zz", "{}"), completed(json!([]))];
    assert_eq!(broken(strange).await, Broken::Mixed);
    let limit = json!({"type": "response.incomplete", "response": {"status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"}}});
    let cut = vec![begun(0, "a", "f"), whole(0, "a", "{}"), limit];
    assert_eq!(broken(cut).await, Broken::CutOff);
    let other = json!([{"type": "function_call", "id": "a", "call_id": "call-a", "name": "f",
        "arguments": "{\"x\":2}"}]);
    let differs = vec![begun(0, "a", "f"), whole(0, "a", "{}"), completed(other)];
    assert_eq!(broken(differs).await, Broken::Mixed);
}

#[tokio::test]
async fn ends_are_told_apart() {
    let word = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "yes"});
    let ended = |reason: &str| {
        json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": reason}, "usage": {"input_tokens": 3, "output_tokens": 2}}})
    };
    for (reason, finish) in [
        ("max_output_tokens", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("bored", FinishReason::Other("bored".into())),
    ] {
        let got = events(&[word.clone(), ended(reason)]).await.unwrap();
        assert_eq!(
            (got.text.as_str(), got.finish, got.usage[0].total),
            ("yes", vec![finish], 5)
        );
    }
    let done = [
        word.clone(),
        json!({"type": "response.output_text.done", "text": "yes"}),
    ];
    let (_, error) = events(&done).await.unwrap_err();
    assert_eq!(error.kind, ErrorClass::Network, "no end is no answer");
    let (_, error) = told(Script::raw([format!("data: {word}\n\ndata: [DONE]\n\n")]))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorClass::Network, "nor is a mark");
}

#[tokio::test]
async fn what_came_in_pieces_is_not_taken_again_from_the_whole() {
    let text = |at: i64, text: &str| json!({"type": "response.output_text.delta", "output_index": at, "delta": text});
    let message =
        |text: &str| json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
    let done =
        json!({"type": "response.output_item.done", "output_index": 0, "item": message("one")});
    let all = completed(json!([message("one"), message("two")]));
    let got = events(&[text(0, "one"), done.clone(), text(1, "two"), all.clone()])
        .await
        .unwrap();
    assert_eq!(got.text, "one\n\ntwo", "two messages are two paragraphs");
    let got = events(&[done, all.clone()]).await.unwrap();
    assert_eq!(got.text, "one\n\ntwo", "a server that sends no pieces");
    let refusal =
        json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I will not."});
    let got = events(&[refusal, completed(json!([]))]).await.unwrap();
    assert_eq!(got.text, "I will not.");
    let unknown = json!({"type": "response.video.delta", "delta": {"odd": 1}});
    assert_eq!(events(&[unknown, all]).await.unwrap().text, "one\n\ntwo");
}

#[tokio::test]
async fn failures_in_a_stream_are_errors() {
    let failed = |code: &str, message: &str| {
        json!({"type": "response.failed", "response": {"status": "failed",
            "error": {"code": code, "message": message}}})
    };
    let (_, error) = events(&[failed("server_error", "try later")])
        .await
        .unwrap_err();
    assert!(
        error.recoverable && error.message.contains("try later"),
        "{error}"
    );
    let (_, error) = events(&[failed("rate_limit_exceeded", "Please try again in 3s.")])
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.retry_after),
        (ErrorClass::RateLimit, Some(Duration::from_secs(3)))
    );
    let (_, error) = events(&[failed("invalid_prompt", "no")]).await.unwrap_err();
    assert!(!error.recoverable);
    let event = json!({"type": "error", "code": "server_error", "message": "oops", "param": null});
    let (_, error) = events(&[event]).await.unwrap_err();
    assert!(
        error.recoverable && error.message.contains("oops"),
        "{error}"
    );
    let whole = json!({"object": "response", "status": "failed", "output": [],
        "error": {"code": "server_error", "message": "whole"}});
    let (_, error) = told(Script::raw([whole.to_string()])).await.unwrap_err();
    assert!(error.message.contains("whole"), "{error}");
    let cut = r#"{"object":"response","status":"completed","output":[{"type":"#;
    let (_, error) = told(Script::raw([cut])).await.unwrap_err();
    assert_eq!(error.kind, ErrorClass::Network);
}

#[test]
fn addresses_of_the_responses_format_are_joined() {
    for base in [
        "https://a.example/v1",
        "https://a.example/v1/",
        "https://a.example/v1/responses",
    ] {
        let url = endpoint(base, Format::Responses).unwrap();
        assert_eq!(url.as_str(), "https://a.example/v1/responses", "{base}");
    }
}
