//! The gateway as an agent: for another gateway, and for a program that speaks lines.

use std::{path::Path, time::Duration};

use serde_json::{Value, json};
use weirgate_testkit::{
    lines::LineClient,
    model::{FakeModel, Script},
};

use super::{OWNER, endpoints, says, task, with};
use crate::gateway::{Chat as _, Gateway, LIMIT, free_port, until};

/// The token of the caller beside the address.
const TOKEN: &str = "token-of-a-caller-0123456789";
/// The token of a caller with a name.
const DESK: &str = "token-of-the-desk-0123456789";

/// A gateway that listens here.
async fn serving(listen: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let changes = json!({ "agent_collaboration": { "acp": { "listen": listen } } });
    let gateway = Gateway::start(&model, changes).await;
    (model, gateway)
}

/// A call of a task; passes over everything but the result.
async fn call(client: &mut LineClient, session: &str, task: &str) -> Result<Value, i64> {
    let params = json!({ "args": { "task": task }, "session": session });
    client.answer("agent/call", params).await
}

async fn local(path: &Path) -> LineClient {
    LineClient::unix(path).await.expect("it listens")
}

#[tokio::test]
async fn a_gateway_is_an_agent_of_another_over_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sock");
    let (theirs, mut other) = serving(json!({ "path": path })).await;
    let (model, _gateway, fake) = with(endpoints(json!([{ "name": "desk", "path": path }]))).await;
    says(&fake, "agents/desk: up, agents: 1").await;
    let both = (&model, &fake);
    let tool = "agent__desk__weirgate";
    theirs.push(Script::pieces(&["The **sum** ", "is ", "42."]));
    let got = task(both, tool, "add 20 and 22").await;
    assert!(got.contains("> The **sum** is 42."), "{got}");
    assert_eq!(theirs.requests()[0].last_user_text(), "add 20 and 22");
    // The next call goes on where the last one ended.
    task(both, tool, "and then?").await;
    let spoken = theirs.requests().pop().unwrap().spoken();
    assert!(
        spoken.iter().any(|said| said.contains("add 20 and 22")),
        "{spoken:?}"
    );
    // Killed without a word it leaves its socket behind, and takes it again.
    other.kill().await;
    says(&fake, "agents/desk: down").await;
    assert!(path.exists());
    let got = task(both, tool, "anybody?").await;
    assert!(got.starts_with("Error: "), "{got}");
    other.up().await;
    says(&fake, "agents/desk: up, agents: 1").await;
    let got = task(both, tool, "back?").await;
    assert!(got.contains("> re: back?"), "{got}");
    other.term().await;
    assert!(!path.exists(), "it takes its socket away");
}

#[tokio::test]
async fn who_stops_the_answer_stops_the_turn_of_the_other_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sock");
    let (theirs, _other) = serving(json!({ "path": path })).await;
    let (model, _gateway, fake) = with(endpoints(json!([{ "name": "desk", "path": path }]))).await;
    says(&fake, "agents/desk: up").await;
    theirs.push(Script::answer("late").first(LIMIT));
    model.push(Script::calls(&[(
        "agent__desk__weirgate",
        json!({ "task": "take your time" }),
    )]));
    fake.send_private(OWNER, "go").await;
    assert!(until(|| theirs.running() == 1).await);
    fake.ask(OWNER, "/stop").await;
    assert!(until(|| theirs.running() == 0).await);
}

#[tokio::test]
async fn an_address_is_for_those_who_have_a_token() {
    let address = format!("127.0.0.1:{}", free_port());
    let listen = json!({ "type": "tcp", "address": address, "token": TOKEN });
    let (_theirs, other) = serving(listen).await;
    let at = |name: &str, token: &str| json!({ "name": name, "type": "tcp", "address": address, "token": token });
    let (model, _gateway, fake) = with(endpoints(json!([
        at("good", TOKEN),
        at("wrong", "another-token-0123456789"),
        { "name": "none", "type": "tcp", "address": address },
    ])))
    .await;
    says(&fake, "agents/good: up, agents: 1").await;
    says(
        &fake,
        "agents/wrong: down, tried again: this token opens nothing",
    )
    .await;
    says(&fake, "agents/none: down, tried again: auth with a token").await;
    let got = task((&model, &fake), "agent__good__weirgate", "hello").await;
    assert!(got.contains("> re: hello"), "{got}");
    assert!(!other.log().contains(TOKEN));
    let mut client = LineClient::tcp(address.parse().unwrap()).await;
    assert_eq!(call(&mut client, "s", "hello").await, Err(-32_001));
    let auth = json!({ "token": "wrong" });
    assert_eq!(client.answer("auth", auth).await, Err(-32_001));
    assert!(client.is_closed().await, "a wrong token ends it");
    let mut long = LineClient::tcp(address.parse().unwrap()).await;
    long.raw(&vec![b'x'; 20_000]).await;
    assert!(
        long.is_closed().await,
        "nobody sends that much before he is known"
    );
}

#[tokio::test]
async fn an_address_without_a_token_is_no_configuration() {
    let model = FakeModel::start().await;
    let listen = json!({ "type": "tcp", "address": "127.0.0.1:7420" });
    let changes = json!({ "agent_collaboration": { "acp": { "listen": listen } } });
    let mut gateway = Gateway::prepare(&model, changes);
    gateway.spawn();
    assert!(!gateway.ended().await.success());
    let log = gateway.log();
    assert!(
        log.contains("platforms.interop.accounts.default.acp.token: a value is missing"),
        "{log}"
    );
}

#[tokio::test]
async fn a_caller_is_a_person_and_a_session_is_a_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sock");
    let model = FakeModel::start().await;
    let account = json!({ "name": "desk", "description": "Knows the shop.",
        "callers": { "crm": { "token": DESK } }, "acp": { "path": path } });
    let changes = json!({
        "platforms": { "interop": { "accounts": { "shop": account } } },
        "permissions": { "owners": { "interop": ["crm"] } },
    });
    let mut gateway = Gateway::start(&model, changes).await;
    let mut client = local(&path).await;
    let listed = client.answer("agent/list", json!({})).await.unwrap();
    assert_eq!(
        listed["agents"],
        json!([{ "name": "desk", "description": "Knows the shop.", "actions": [] }])
    );
    let told = call(&mut client, "one", "my name is Ann").await.unwrap();
    assert_eq!(
        (&told["status"], &told["text"], &told["session"]),
        (&json!("done"), &json!("re: my name is Ann"), &json!("one"))
    );
    call(&mut client, "two", "who am I?").await.unwrap();
    let spoken = model.requests().pop().unwrap().spoken();
    assert!(
        !spoken.iter().any(|said| said.contains("Ann")),
        "another session is another conversation: {spoken:?}"
    );
    // Commands and rights are those of everybody: the one is nobody, the other owns the gateway.
    let refused = call(&mut client, "one", "/mcp").await.unwrap();
    assert!(
        refused["text"].as_str().unwrap().contains("Only"),
        "{refused}"
    );
    let mut desk = local(&path).await;
    let greeted = desk.answer("auth", json!({ "token": DESK })).await;
    assert_eq!(greeted, Ok(json!({})));
    let told = call(&mut desk, "one", "/mcp").await.unwrap();
    assert!(
        told["text"].as_str().unwrap().contains("no servers"),
        "{told}"
    );
    call(&mut desk, "one", "who am I?").await.unwrap();
    let spoken = model.requests().pop().unwrap().spoken();
    assert!(
        !spoken.iter().any(|said| said.contains("Ann")),
        "the session of another caller is another conversation: {spoken:?}"
    );
    // What was answered is known after a restart, and not answered twice.
    let again = json!({ "args": { "task": "only once" }, "session": "one", "message": "m-1" });
    let first = client.answer("agent/call", again.clone()).await.unwrap();
    let asked = model.count();
    gateway.term().await;
    gateway.up().await;
    let mut client = local(&path).await;
    let second = client.answer("agent/call", again).await.unwrap();
    assert_eq!((second, model.count()), (first, asked));
}

#[tokio::test]
async fn an_answer_is_told_piece_by_piece_and_given_up_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sock");
    let model = FakeModel::start().await;
    let changes = json!({
        "agent_collaboration": { "acp": { "listen": { "path": path } } },
        "flow_control": { "max_turns_per_user": 2 },
    });
    let _gateway = Gateway::start(&model, changes).await;
    let mut client = local(&path).await;
    model.push(
        Script::pieces(&["One two. ", "Three four. ", "Five."]).between(Duration::from_millis(300)),
    );
    let params = json!({ "args": { "task": "count" }, "stream": true, "session": "s" });
    let id = client.ask("agent/call", params.clone()).await;
    let (mut text, mut events) = (String::new(), Vec::new());
    let result = loop {
        let line = client.next().await;
        if line["id"] == id {
            break line["result"].clone();
        }
        let event = &line["params"];
        assert_eq!(
            (&line["method"], &event["id"]),
            (&json!("agent/event"), &json!(id))
        );
        let piece = event["text"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap() {
            "delta" => text.push_str(piece),
            "replace" => text = piece.to_owned(),
            _ => {}
        }
        events.push(event["type"].as_str().unwrap().to_owned());
    };
    assert_eq!(
        (result["text"].as_str(), text.as_str()),
        (
            Some("One two. Three four. Five."),
            "One two. Three four. Five."
        )
    );
    assert_eq!(events[0], "accepted");
    assert!(events.len() > 2, "in more than one piece: {events:?}");
    // Two at once; one is given up, the other goes on.
    assert!(until(|| model.running() == 0).await);
    model.push(Script::answer("never").first(LIMIT));
    let id = client.ask("agent/call", params).await;
    assert!(until(|| model.running() == 1).await);
    let other = call(&mut client, "t", "beside").await.unwrap();
    assert_eq!(other["text"], "re: beside");
    let found = client.ask("agent/cancel", json!({ "id": id })).await;
    let mut told = Vec::new();
    while told.len() < 2 {
        let line = client.next().await;
        if line["id"] == id || line["id"] == found {
            told.push((line["error"]["code"].clone(), line["result"].clone()));
        }
    }
    assert!(told.contains(&(json!(-32_800), Value::Null)), "{told:?}");
    assert!(
        told.contains(&(Value::Null, json!({ "found": true }))),
        "{told:?}"
    );
    assert!(until(|| model.running() == 0).await);
    // Who goes away waits for nothing any more.
    model.push(Script::answer("never").first(LIMIT));
    let gone = json!({ "args": { "task": "gone" }, "session": "u" });
    client.ask("agent/call", gone).await;
    assert!(until(|| model.running() == 1).await);
    drop(client);
    assert!(until(|| model.running() == 0).await);
}
