//! Bodies as compatible servers really send them.

use super::*;

const DONE: &str = "data: [DONE]\n\n";

/// An event with some content.
fn content(text: &str) -> String {
    format!(
        "data: {}\n\n",
        serde_json::json!({"choices": [{"delta": {"content": text}}]})
    )
}

/// An event that ends the answer.
fn finish(reason: &str) -> String {
    let choice = serde_json::json!({"delta": {}, "finish_reason": reason});
    format!("data: {}\n\n", serde_json::json!({"choices": [choice]}))
}

async fn body(parts: &[&str]) -> Result<Got, (Got, ModelError)> {
    once(Script::raw(parts)).await
}

async fn text(parts: &[&str]) -> String {
    body(parts).await.unwrap().text
}

#[tokio::test]
async fn keep_alives_of_all_kinds_are_skipped() {
    let body = concat!(
        ": PROCESSING\n\n",
        "data:\n\n",
        "data: : ping\n\n",
        "event: ping\ndata: {}\n\n",
        "id: 1\n\n",
        "retry: 5\n",
        "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n",
        "data:{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
    );
    assert_eq!(text(&[body, "data: [DONE]  \n\n"]).await, "ab");
    assert_eq!(text(&[body]).await, "ab", "the end without its mark");
}

#[tokio::test]
async fn a_stream_needs_an_end_mark_or_a_reason() {
    assert_eq!(text(&[&content("a"), &finish("stop")]).await, "a");
    let marked = body(&[&content("a"), DONE]).await.unwrap();
    assert_eq!(marked.finish, [FinishReason::Stop]);
    let (got, error) = body(&[&content("a")]).await.unwrap_err();
    assert_eq!((got.text.as_str(), error.kind), ("a", ErrorClass::Network));
    let cut = "data: {\"choices\":[{\"delta\":{\"cont";
    assert_eq!(
        body(&[&content("a"), cut]).await.unwrap_err().1.kind,
        ErrorClass::Network
    );
}

#[tokio::test]
async fn the_last_event_counts_without_its_blank_line() {
    let end = finish("length");
    let got = body(&[&content("a"), end.trim_end()]).await.unwrap();
    assert_eq!(got.finish, [FinishReason::Length]);
    assert_eq!(text(&[&content("a"), "data: [DONE]"]).await, "a");
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_end_does_not_matter() {
    let parts = [content("a"), finish("stop")];
    let script = Script::raw(parts).ending(Ending::BreakOff);
    assert_eq!(once(script).await.unwrap().text, "a");
}

#[tokio::test]
async fn an_error_inside_a_success_is_an_error() {
    let error = "data: {\"choices\":[],\"error\":{\"code\":502,\"message\":\"overloaded\"}}\n\n";
    let (got, failure) = body(&[error]).await.unwrap_err();
    assert_eq!((failure.kind, failure.status), (ErrorClass::Api, Some(502)));
    assert!(failure.recoverable && failure.message.contains("overloaded"));
    assert_eq!(got, Got::default());

    let words: Vec<String> = ["1", "2", "3", "4", "5"]
        .iter()
        .map(|word| content(word))
        .collect();
    let (got, failure) = body(&[&words.concat(), error, DONE]).await.unwrap_err();
    assert_eq!((got.text.as_str(), failure.status), ("12345", Some(502)));

    let named = "event: error\ndata: {\"message\":\"slow down\",\"type\":\"rate_limit\"}\n\n";
    assert_eq!(
        body(&[named]).await.unwrap_err().1.kind,
        ErrorClass::RateLimit
    );
    let object = "data: {\"object\":\"error\",\"message\":\"bad\",\"code\":400}\n\n";
    assert!(!body(&[object]).await.unwrap_err().1.recoverable);
    let whole = "{\"error\":{\"message\":\"no\",\"code\":429}}";
    assert_eq!(
        body(&[whole]).await.unwrap_err().1.kind,
        ErrorClass::RateLimit
    );
}

#[tokio::test]
async fn usage_without_choices_is_only_usage() {
    let usage = "data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\n\n";
    let got = body(&[&content("a"), &finish("stop"), usage, DONE])
        .await
        .unwrap();
    assert_eq!(
        got.usage,
        [Usage {
            prompt: 0,
            completion: 0,
            total: 9,
            ..Usage::default()
        }]
    );
    assert_eq!(got.text, "a");
    let odd = "data: {\"choices\":null,\"usage\":{\"total_tokens\":\"nine\"}}\n\n";
    let got = body(&[&content("a"), &finish("stop"), odd, DONE])
        .await
        .unwrap();
    assert_eq!((got.text.as_str(), got.usage.len()), ("a", 0));
}

#[tokio::test]
async fn words_end_and_cost_may_share_one_event() {
    let last = "data: {\"choices\":[{\"delta\":{\"content\":\"!\"},\ndata: \"finish_reason\":\
        \"stop\"}],\ndata: \"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
    let got = body(&[&[&content("Hi"), last, DONE].concat()])
        .await
        .unwrap();
    assert_eq!(got.text, "Hi!");
    assert_eq!(
        got.usage,
        [Usage {
            prompt: 3,
            completion: 2,
            total: 5,
            ..Usage::default()
        }]
    );
    assert_eq!(got.finish, [FinishReason::Stop]);
}

#[tokio::test]
async fn a_running_total_counts_once() {
    let chunk = |text: &str, total: u64| {
        let json = serde_json::json!({"choices": [{"delta": {"content": text}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": total, "total_tokens": total + 1}});
        format!("data: {json}\n\n")
    };
    let got = body(&[&chunk("a", 1), &chunk("b", 2), &finish("stop"), DONE])
        .await
        .unwrap();
    assert_eq!(
        got.usage,
        [Usage {
            prompt: 1,
            completion: 2,
            total: 3,
            ..Usage::default()
        }]
    );
}

#[tokio::test]
async fn the_shape_of_the_body_decides() {
    let stream = [
        content("fi"),
        content("ne"),
        finish("stop"),
        DONE.to_owned(),
    ]
    .concat();
    let whole = r#"{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}"#;
    let marked = format!("{whole}\n\ndata: [DONE]\n\n");
    let padded = format!("\n\n  \n\u{feff}{whole}");
    for (body, content_type) in [
        (stream.as_str(), "text/plain"),
        (stream.as_str(), "application/json"),
        (whole, "text/event-stream"),
        (whole, "application/json"),
        (&marked, "application/json"),
        (&padded, "application/json"),
    ] {
        for size in [1, 7, body.len()] {
            let script = Script::raw(body.as_bytes().chunks(size)).content_type(content_type);
            let got = once(script).await.unwrap();
            assert_eq!(
                got.text, "fine",
                "{content_type} in slices of {size}: {body}"
            );
            assert_eq!(got.finish, [FinishReason::Stop]);
        }
    }
}

#[tokio::test]
async fn a_provider_that_cannot_stream_is_not_asked_to() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| options.stream = false);
    let got = ask(&model, "hi").await.unwrap();
    assert_eq!((got.text.as_str(), got.usage.len()), ("re: hi", 1));
    assert!(fake.requests()[0].body.get("stream_options").is_none());
    fake.push(Script::raw([
        content("fine"),
        finish("stop"),
        DONE.to_owned(),
    ]));
    assert_eq!(
        ask(&model, "hi").await.unwrap().text,
        "fine",
        "it streams all the same"
    );
}

#[tokio::test]
async fn a_page_is_an_error_with_a_short_excerpt() {
    let page = format!(
        "<!doctype html><html><title>Please log in</title><p>token k-very-secret</p>{}</html>",
        "<p>more</p>".repeat(5000)
    );
    let (_, error) = once(Script::raw([page]).content_type("text/html"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorClass::Api);
    assert!(error.message.contains("Please log in"), "{error}");
    assert!(
        !error.message.contains("secret") && error.message.chars().count() < 200,
        "{error}"
    );
    let (_, error) = once(Script::raw(["busy"]).content_type("text/plain"))
        .await
        .unwrap_err();
    assert!(error.message.ends_with("busy"), "{error}");
    let (_, error) = once(Script::raw([""]).content_type("application/json"))
        .await
        .unwrap_err();
    assert_eq!(error.message, "the provider sent an empty body");
}

#[tokio::test]
async fn a_whole_answer_that_is_cut_off_is_a_network_error() {
    let cut = r#"{"choices":[{"message":{"content":"fi"#;
    let (got, error) = body(&[cut]).await.unwrap_err();
    assert_eq!((got.text.as_str(), error.kind), ("", ErrorClass::Network));
}

#[tokio::test]
async fn reasoning_has_a_field_of_its_own() {
    let chunk = |delta: serde_json::Value| {
        format!(
            "data: {}\n\n",
            serde_json::json!({"choices": [{"delta": delta}]})
        )
    };
    let first = chunk(serde_json::json!({"reasoning_content": "hm", "content": null}));
    let second = chunk(serde_json::json!({"reasoning_content": null, "content": "yes"}));
    let got = body(&[&first, &second, &finish("stop"), DONE])
        .await
        .unwrap();
    assert_eq!(
        (got.text.as_str(), got.reasoning.as_deref()),
        ("yes", Some("hm"))
    );

    let empty = chunk(serde_json::json!({"reasoning_content": "", "content": "yes"}));
    let got = body(&[&empty, &finish("stop")]).await.unwrap();
    assert_eq!(got.reasoning.as_deref(), Some(""), "empty is not absent");
    assert_eq!(
        body(&[&content("yes"), &finish("stop")])
            .await
            .unwrap()
            .reasoning,
        None
    );
    let other = chunk(
        serde_json::json!({"reasoning": "hm", "content": [{"type": "text",
        "text": "ye"}, {"type": "text", "text": "s"}]}),
    );
    let got = body(&[&other, &finish("stop")]).await.unwrap();
    assert_eq!(
        (got.text.as_str(), got.reasoning.as_deref()),
        ("yes", Some("hm"))
    );
}

#[tokio::test]
async fn think_markers_are_taken_out_only_where_the_model_has_them() {
    let deltas = ["Let me see", "</th", "ink>", "\n\nAnswer"]
        .map(content)
        .concat();
    let stream = [deltas, finish("stop"), DONE.to_owned()].concat();
    let unclosed = [content("<think>hm"), finish("stop")].concat();
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| options.think_markers = true);
    fake.push(Script::raw([&stream]));
    let got = ask(&model, "hi").await.unwrap();
    assert_eq!(
        (got.text.as_str(), got.reasoning.as_deref()),
        ("Answer", Some("Let me see"))
    );
    fake.push(Script::raw([&unclosed]));
    let got = ask(&model, "hi").await.unwrap();
    assert_eq!(
        (got.text.as_str(), got.finish),
        ("", vec![FinishReason::Stop])
    );

    assert_eq!(text(&[&stream]).await, "Let me see</think>\n\nAnswer");
    assert_eq!(text(&[&unclosed]).await, "<think>hm");
}

#[tokio::test]
async fn reasons_of_all_kinds_end_an_answer() {
    for (word, reason) in [
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::ContentFilter),
        ("tool_calls", FinishReason::ToolCalls),
        ("eos_reached", FinishReason::Other("eos_reached".to_owned())),
    ] {
        assert_eq!(body(&[&finish(word), DONE]).await.unwrap().finish, [reason]);
    }
    let FinishReason::Other(long) = body(&[&finish(&"字".repeat(500))])
        .await
        .unwrap()
        .finish
        .remove(0)
    else {
        panic!("not a reason of its own");
    };
    assert_eq!(long.chars().count(), 40);
}

#[tokio::test]
async fn a_second_alternative_is_not_mixed_in() {
    let two = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},\
        {\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\n";
    assert_eq!(text(&[two, &finish("stop")]).await, "a");
}

#[tokio::test]
async fn an_unreadable_event_is_an_error_not_a_gap() {
    let bad = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}\n\n";
    let (_, error) = body(&[bad, &finish("stop"), DONE]).await.unwrap_err();
    assert_eq!((error.kind, error.recoverable), (ErrorClass::Api, true));
}

#[tokio::test]
async fn invalid_bytes_do_not_stop_the_answer() {
    let mut bytes = content("aXb").into_bytes();
    let at = bytes.iter().position(|byte| *byte == b'X').unwrap();
    bytes[at] = 0xFF;
    let script = Script::raw([bytes, finish("stop").into_bytes()]);
    assert_eq!(once(script).await.unwrap().text, "a\u{FFFD}b");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let block = content(&"x".repeat(512 * 1024));
    let (_, error) = body(&[block.as_str(); 9]).await.unwrap_err();
    assert_eq!(
        (error.kind, error.recoverable),
        (ErrorClass::Api, false),
        "a long answer"
    );
    let event = format!("data: {}", "x".repeat(1024 * 1024));
    assert!(
        !body(&[&event]).await.unwrap_err().1.recoverable,
        "a long event"
    );
    let whole = format!("{{\"x\":\"{}", "x".repeat(5 * 1024 * 1024));
    assert!(
        !body(&[&whole]).await.unwrap_err().1.recoverable,
        "a long object"
    );
}
