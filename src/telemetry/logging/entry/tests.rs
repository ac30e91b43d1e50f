//! Lines: one line, readable, valid JSON, never too long, whatever the values are.

use super::{CUT, Entry, Field, LINE_BYTES, Value};
use crate::telemetry::config::LogFormat;
use proptest::prelude::*;
use tracing::Level;

fn text(name: &'static str, value: &str) -> Field {
    Field {
        name,
        value: Value::Text(value.to_owned()),
    }
}

fn bare(name: &'static str, value: &str) -> Field {
    Field {
        name,
        value: Value::Bare(value.to_owned()),
    }
}

fn line(format: LogFormat, message: &str, fields: &[Field], context: &[Field]) -> String {
    let (time, level, target) = ("2026-01-02T03:04:05Z", Level::WARN, "weirgate::store");
    Entry {
        time,
        level,
        target,
        message,
        fields,
        context,
    }
    .render(format)
}

#[test]
fn text_is_for_reading() {
    let fields = [
        bare("tries", "3"),
        text("r#type", ""),
        text("error", "it is \"gone\""),
    ];
    let expected = concat!(
        "2026-01-02T03:04:05Z  WARN weirgate::store: not sent ",
        r#"error="it is \"gone\"" turn=t-1 tries=3 type="""#
    );
    assert_eq!(
        line(LogFormat::Text, "not sent", &fields, &[text("turn", "t-1")]),
        expected
    );
}

#[test]
fn json_has_the_error_at_the_top_and_keeps_numbers() {
    let fields = [
        bare("tries", "3"),
        text("r#type", ""),
        text("error", "it is \"gone\""),
    ];
    let read: serde_json::Value = serde_json::from_str(&line(
        LogFormat::Json,
        "not sent",
        &fields,
        &[text("turn", "t-1")],
    ))
    .expect("valid JSON");
    let expected = serde_json::json!({
        "time": "2026-01-02T03:04:05Z", "level": "WARN", "target": "weirgate::store",
        "message": "not sent", "error": "it is \"gone\"",
        "context": {"turn": "t-1"}, "fields": {"tries": 3, "type": ""},
    });
    assert_eq!(read, expected);
    let plain = line(LogFormat::Json, "x", &[], &[]);
    assert!(plain.ends_with(r#""message":"x"}"#), "{plain}");
}

#[test]
fn a_value_begins_no_line_and_turns_no_text_around() {
    let evil = "a\n2026 ERROR forged\r\u{1b}[31m\u{9b}2J\u{2028}\u{202e}b\u{0}";
    for format in [LogFormat::Text, LogFormat::Json] {
        let line = line(format, evil, &[text("value", evil)], &[text("user", evil)]);
        assert!(!line.chars().any(super::hidden), "{line}");
        assert!(line.contains(r"a\n2026 ERROR forged\r\u001b[31m\u009b2J\u2028\u202eb\u0000"));
    }
}

#[test]
fn a_long_message_leaves_room_for_the_error_and_the_turn() {
    for filler in ["x", "\u{1}", "字"] {
        let long = filler.repeat(5_000_000 / filler.len());
        let fields = [text("body", &long), text("error", "disk full")];
        for format in [LogFormat::Text, LogFormat::Json] {
            let line = line(format, &long, &fields, &[text("turn", "t-1")]);
            assert!(line.len() <= LINE_BYTES && line.contains(CUT));
            assert!(line.contains("disk full") && line.contains("t-1"), "{line}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn lines_are_bounded_and_json_is_valid(
        message in "(?s).{0,30}",
        values in prop::collection::vec(("(?s).{0,10}|[\\x00-\\x7f]{0,10}", 0..300_usize), 0..40),
        long_message in 1..300_usize,
    ) {
        let message = message.repeat(long_message);
        let fields: Vec<Field> =
            values.iter().map(|(value, times)| text("some_field", &value.repeat(*times))).collect();
        let (event, context) = fields.split_at(fields.len() / 2);
        let plain = line(LogFormat::Text, &message, event, context);
        let json = line(LogFormat::Json, &message, event, context);
        for line in [&plain, &json] {
            prop_assert!(line.len() <= LINE_BYTES);
            prop_assert!(!line.chars().any(super::hidden));
        }
        let read: serde_json::Value = serde_json::from_str(&json).expect("valid JSON");
        if message.len() < 500 {
            prop_assert_eq!(read["message"].as_str(), Some(message.as_str()));
        }
    }
}
