//! Times are shown in the zone that the operator wants, in a process without any files of zones.

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use crate::gateway::Gateway;

#[tokio::test]
async fn the_log_has_the_zone_of_the_variable_unless_the_configuration_names_one() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    gateway.set("TZ", "Asia/Shanghai");
    gateway.up().await;
    gateway.logged("connection").await;
    assert!(gateway.term().await.success());
    let log = gateway.log();
    assert!(log.lines().all(|line| line.contains("+08:00 ")), "{log}");

    gateway.configure(&model, json!({ "timezone": "UTC" }));
    gateway.up().await;
    assert!(gateway.term().await.success());
    let log = gateway.log();
    assert!(log.lines().last().unwrap().contains("Z  INFO"), "{log}");
}

#[tokio::test]
async fn an_unknown_zone_is_told_at_the_start() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    gateway.set("TZ", "Mars/Base");
    gateway.spawn();
    assert_eq!(gateway.ended().await.code(), Some(78));
    assert!(gateway.log().contains("Mars/Base"), "{}", gateway.log());

    gateway.set("TZ", "");
    gateway.configure(&model, json!({ "timezone": "Mars/Base" }));
    gateway.spawn();
    assert_eq!(gateway.ended().await.code(), Some(78));
    assert!(
        gateway.log().contains("there is no time zone of this name"),
        "{}",
        gateway.log()
    );
}
