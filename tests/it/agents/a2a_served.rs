//! The gateway as an agent in A2A: for the public SDK, for plain HTTP, and for another gateway.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::model::{FakeModel, Script};

use super::{a2a::program, says, task, with};
use crate::gateway::{Gateway, LIMIT, until};

const TOKEN: &str = "token-of-a-caller-0123456789";

async fn serving() -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let listen = json!({ "token": TOKEN });
    let changes = json!({ "agent_collaboration": { "a2a": { "listen": listen } } });
    let gateway = Gateway::start(&model, changes).await;
    (model, gateway)
}

/// What the SDK makes of the gateway, each event as it came.
async fn sdk(gateway: &Gateway, token: &str, arguments: &[&str]) -> Vec<Value> {
    let url = format!("http://{}", gateway.http());
    let all = [&[url.as_str(), token], arguments].concat();
    let said = program("a2a_client.py", &all).output().await.unwrap();
    let told = String::from_utf8_lossy(&said.stdout);
    assert!(
        said.status.success() && !told.is_empty(),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    told.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// One request over plain HTTP.
async fn post(gateway: &Gateway, token: &str, version: &str, body: &Value) -> (u16, Value) {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("A2A-Version", version),
        ("Content-Type", "application/json"),
    ];
    let response = gateway
        .post_body("/a2a/default", &headers, &body.to_string())
        .await;
    let said = serde_json::from_str(&response.body).unwrap_or_default();
    (response.status, said)
}

fn state(event: &Value) -> Option<&str> {
    let status = if event["task"].is_object() {
        &event["task"]["status"]
    } else {
        &event["statusUpdate"]["status"]
    };
    status["state"].as_str()
}

#[tokio::test]
async fn the_sdk_finds_the_agent_and_gets_its_answers() {
    let (model, mut gateway) = serving().await;
    let card = sdk(&gateway, TOKEN, &["card"]).await.remove(0);
    assert_eq!(card["name"], "weirgate");
    assert_eq!(card["capabilities"]["streaming"], true);
    assert_eq!(
        card["securitySchemes"]["bearer"]["httpAuthSecurityScheme"]["scheme"],
        "Bearer"
    );
    let answer = sdk(&gateway, TOKEN, &["send", "hello", "c1"])
        .await
        .remove(0);
    assert_eq!(state(&answer), Some("TASK_STATE_COMPLETED"));
    let text = &answer["task"]["artifacts"][0]["parts"][0]["text"];
    assert_eq!(text, "re: hello");
    assert_eq!(answer["task"]["contextId"], "c1");
    let pieces = Script::pieces(&["One two. ", "Three four. ", "Five."]);
    model.push(pieces.between(Duration::from_millis(300)));
    let events = sdk(&gateway, TOKEN, &["stream", "and then?", "c1"]).await;
    let states: Vec<&str> = events.iter().filter_map(state).collect();
    assert_eq!(
        states,
        [
            "TASK_STATE_SUBMITTED",
            "TASK_STATE_WORKING",
            "TASK_STATE_COMPLETED"
        ]
    );
    let mut told = String::new();
    let updates = events.iter().map(|event| &event["artifactUpdate"]);
    for update in updates.filter(|update| update.is_object()) {
        if update["append"] != true {
            told.clear();
        }
        let part = &update["artifact"]["parts"][0]["text"];
        told.push_str(part.as_str().unwrap());
    }
    assert_eq!(told, "One two. Three four. Five.");
    let spoken = model.requests().pop().unwrap().spoken();
    assert!(
        spoken.iter().any(|said| said.contains("hello")),
        "the context is the conversation: {spoken:?}"
    );
    // A task is known after a restart.
    let id = answer["task"]["id"].as_str().unwrap();
    gateway.term().await;
    gateway.up().await;
    let task = sdk(&gateway, TOKEN, &["get", id]).await.remove(0);
    assert_eq!(
        (
            &task["status"]["state"],
            &task["artifacts"][0]["parts"][0]["text"]
        ),
        (&json!("TASK_STATE_COMPLETED"), &json!("re: hello"))
    );
    let over = sdk(&gateway, TOKEN, &["cancel", id]).await.remove(0);
    assert_eq!(over["error"], "TaskNotCancelableError");
    let none = sdk(&gateway, TOKEN, &["get", "c1.none"]).await.remove(0);
    assert_eq!(none["error"], "TaskNotFoundError");
}

#[tokio::test]
async fn a_task_goes_on_without_its_caller_and_can_be_cancelled() {
    let (model, gateway) = serving().await;
    model.push(Script::answer("late").first(LIMIT));
    let begun = sdk(&gateway, TOKEN, &["begin", "take your time", "c1"]).await;
    assert_eq!(state(&begun[0]), Some("TASK_STATE_WORKING"));
    let id = begun[0]["task"]["id"].as_str().unwrap().to_owned();
    assert!(until(|| model.running() == 1).await, "nobody waits for it");
    let task = sdk(&gateway, TOKEN, &["get", &id]).await.remove(0);
    assert_eq!(task["status"]["state"], "TASK_STATE_WORKING");
    let arguments = ["subscribe", &id];
    let (events, cancelled) = tokio::join!(sdk(&gateway, TOKEN, &arguments), async {
        // The subscription may come first or last; it hears of the end, or that there is nothing to hear.
        sdk(&gateway, TOKEN, &["cancel", &id]).await.remove(0)
    });
    assert_eq!(cancelled["status"]["state"], "TASK_STATE_CANCELED");
    let last = events.last().unwrap();
    assert!(
        state(last) == Some("TASK_STATE_CANCELED") || last["error"] == "UnsupportedOperationError",
        "{events:?}"
    );
    assert!(until(|| model.running() == 0).await);
    let task = sdk(&gateway, TOKEN, &["get", &id]).await.remove(0);
    assert_eq!(task["status"]["state"], "TASK_STATE_CANCELED");
}

#[tokio::test]
async fn nobody_is_let_in_without_a_token_and_what_is_not_there_is_told() {
    let (model, gateway) = serving().await;
    let body = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let send = body(
        "SendMessage",
        json!({ "message": { "messageId": "m", "contextId": "c", "role": "ROLE_USER",
            "parts": [{ "text": "hello" }] } }),
    );
    for wrong in ["", "another-token-0123456789"] {
        let (status, said) = post(&gateway, wrong, "1.0", &send).await;
        assert_eq!((status, &said["error"]["code"]), (401, &json!(-32_001)));
    }
    assert_eq!(model.count(), 0);
    let refused = sdk(&gateway, "wrong", &["send", "x", "c"]).await.remove(0);
    assert!(refused["error"].is_string(), "{refused}");
    for (method, version, code) in [
        ("SendMessage", "0.3", -32_009),
        ("message/send", "1.0", -32_601),
        ("ListTasks", "1.0", -32_004),
        ("GetExtendedAgentCard", "1.0", -32_004),
        ("CreateTaskPushNotificationConfig", "1.0", -32_003),
        ("GetTask", "1.0", -32_602),
        ("SendMessage", "1.0", -32_602),
    ] {
        let (status, said) = post(&gateway, TOKEN, version, &body(method, json!({}))).await;
        assert_eq!(
            (status, said["error"]["code"].as_i64()),
            (200, Some(code)),
            "{method}"
        );
    }
    // The same message is the same task, and answered once.
    let (_, first) = post(&gateway, TOKEN, "1.0", &send).await;
    let (_, second) = post(&gateway, TOKEN, "1.0", &send).await;
    assert_eq!((first, model.count()), (second, 1));
    let large = body("SendMessage", json!({ "x": "y".repeat(2 * 1024 * 1024) }));
    let (status, _) = post(&gateway, TOKEN, "1.0", &large).await;
    assert!(matches!(status, 413 | 0), "refused, or cut off: {status}");
    assert_eq!(model.count(), 1);
    let card = gateway.get("/.well-known/agent-card.json").await;
    let head = card.head.to_ascii_lowercase();
    assert!(
        card.status == 200 && head.contains("etag") && head.contains("cache-control"),
        "{head}"
    );
    assert!(!gateway.log().contains(TOKEN));
}

#[tokio::test]
async fn a_gateway_is_an_agent_of_another_in_a2a_too() {
    let (theirs, other) = serving().await;
    let url = format!("http://{}", other.http());
    let endpoint = json!({ "name": "desk", "url": url, "token": TOKEN });
    let (model, _gateway, fake) = with(json!({ "a2a": { "endpoints": [endpoint] } })).await;
    says(&fake, "agents/desk: up, agents: 1").await;
    let both = (&model, &fake);
    theirs.push(Script::pieces(&["The **sum** ", "is ", "42."]));
    let got = task(both, "agent__desk__weirgate", "add 20 and 22").await;
    assert!(got.contains("> The **sum** is 42."), "{got}");
    task(both, "agent__desk__weirgate", "and then?").await;
    let spoken = theirs.requests().pop().unwrap().spoken();
    assert!(
        spoken.iter().any(|said| said.contains("add 20 and 22")),
        "{spoken:?}"
    );
}
