//! The log as a whole: what events look like on the way out, and that no secret is in them.

use super::layer::{LogLayer, Shared};
use super::{LINE_BYTES, LogFormat, LoggingError, REPEATS, panic, parse};
use crate::security::redact::Redactor;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use tracing_subscriber::layer::SubscriberExt;

const TOKEN: &str = "123456:TEST-secret_value_abcdef";

/// A log into memory, for the thread that runs `work`.
struct Log {
    shared: Arc<Shared>,
    lines: Arc<Mutex<String>>,
}

impl Log {
    fn new(format: LogFormat) -> Self {
        let lines = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&lines);
        let sink = Box::new(move |line: &str| sink.lock().push_str(line));
        let shared = Arc::new(Shared::new(format, REPEATS, sink));
        shared.set_redactor(Redactor::new([TOKEN]).0);
        Self { shared, lines }
    }

    fn run(&self, work: impl FnOnce()) -> String {
        let layer = LogLayer::new(Arc::clone(&self.shared));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        std::mem::take(&mut *self.lines.lock())
    }
}

/// An error that says nothing by itself.
#[derive(Debug)]
struct Mute;

impl fmt::Display for Mute {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Mute {}

/// An error with a cause.
#[derive(Debug, thiserror::Error)]
#[error("request to /bot{TOKEN}/getMe failed")]
struct Outer(#[source] std::io::Error);

#[test]
fn no_part_of_an_event_shows_a_secret() {
    for format in [LogFormat::Text, LogFormat::Json] {
        let lines = Log::new(format).run(|| {
            let error = Outer(std::io::Error::other(format!("no route to {TOKEN}")));
            let encoded = TOKEN.replace(':', "%3A");
            let span = tracing::info_span!("turn", key = TOKEN, later = tracing::field::Empty);
            span.record("later", format!("<{TOKEN}>"));
            let _inside = span.entered();
            let error_value: &(dyn std::error::Error + 'static) = &error;
            tracing::error!(error = error_value, "message with {TOKEN}");
            tracing::trace!(?error, %encoded, "debug");
            tracing::info!(
                padding = format!("{}{TOKEN}", "x".repeat(2030)),
                "cut inside"
            );
        });
        assert_eq!(lines.lines().count(), 3);
        assert!(
            !lines.contains("TEST-secret") && !lines.contains("123456"),
            "{lines}"
        );
        assert!(lines.contains("request to /bot[REDACTED]/getMe failed: no route to [REDACTED]"));
        assert!(lines.contains("<[REDACTED]>"), "{lines}");
    }
}

#[test]
fn numbers_that_are_secrets_are_replaced_and_json_stays_valid() {
    let log = Log::new(LogFormat::Json);
    log.shared.set_redactor(Redactor::new(["1234567890"]).0);
    let line = log.run(|| tracing::info!(id = 1_234_567_890_u64, other = 5, "x"));
    let read: serde_json::Value = serde_json::from_str(&line).expect("valid JSON");
    assert_eq!(
        read["fields"],
        serde_json::json!({"id": "[REDACTED]", "other": 5})
    );
}

#[test]
fn a_span_from_before_the_secrets_were_known_is_redacted_too() {
    let log = Log::new(LogFormat::Text);
    log.shared.set_redactor(Redactor::default());
    let line = log.run(|| {
        let _inside = tracing::info_span!("start", key = TOKEN).entered();
        log.shared.set_redactor(Redactor::new([TOKEN]).0);
        tracing::info!("x");
    });
    assert!(line.ends_with(" x key=[REDACTED]\n"), "{line}");
}

#[test]
fn the_inner_span_holds_and_every_line_has_the_turn() {
    let line = Log::new(LogFormat::Text).run(|| {
        let _outer = tracing::info_span!("a", turn = "t-1", step = 1).entered();
        let _inner = tracing::info_span!("b", step = 2).entered();
        tracing::info!("x");
    });
    assert!(line.ends_with(" x turn=t-1 step=2\n"), "{line}");
}

#[test]
fn a_record_of_the_log_crate_keeps_its_own_target() {
    let line = Log::new(LogFormat::Text).run(|| {
        tracing::info!(target: "log", { log.target = "library", log.line = 3 }, "message");
    });
    assert!(line.ends_with(" INFO library: message\n"), "{line}");
}

#[test]
fn an_error_is_never_empty() {
    let line = Log::new(LogFormat::Text).run(|| {
        let mute: &(dyn std::error::Error + 'static) = &Mute;
        tracing::warn!(error = mute, "failed");
    });
    assert!(line.contains("error=Mute"), "{line}");
}

#[test]
fn a_huge_value_is_one_bounded_line_and_is_not_read_to_its_end() {
    /// Counts how much of it was asked for.
    struct Endless<'a>(&'a Mutex<u64>);
    impl fmt::Display for Endless<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                *self.0.lock() += 1;
                f.write_str("0123456789\n")?;
            }
        }
    }
    let written = Mutex::new(0);
    let huge = "字".repeat(2_000_000);
    let lines = Log::new(LogFormat::Text).run(|| {
        tracing::debug!("{huge}");
        tracing::debug!(body = %Endless(&written), "endless");
    });
    assert_eq!(lines.lines().count(), 2);
    assert!(
        lines
            .lines()
            .all(|line| line.len() <= LINE_BYTES && line.contains("…[cut]"))
    );
    assert!(*written.lock() < 1000);
}

#[test]
fn repeats_are_summed_up() {
    let log = Log::new(LogFormat::Text);
    let lines = log.run(|| {
        for _ in 0..REPEATS.burst + 57 {
            tracing::warn!(error = "no route", "not connected");
        }
    });
    assert_eq!(lines.lines().count() as u64, REPEATS.burst);
    log.shared.summarise(false);
    assert!(log.lines.lock().is_empty(), "not due yet");
    log.shared.summarise(true);
    let line = log.lines.lock().clone();
    assert!(line.contains(" WARN "), "{line}");
    assert!(
        line.ends_with(": repeated 57 times in 1 s: not connected: no route\n"),
        "{line}"
    );
}

#[test]
fn a_value_that_logs_while_it_is_shown_does_not_block() {
    struct Chatty;
    impl fmt::Display for Chatty {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            tracing::info!("inner");
            f.write_str("shown")
        }
    }
    let lines = Log::new(LogFormat::Text).run(|| tracing::info!(value = %Chatty, "outer"));
    assert!(lines.contains("value=shown"), "{lines}");
}

#[test]
fn a_panic_is_logged_without_secrets() {
    let log = Log::new(LogFormat::Text);
    let before = std::panic::take_hook();
    panic::install();
    let lines = log.run(|| {
        let result = std::panic::catch_unwind(|| panic!("lost {TOKEN}\nfor good"));
        assert!(result.is_err());
    });
    std::panic::set_hook(before);
    assert!(
        lines.contains("ERROR") && lines.contains("thread panicked"),
        "{lines}"
    );
    assert!(
        lines.contains(r#"panic="lost [REDACTED]\nfor good""#),
        "{lines}"
    );
    assert!(lines.contains("tests.rs:"), "{lines}");
}

#[test]
fn wrong_directives_are_an_error_that_names_them() {
    assert!(parse("info,weirgate::store=debug").is_ok());
    let error = parse("weirgate=loud").expect_err("not a level");
    assert!(matches!(error, LoggingError::Directives { .. }));
    assert!(error.to_string().contains("weirgate=loud"), "{error}");
}
