//! Names follow the conventions, and what is counted is shown, redacted.

use super::{Kind, LABELS, Metric, Queue, count, docs, gauge, install, observe, reason};
use crate::reason::Reason;
use crate::security::redact::Redactor;
use std::collections::HashSet;
use weirgate_sdk::Connection;

/// The rules of the linter that comes with Prometheus, and our own prefix.
fn lint(name: &str, kind: Kind, labels: &[&str], help: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |wrong: bool, what: &str| {
        if wrong {
            faults.push(format!("{name}: {what}"));
        }
    };
    let counter = kind == Kind::Counter;
    let words: Vec<&str> = name.split('_').collect();
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    fault(!plain(name), "other letters than a to z");
    fault(
        !matches!(words.first(), Some(&"weirgate" | &"process")),
        "no prefix",
    );
    fault(
        name.ends_with("_total") != counter,
        "_total is for counters, and all of them",
    );
    fault(
        ["_count", "_sum", "_bucket", "_info_total"]
            .iter()
            .any(|end| name.ends_with(end)),
        "ends like a series of a histogram",
    );
    let kinds = ["counter", "gauge", "histogram", "summary"];
    fault(
        words.iter().any(|word| kinds.contains(word)),
        "names its kind",
    );
    let units = [
        "milliseconds",
        "microseconds",
        "minutes",
        "hours",
        "kilobytes",
        "megabytes",
        "bits",
        "ms",
        "percent",
    ];
    fault(
        words.iter().any(|word| units.contains(word)),
        "not a base unit",
    );
    if let Kind::Histogram(buckets) = kind {
        let sorted = buckets.is_sorted_by(|a, b| a < b) && buckets.len() > 2;
        fault(!sorted, "buckets are not sorted");
        let unit =
            name.ends_with("_seconds") || name.ends_with("_bytes") || name.ends_with("_size");
        fault(!unit, "a histogram without a unit");
    }
    fault(
        labels
            .iter()
            .any(|label| !plain(label) || ["le", "quantile"].contains(label)),
        "a label with a reserved name or other letters",
    );
    fault(
        !help.ends_with('.') || help.contains(['\n', '|']),
        "help is no sentence",
    );
    faults
}

#[test]
fn names_are_unique_and_follow_the_conventions() {
    let mut seen = HashSet::new();
    for (index, &metric) in Metric::ALL.iter().enumerate() {
        let spec = metric.spec();
        assert_eq!(metric.index(), index);
        assert!(seen.insert(spec.name), "{} twice", spec.name);
        let faults = lint(spec.name, spec.kind, spec.labels, spec.help);
        assert!(faults.is_empty(), "{faults:?}");
    }
    let bad = |name, kind| lint(name, kind, &["aB"], "x.").len();
    assert_eq!(bad("weirgate_things", Kind::Counter), 2);
    assert_eq!(bad("weirgate_gauge_ms", Kind::Gauge), 3);
    assert_eq!(bad("other_wait", Kind::Histogram(&[2.0, 1.0, 3.0])), 4);
}

#[test]
fn labels_have_a_bound_and_a_metric_has_few_series() {
    let most = |label: &str| LABELS.iter().find(|(name, ..)| *name == label);
    for metric in Metric::ALL {
        let spec = metric.spec();
        let own = spec.labels.iter().map(|label| {
            let bound = most(label).unwrap_or_else(|| panic!("nothing bounds {label}"));
            bound.1
        });
        // What operators name (accounts, providers) is bounded by the registry as well.
        assert!(
            own.product::<usize>() <= 4 * super::registry::MAX_SERIES,
            "{}",
            spec.name
        );
    }
    let known = |label: &str| {
        Metric::ALL
            .iter()
            .any(|metric| metric.spec().labels.contains(&label))
    };
    assert!(
        LABELS.iter().all(|(label, ..)| known(label)),
        "a label that no metric has"
    );
    assert!(Reason::ALL.len() <= most("reason").map_or(0, |bound| bound.1));
    assert_eq!(Queue::ALL.len(), most("queue").map_or(0, |bound| bound.1));
}

#[test]
fn each_queue_reports_what_came_went_was_dropped_and_waited() {
    let exporter = install();
    Queue::Traces.received(5);
    Queue::Traces.sent(2);
    Queue::Traces.waited(std::time::Duration::from_millis(20));
    Queue::Traces.lost("queue_full", 1);
    Queue::Traces.dropped(Reason::ShuttingDown, 2);
    Queue::Traces.depth(7);
    let text = exporter.render();
    for line in [
        r#"weirgate_queue_received_total{queue="traces"} 5"#,
        r#"weirgate_queue_sent_total{queue="traces"} 2"#,
        r#"weirgate_queue_wait_seconds_bucket{queue="traces",le="0.025"} 1"#,
        r#"weirgate_queue_dropped_total{queue="traces",reason="queue_full"} 1"#,
        r#"weirgate_queue_dropped_total{queue="traces",reason="shutting_down"} 2"#,
        r#"weirgate_queue_depth{queue="traces",lane=""} 7"#,
        r#"weirgate_queue_received_total{queue="outbound"}"#,
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn the_reference_has_a_row_for_each_metric() {
    let docs = docs();
    assert_eq!(docs.lines().count(), Metric::ALL.len() + LABELS.len() + 5);
    let mut rows = docs.lines().filter(|line| !line.is_empty());
    assert!(rows.all(|line| line.starts_with('|') && line.ends_with('|')));
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
    let account = weirgate_sdk::AccountName::from("main");
    super::adapter_state(&platform, &account, &Connection::Waiting, false);
    super::adapter_state(&platform, &account, &Connection::Down(String::new()), true);
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
        r#"weirgate_adapter_state_changes_total{platform="recorded",account="main",state="down"} 1"#,
        r#"weirgate_queue_depth{queue="inbound",lane="direct"} 7"#,
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
