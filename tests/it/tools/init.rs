//! `init`, `completions` and `man`.

use std::{fs, os::unix::fs::PermissionsExt as _};

use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use super::tool;
use crate::gateway::{Gateway, KEY, free_port};

#[tokio::test]
async fn a_new_file_passes_the_check_and_the_gateway_answers_with_it() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::bare();
    gateway.set("MY_KEY", KEY);
    let listen = format!("127.0.0.1:{}", free_port());
    let flags = [
        "init",
        "--base-url",
        &model.url(),
        "--model",
        "test",
        "--api-key-env",
        "MY_KEY",
        "--language",
        "en",
        "--listen",
        &listen,
    ];
    let said = tool(&gateway, &flags).await.done();
    assert!(said.contains("weirgate doctor"), "{said}");
    assert!(tool(&gateway, &["check"]).await.done().ends_with(": ok\n"));
    let text = fs::read_to_string(gateway.folder().join("agent.yaml")).unwrap();
    assert!(!text.contains(KEY) && text.contains("${MY_KEY}"), "{text}");
    gateway.up().await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    client.say("m1", "hello").await;
    let answer = client.skip_to("text").await;
    assert!(answer.to_string().contains("re: hello"), "{answer}");
    assert_eq!(
        model.requests()[0].header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
}

#[tokio::test]
async fn a_file_that_is_there_is_not_written_over_without_being_told_to() {
    let gateway = Gateway::bare();
    gateway.write("agent.yaml", "language: en\n");
    let said = tool(&gateway, &["init"]).await;
    assert!(said.code == 1 && said.err.contains("--force"), "{said:?}");
    let file = gateway.folder().join("agent.yaml");
    assert_eq!(fs::read_to_string(&file).unwrap(), "language: en\n");
    tool(&gateway, &["init", "--force", "--platform", "qq"])
        .await
        .done();
    assert!(fs::read_to_string(&file).unwrap().contains("  qq:\n"));
    tool(&gateway, &["check"]).await.done();
    let names: Vec<_> = fs::read_dir(gateway.folder()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[tokio::test]
async fn what_cannot_be_used_is_not_written() {
    let gateway = Gateway::bare();
    for (flags, code) in [
        (["--platform", "nowhere"].as_slice(), 1),
        (&["--listen", "everywhere"], 78),
        (&["--base-url", "no address", "--model", "m"], 78),
        (&["--model", "m"], 2),
        (&["--language", "klingon"], 2),
    ] {
        let said = tool(&gateway, &[&["init"], flags].concat()).await;
        assert_eq!(said.code, code, "{said:?}");
    }
    assert_eq!(fs::read_dir(gateway.folder()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_file_without_secrets_can_be_read_by_others() {
    let gateway = Gateway::bare();
    tool(&gateway, &["init"]).await.done();
    let file = fs::metadata(gateway.folder().join("agent.yaml")).unwrap();
    assert_eq!(file.permissions().mode() & 0o600, 0o600);
    let path = gateway.folder().join("other.yaml");
    let said = tool(
        &gateway,
        &["init", "--config", path.to_str().unwrap(), "--yes"],
    )
    .await;
    said.done();
    assert!(path.exists());
}

#[tokio::test]
async fn completions_and_the_manual_know_every_subcommand() {
    let gateway = Gateway::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = tool(&gateway, &["completions", shell]).await.done();
        assert!(
            text.contains("outbox") && text.contains("doctor"),
            "{shell}"
        );
    }
    let manual = tool(&gateway, &["man"]).await.done();
    for words in [
        ".TH weirgate",
        "WEIRGATE OUTBOX RETRY",
        "WEIRGATE DOCTOR",
        "\\-\\-offline",
    ] {
        assert!(manual.contains(words), "{words} in {manual}");
    }
}
