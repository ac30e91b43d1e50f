//! The log file: bounded for ever, and a disk that takes nothing changes nothing for anybody.

use std::{collections::HashSet, fs};

use serde_json::{Value, json};
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Chat as _, Gateway};

fn logging(file: Value) -> Value {
    json!({ "observability": { "log": { "format": "json", "level": "trace", "file": file } } })
}

#[tokio::test]
async fn the_files_hold_the_newest_lines_and_never_more_than_their_bound() {
    const SIZE: u64 = 65_536;
    let model = FakeModel::start().await;
    let file = json!({ "path": "logs/weirgate.log", "max_size": SIZE, "keep": 3 });
    let mut gateway = Gateway::start(&model, logging(file)).await;
    let fake = gateway.onebot().await;
    let folder = gateway.folder().join("logs");
    let sizes = || {
        let entries = fs::read_dir(&folder).unwrap();
        let sizes = entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()));
        sizes.collect::<Vec<u64>>()
    };
    let oldest = folder.join("weirgate.log.2");
    for round in 0.. {
        fake.ask(1, &format!("{round} {}", "x".repeat(500))).await;
        assert!(sizes().iter().all(|size| *size <= SIZE) && sizes().len() <= 3);
        if oldest.exists() && round > 20 {
            break;
        }
        assert!(round < 2_000, "{:?}", sizes());
    }
    assert!(gateway.term().await.success());
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let newest = ["weirgate.log.2", "weirgate.log.1", "weirgate.log"]
        .map(read)
        .concat();
    assert!(
        newest.contains(r#""message":"stopped""#),
        "the last lines are missing"
    );
    for line in newest.lines() {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("torn: {line}"));
        for field in ["time", "level", "target", "message"] {
            assert!(entry[field].is_string(), "{field} in {line}");
        }
    }
    // The file says what standard error says. Lines of two threads may change places between them.
    let log = gateway.log();
    let said: HashSet<&str> = log.lines().collect();
    for line in newest.lines() {
        assert!(said.contains(line), "only the file has: {line}");
    }
}

#[tokio::test]
async fn a_full_disk_stops_nobody_and_every_lost_line_is_counted() {
    let model = FakeModel::start().await;
    let file = json!({ "path": "/dev/full" });
    let mut gateway = Gateway::start(&model, logging(file)).await;
    let fake = gateway.onebot().await;
    for round in 0..20 {
        assert_eq!(
            fake.ask(1, &format!("{round}")).await,
            format!("re: {round}")
        );
    }
    gateway.logged("the log file cannot be written").await;
    let metrics = gateway.get("/metrics").await.body;
    // The counters of one page are not read at one moment, and asking for it is logged too.
    let later = gateway.get("/metrics").await.body;
    let value = |page: &str, name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<f64>().ok())
            .unwrap_or(-1.0)
    };
    let received = value(&later, r#"weirgate_queue_received_total{queue="log"}"#);
    let lost = value(
        &metrics,
        r#"weirgate_queue_dropped_total{queue="log",reason="write_failed"}"#,
    );
    assert!(lost > 20.0 && received >= lost, "{received} {lost}");
    assert_eq!(
        value(&later, r#"weirgate_queue_sent_total{queue="log"}"#),
        0.0
    );
    assert_eq!(
        gateway
            .log()
            .matches("the log file cannot be written")
            .count(),
        1
    );
    assert!(gateway.term().await.success());
}

#[tokio::test]
async fn a_log_file_that_cannot_be_opened_is_told_at_the_start() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, logging(json!({ "path": "file/log" })));
    gateway.write("file", "in the way");
    gateway.spawn();
    assert_eq!(gateway.ended().await.code(), Some(78));
    assert!(
        gateway.log().contains("observability.log.file.path"),
        "{}",
        gateway.log()
    );
}
