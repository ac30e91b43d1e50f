//! Programs in the folder of tools: what they are given, and that they end with everything that they started.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use super::is_there;
use crate::gateway::{Chat as _, Gateway, until};

fn put(folder: &Path, name: &str, script: &str) {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("run.sh"), script).unwrap();
    let manifest = json!({ "name": name, "description": "a test", "command": ["sh", "run.sh"] });
    fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
}

/// A program that starts others, one in a session of its own, and writes down their numbers.
const STAYS: &str = "setsid sleep 300 & echo $! > a\nsleep 300 & echo $! > b\necho $$ > c\n";

fn noted(folder: &Path) -> Vec<String> {
    let read = |name| fs::read_to_string(folder.join(name)).unwrap();
    ["a", "b", "c"].map(read).to_vec()
}

async fn bed(programs: &[(&str, &str)]) -> (TempDir, FakeModel, Gateway, FakeOneBot) {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in programs {
        put(folder.path(), name, script);
    }
    let model = FakeModel::start().await;
    let changes = json!({ "tools": { "folder": folder.path() } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (folder, model, gateway, fake)
}

async fn told(
    model: &FakeModel,
    fake: &FakeOneBot,
    name: &'static str,
    arguments: Value,
) -> String {
    model.push(Script::calls(&[(name, arguments)]));
    fake.ask(1, "go").await;
    let last = model.requests().pop().unwrap();
    let mut messages = last.body["messages"].as_array().unwrap().iter();
    let result = messages.rfind(|message| message["role"] == "tool");
    result.unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_program_gets_its_arguments_and_nothing_of_the_gateways_secrets() {
    let (_folder, model, _gateway, fake) = bed(&[
        ("echo", "cat; echo; env | grep -c XDG_DATA_HOME; exit 0"),
        ("fails", "echo half; echo why >&2; exit 3"),
    ])
    .await;
    let given = told(&model, &fake, "echo", json!({ "text": "你好; rm -rf /" })).await;
    assert!(
        given.contains("> {\"text\":\"你好; rm -rf /\"}\n> 0"),
        "{given}"
    );
    let fault = told(&model, &fake, "fails", json!({})).await;
    assert!(
        fault.contains("> why") && !fault.contains("half"),
        "{fault}"
    );
    assert!(fault.contains("exit status: 3"), "{fault}");
}

#[tokio::test]
async fn what_a_program_gives_is_in_no_log_with_a_secret_in_it() {
    let secret = crate::gateway::KEY;
    let gives = format!("echo the key is {secret}");
    let fails = format!("echo the key is {secret} >&2; exit 1");
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "gives", &gives);
    put(folder.path(), "fails", &fails);
    let model = FakeModel::start().await;
    let changes = json!({
        "tools": { "folder": folder.path() },
        "observability": { "log": { "level": "trace" } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for name in ["gives", "fails"] {
        let result = told(&model, &fake, name, json!({})).await;
        assert!(result.contains("the key is [REDACTED]"), "{name}: {result}");
    }
    let requests = model.requests().pop().unwrap().body.to_string();
    assert!(!requests.contains(secret), "nor in what the model is told");
    let log = gateway.log();
    // It does write about these calls.
    assert!(
        log.contains("a tool gave nothing") && !log.contains(secret),
        "{log}"
    );
}

#[tokio::test]
async fn a_program_that_is_stopped_ends_with_what_it_started() {
    let script = format!("{STAYS}wait");
    let (folder, model, _gateway, fake) = bed(&[("slow", &script)]).await;
    model.push(Script::calls(&[("slow", json!({}))]));
    fake.send_private(1, "go").await;
    let own = folder.path().join("slow");
    assert!(until(|| own.join("c").exists()).await);
    let noted = noted(&own);
    fake.send_private(1, "/stop").await;
    assert!(
        until(|| !noted.iter().any(|id| is_there(id))).await,
        "{noted:?}"
    );
}

#[tokio::test]
async fn no_program_outlives_a_gateway_that_is_killed_nor_what_it_left_behind() {
    let stays = format!("{STAYS}wait");
    let leaves = format!("{STAYS}exit 0");
    let (folder, model, mut gateway, fake) = bed(&[("stays", &stays), ("leaves", &leaves)]).await;
    told(&model, &fake, "leaves", json!({})).await;
    let left = noted(&folder.path().join("leaves"));
    assert!(
        until(|| !left.iter().any(|id| is_there(id))).await,
        "{left:?}"
    );
    model.push(Script::calls(&[("stays", json!({}))]));
    fake.send_private(1, "go").await;
    let own = folder.path().join("stays");
    assert!(until(|| own.join("c").exists()).await);
    let noted = noted(&own);
    assert!(noted.iter().all(|id| is_there(id)), "{noted:?}");
    gateway.kill().await;
    assert!(
        until(|| !noted.iter().any(|id| is_there(id))).await,
        "{noted:?}"
    );
}

#[tokio::test]
async fn a_program_that_cannot_be_used_is_left_out_and_named() {
    let (folder, model, gateway, fake) = bed(&[("echo", "cat")]).await;
    put(folder.path(), "date_time", "cat");
    put(folder.path(), "other", "cat");
    let manifest = folder.path().join("other/module.json");
    let renamed = fs::read_to_string(&manifest)
        .unwrap()
        .replace("other", "another");
    fs::write(&manifest, renamed).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    let doctor = gateway.command(&["doctor", "--offline"]).output().await;
    let doctor = String::from_utf8(doctor.unwrap().stdout).unwrap();
    let line = |subject: &str| {
        let mut lines = doctor.lines();
        lines
            .find(|line| line.contains(subject))
            .unwrap_or_else(|| panic!("{doctor}"))
    };
    assert!(line(" programs ").ends_with("can be used: 1"), "{doctor}");
    for (name, why) in [
        ("date_time", "another tool has this name"),
        ("empty", "module.json: "),
        ("other", "another"),
    ] {
        let line = line(&format!(" program {name} "));
        assert!(line.starts_with("warn") && line.contains(why), "{line}");
        gateway
            .logged("a program in the folder of tools is left out")
            .await;
        gateway.logged(name).await;
    }
    let got = told(&model, &fake, "echo", json!({ "a": 1 })).await;
    assert!(got.trim_end().ends_with(r#"{"a":1}"#), "{got}");
    let offered = model.requests().pop().unwrap().body["tools"].to_string();
    assert!(
        offered.contains("\"echo\"") && !offered.contains("\"other\""),
        "{offered}"
    );
}
