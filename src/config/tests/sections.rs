//! Limits and impossible combinations of single sections.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::Severity;

use super::{complaints, paths, read, read_all};
use crate::{
    config::Language,
    outbound::config::{PlatformStrategy, Strategy},
    schedule::config::Mode,
    store::config::{Database, Durability},
    telemetry::config::LogFormat,
};

/// The error's path for each text.
fn check(cases: &[(&str, &str)]) {
    for (text, path) in cases {
        assert_eq!(
            paths(text, Severity::Error),
            [*path],
            "{text}: {:?}",
            complaints(text)
        );
    }
}

#[test]
fn impossible_combinations_are_errors() {
    check(&[
        ("input_buffer: {max_total: 10}", "input_buffer.max_total"),
        (
            "input_buffer: {max_queue_size: 200000}",
            "input_buffer.max_queue_size",
        ),
        (
            "flow_control: {auto: {min_interval: 11}}",
            "flow_control.auto.min_interval",
        ),
        (
            "flow_control: {auto: {max_interval: 0.1}}",
            "flow_control.auto.max_interval",
        ),
        ("flow_control: {debounce: 5}", "flow_control.debounce"),
        (
            "flow_control: {max_turns_per_user: 300}",
            "flow_control.max_turns_per_user",
        ),
        (
            "output: {segmented: {random_interval: \"2.0,0.5\"}}",
            "output.segmented.random_interval",
        ),
    ]);
}

#[test]
fn values_out_of_their_limits_are_errors() {
    check(&[
        (
            "input_buffer: {max_queue_size: 0}",
            "input_buffer.max_queue_size",
        ),
        (
            "input_buffer: {max_message_age: -1}",
            "input_buffer.max_message_age",
        ),
        (
            "flow_control: {auto: {safety_margin: 0}}",
            "flow_control.auto.safety_margin",
        ),
        (
            "flow_control: {user: {burst: 0}}",
            "flow_control.user.burst",
        ),
        (
            "context: {max_context_tokens: 1e5}",
            "context.max_context_tokens",
        ),
        (
            "output: {streaming: {chunk_interval: 50ms}}",
            "output.streaming.chunk_interval",
        ),
        (
            "error_recovery: {backoff_multiplier: 0.5}",
            "error_recovery.backoff_multiplier",
        ),
        (
            "storage: {retention: {inbox: 0}}",
            "storage.retention.inbox",
        ),
        ("http: {listen: \"localhost:80\"}", "http.listen"),
        ("http: {listen: 8787}", "http.listen"),
        (
            "http: {public_url: \"chat.example.com\"}",
            "http.public_url",
        ),
        (
            "observability: {log: {format: yaml}}",
            "observability.log.format",
        ),
        ("language: zh", "language"),
    ]);
}

#[test]
fn zero_means_what_the_comments_say() {
    let config = read("flow_control: {auto: {api_rpm_limit: 0}, user: {rate: 0}, debounce: 0}");
    assert_eq!(config.flow_control.auto.api_rpm_limit, 0);
    assert!(config.flow_control.user.rate.abs() < f64::EPSILON);
    assert_eq!(config.flow_control.debounce, Duration::ZERO);
}

#[test]
fn every_section_takes_what_differs_from_its_defaults() {
    let config = read(
        "
flow_control: {mode: manual, manual_rate: 2.5, debounce: 1.5}
storage: {url: \"sqlite:data/w.db\", durability: full, retention: {audit: 0.5}}
observability: {log: {format: json, level: \"warn,weirgate::store=debug\"}, metrics: false}
language: zh-CN
permissions: {platform_roles: false}
context: {system_prompt: \"\", ambient: {enable: true}}
",
    );
    assert_eq!(config.flow_control.mode, Mode::Manual);
    assert_eq!(config.flow_control.debounce, Duration::from_millis(1500));
    let file = Database::Sqlite(PathBuf::from("data/w.db"));
    assert_eq!(config.storage.database, file);
    assert_eq!(config.storage.durability, Durability::Full);
    assert_eq!(config.storage.retention.audit, Duration::from_secs(43_200));
    assert_eq!(config.observability.log.format, LogFormat::Json);
    assert_eq!(config.observability.log.level, "warn,weirgate::store=debug");
    assert!(!config.observability.metrics && !config.permissions.platform_roles);
    assert_eq!(config.language, Language::ZhCn);
    assert_eq!(config.context.system_prompt.as_deref(), Some(""));
    assert!(config.context.ambient.enable);
}

#[test]
fn a_strategy_may_name_the_kind_of_chat() {
    let config = read(
        "output: {platform_adaptation: {strategy_by_platform: {qq: {private: streaming}, webchat: full}}}",
    );
    let strategies = config.output.platform_adaptation.strategy_by_platform;
    let (streaming, full) = (Some(Strategy::Streaming), Some(Strategy::Full));
    assert_eq!(
        strategies["qq"],
        PlatformStrategy {
            private: streaming,
            group: None
        }
    );
    assert_eq!(
        strategies["webchat"],
        PlatformStrategy {
            private: full,
            group: full
        }
    );
    check(&[(
        "output: {platform_adaptation: {strategy_by_platform: {qq: {privat: full}}}}",
        "output.platform_adaptation.strategy_by_platform.qq.privat",
    )]);
}

#[test]
fn a_regular_expression_must_compile_within_limits_and_match_something() {
    for pattern in ["(", "x*", "(?:a{1000}){1000}", ""] {
        let text = format!("output: {{segmented: {{split_regex: \"{pattern}\"}}}}");
        assert_eq!(
            paths(&text, Severity::Error),
            ["output.segmented.split_regex"],
            "{pattern}"
        );
    }
}

#[test]
fn a_misspelt_level_of_the_log_does_not_silence_it() {
    let told = complaints("observability: {log: {level: inof}}");
    assert_eq!(
        told,
        ["t:1:30: observability.log.level: not a level of the log | did you mean info?"]
    );
    for level in ["weirgate=loud", "info,,debug", "weirgate"] {
        let text = format!("observability: {{log: {{level: \"{level}\"}}}}");
        assert_eq!(
            paths(&text, Severity::Error),
            ["observability.log.level"],
            "{level}"
        );
    }
}

#[test]
fn the_address_of_the_database_is_a_file_or_a_server() {
    for url in ["sqlite:///a/b.db", "sqlite:/a/b.db"] {
        let config = read(&format!("storage: {{url: \"{url}\"}}"));
        let file = Database::Sqlite(PathBuf::from("/a/b.db"));
        assert_eq!(config.storage.database, file);
    }
    for url in [
        "sqlite:",
        "sqlite::memory:",
        "sqlite:///a/",
        "a.db",
        "sqlite:a.db?mode=ro",
        "mysql://x",
        "postgres:x",
        "postgres://u:p@[db/x",
    ] {
        check(&[(&format!("storage: {{url: \"{url}\"}}"), "storage.url")]);
    }
    check(&[(
        "storage: {url: \"sqlite:/a.db\", url_file: url.txt}",
        "storage.url_file",
    )]);
}

#[test]
fn the_password_of_the_database_is_a_secret_in_each_of_its_forms() {
    let url = "postgresql://bot:pass%2Fword-1@db:5433/weirgate?sslmode=verify-full";
    let config = read(&format!("storage: {{url: \"{url}\"}}"));
    let Database::Postgres(read) = &config.storage.database else {
        panic!("{:?}", config.storage);
    };
    assert_eq!(read.expose(), url);
    let secrets: Vec<&str> = config.secrets.iter().map(|(_, s)| s.expose()).collect();
    assert_eq!(secrets, [url, "pass%2Fword-1", "pass/word-1"]);
    let shown = format!("{config:?}");
    assert!(!shown.contains("word-1"), "{shown}");
    let told = complaints("storage: {url: \"postgres://bot:pass-word-1@[db/x\"}").join("\n");
    assert!(!told.contains("pass-word-1"), "{told}");
}

#[test]
fn faults_leave_the_defaults_in_place() {
    let (config, _) = read_all("input_buffer: {max_queue_size: x}\nflow_control: 7");
    let config = config.unwrap();
    assert_eq!(config.input_buffer.max_queue_size, 1000);
    assert_eq!(config.flow_control.max_turns_in_flight, 256);
}
