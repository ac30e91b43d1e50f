//! A turn as a collector of traces sees it, and that a collector never holds anything up.

use std::time::Duration;

use axum::http::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode as Code};
use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use super::collector::{Collector, attribute};
use crate::gateway::{Chat as _, Gateway, KEY};

/// A gateway with a collector.
async fn traced(model: &FakeModel, collector: &Collector) -> Gateway {
    let traces = json!({
        "endpoint": collector.url(),
        "headers": { "Authorization": "Bearer token-of-the-collector", "X-Scope-OrgID": "tenant" },
    });
    let changes = json!({ "observability": { "traces": traces } });
    Gateway::start(model, changes).await
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn kind(span: &Span) -> SpanKind {
    SpanKind::try_from(span.kind).unwrap()
}

#[tokio::test]
async fn a_turn_is_one_trace_from_its_acceptance_to_the_last_part() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    let gateway = traced(&model, &collector).await;
    let fake = gateway.onebot().await;
    model.push(Script::error(500, "a fault"));
    assert_eq!(fake.ask(1, "hello").await, "re: hello");
    let spans = collector
        .until(|spans| !named(spans, "turn").is_empty() && !named(spans, "deliver").is_empty())
        .await;

    let [turn] = named(&spans, "turn")[..] else {
        panic!("{spans:#?}")
    };
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    for (name, count) in [
        ("accept", 1),
        ("queue", 1),
        ("model request", 2),
        ("deliver", 1),
    ] {
        assert_eq!(named(&spans, name).len(), count, "{name} in {names:?}");
    }
    assert!(turn.parent_span_id.is_empty());
    assert_eq!((turn.trace_id.len(), turn.span_id.len()), (16, 8));
    for span in &spans {
        assert_eq!(span.trace_id, turn.trace_id, "{}", span.name);
        assert!(
            span.start_time_unix_nano <= span.end_time_unix_nano,
            "{}",
            span.name
        );
        if span.name != "turn" {
            assert_eq!(span.parent_span_id, turn.span_id, "{}", span.name);
            assert_ne!(span.span_id, turn.span_id);
        }
        let id = attribute(&span.attributes, "weirgate.turn");
        assert!(id.starts_with('t') && id == attribute(&turn.attributes, "weirgate.turn"));
    }
    assert_eq!(kind(turn), SpanKind::Consumer);
    assert_eq!(attribute(&turn.attributes, "weirgate.outcome"), "done");
    assert_eq!(attribute(&turn.attributes, "weirgate.platform"), "qq");
    assert_eq!(attribute(&turn.attributes, "weirgate.messages"), "1");

    let [failed, answered] = named(&spans, "model request")[..] else {
        panic!("{names:?}")
    };
    assert_eq!(kind(failed), SpanKind::Client);
    assert_eq!(failed.status.as_ref().unwrap().code(), Code::Error);
    assert_eq!(attribute(&failed.attributes, "error.type"), "api");
    assert!(
        answered
            .status
            .as_ref()
            .is_none_or(|status| status.code() == Code::Unset)
    );
    assert_eq!(
        attribute(&answered.attributes, "gen_ai.request.model"),
        "test"
    );
    assert_eq!(
        attribute(&answered.attributes, "gen_ai.provider.name"),
        "main"
    );
    assert_eq!(attribute(&answered.attributes, "weirgate.attempt"), "2");
    let deliver = named(&spans, "deliver")[0];
    assert_eq!(attribute(&deliver.attributes, "weirgate.outcome"), "sent");
}

#[tokio::test]
async fn messages_that_are_answered_together_are_linked() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    let gateway = traced(&model, &collector).await;
    let fake = gateway.onebot().await;
    // The first occupies the person's one turn while the others come.
    model.push(Script::answer("one").before_headers(Duration::from_millis(300)));
    fake.send_private(1, "first").await;
    model.wait_for(1).await;
    fake.send_private(1, "second").await;
    fake.send_private(1, "third").await;
    fake.answers(2).await;
    let merged = |spans: &[Span]| {
        let mut turns = named(spans, "turn").into_iter();
        turns.find(|turn| !turn.links.is_empty()).cloned()
    };
    let spans = collector
        .until(|spans| merged(spans).is_some() && named(spans, "accept").len() == 3)
        .await;
    let turn = merged(&spans).unwrap();
    assert_eq!(attribute(&turn.attributes, "weirgate.messages"), "2");
    let linked = named(&spans, "accept").into_iter();
    let linked = linked.filter(|span| span.trace_id == turn.links[0].trace_id);
    assert_eq!(linked.count(), 1, "the other message's own trace");
}

#[tokio::test]
async fn the_collector_gets_its_headers_and_no_secret_or_word_of_anybody() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    let gateway = Gateway::start(
        &model,
        json!({
            "models": { "chat": [format!("main/{KEY}")] },
            "observability": { "traces": { "endpoint": collector.url(), "headers": {
                "Authorization": "Bearer token-of-the-collector", "X-Scope-OrgID": "tenant" } } },
        }),
    )
    .await;
    let fake = gateway.onebot().await;
    fake.ask(1, "a word of a person").await;
    collector
        .until(|spans| !named(spans, "deliver").is_empty())
        .await;
    for export in collector.exports() {
        assert_eq!(export.headers["content-type"], "application/x-protobuf");
        assert_eq!(
            export.headers["authorization"],
            "Bearer token-of-the-collector"
        );
        assert_eq!(export.headers["x-scope-orgid"], "tenant");
        let text = String::from_utf8_lossy(&export.bytes).into_owned();
        assert!(
            !text.contains(KEY) && !text.contains("a word of a person"),
            "{text}"
        );
        let resource = export.request.resource_spans[0].resource.clone().unwrap();
        assert_eq!(attribute(&resource.attributes, "service.name"), "weirgate");
    }
    let spans = collector.spans();
    let request = named(&spans, "model request")[0];
    assert_eq!(
        attribute(&request.attributes, "gen_ai.request.model"),
        "[REDACTED]"
    );
}

#[tokio::test]
async fn a_collector_that_fails_or_hangs_holds_nobody_up_and_losses_are_counted() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    collector.answer(Some(StatusCode::BAD_REQUEST));
    let mut gateway = traced(&model, &collector).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    let lost = r#"weirgate_queue_dropped_total{queue="traces",reason="export_failed"}"#;
    gateway
        .logged("the trace collector does not take spans")
        .await;
    assert!(gateway.get("/metrics").await.body.contains(lost));
    assert!(!gateway.log().contains("token-of-the-collector"));

    collector.answer(Some(StatusCode::OK));
    assert_eq!(fake.ask(1, "two").await, "re: two");
    gateway.logged("takes spans again").await;

    collector.answer(None);
    assert_eq!(fake.ask(1, "three").await, "re: three");
    let started = std::time::Instant::now();
    assert!(gateway.term().await.success());
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{}",
        gateway.log()
    );
}

#[tokio::test]
async fn what_is_queued_leaves_before_the_end() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    let mut gateway = traced(&model, &collector).await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    assert!(gateway.term().await.success());
    let spans = collector.spans();
    let turn = named(&spans, "turn")[0];
    assert_eq!(attribute(&turn.attributes, "weirgate.command"), "true");
    assert_eq!(named(&spans, "deliver").len(), 1);
}

#[tokio::test]
async fn what_another_process_does_for_a_turn_is_in_its_trace() {
    let (model, collector) = (FakeModel::start().await, Collector::start().await);
    // The second answer has to wait for so long that the process is killed before it leaves.
    let pace = json!({ "conversation_interval": 20, "conversation_burst": 1 });
    let mut gateway = Gateway::start(
        &model,
        json!({
            "observability": { "traces": { "endpoint": collector.url() } },
            "platforms": { "qq": { "accounts": { "main": { "limits": pace } } } },
        }),
    )
    .await;
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    fake.send_private(1, "two").await;
    let spans = collector
        .until(|spans| named(spans, "turn").len() == 2)
        .await;
    let two = named(&spans, "turn")[1].clone();
    assert_eq!(named(&spans, "deliver").len(), 1);
    gateway.kill().await;
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: two");
    let spans = collector
        .until(|spans| named(spans, "deliver").len() >= 2)
        .await;
    let late = named(&spans, "deliver")[1];
    assert_eq!(late.trace_id, two.trace_id);
    assert_eq!(late.parent_span_id, two.span_id);
}
