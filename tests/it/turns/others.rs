//! Models of a server by others, in each format that providers are spoken to in.
//!
//! Owns its start. `tests/run.sh` installs it; without it these tests fail and say so.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};
use weirgate_testkit::model::FakeModel;

use super::formats::KINDS;
use crate::{
    gateway::{Chat as _, Gateway, LIMIT},
    mcp::{counterparts, node},
};

/// What the models say: each entry for a question that has these words.
fn fixtures() -> Value {
    let sum = json!({ "name": "calculate", "arguments": r#"{"expression":"0.1 + 0.2"}"# });
    json!({ "fixtures": [
        {
            "match": { "userMessage": "add them", "hasToolResult": false },
            "response": { "content": "Let me see.", "toolCalls": [sum] },
        },
        {
            "match": { "userMessage": "add them", "hasToolResult": true, "toolResultContains": "0.3" },
            "response": { "content": "It is three tenths." },
        },
        {
            "match": { "userMessage": "think" },
            "response": { "content": "Forty-two.", "reasoning": "Six times seven." },
        },
        { "match": { "userMessage": "hello" }, "response": { "content": "Hello 世界, from another program." } },
    ] })
}

/// A running server of models; it ends with the test.
struct Models {
    url: String,
    _folder: tempfile::TempDir,
    _child: Child,
}

impl Models {
    /// `chaos`: what it does wrong.
    async fn start(chaos: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fixtures.json");
        std::fs::write(&file, fixtures().to_string()).unwrap();
        let mut child = Command::new(node())
            .arg(counterparts().join("@copilotkit/aimock/dist/cli.js"))
            .args(["--port", "0", "--strict", "--chunk-size", "3", "--fixtures"])
            .arg(&file)
            .args(chaos)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = async {
            loop {
                let line = lines.next_line().await.unwrap().expect("an address");
                if let Some((_, url)) = line.split_once("listening on ") {
                    return url.trim().to_owned();
                }
            }
        };
        let url = tokio::time::timeout(LIMIT, told).await.expect("it starts");
        // What it tells later goes nowhere, and never fills the pipe.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self {
            url: format!("{url}/v1"),
            _folder: folder,
            _child: child,
        }
    }

    /// A provider that speaks to it.
    fn provider(&self, kind: &str) -> Value {
        json!({ "kind": kind, "base_url": self.url })
    }
}

#[tokio::test]
async fn answers_calls_and_reasoning_of_a_server_by_others_are_read_in_each_format() {
    let models = Models::start(&[]).await;
    let unused = FakeModel::start().await;
    for kind in KINDS {
        let changes = json!({ "providers": { "main": models.provider(kind) } });
        let gateway = Gateway::start(&unused, changes).await;
        let fake = gateway.onebot().await;
        let hello = fake.ask(1, "hello").await;
        let expected = "Hello 世界, from another program.";
        assert_eq!(hello, expected, "{kind}: {}", gateway.log());
        let sum = fake.ask(1, "add them").await;
        assert_eq!(sum, "It is three tenths.", "{kind}");
        let log = fake.ask(1, "/log").await;
        assert!(log.contains("tools: calculate"), "{kind}: {log}");
        // What it thought is not shown.
        assert_eq!(fake.ask(1, "think").await, "Forty-two.", "{kind}");
        // Also with calls and reasoning in the history.
        let again = fake.ask(1, "hello again").await;
        assert!(again.starts_with("Hello 世界"), "{kind}: {again}");
    }
    assert_eq!(unused.count(), 0);
}

#[tokio::test]
async fn whatever_such_a_server_does_wrong_the_next_model_answers() {
    let models = Models::start(&[]).await;
    let unused = FakeModel::start().await;
    for chaos in [
        "--chaos-drop",
        "--chaos-malformed",
        "--chaos-disconnect",
        "--chaos-ratelimit",
    ] {
        let broken = Models::start(&[chaos, "1"]).await;
        for kind in KINDS {
            let changes = json!({
                "providers": { "broken": broken.provider(kind), "main": models.provider(kind) },
                "models": { "chat": ["broken/test", "main/test"] },
                "error_recovery": { "max_retries": { "rate_limit": 1, "network": 1, "api": 1 } },
            });
            let gateway = Gateway::start(&unused, changes).await;
            let fake = gateway.onebot().await;
            let told = fake.ask(1, "hello").await;
            assert!(told.starts_with("Hello 世界"), "{chaos} {kind}: {told}");
        }
    }
}
