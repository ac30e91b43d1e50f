//! Repeats in virtual time: few lines, nothing uncounted, a bounded table.

use super::{KEPT_BYTES, Limits, Message, Repeats, Summary};
use proptest::prelude::*;
use std::time::Duration;
use tracing::Level;

const LIMITS: Limits = Limits {
    burst: 3,
    window: Duration::from_secs(60),
    capacity: 4,
};

fn message(text: &str) -> Message {
    Message::new(Level::WARN, "target", text, None)
}

/// Sends one text at the given seconds; the lines written and the summaries.
fn run(text: &str, seconds: impl IntoIterator<Item = u64>) -> (u64, Vec<Summary>) {
    let mut repeats = Repeats::new(LIMITS);
    let (mut written, mut due) = (0, Vec::new());
    for second in seconds {
        written += u64::from(repeats.admit(message(text), Duration::from_secs(second), &mut due));
    }
    repeats.end(Duration::from_secs(1_000_000), &mut due);
    (written, due)
}

#[test]
fn a_burst_is_written_and_the_rest_summed_up() {
    let (written, due) = run("down", 0..60);
    assert_eq!(written, 3);
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].count, due[0].during.as_secs()), (57, 60));
    assert_eq!(due[0].message.text, "down");
}

#[test]
fn a_rare_message_is_always_written() {
    let (written, due) = run("down", (0..100).map(|minute| minute * 61));
    assert_eq!((written, due), (100, Vec::new()));
}

#[test]
fn a_network_that_is_down_for_a_day_fills_few_lines() {
    let day = 24 * 3600;
    let (written, due) = run("no route", (0..day).step_by(5));
    assert_eq!(
        written + due.iter().map(|summary| summary.count).sum::<u64>(),
        day / 5
    );
    assert_eq!(written + due.len() as u64, (3 + 1) * day / 60);
}

#[test]
fn different_errors_levels_and_targets_are_different_messages() {
    let mut repeats = Repeats::new(Limits { burst: 1, ..LIMITS });
    let messages = [
        Message::new(Level::WARN, "a", "failed", None),
        Message::new(Level::WARN, "a", "failed", Some("refused")),
        Message::new(Level::WARN, "b", "failed", None),
        Message::new(Level::ERROR, "a", "failed", None),
    ];
    let mut due = Vec::new();
    for message in &messages {
        assert!(
            repeats.admit(message.clone(), Duration::ZERO, &mut due),
            "{message:?}"
        );
    }
    for message in messages {
        assert!(!repeats.admit(message, Duration::ZERO, &mut due));
    }
    repeats.end(Duration::ZERO, &mut due);
    assert_eq!(due[1].message.text, "failed: refused");
}

#[test]
fn long_texts_that_differ_at_the_end_are_told_apart_and_kept_short() {
    let long = "é".repeat(5000);
    let first = message(&format!("{long}1"));
    assert_ne!(first, message(&format!("{long}2")));
    assert_eq!(first, message(&format!("{long}1")));
    assert!(first.text.len() <= KEPT_BYTES);
}

#[test]
fn a_summary_is_due_without_another_of_its_message() {
    let mut repeats = Repeats::new(LIMITS);
    let mut due = Vec::new();
    for _ in 0..5 {
        repeats.admit(message("x"), Duration::ZERO, &mut due);
    }
    repeats.due(Duration::from_millis(59_999), &mut due);
    assert!(due.is_empty());
    repeats.admit(message("y"), Duration::from_secs(60), &mut due);
    assert_eq!(due[0].count, 2);
}

proptest! {
    #[test]
    fn every_message_is_written_or_counted_and_the_table_is_bounded(
        events in prop::collection::vec(("[a-h]", 0..20_u64), 0..80),
    ) {
        let mut repeats = Repeats::new(LIMITS);
        let (mut now, mut written, mut due) = (Duration::ZERO, 0, Vec::new());
        for (text, wait) in &events {
            now += Duration::from_secs(*wait);
            written += u64::from(repeats.admit(message(text), now, &mut due));
            prop_assert!(repeats.windows.len() <= LIMITS.capacity);
            prop_assert_eq!(repeats.windows.len(), repeats.order.len());
        }
        repeats.end(now, &mut due);
        let counted: u64 = due.iter().map(|summary| summary.count).sum();
        prop_assert_eq!(written + counted, events.len() as u64);
        prop_assert!(repeats.windows.is_empty());
    }
}
