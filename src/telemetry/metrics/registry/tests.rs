//! Series: all kinds are shown, and their number is bounded.

use super::{MAX_SERIES, Registry, UPKEEP_EVERY};
use crate::reason::Reason;
use crate::telemetry::metrics::{Kind, Metric};

#[test]
fn every_metric_can_be_set_and_is_shown_with_its_help() {
    let registry = Registry::new();
    for &metric in Metric::ALL.iter().filter(|metric| !metric.is_read()) {
        let spec = metric.spec();
        let labels = vec!["x"; spec.labels.len()];
        match spec.kind {
            Kind::Counter => registry.count(metric, &labels, 1),
            Kind::Gauge => registry.gauge(metric, &labels, 1.0),
            Kind::Histogram(_) => registry.observe(metric, &labels, 0.5),
        }
    }
    let text = registry.render();
    for metric in Metric::ALL {
        let spec = metric.spec();
        assert!(
            text.contains(&format!("# TYPE {} {}", spec.name, spec.kind.name())),
            "{text}"
        );
        assert!(
            text.contains(&format!("# HELP {} {}", spec.name, spec.help)),
            "{}",
            spec.name
        );
        if let Kind::Histogram(buckets) = spec.kind {
            let name = format!("{}_bucket{{", spec.name);
            let own = |line: &&str| spec.labels.is_empty() || line.contains("=\"x\"");
            let lines = text.lines().filter(|line| line.starts_with(&name));
            let lines = lines.filter(own).count();
            assert_eq!(lines, buckets.len() + 1, "{}", spec.name);
        }
    }
}

#[test]
fn what_does_not_change_is_there_from_the_start() {
    let text = Registry::new().render();
    let version = format!(
        "weirgate_build_info{{version=\"{}\"}} 1",
        env!("CARGO_PKG_VERSION")
    );
    assert!(text.contains(&version), "{text}");
    assert!(text.contains("process_start_time_seconds 1") || text.contains("_seconds 2"));
    assert!(
        text.contains("weirgate_accepted_messages_total 0"),
        "{text}"
    );
    for reason in Reason::ALL {
        assert!(text.contains(&format!("weirgate_reasons_total{{reason=\"{reason}\"}} 0")));
    }
}

#[test]
fn too_many_series_are_put_together_and_counted() {
    let registry = Registry::new();
    let beyond = 10;
    for number in 0..MAX_SERIES + beyond {
        registry.count(Metric::OutboxSends, &["p", &number.to_string()], 1);
    }
    registry.count(Metric::OutboxSends, &["p", "0"], 1);
    let text = registry.render();
    let shown = text
        .lines()
        .filter(|line| line.starts_with("weirgate_outbox_sends_total{"));
    assert_eq!(shown.count(), MAX_SERIES + 1);
    let other = r#"weirgate_outbox_sends_total{platform="other",outcome="other"} 10"#;
    assert!(text.contains(other));
    assert!(text.contains(r#"weirgate_outbox_sends_total{platform="p",outcome="0"} 2"#));
    assert!(text.contains(r#"series_refused_total{metric="weirgate_outbox_sends_total"} 10"#));
}

#[test]
fn gauges_go_up_and_down() {
    let registry = Registry::new();
    registry.gauge_add(Metric::TurnsInFlight, &[], 3.0);
    registry.gauge_add(Metric::TurnsInFlight, &[], -1.0);
    assert!(registry.render().contains("weirgate_turns_in_flight 2"));
}

#[test]
fn no_observation_is_lost_by_the_upkeep() {
    let registry = Registry::new();
    let observations = UPKEEP_EVERY * 2 + 5;
    for _ in 0..observations {
        registry.observe(Metric::SendTime, &[], 0.003);
    }
    let text = registry.render();
    assert!(text.contains(&format!("weirgate_send_seconds_count {observations}")));
}
