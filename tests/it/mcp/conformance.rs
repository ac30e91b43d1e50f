//! The protocol's conformance suite: it plays the server, the whole gateway is the client.

use std::{fs, path::Path, process::Stdio};

use serde_json::{Value, json};
use tokio::process::Command;

use super::{called, counterparts, node, says, text, with};
use crate::gateway::until;

/// What the suite starts as the client: it passes the address on and waits until the gateway has used it.
const CLIENT: &str = r#"#!/bin/sh
for last; do :; done
echo "$last" > "$HERE/address.new" && mv "$HERE/address.new" "$HERE/address"
while [ ! -e "$HERE/done" ]; do sleep 0.1; done
"#;

/// Runs a scenario that passes: the gateway uses the suite's server, and calls these tools of it. Gives what the calls
/// gave.
async fn scenario(name: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let client = here.join("client.sh");
    fs::write(&client, CLIENT).unwrap();
    let suite = Command::new(node())
        .arg(counterparts().join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--scenario", name, "--timeout", "120000"])
        .args(["--command", &format!("sh {}", text(&client))])
        .current_dir(here)
        .env("HERE", here)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let address = here.join("address");
    assert!(until(|| address.exists()).await, "the suite starts");
    let url = fs::read_to_string(&address).unwrap();
    let server = json!({ "name": "suite", "url": url.trim(), "approval": "never" });
    let (model, _gateway, fake) = with(json!([server])).await;
    says(&fake, "suite: up").await;
    let got = if calls.is_empty() {
        Vec::new()
    } else {
        called(&model, &fake, calls).await
    };
    done(here);
    let out = suite.wait_with_output().await.unwrap();
    let said = [out.stdout, out.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let passed = said.contains("OVERALL: PASSED") && !said.contains("Passed: 0/");
    assert!(out.status.success() && passed, "{name}: {said}");
    got
}

fn done(here: &Path) {
    fs::write(here.join("done"), "").unwrap();
}

#[tokio::test]
async fn the_suite_takes_our_greeting() {
    scenario("initialize", &[]).await;
}

#[tokio::test]
async fn the_suite_takes_our_calls() {
    let sum = ("suite__add_numbers", json!({ "a": 5, "b": 3 }));
    let got = scenario("tools_call", &[sum]).await;
    assert!(got[0].contains('8'), "{got:?}");
}
