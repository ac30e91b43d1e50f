//! Reload: however the file is saved and whoever asks, a change is in force whole or not at all.

mod accounts;
mod asked;
mod live;
mod sequence;

use std::{fs, io::Write as _, time::Duration};

use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, onebot::FakeOneBot};

use crate::gateway::{Chat as _, Gateway, LIMIT};

/// A pause that is longer than a file that changed is left alone for.
const LONGER: Duration = Duration::from_millis(400);

/// A gateway that has had its first look at its file.
pub async fn started(model: &FakeModel, changes: Value) -> Gateway {
    let gateway = Gateway::start(model, changes).await;
    reads(&gateway, "unchanged", 1).await;
    gateway
}

/// How often the configuration was read again, with an outcome.
pub async fn count(gateway: &Gateway, outcome: &str) -> u64 {
    let series = format!(r#"weirgate_config_reloads_total{{outcome="{outcome}"}}"#);
    gateway.metric(&series).await
}

/// How often the configuration was read again, whatever came of it.
pub async fn total(gateway: &Gateway) -> u64 {
    let mut total = 0;
    for outcome in ["applied", "unchanged", "refused"] {
        total += count(gateway, outcome).await;
    }
    total
}

/// Waits until the configuration was read again so often with an outcome.
pub async fn reads(gateway: &Gateway, outcome: &str, times: u64) {
    let wait = async {
        while count(gateway, outcome).await < times {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(LIMIT, wait).await;
    assert!(in_time.is_ok(), "not {times} {outcome}: {}", gateway.log());
}

/// What the model is told first.
pub fn prompt(text: &str) -> Value {
    json!({ "context": { "system_prompt": text } })
}

/// What the model was told first in its last request.
pub fn told(model: &FakeModel) -> String {
    let last = model.requests().pop().expect("a request");
    last.body["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Asks something and says what the model was told first.
pub async fn ask(model: &FakeModel, fake: &FakeOneBot) -> String {
    assert_eq!(fake.ask(1, "what?").await, "re: what?");
    told(model)
}

/// Saves agent.yaml as most editors do: beside it, then by a rename.
pub fn rename_over(gateway: &Gateway, text: &str) {
    gateway.write("agent.yaml.new", text);
    let folder = gateway.folder();
    fs::rename(folder.join("agent.yaml.new"), folder.join("agent.yaml")).unwrap();
}

#[tokio::test]
async fn a_file_that_is_renamed_into_place_applies_and_the_log_says_what_changed() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("one")).await;
    let fake = gateway.onebot().await;
    assert_eq!(ask(&model, &fake).await, "one");
    let mut changes = prompt("two");
    changes["providers"]["main"]["api_key"] = "another-key-9876543210".into();
    changes["storage"]["durability"] = "full".into();
    rename_over(&gateway, &gateway.configuration(&model, changes));
    reads(&gateway, "applied", 1).await;
    assert_eq!(ask(&model, &fake).await, "two");
    let last = model.requests().pop().unwrap();
    assert_eq!(
        last.header("authorization"),
        Some("Bearer another-key-9876543210")
    );
    gateway
        .logged("changed: context.system_prompt: one -> two")
        .await;
    gateway
        .logged("changed: providers.main.api_key: *** -> ***")
        .await;
    gateway
        .logged("not in force until a restart: storage.durability: not set -> full")
        .await;
    let log = gateway.log();
    assert!(!log.contains("another-key") && !log.contains(crate::gateway::KEY));
    assert_eq!(total(&gateway).await, 2, "one reload for one change: {log}");
}

#[tokio::test]
async fn a_link_that_is_turned_elsewhere_counts_as_a_save() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::bare();
    // As a ConfigMap is mounted: the file is a link through a link that is replaced.
    let volume = gateway.folder().join("volume");
    let put = |version: &str, text: &str| {
        let folder = volume.join(format!("..{version}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("agent.yaml"), text).unwrap();
        std::os::unix::fs::symlink(format!("..{version}"), volume.join("..data_tmp")).unwrap();
        fs::rename(volume.join("..data_tmp"), volume.join("..data")).unwrap();
    };
    put("1", &gateway.configuration(&model, prompt("one")));
    std::os::unix::fs::symlink("..data/agent.yaml", volume.join("agent.yaml")).unwrap();
    gateway.set(
        "WEIRGATE_CONFIG",
        volume.join("agent.yaml").to_str().unwrap(),
    );
    gateway.up().await;
    reads(&gateway, "unchanged", 1).await;
    let fake = gateway.onebot().await;
    for (version, times) in [("2", 1), ("3", 2)] {
        put(version, &gateway.configuration(&model, prompt(version)));
        reads(&gateway, "applied", times).await;
        assert_eq!(ask(&model, &fake).await, version);
    }
    // Also what is written where the links lead.
    let text = gateway.configuration(&model, prompt("in place"));
    fs::write(volume.join("..3/agent.yaml"), text).unwrap();
    reads(&gateway, "applied", 3).await;
    assert_eq!(ask(&model, &fake).await, "in place");
}

#[tokio::test]
async fn a_file_that_is_being_written_is_left_alone_until_it_is_closed() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("one")).await;
    let fake = gateway.onebot().await;
    let text = gateway.configuration(&model, prompt("two"));
    let path = gateway.folder().join("agent.yaml");
    // The first piece alone would be a whole configuration, and a very different one.
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"language: en\n").unwrap();
    tokio::time::sleep(LONGER).await;
    assert_eq!(ask(&model, &fake).await, "one");
    file.write_all(b"# a comment\n").unwrap();
    tokio::time::sleep(LONGER).await;
    file.set_len(0).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    drop(file);
    reads(&gateway, "applied", 1).await;
    assert_eq!(ask(&model, &fake).await, "two");
    assert_eq!(total(&gateway).await, 2, "{}", gateway.log());
}

#[tokio::test]
async fn what_is_empty_missing_or_broken_changes_nothing_and_is_said_once() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("one")).await;
    let fake = gateway.onebot().await;
    let path = gateway.folder().join("agent.yaml");
    let faulty = [
        ("", "agent.yaml:1:1: the file is empty"),
        ("# only a comment\n", "the file is empty"),
        ("language: [\n", "agent.yaml:"),
        ("language: klingon\nturns: 1\n", "agent.yaml:2:1: turns"),
    ];
    for (times, (text, said)) in (1..).zip(faulty) {
        gateway.write("agent.yaml", text);
        reads(&gateway, "refused", times).await;
        gateway.logged(said).await;
        assert_eq!(ask(&model, &fake).await, "one");
    }
    // The same fault again is nothing new.
    gateway.write("agent.yaml", "language: klingon\nturns: 1\n");
    reads(&gateway, "refused", 5).await;
    assert_eq!(gateway.log().matches("agent.yaml:2:1: turns").count(), 1);
    fs::remove_file(&path).unwrap();
    reads(&gateway, "refused", 6).await;
    gateway.logged("cannot be read").await;
    assert_eq!(ask(&model, &fake).await, "one");
    gateway.configure(&model, prompt("two"));
    reads(&gateway, "applied", 1).await;
    assert_eq!(ask(&model, &fake).await, "two");
}

#[tokio::test]
async fn a_file_that_is_touched_or_commented_changes_nothing() {
    let model = FakeModel::start().await;
    let gateway = started(&model, prompt("one")).await;
    let text = gateway.configuration(&model, prompt("one"));
    gateway.write("agent.yaml", &text);
    reads(&gateway, "unchanged", 2).await;
    gateway.write("agent.yaml", &format!("# a comment\n\n{text}"));
    reads(&gateway, "unchanged", 3).await;
    assert_eq!(count(&gateway, "applied").await, 0);
    assert!(!gateway.log().contains("read again"), "{}", gateway.log());
}
