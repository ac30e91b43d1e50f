//! What is taken out of answers and logs beside the configuration's own secrets.

use serde_json::json;
use weirgate_testkit::{model::Script, webchat::WebChatClient};

use super::start;
use crate::gateway::Chat as _;

const FOREIGN: &str = "ghp_aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7";

#[tokio::test]
async fn a_key_of_somebody_else_leaves_in_no_answer_and_no_log() {
    let log = json!({ "observability": { "log": { "level": "trace" } } });
    let (model, gateway, fake) = start(log).await;
    model.push(Script::pieces(&[
        "take ",
        &FOREIGN[..3],
        &FOREIGN[3..20],
        &FOREIGN[20..],
        " or not",
    ]));
    assert_eq!(fake.ask(1, "tell").await, "take [REDACTED] or not");
    assert_eq!(fake.ask(1, &format!("/ping {FOREIGN}")).await, "[REDACTED]");
    let why = fake.ask(1, "/why").await;
    assert!(why.contains("redacted"), "{why}");
    assert!(
        !gateway.log().contains(&FOREIGN[4..]),
        "the key is in the log"
    );
}

#[tokio::test]
async fn a_stream_never_shows_a_key() {
    let (model, gateway, _fake) = start(json!({})).await;
    let letters: Vec<String> = format!("take {FOREIGN} or not")
        .chars()
        .map(String::from)
        .collect();
    let pieces: Vec<&str> = letters.iter().map(String::as_str).collect();
    model.push(Script::pieces(&pieces));
    let mut visitor = WebChatClient::connect(gateway.http()).await;
    visitor.enter(None).await;
    visitor.say("m1", "hello").await;
    let mut frames = String::new();
    loop {
        let frame = visitor.next().await;
        assert!(frame.get("closed").is_none(), "{frame}");
        frames.push_str(&frame.to_string());
        if frame["type"] == "end" {
            break;
        }
    }
    assert!(!frames.contains("ghp_"), "{frames}");
    assert!(frames.contains("take [REDACTED] or not"), "{frames}");
}

#[tokio::test]
async fn patterns_and_placeholder_are_those_of_the_configuration_also_after_a_reload() {
    let changes = json!({ "security": { "leakage_prevention": {
        "blocked_output_patterns": ["(?i)project-[a-z]{4}"],
        "placeholder": "<gone>",
        "known_formats": false,
    } } });
    let (model, gateway, fake) = start(changes).await;
    let text = format!("Project-Acme uses {FOREIGN}");
    model.push(Script::answer(&text));
    assert_eq!(fake.ask(1, "tell").await, format!("<gone> uses {FOREIGN}"));
    gateway.configure(&model, json!({}));
    gateway.signal("HUP");
    gateway.logged("the configuration was reloaded").await;
    model.push(Script::answer(&text));
    assert_eq!(fake.ask(1, "tell").await, "Project-Acme uses [REDACTED]");
}
