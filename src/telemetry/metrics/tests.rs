//! Names follow the conventions, and what is counted is shown, redacted.

use super::{Kind, Metric, count, docs, gauge, install, observe, reason};
use crate::reason::Reason;
use crate::security::redact::Redactor;
use std::collections::HashSet;

#[test]
fn names_are_unique_and_follow_the_conventions() {
    let mut seen = HashSet::new();
    for (index, &metric) in Metric::ALL.iter().enumerate() {
        let spec = metric.spec();
        assert_eq!(metric.index(), index);
        assert!(seen.insert(spec.name), "{} twice", spec.name);
        assert!(spec.name.starts_with("weirgate_") || spec.name.starts_with("process_"));
        assert!(
            spec.name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'_'),
            "{}",
            spec.name
        );
        assert_eq!(
            spec.name.ends_with("_total"),
            spec.kind == Kind::Counter,
            "{}",
            spec.name
        );
        assert!(
            spec.help.ends_with('.') && !spec.help.contains(['\n', '|']),
            "{}",
            spec.name
        );
        if let Kind::Histogram(buckets) = spec.kind {
            assert!(
                buckets.is_sorted_by(|a, b| a < b) && buckets.len() > 2,
                "{}",
                spec.name
            );
        }
    }
}

#[test]
fn the_reference_has_a_row_for_each_metric() {
    let docs = docs();
    assert_eq!(docs.lines().count(), Metric::ALL.len() + 2);
    assert!(
        docs.lines()
            .all(|line| line.starts_with('|') && line.ends_with('|'))
    );
    for metric in Metric::ALL {
        assert!(docs.contains(&format!("| `{}` |", metric.spec().name)));
    }
}

#[test]
fn the_installed_metrics_show_what_was_counted_without_secrets() {
    let exporter = install();
    count(Metric::InboundEvents, &["a-platform", "accepted"], 2);
    count(Metric::InboundEvents, &["a-platform", "accepted"], 1);
    reason(Reason::Duplicate);
    gauge(
        Metric::AdaptersUp,
        &["a-platform", "TEST-secret-account"],
        1.0,
    );
    observe(Metric::SendTime, &[], 0.02);
    exporter.set_redactor(Redactor::new(["TEST-secret-account"]).0);
    let text = install().render();
    let line = r#"weirgate_inbound_events_total{platform="a-platform",outcome="accepted"} 3"#;
    assert!(text.contains(line), "{text}");
    assert!(
        text.contains(r#"weirgate_reasons_total{reason="duplicate"} 1"#),
        "{text}"
    );
    assert!(
        text.contains("weirgate_send_seconds_bucket{le=\"0.025\"} 1"),
        "{text}"
    );
    let text = exporter.render();
    assert!(text.contains(r#"account="[REDACTED]"} 1"#), "{text}");
    assert!(!text.contains("TEST-secret"));
}

#[test]
fn what_is_recorded_has_its_labels() {
    let exporter = install();
    let platform = weirgate_sdk::Platform::from("recorded");
    super::event(&platform, "message");
    super::adapter_up(&platform, &weirgate_sdk::AccountName::from("main"), false);
    super::queue_depth(2, 7);
    super::queue_depth(99, 7);
    super::tokens("a-provider", 10, 20);
    super::turn_seconds(1_500_000);
    super::sent(&platform, Ok(()));
    super::sent(&platform, Err(&weirgate_sdk::SendError::NotModified));
    super::sent(&platform, Err(&weirgate_sdk::SendError::Expired));
    let text = exporter.render();
    for line in [
        r#"weirgate_inbound_events_total{platform="recorded",outcome="message"} 1"#,
        r#"weirgate_adapters_up{platform="recorded",account="main"} 0"#,
        r#"weirgate_queue_depth{lane="direct"} 7"#,
        r#"weirgate_model_tokens_total{provider="a-provider",kind="completion"} 20"#,
        r#"weirgate_turn_seconds_bucket{le="1"} 0"#,
        r#"weirgate_turn_seconds_bucket{le="2.5"} 1"#,
        r#"weirgate_outbox_sends_total{platform="recorded",outcome="sent"} 2"#,
        r#"weirgate_outbox_sends_total{platform="recorded",outcome="expired"} 1"#,
    ] {
        assert!(
            text.lines().any(|shown| shown == line),
            "{line} is not in {text}"
        );
    }
}
