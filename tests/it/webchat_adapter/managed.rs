//! What a visitor asks for beside messages, and what a site gives its people, in the real gateway.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use weirgate_testkit::model::{FakeModel, Script};

use super::*;
use crate::gateway::{Gateway, KEY, rows, until};

async fn gateway(changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, changes).await;
    (model, gateway)
}

async fn visitor(gateway: &Gateway) -> WebChatClient {
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    client
}

/// Says something and waits for its end; the text of the answer.
async fn ask(client: &mut WebChatClient, message: &str, text: &str) -> String {
    client.say(message, text).await;
    let mut answer = String::new();
    loop {
        let frame = client.next().await;
        if frame["final"] == true {
            frame["text"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut answer);
        }
        if frame["type"] == "end" {
            return answer;
        }
    }
}

async fn setting(client: &mut WebChatClient, content: Value) -> Value {
    client
        .send(json!({ "type": "setting", "messageId": "s1", "content": content }))
        .await;
    client.skip_to("setting").await
}

#[tokio::test]
async fn visitors_cannot_read_or_change_the_configuration_and_owners_can() {
    let (_model, mut gateway) = gateway(json!({})).await;
    let mut client = visitor(&gateway).await;
    let save = json!({ "act": "saveConfig", "data": { "context": { "keep_recent_messages": 3 } } });
    // Also somebody who never said a word.
    for spoken in [false, true] {
        if spoken {
            ask(&mut client, "m1", "hello").await;
        }
        for content in [
            json!({ "act": "getConfig" }),
            json!({ "act": "getDefaultConfig" }),
            save.clone(),
        ] {
            let told = setting(&mut client, content.clone()).await;
            assert_eq!(
                (&told["status"], &told["act"]),
                (&json!("error"), &content["act"])
            );
            assert_eq!(told["data"]["code"], "forbidden", "{told}");
            assert_eq!(told["messageId"], "s1");
        }
    }
    let said = gateway.said();
    let code = said
        .split("/claim ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap();
    ask(&mut client, "m2", &format!("/claim {code}")).await;

    let told = setting(&mut client, json!({ "act": "getConfig" })).await;
    assert_eq!(told["status"], "success", "{told}");
    assert_eq!(told["data"]["context.keep_recent_messages"], "6");
    assert_eq!(told["data"]["models.chat[0]"], "main/test");
    assert!(!told.to_string().contains(KEY), "secrets are masked");

    let told = setting(&mut client, save).await;
    assert_eq!(
        (&told["status"], &told["data"]),
        (&json!("success"), &json!({})),
        "{told}"
    );
    let told = setting(&mut client, json!({ "act": "getConfig" })).await;
    assert_eq!(told["data"]["context.keep_recent_messages"], "3");
    let told = setting(&mut client, json!({ "act": "getDefaultConfig" })).await;
    assert_eq!(told["data"]["context.keep_recent_messages"], "6");

    // All or none: the second is wrong, so the first is not set.
    let data = json!({ "context.keep_recent_messages": 9, "flow_control.user.rate": "fast" });
    let told = setting(&mut client, json!({ "act": "saveConfig", "data": data })).await;
    assert_eq!(told["data"]["code"], "bad_value", "{told}");
    let problems = told["data"]["problems"].to_string();
    assert!(problems.contains("flow_control.user.rate"), "{problems}");
    let data = json!({ "storage.url": "x" });
    let told = setting(&mut client, json!({ "act": "saveConfig", "data": data })).await;
    let problems = told["data"]["problems"].to_string();
    assert!(problems.contains("storage.url"), "{told}");

    // What was set is stored; what is null is taken back.
    let token = client.token.clone();
    gateway.term().await;
    gateway.up().await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(Some(&token)).await;
    let told = setting(&mut client, json!({ "act": "getConfig" })).await;
    assert_eq!(told["data"]["context.keep_recent_messages"], "3");
    let data = json!({ "context.keep_recent_messages": null });
    setting(&mut client, json!({ "act": "saveConfig", "data": data })).await;
    let told = setting(&mut client, json!({ "act": "getConfig" })).await;
    assert_eq!(told["data"]["context.keep_recent_messages"], "6");
    gateway.term().await;
    let audit = rows(
        &gateway.database(),
        "SELECT event || ' ' || target FROM audit WHERE event IN ('config_changed', 'command_blocked') ORDER BY id",
    );
    let changed = "config_changed context.keep_recent_messages";
    assert_eq!(
        audit.iter().filter(|row| *row == changed).count(),
        2,
        "{audit:?}"
    );
    assert!(
        audit.contains(&"command_blocked config".to_owned()),
        "{audit:?}"
    );
}

#[tokio::test]
async fn a_conversation_is_emptied_and_deleted_for_every_window() {
    let (_model, mut gateway) = gateway(json!({})).await;
    let mut client = visitor(&gateway).await;
    for (session, word) in [("plans", "chestnut"), ("notes", "walnut")] {
        client.hello(json!({ "sessionId": session })).await;
        client.next_of("history").await;
        ask(&mut client, &format!("m-{session}"), word).await;
    }
    let mut other = WebChatClient::connect(gateway.http()).await;
    let hello = json!({ "token": client.token, "sessionId": "plans" });
    other.hello(hello).await;
    assert_eq!(
        other.next_of("history").await["messages"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    // A stranger who names the same label has another conversation.
    let mut stranger = visitor(&gateway).await;
    let delete = json!({ "type": "session", "sessionId": "plans", "content": { "act": "delete" } });
    stranger.send(delete.clone()).await;
    assert_eq!(stranger.skip_to("session").await["status"], "success");

    client.send(delete.clone()).await;
    let done = client.skip_to("session").await;
    assert_eq!(
        (&done["act"], &done["sessionId"]),
        (&json!("delete"), &json!("plans"))
    );
    let emptied = other.skip_to("history").await;
    assert_eq!(
        (&emptied["replace"], &emptied["messages"]),
        (&json!(true), &json!([]))
    );
    client.send(json!({ "type": "sessions" })).await;
    let left = client.skip_to("sessions").await;
    assert_eq!(left["sessions"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["sessions"][0]["title"], "walnut");
    // It is safe to ask again, and to go on there.
    client.send(delete).await;
    assert_eq!(client.skip_to("session").await["status"], "success");

    client
        .send(json!({ "type": "session", "content": { "act": "clear" } }))
        .await;
    assert_eq!(client.skip_to("session").await["sessionId"], "notes");
    let answer = ask(&mut client, "m9", "again").await;
    assert_eq!(answer, "re: again");
    client.send(json!({ "type": "history" })).await;
    let page = client.skip_to("history").await;
    assert_eq!(page["messages"].as_array().unwrap().len(), 2, "{page}");
    gateway.term().await;
    for table in ["inbox", "outbox", "history"] {
        let column = if table == "history" { "parts" } else { "body" };
        let left = rows(
            &gateway.database(),
            &format!("SELECT {column} FROM {table}"),
        );
        assert!(!left.concat().contains("nut"), "{table}: {left:?}");
    }
    let audit = rows(
        &gateway.database(),
        "SELECT target FROM audit WHERE event = 'conversation_deleted'",
    );
    // What is personal in a record of the conversation went with it.
    assert_eq!(audit, ["", "all", "messages"]);
}

#[tokio::test]
async fn a_conversation_is_deleted_over_http() {
    let (_model, gateway) = gateway(json!({})).await;
    let mut client = visitor(&gateway).await;
    ask(&mut client, "m1", "hello").await;
    let request = format!(
        "DELETE /api/chat/default/sessions/main HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {}\r\n\r\n",
        client.token
    );
    let mut stream = TcpStream::connect(gateway.http()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 204"), "{answer}");
    assert_eq!(client.skip_to("history").await["messages"], json!([]));
}

#[tokio::test]
async fn an_answer_under_way_ends_with_its_conversation() {
    let (model, gateway) = gateway(json!({})).await;
    model.push(Script::hang());
    let mut client = visitor(&gateway).await;
    client.say("m1", "think").await;
    client.say("m2", "and wait").await;
    client.skip_to("user").await;
    model.wait_for(1).await;
    client
        .send(json!({ "type": "session", "content": { "act": "delete" } }))
        .await;
    client.skip_to("session").await;
    assert!(
        until(|| model.running() == 0).await,
        "nobody is asked any more"
    );
    client.send(json!({ "type": "history" })).await;
    assert_eq!(client.skip_to("history").await["messages"], json!([]));
    assert_eq!(ask(&mut client, "m3", "hello").await, "re: hello");
}

#[tokio::test]
async fn a_site_has_a_persona_and_a_role_for_its_visitors() {
    let changes = json!({
        "context": { "system_prompt": "Be brief." },
        "platforms": { "webchat": { "accounts": {
            "default": { "persona": "You sell tea.", "default_role": "guest" },
            "other": {},
        } } },
    });
    let (model, gateway) = gateway(changes).await;
    let mut guest = visitor(&gateway).await;
    ask(&mut guest, "m1", "hello").await;
    ask(&mut guest, "m2", "more").await;
    let url = format!("ws://{}/ws/other", gateway.http());
    let mut member = WebChatClient::open_at(&url, &[]).await.unwrap();
    member.enter(None).await;
    ask(&mut member, "m1", "hello").await;
    let told: Vec<Value> = model
        .requests()
        .iter()
        .map(|request| request.body["messages"][0].clone())
        .collect();
    let system = |text: &str| json!({ "role": "system", "content": text });
    assert_eq!(told[0], system("Be brief.\n\nYou sell tea."));
    assert_eq!(told[1], told[0], "the same in each turn");
    assert_eq!(told[2], system("Be brief."));
    // A guest may ask, and use no commands of members; he cannot delete either.
    let refused = ask(&mut guest, "m3", "/reset").await;
    guest
        .send(json!({ "type": "session", "content": { "act": "delete" } }))
        .await;
    assert_eq!(guest.skip_to("error").await["code"], "forbidden");
    assert_ne!(ask(&mut member, "m2", "/reset").await, refused);
}

#[tokio::test]
async fn a_role_that_is_none_is_an_error_of_the_file() {
    let model = FakeModel::start().await;
    let changes = json!({ "platforms": { "webchat": { "accounts": { "default": { "default_role": "gust" } } } } });
    let gateway = Gateway::prepare(&model, changes);
    let checked = gateway
        .command(&["check", "agent.yaml"])
        .output()
        .await
        .unwrap();
    assert!(!checked.status.success());
    let said = String::from_utf8_lossy(&checked.stdout).into_owned()
        + &String::from_utf8_lossy(&checked.stderr);
    assert!(
        said.contains("platforms.webchat.accounts.default.default_role"),
        "{said}"
    );
}

#[tokio::test]
async fn the_tools_of_a_turn_are_shown_without_secrets() {
    let (model, gateway) = gateway(json!({})).await;
    let sum = json!({ "expression": "1 + 1", "note": KEY });
    model.push(Script::answer("").and_calls(&[("calculate", sum)]));
    model.push(Script::answer("two"));
    let mut client = visitor(&gateway).await;
    client.say("m1", "how much?").await;
    let mut calls = Vec::new();
    loop {
        let frame = client.next().await;
        if frame["type"] == "tool_calls" {
            assert_eq!(frame["answers"], json!(["m1"]));
            calls.push(frame["calls"][0].clone());
        }
        if frame["type"] == "end" {
            break;
        }
    }
    let last = calls.last().expect("it was shown");
    assert_eq!(last["name"], "calculate");
    assert!(
        ["done", "failed"].contains(&last["status"].as_str().unwrap()),
        "{last}"
    );
    let shown = last["arguments"].as_str().unwrap();
    assert!(shown.contains("1 + 1") && !shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn sockets_and_messages_of_an_address_are_limited_also_behind_a_trusted_proxy() {
    let changes = json!({
        "http": { "trusted_proxies": ["127.0.0.1"] },
        "platforms": { "webchat": { "accounts": { "default": {
            "max_sockets_per_address": 2, "address_limits": { "minute": 1 },
        } } } },
    });
    let (_model, gateway) = gateway(changes).await;
    let address = gateway.http();
    let open =
        async |client: &str| WebChatClient::open(address, &[("x-forwarded-for", client)]).await;
    let mut first = open("198.51.100.1").await.unwrap();
    // What the client himself wrote before the proxy did is not believed.
    let second = open("203.0.113.9, 198.51.100.1").await.unwrap();
    assert_eq!(open("198.51.100.1").await.err(), Some(429));
    let mut other = open("198.51.100.2").await.unwrap();
    drop(second);
    // The place is free when the gateway has seen that the socket is gone.
    let mut again = loop {
        match open("198.51.100.1").await {
            Ok(client) => break client,
            Err(status) => assert_eq!(status, 429),
        }
    };
    first.enter(None).await;
    again.enter(None).await;
    other.enter(None).await;
    first.say("m1", "hello").await;
    first.skip_to("end").await;
    again.say("m2", "hello").await;
    assert_eq!(
        again.skip_to("error").await["code"],
        "too_fast",
        "another visitor, the same address"
    );
    // What was accepted is not refused when it comes once more.
    first.say("m1", "hello").await;
    assert_eq!(first.skip_to("ack").await["duplicate"], true);
    assert_eq!(first.next_of("end").await["messageId"], "m1");
    other.say("m3", "hello").await;
    other.skip_to("end").await;
}
