//! Tools in requests and in answers.

use serde_json::json;

use super::*;

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    }
}

#[tokio::test]
async fn tools_calls_and_results_go_into_the_request() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |_| {});
    let called = Message {
        calls: vec![call("a", "f", r#"{"x":1}"#)],
        ..message(Role::Assistant, "")
    };
    let result = Message {
        answers: Some("a".into()),
        ..message(Role::Tool, "one")
    };
    let offer = Offer {
        name: "f".into(),
        description: "does f".into(),
        parameters: json!({"type": "object"}),
    };
    let mut asked = request(vec![message(Role::User, "hi"), called, result]);
    asked.offered = Offered {
        tools: [offer].into(),
        callable: true,
    };
    drop(model.open(&asked).await.unwrap());
    asked.offered.callable = false;
    drop(model.open(&asked).await.unwrap());
    fake.wait_for(2).await;
    let bodies = fake.requests();
    let messages = &bodies[0].body["messages"];
    assert_eq!(messages[1]["content"], serde_json::Value::Null);
    let expected = json!([{"id": "a", "type": "function",
        "function": {"name": "f", "arguments": r#"{"x":1}"#}}]);
    assert_eq!(messages[1]["tool_calls"], expected);
    assert_eq!(
        messages[2],
        json!({"role": "tool", "tool_call_id": "a", "content": "one"})
    );
    let tools = json!([{"type": "function", "function":
        {"name": "f", "description": "does f", "parameters": {"type": "object"}}}]);
    assert_eq!(bodies[0].body["tools"], tools);
    assert!(bodies[1].body.get("tools").is_none());
}

#[tokio::test]
async fn calls_come_whole_streamed_or_not() {
    let calls = [("f", json!({"x": 1})), ("g", json!({"y": [2]}))];
    let expected = vec![
        call("id0", "f", r#"{"x":1}"#),
        call("id1", "g", r#"{"y":[2]}"#),
    ];
    for stream in [true, false] {
        let fake = FakeModel::start().await;
        fake.push(Script::pieces(&["so"]).and_calls(&calls));
        let model = client(&fake.url(), |options| options.stream = stream);
        let got = ask(&model, "hi").await.unwrap();
        assert_eq!(got.calls, Some(Ok(expected.clone())), "{stream}");
        assert_eq!(
            (got.text.as_str(), got.finish),
            ("so", vec![FinishReason::ToolCalls])
        );
    }
}

#[tokio::test]
async fn arguments_may_come_as_an_object_and_in_the_older_form() {
    for (delta, arguments) in [
        (
            json!({"tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]}),
            r#"{"x":1}"#,
        ),
        (
            json!({"function_call": {"name": "f", "arguments": "{}"}}),
            "{}",
        ),
        (
            json!({"tool_calls": [{"function": {"name": "f", "arguments": null}}]}),
            "{}",
        ),
    ] {
        let event = json!({"choices": [{"delta": delta, "finish_reason": "stop"}]});
        let got = once(Script::raw([format!("data: {event}\n\ndata: [DONE]\n\n")])).await;
        assert_eq!(
            got.unwrap().calls,
            Some(Ok(vec![call("call_0", "f", arguments)]))
        );
    }
}
