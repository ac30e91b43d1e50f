//! What holds in every format.

use serde_json::json;

use super::*;

const FORMATS: [Format; 3] = [Format::ChatCompletions, Format::Messages, Format::Responses];

/// A fake and a client that speaks a format to it.
async fn pair(format: Format) -> (FakeModel, Remote) {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| {
        options.format = format;
        options.idle_timeout = Duration::from_secs(2);
    });
    (fake, model)
}

#[tokio::test]
async fn an_answer_streams_whole_with_its_cost_and_what_was_thought_apart() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        fake.push(Script::pieces(&["早", "上", "好😀", "!"]).thinking("a greeting"));
        let got = ask(&model, "早上好").await.unwrap();
        let usage = vec![Usage {
            prompt: 10,
            completion: 4,
            total: 14,
            cached: match format {
                Format::Messages => 3,
                Format::Responses => 4,
                Format::ChatCompletions => 0,
            },
            ..Usage::default()
        }];
        assert_eq!(
            (got.text.as_str(), got.usage),
            ("早上好😀!", usage),
            "{format:?}"
        );
        assert_eq!(got.finish, [FinishReason::Stop], "{format:?}");
        assert_eq!(got.reasoning.as_deref(), Some("a greeting"), "{format:?}");
        let asked = &fake.requests()[0];
        assert_eq!(asked.spoken(), ["user: 早上好"], "{format:?}");
        assert_eq!(asked.header("x-request-id"), Some("turn-7"));
    }
}

#[tokio::test]
async fn a_conversation_says_the_same_in_every_format() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
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
            callable: true,
        };
        drop(model.open(&asked).await.unwrap());
        asked.offered.callable = false;
        drop(model.open(&asked).await.unwrap());
        fake.wait_for(2).await;
        let seen = fake.requests();
        let spoken = seen[0].spoken();
        let spoken: Vec<&str> = spoken.iter().map(String::as_str).collect();
        assert_eq!(
            spoken,
            ["system: be kind", "user: hi", "assistant: so", "user: and?"],
            "{format:?}"
        );
        assert_eq!(
            seen[0].called(),
            [r#"a: f {"x":1}"#, r#"b: f {"x":1}"#],
            "{format:?}"
        );
        assert_eq!(seen[0].results(), ["a: one", "b: two"], "{format:?}");
        assert_eq!(seen[0].offered(), ["f"], "{format:?}");
        assert!(seen[1].offered().is_empty(), "{format:?}");
    }
}

#[tokio::test]
async fn calls_come_whole_or_the_answer_has_no_end() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        let script = Script::pieces(&["so"])
            .and_calls(&[("f", json!({"x": "你好 \"quoted\""})), ("g", json!({}))]);
        fake.push(script.clone());
        let got = ask(&model, "hi").await.unwrap();
        let called = got.calls.unwrap().unwrap();
        let called: Vec<_> = called
            .iter()
            .map(|call| (&*call.id, &*call.name, &*call.arguments))
            .collect();
        let first = r#"{"x":"你好 \"quoted\""}"#;
        assert_eq!(
            called,
            [("id0", "f", first), ("id1", "g", "{}")],
            "{format:?}"
        );
        assert_eq!(
            (got.text.as_str(), got.finish),
            ("so", vec![FinishReason::ToolCalls]),
            "{format:?}"
        );
        fake.push(script.ending(Ending::BreakOff));
        let (got, error) = ask(&model, "hi").await.unwrap_err();
        assert_eq!(
            (got.calls, error.kind),
            (None, ErrorClass::Network),
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_without_its_end_is_broken_off() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        fake.push(Script::pieces(&["Good mor"]).ending(Ending::BreakOff));
        let (got, error) = ask(&model, "hi").await.unwrap_err();
        assert_eq!(
            (got.text.as_str(), error.kind),
            ("Good mor", ErrorClass::Network),
            "{format:?}"
        );
        fake.push(Script::pieces(&["Good mor"]).ending(Ending::Hang));
        let (got, error) = ask(&model, "hi").await.unwrap_err();
        assert_eq!(
            (got.text.as_str(), error.kind),
            ("Good mor", ErrorClass::Timeout),
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn keep_alives_count_as_life_in_every_format() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        let mut slices = vec![": working\n\n".to_owned(); 10];
        let events = match format {
            Format::ChatCompletions => {
                vec![json!({"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]})]
            }
            Format::Messages => vec![
                json!({"type": "content_block_delta", "index": 0, "delta": {"text": "x"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
                json!({"type": "message_stop"}),
            ],
            Format::Responses => vec![
                json!({"type": "keepalive", "sequence_number": 3}),
                json!({"type": "response.output_text.delta", "delta": "x"}),
                json!({"type": "response.completed", "response": {"status": "completed"}}),
            ],
        };
        slices.extend(events.iter().map(|event| format!("data: {event}\n\n")));
        fake.push(Script::raw(slices).between(Duration::from_millis(300)));
        assert_eq!(ask(&model, "hi").await.unwrap().text, "x", "{format:?}");
    }
}

#[tokio::test]
async fn errors_have_their_class_and_do_not_show_the_key() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        fake.push(Script::rate_limited(Some("7")));
        let (_, error) = ask(&model, "hi").await.unwrap_err();
        assert_eq!(
            (error.kind, error.retry_after),
            (ErrorClass::RateLimit, Some(Duration::from_secs(7))),
            "{format:?}"
        );
        fake.push(Script::error(401, "bad key k-very-secret"));
        let (_, error) = ask(&model, "hi").await.unwrap_err();
        assert!(!error.recoverable && !error.message.contains("secret"));
        fake.push(Script::raw([
            r#"{"error":{"message":"overloaded k-very-secret","code":503}}"#,
        ]));
        let (_, error) = ask(&model, "hi").await.unwrap_err();
        assert!(
            error.recoverable && error.message.contains("overloaded"),
            "{format:?} {error}"
        );
        assert!(!error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request_in_every_format() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        fake.push(Script::pieces(&["one"]).ending(Ending::Hang));
        let mut stream = model
            .open(&request(vec![message(Role::User, "hi")]))
            .await
            .unwrap();
        assert_eq!(stream.next().await, Some(Ok(Delta::Text("one".to_owned()))));
        assert_eq!(fake.running(), 1, "{format:?}");
        drop(stream);
        for _ in 0..200 {
            if fake.running() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(fake.running(), 0, "{format:?}");
    }
}

#[tokio::test]
async fn events_may_be_cut_anywhere() {
    for format in FORMATS {
        let (fake, model) = pair(format).await;
        let script = Script::pieces(&["你好😀"]).and_calls(&[("f", json!({"x": "好"}))]);
        for size in [1, 2, 3, 7] {
            fake.push(script.clone().sliced(size));
            let got = ask(&model, "hi").await.unwrap();
            assert_eq!(got.text, "你好😀", "{format:?} {size}");
            let calls = got.calls.unwrap().unwrap();
            assert_eq!(calls[0].arguments, r#"{"x":"好"}"#, "{format:?} {size}");
        }
    }
}
