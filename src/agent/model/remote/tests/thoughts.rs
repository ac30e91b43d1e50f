//! Signed reasoning in the messages format: how it is asked for, read, and given back.

use serde_json::{Value, json};

use super::*;
use crate::agent::model::Sealed;

fn speaks(fake: &FakeModel, change: impl FnOnce(&mut RemoteOptions)) -> Remote {
    client(&fake.url(), |options| {
        options.format = Format::Messages;
        change(options);
    })
}

fn called(model: &str, items: &[Value]) -> Message {
    Message {
        sealed: Some(Sealed {
            model: model.into(),
            items: json!(items).to_string(),
        }),
        calls: vec![ToolCall {
            id: "a".into(),
            name: "f".into(),
            arguments: "{}".into(),
        }],
        ..message(Role::Assistant, "so")
    }
}

fn result() -> Message {
    Message {
        answers: Some("a".into()),
        ..message(Role::Tool, "one")
    }
}

fn thought(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": format!("signed by tiny: {text}")})
}

/// The body of a request to a model, which the fake takes or not as the service would.
async fn body(change: impl FnOnce(&mut RemoteOptions), messages: Vec<Message>) -> Value {
    let fake = FakeModel::start().await;
    let opened = speaks(&fake, change).open(&request(messages)).await;
    drop(opened.expect("a request that is taken"));
    fake.requests().remove(0).body
}

#[tokio::test]
async fn it_is_asked_for_as_the_model_takes_it() {
    let asked = || vec![message(Role::User, "hi")];
    let plain = body(|options| options.temperature = Some(2.0), asked()).await;
    assert!(plain.get("thinking").is_none());
    assert_eq!(
        (&plain["temperature"], &plain["max_tokens"]),
        (&json!(1.0), &json!(8192))
    );
    let adaptive = body(
        |options| {
            options.reasoning = true;
            options.temperature = Some(0.5);
        },
        asked(),
    );
    let adaptive = adaptive.await;
    assert_eq!(adaptive["thinking"], json!({"type": "adaptive"}));
    assert!(adaptive.get("temperature").is_none());
    let bounded = body(
        |options| {
            options.reasoning_budget = Some(2000);
            options.reasoning_summary = true;
        },
        asked(),
    );
    let bounded = bounded.await;
    let expected = json!({"type": "enabled", "budget_tokens": 2000, "display": "summarized"});
    assert_eq!(
        (&bounded["thinking"], &bounded["max_tokens"]),
        (&expected, &json!(10_192))
    );
    // What has no room for the budget is answered without.
    let short = body(
        |options| {
            options.reasoning_budget = Some(2000);
            options.max_output_tokens = Some(2000);
        },
        asked(),
    );
    assert!(short.await.get("thinking").is_none());
}

#[tokio::test]
async fn it_goes_back_to_its_model_unchanged_and_at_its_place() {
    let hidden = json!({"type": "redacted_thinking", "data": "x/y+z=="});
    let items = [
        thought("hm\n\"é\""),
        hidden.clone(),
        json!({"type": "text"}),
        thought("and"),
        json!({"type": "tool_use"}),
    ];
    let asked = || {
        vec![
            message(Role::User, "hi"),
            called("local/tiny", &items),
            result(),
        ]
    };
    let call = json!({"type": "tool_use", "id": "a", "name": "f", "input": {}});
    let text = json!({"type": "text", "text": "so"});
    let expected = json!([thought("hm\n\"é\""), hidden, text, thought("and"), call]);
    for budget in [None, Some(2000)] {
        let told = body(|options| options.reasoning_budget = budget, asked()).await;
        assert_eq!(told["messages"][1]["content"], expected, "{budget:?}");
        assert_eq!(told.get("thinking").is_some(), budget.is_some());
    }
    // A turn that another model began goes on without a budget, and with nothing that this one did not sign.
    let foreign = vec![
        message(Role::User, "hi"),
        called("other/model", &items),
        result(),
    ];
    let own = [called("local/tiny", &items), result()];
    let mixed = foreign.into_iter().chain(own).collect();
    let told = body(|options| options.reasoning_budget = Some(2000), mixed).await;
    assert!(told.get("thinking").is_none(), "{told}");
    assert!(!told.to_string().contains("signed by"), "{told}");
    // The next turn has it again.
    let next = vec![
        message(Role::User, "hi"),
        called("other/model", &items),
        result(),
        message(Role::User, "and?"),
    ];
    let told = body(|options| options.reasoning_budget = Some(2000), next).await;
    assert_eq!(told["thinking"]["type"], "enabled");
}

#[tokio::test]
async fn it_is_kept_as_it_came_and_only_with_its_signature() {
    let call = ("f", json!({}));
    for (script, kept) in [
        (
            Script::pieces(&["so"])
                .and_calls(std::slice::from_ref(&call))
                .thinking_in(&["h", "m"]),
            Some(json!([thought("hm"), {"type": "text"}, {"type": "tool_use"}])),
        ),
        (Script::calls(std::slice::from_ref(&call)), None),
    ] {
        let fake = FakeModel::start().await;
        fake.push(script);
        let got = ask(&speaks(&fake, |_| {}), "hi").await.unwrap();
        let sealed = got
            .sealed
            .map(|items| serde_json::from_str::<Value>(&items).unwrap());
        assert_eq!(sealed, kept);
    }
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    let unsigned = json!({"type": "thinking", "thinking": "no", "signature": ""});
    let text = json!({"type": "text", "text": "so"});
    for (blocks, kept) in [
        (
            json!([unsigned, thought("hm"), hidden, text]),
            Some(json!([thought("hm"), hidden, {"type": "text"}])),
        ),
        (json!([unsigned, text]), None),
    ] {
        let fake = FakeModel::start().await;
        let whole = json!({"type": "message", "content": blocks, "stop_reason": "end_turn"});
        fake.push(Script::raw([whole.to_string()]).content_type("application/json"));
        let got = ask(&speaks(&fake, |options| options.stream = false), "hi")
            .await
            .unwrap();
        let sealed = got
            .sealed
            .map(|items| serde_json::from_str::<Value>(&items).unwrap());
        assert_eq!((sealed, got.text.as_str()), (kept, "so"));
    }
}

#[tokio::test]
async fn more_than_is_sent_back_is_left_out() {
    let fake = FakeModel::start().await;
    let thought = "x".repeat(600 * 1024);
    fake.push(Script::calls(&[("f", json!({}))]).thinking(&thought));
    let got = ask(&speaks(&fake, |_| {}), "hi").await.unwrap();
    assert_eq!(got.sealed, None);
    assert_eq!(got.reasoning.map(|text| text.len()), Some(thought.len()));
}
