//! Starting: with nothing, with a broken configuration, beside another process; and what probes see.

mod away;
mod probes;
mod service;

use std::{os::unix::fs::PermissionsExt as _, process::Output};

use serde_json::json;
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use crate::gateway::{Chat as _, Gateway, LIMIT, until};

const EXIT_CONFIG: i32 = 78;

async fn output(gateway: &Gateway, arguments: &[&str]) -> (Option<i32>, String) {
    let output = tokio::time::timeout(LIMIT, gateway.command(arguments).output());
    let Output {
        status,
        stdout,
        stderr,
    } = output.await.expect("it ends").unwrap();
    let said = [stdout, stderr]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .concat();
    (status.code(), said)
}

#[tokio::test]
async fn without_any_configuration_web_chat_answers_with_the_demo_model() {
    let mut gateway = Gateway::bare();
    // The only thing that two test runs at once cannot share is the default port.
    gateway.write("agent.yaml", "http: {listen: \"127.0.0.1:0\"}");
    gateway.up().await;
    let page = gateway.get("/").await;
    assert!(
        page.status == 200 && page.body.contains("<html"),
        "{}",
        page.head
    );
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    client.say("m1", "Who are you?").await;
    let mut drafts = 0;
    let answer = loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            break frame["text"].as_str().unwrap().to_owned();
        }
        drafts += 1;
    };
    assert!(drafts > 3, "it streams");
    assert!(answer.to_lowercase().contains("demo"), "{answer}");
    assert!(
        answer.contains("providers:"),
        "it says how to get a real model: {answer}"
    );
    let mode = std::fs::metadata(gateway.database())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(
        !gateway.log().contains("ERROR") && !gateway.log().contains("WARN"),
        "{}",
        gateway.log()
    );
}

#[tokio::test]
async fn the_defaults_need_no_file_and_listen_on_their_port_or_say_that_it_is_taken() {
    let mut gateway = Gateway::bare();
    gateway.spawn();
    let taken = || gateway.log().contains("cannot listen on 127.0.0.1:8787");
    let greeted = || gateway.said().contains("http://127.0.0.1:8787/\n");
    assert!(until(|| greeted() || taken()).await, "{}", gateway.log());
    if taken() {
        assert_eq!(gateway.ended().await.code(), Some(EXIT_CONFIG));
    } else {
        assert_eq!(gateway.term().await.code(), Some(0));
    }
}

#[tokio::test]
async fn check_reports_every_error_with_its_place() {
    let gateway = Gateway::bare();
    gateway.write(
        "broken.yaml",
        "input_buffer:\n  max_queue_sise: 3\nflow_control:\n  turn_timeout: soon\nnonsense: 1\nmodels:\n  \
         chat: [nobody/model]\nplatforms:\n  qq:\n    accounts:\n      main: {listen: \"0.0.0.0:6199\"}\n",
    );
    let (code, said) = output(&gateway, &["check", "broken.yaml"]).await;
    assert_eq!(code, Some(EXIT_CONFIG), "{said}");
    for part in [
        "broken.yaml:2:3: input_buffer.max_queue_sise",
        "max_queue_size",
        "broken.yaml:4:17: flow_control.turn_timeout",
        "broken.yaml:5:1: nonsense",
        "models.chat",
        "platforms.qq.accounts.main",
        "5 errors",
    ] {
        assert!(said.contains(part), "{part} in {said}");
    }
    gateway.write("good.yaml", "language: en\n");
    let (code, said) = output(&gateway, &["check", "good.yaml"]).await;
    assert_eq!((code, said.trim()), (Some(0), "good.yaml: ok"));
    let (code, said) = output(&gateway, &["check", "missing.yaml"]).await;
    assert_eq!(code, Some(EXIT_CONFIG));
    assert!(said.contains("missing.yaml"), "{said}");
    assert!(!gateway.database().exists(), "check starts nothing");
}

#[tokio::test]
async fn a_broken_configuration_keeps_it_from_starting() {
    let gateway = Gateway::bare();
    for (file, part) in [
        ("language: klingon\n", "agent.yaml:1:11: language"),
        ("a: [\n", "agent.yaml:"),
        ("language: en\nlanguage: en\n", "agent.yaml:2:1"),
        ("storage: {url: \"postgres://[x\"}\n", "storage.url"),
        ("http: {listen: 99}\n", "http.listen"),
        (
            "providers: {p: {kind: openai, base_url: \"${UNSET_VARIABLE}\"}}\n",
            "UNSET_VARIABLE",
        ),
    ] {
        gateway.write("agent.yaml", file);
        let (code, said) = output(&gateway, &[]).await;
        assert_eq!(code, Some(EXIT_CONFIG), "{file}: {said}");
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!gateway.database().exists());
    let (code, _) = output(&gateway, &["nonsense"]).await;
    assert_eq!(code, Some(2), "wrong arguments");
}

#[tokio::test]
async fn a_second_process_on_the_same_data_is_refused() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let (code, said) = output(&gateway, &["run"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("another process") && said.contains("weirgate"),
        "{said}"
    );
    assert!(!said.contains("panicked"), "{said}");
    let fake = gateway.onebot().await;
    assert_eq!(fake.ask(1, "still there?").await, "re: still there?");
}

#[tokio::test]
async fn a_database_that_is_away_is_named_without_its_password() {
    let model = FakeModel::start().await;
    let away = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = away.local_addr().unwrap().to_string();
    drop(away);
    let gateway = Gateway::prepare(
        &model,
        json!({ "storage": { "url": null, "url_file": "url" } }),
    );
    let url = format!("postgres://bot:pass%2Fword-1@{address}/chat\n");
    gateway.write("url", &url);
    let (code, said) = output(&gateway, &[]).await;
    assert_eq!(code, Some(1), "{said}");
    let named = format!("the database chat at {address} cannot be reached");
    assert!(said.contains(&named), "{said}");
    assert!(!said.contains("word-1"), "{said}");
}

#[tokio::test]
async fn an_address_in_use_is_named() {
    let model = FakeModel::start().await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let gateway = Gateway::prepare(&model, json!({ "http": { "listen": address } }));
    let (code, said) = output(&gateway, &[]).await;
    assert_eq!(code, Some(EXIT_CONFIG), "{said}");
    let named = format!("cannot listen on {address} (http.listen)");
    assert!(said.contains(&named), "{said}");
}

#[tokio::test]
async fn a_configuration_is_found_by_argument_variable_and_folder() {
    let mut gateway = Gateway::bare();
    for name in ["one.yaml", "two.yaml", "agent.yaml"] {
        gateway.write(name, "language: nowhere\n");
    }
    let (_, said) = output(&gateway, &["--config", "one.yaml"]).await;
    assert!(said.contains("one.yaml:1:11"), "{said}");
    let (_, said) = output(&gateway, &["check"]).await;
    assert!(said.contains("agent.yaml:1:11"), "{said}");
    gateway.set("WEIRGATE_CONFIG", "two.yaml");
    let (_, said) = output(&gateway, &[]).await;
    assert!(said.contains("two.yaml:1:11"), "{said}");
    let (code, said) = output(&gateway, &["--version"]).await;
    assert_eq!(
        (code, said.trim()),
        (Some(0), concat!("weirgate ", env!("CARGO_PKG_VERSION")))
    );
}
