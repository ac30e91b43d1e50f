//! Files that a model sends: of the workspace and of people, as what they are, as something plainer, or in words.

#![cfg(test)]

use std::fs;

use serde_json::{Value, json};
use weirgate_testkit::{
    contract::media::PNG,
    model::{FakeModel, Script},
    onebot::FakeOneBot,
    telegram::{FakeTelegram, Fault, Message},
    webchat::WebChatClient,
};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, KEY, LIMIT, merge},
};

const TOKEN: &str = "10001:TEST-secret_value_abcdef";

/// The result of the last call, as the model was told.
fn told(model: &FakeModel) -> String {
    let last = model.requests().pop().expect("a request");
    let messages = last.body["messages"].as_array().expect("messages").clone();
    let results = messages.iter().rev().find(|one| one["role"] == "tool");
    let text = results.and_then(|one| one["content"].as_str());
    text.unwrap_or_default().to_owned()
}

/// A call of the tool.
fn send(arguments: Value) -> (&'static str, Value) {
    ("send_file", arguments)
}

/// Puts a file into the workspace of the only conversation, which has used it before.
fn put(gateway: &Gateway, name: &str, content: &[u8]) {
    let all = gateway.database().with_file_name("workspaces");
    let mut folders = fs::read_dir(all).expect("a folder of workspaces");
    let folder = folders.next().expect("a workspace").expect("readable");
    fs::write(folder.path().join(name), content).expect("written");
}

/// Lets the model look into the workspace, which makes it.
async fn workspace(model: &FakeModel, fake: &FakeOneBot) {
    model.push(Script::calls(&[("list_files", json!({}))]));
    assert_eq!(fake.ask(1, "look").await, "re: look");
}

/// Where the file of a send is, and what is in it.
fn file(reply: &weirgate_testkit::onebot::Reply) -> (String, Vec<u8>) {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let segment = &reply.segments[0];
    let encoded = segment["data"]["file"].as_str().unwrap_or_default();
    let content = STANDARD.decode(encoded.trim_start_matches("base64://"));
    let kind = segment["type"].as_str().unwrap_or_default();
    (kind.to_owned(), content.expect("base64"))
}

#[tokio::test]
async fn files_of_the_workspace_follow_the_answer_as_what_they_are() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    workspace(&model, &fake).await;
    put(&gateway, "cat.png", PNG);
    put(&gateway, "voice.ogg", b"OggS\0\x02\0\0");
    put(
        &gateway,
        "notes.txt",
        format!("the key is {KEY}.").as_bytes(),
    );
    model.push(Script::calls(&[
        send(json!({ "path": "notes.txt", "name": "../for you.txt" })),
        send(json!({ "path": "cat.png" })),
        send(json!({ "path": "cat.png", "as": "file" })),
        send(json!({ "path": "voice.ogg" })),
    ]));
    model.push(Script::answer("here they are"));
    assert_eq!(fake.ask(1, "send all").await, "here they are");
    let text = fake.answer().await;
    assert_eq!(text.params["name"], "for you.txt");
    let (kind, content) = file(&text);
    let content = String::from_utf8(content).expect("text");
    assert_eq!(kind, "file");
    assert!(
        content.starts_with("the key is ") && !content.contains(KEY),
        "{content}"
    );
    assert_eq!(
        file(&fake.answer().await),
        ("image".to_owned(), PNG.to_vec())
    );
    assert_eq!(
        file(&fake.answer().await),
        ("file".to_owned(), PNG.to_vec())
    );
    assert_eq!(file(&fake.answer().await).0, "record");
    // An answer may be a file alone.
    model.push(Script::calls(&[send(
        json!({ "path": "cat.png", "as": "sticker" }),
    )]));
    model.push(Script::answer(""));
    fake.send_private(1, "a sticker").await;
    let sticker = fake.answer().await;
    assert_eq!(sticker.segments[0]["data"]["sub_type"], 1);
    assert_eq!(fake.ask(1, "more?").await, "re: more?");
}

#[tokio::test]
async fn what_cannot_be_sent_is_told_to_the_model_and_nothing_else_is_opened() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    workspace(&model, &fake).await;
    put(&gateway, "large.bin", &vec![0; (8 << 20) + 1]);
    put(&gateway, "small.bin", b"\0\x01");
    for (arguments, why) in [
        (json!({ "path": "large.bin" }), "too large"),
        (json!({ "path": "none.png" }), "no such file"),
        (json!({ "path": "../../agent.yaml" }), "Error"),
        (json!({ "received": "cat.png" }), "Nobody sent such a file"),
        (json!({ "path": "small.bin", "as": "sticker" }), "picture"),
        (json!({ "path": "small.bin", "as": "voice" }), "recording"),
        (json!({}), "Give path or received"),
    ] {
        model.push(Script::calls(&[send(arguments.clone())]));
        let question = format!("try {arguments}");
        assert_eq!(fake.ask(1, &question).await, format!("re: {question}"));
        let told = told(&model);
        assert!(told.contains(why), "{arguments}: {told}");
    }
    // Nothing of it stays in the store of files.
    let kept = fs::read_dir(gateway.database().with_file_name("media")).expect("a folder");
    let kept = kept.filter(|file| file.as_ref().is_ok_and(|file| file.path().is_file()));
    assert_eq!(kept.count(), 0);
}

/// A gateway with one bot.
async fn telegram(fake: &FakeTelegram, changes: Value) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let account = json!({
        "token": TOKEN, "api_url": fake.url(), "poll_timeout": 1, "reconnect": 0.1,
        "limits": { "account_per_second": 0, "conversation_interval": 0, "group_interval": 0 },
    });
    let mut all = json!({ "platforms": { "telegram": { "accounts": { "main": account } } },
        "providers": { "main": { "models": { "test": { "images": true } } } } });
    merge(&mut all, changes);
    let gateway = Gateway::start(&model, all).await;
    (model, gateway)
}

async fn next(fake: &FakeTelegram) -> Message {
    fake.next_message(LIMIT).await.expect("a message in time")
}

/// Somebody sends pictures of these names, and the model sends all of them back.
async fn pictures(fake: &FakeTelegram, model: &FakeModel, names: &[&str]) {
    let mut calls = Vec::new();
    for name in names {
        fake.file(name, &[PNG, name.as_bytes()].concat());
        let document = json!({ "document": { "file_id": name, "file_name": format!("{name}.png"), "file_size": 30 } });
        fake.say(7, 7, "", &document);
        next(fake).await;
        calls.push(send(json!({ "received": format!("{name}.png") })));
    }
    model.push(Script::calls(&calls));
    model.push(Script::answer("all"));
    fake.say(7, 7, "again", &Value::Null);
    assert_eq!(next(fake).await.text, "all");
}

#[tokio::test]
async fn pictures_that_people_sent_go_out_again_as_one_message() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = telegram(&fake, json!({})).await;
    pictures(&fake, &model, &["one", "two", "three"]).await;
    let mut album = None;
    for name in ["one", "two", "three"] {
        let shown = next(&fake).await;
        let (_, content) = shown.file.clone().expect("a file");
        assert!(content.ends_with(name.as_bytes()), "{shown:?}");
        assert_eq!(shown.shown, Some("photo"));
        assert_eq!(*album.get_or_insert(shown.album), shown.album);
        assert!(shown.album.is_some());
    }
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_refused_goes_out_plainer_and_at_last_in_words() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = telegram(&fake, json!({})).await;
    let broken = || Fault::refused(400, "Bad Request: IMAGE_PROCESS_FAILED");
    fake.fail("sendPhoto", broken());
    pictures(&fake, &model, &["one"]).await;
    assert_eq!(next(&fake).await.shown, Some("document"));
    fake.say(7, 7, "/why", &Value::Null);
    assert!(next(&fake).await.text.contains("file_plainer"));

    fake.fail("sendMediaGroup", broken());
    fake.fail("sendMediaGroup", broken());
    pictures(&fake, &model, &["two", "three"]).await;
    let words = next(&fake).await;
    assert_eq!(words.file, None);
    assert!(
        words.text.contains("picture two.png could not be sent")
            && words.text.contains("three.png"),
        "{words:?}"
    );
    fake.say(7, 7, "/why", &Value::Null);
    assert!(next(&fake).await.text.contains("file_as_text"));
    assert_eq!(fake.violations(), Vec::<String>::new());
}

async fn a_process_that_ends_in_between_loses_no_file(on: Engine) {
    // The fourth turn's end, and the intents of its words and of its file.
    for point in ["finish.after:2", "intent.after:1", "receipt.before:2"] {
        let model = FakeModel::start().await;
        let mut gateway = Gateway::prepare_on(on, &model, json!({})).await;
        gateway.set("WEIRGATE_FAILPOINT", point);
        gateway.up().await;
        let fake = gateway.onebot().await;
        let write = json!({ "path": "note.txt", "content": "hello" });
        model.push(Script::calls(&[("write_file", write)]));
        assert_eq!(fake.ask(1, "begin").await, "re: begin");
        model.push(Script::calls(&[send(json!({ "path": "note.txt" }))]));
        model.push(Script::answer("here"));
        fake.send_private(1, "send it").await;
        let status = gateway.ended().await;
        assert_eq!(status.code(), None, "{point}: {}", gateway.log());
        assert!(fake.connection_is(false, LIMIT).await);
        gateway.set("WEIRGATE_FAILPOINT", "");
        gateway.up().await;
        assert!(fake.connection_is(true, LIMIT).await);
        let mut seen = Vec::new();
        fake.send_private(1, "last").await;
        loop {
            let reply = fake.answer().await;
            match reply.text().as_str() {
                "re: last" => break,
                "" => seen.push(file(&reply).0),
                text => seen.push(text.to_owned()),
            }
        }
        // What was being sent may come twice; nothing is missing, and nothing changes places.
        seen.dedup();
        assert_eq!(seen, ["here", "file"], "{point}");
    }
}

suite!(a_process_that_ends_in_between_loses_no_file);

/// The next answer that is final.
async fn answered(client: &mut WebChatClient) -> Value {
    loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            return frame;
        }
    }
}

#[tokio::test]
async fn a_visitor_gets_the_file_of_his_answer_and_nobody_else_does() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let write = json!({ "path": "page.html", "content": "<script>alert(1)</script>" });
    model.push(Script::calls(&[("write_file", write)]));
    client.say("m1", "write").await;
    answered(&mut client).await;
    model.push(Script::calls(&[send(json!({ "path": "page.html" }))]));
    model.push(Script::answer("look"));
    client.say("m2", "send it").await;
    let words = answered(&mut client).await;
    assert_eq!(
        (&words["text"], &words["files"]),
        (&json!("look"), &Value::Null)
    );
    let frame = answered(&mut client).await;
    let sent = frame["files"][0].clone();
    assert_eq!(
        (&sent["name"], &sent["kind"], &sent["size"]),
        (&json!("page.html"), &json!("file"), &json!(25))
    );
    assert_eq!(client.skip_to("end").await["messageId"], "m2");

    let reference = sent["file"].as_str().expect("a reference").to_owned();
    let path = format!("/api/chat/default/files/{reference}");
    let own = format!("Bearer {}", client.token);
    let found = gateway.get_with(&path, &[("Authorization", &own)]).await;
    let head = found.head.to_lowercase();
    assert_eq!(
        (found.status, found.body.as_str()),
        (200, "<script>alert(1)</script>")
    );
    // Whatever it is, a browser shows nothing of it by itself.
    for header in [
        "content-type: application/octet-stream",
        "content-disposition: attachment",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'",
        "cache-control: private, no-store",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    let mut other = WebChatClient::connect(gateway.http()).await;
    other.enter(None).await;
    let others = format!("Bearer {}", other.token);
    assert_eq!(gateway.get(&path).await.status, 401);
    let wrong: [(u16, &[(&str, &str)]); 4] = [
        (404, &[("Authorization", &others)]),
        (404, &[("Authorization", &own), ("X-Session", "other")]),
        (400, &[("Authorization", &own), ("X-Session", "a b")]),
        (
            403,
            &[("Authorization", &own), ("Origin", "https://evil.example")],
        ),
    ];
    for (status, headers) in wrong {
        let refused = gateway.get_with(&path, headers).await;
        assert_eq!(refused.status, status, "{headers:?}");
        assert!(!refused.body.contains("script"), "{headers:?}");
    }

    // It is part of the conversation after a restart as well.
    gateway.term().await;
    gateway.up().await;
    let mut client_again = WebChatClient::connect(gateway.http()).await;
    client_again.enter(Some(client.token.as_str())).await;
    client_again.send(json!({ "type": "history" })).await;
    let history = loop {
        let history = client_again.skip_to("history").await;
        if history["messages"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            break history;
        }
    };
    let messages = history["messages"].as_array().expect("messages");
    let last = messages.last().expect("an answer");
    assert_eq!(last["files"][0]["file"], json!(reference));
    let found = gateway.get_with(&path, &[("Authorization", &own)]).await;
    assert_eq!(found.status, 200);
}
