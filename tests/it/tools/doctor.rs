//! `doctor`: one line for each thing, and an exit code that says whether something has failed.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{Door, FakeOneBot, Options},
};

use super::{Said, tool};
use crate::{
    engine::Engine,
    gateway::{BOT, Gateway, KEY, free_port},
    redis,
};

/// The line of a subject.
fn line<'a>(said: &'a Said, subject: &str) -> &'a str {
    let found = said.out.lines().find(|line| {
        let rest = line
            .split_once(' ')
            .map_or("", |(_, rest)| rest.trim_start());
        rest.starts_with(subject)
    });
    found.unwrap_or_else(|| panic!("no line for {subject}: {said:?}"))
}

#[tokio::test]
async fn everything_is_well_with_and_without_a_gateway() {
    let model = FakeModel::start().await;
    let token =
        json!({ "platforms": { "qq": { "accounts": { "main": { "token": "a-long-token" } } } } });
    let mut gateway = Gateway::prepare(&model, token);
    let before = tool(&gateway, &["doctor"]).await;
    assert_eq!((before.code, before.err.as_str()), (0, ""), "{before:?}");
    assert!(!gateway.database().exists(), "it makes nothing");
    assert!(
        line(&before, "database").contains("first start"),
        "{before:?}"
    );
    gateway.up().await;
    let beside = tool(&gateway, &["doctor"]).await;
    assert_eq!(beside.code, 0, "{beside:?}");
    assert!(line(&beside, "gateway").contains("runs and answers"));
    assert!(line(&beside, "database").contains("whole"));
    assert!(line(&beside, "account qq/main").contains("by the running gateway"));
    assert!(line(&beside, "model main/test").contains("answers, after"));
    assert!(
        beside.out.lines().all(|line| line.starts_with("ok ")),
        "{beside:?}"
    );
    let asked = model.count();
    let offline = tool(&gateway, &["doctor", "--offline"]).await;
    assert!(line(&offline, "model main/test").contains("not asked"));
    assert_eq!((offline.code, model.count()), (0, asked));
    gateway.term().await;
    let after = tool(&gateway, &["doctor"]).await;
    assert!(
        after.code == 0 && line(&after, "gateway").contains("does not run"),
        "{after:?}"
    );
}

#[tokio::test]
async fn what_is_wrong_is_named_with_what_to_do() {
    let model = FakeModel::start().await;
    let port = free_port();
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let listen = format!("127.0.0.1:{port}");
    let nobody = format!("http://127.0.0.1:{}/v1", free_port());
    let gateway = Gateway::prepare(
        &model,
        json!({
            "http": { "listen": listen },
            "providers": { "away": { "kind": "openai", "base_url": nobody } },
            "models": { "chat": ["main/test", "main/other", "main/third", "away/m"] },
        }),
    );
    model.push(Script::error(401, &format!("bad key {KEY}")).before_headers(ms(0)));
    model.push(Script::error(404, "no such model").before_headers(ms(300)));
    model.push(Script::rate_limited(None).before_headers(ms(600)));
    let folder = gateway.database().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(
        gateway.database(),
        "this is no database at all, only a text",
    )
    .unwrap();
    let said = tool(&gateway, &["doctor"]).await;
    drop(taken);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(!said.out.contains(KEY), "{said:?}");
    for (subject, level, words) in [
        ("data folder", "warn", "chmod"),
        ("database", "FAIL", "weirgate restore"),
        ("http", "FAIL", "another program"),
        ("model away/m", "FAIL", "cannot be reached"),
    ] {
        let line = line(&said, subject);
        assert!(
            line.starts_with(level) && line.contains(words),
            "{subject}: {said:?}"
        );
    }
    // The three requests come in any order.
    for words in [
        "key is not accepted",
        "not known there",
        "no requests just now",
    ] {
        assert_eq!(said.out.matches(words).count(), 1, "{words}: {said:?}");
    }
    let account = said
        .out
        .lines()
        .find(|line| line.contains("qq/main") && line.contains("token"));
    assert!(account.unwrap().starts_with("warn"), "{said:?}");
}

#[tokio::test]
async fn beside_a_server_the_folder_of_the_process_is_looked_at() {
    let model = FakeModel::start().await;
    let listen = format!("127.0.0.1:{}", free_port());
    let changes = json!({ "http": { "listen": listen } });
    let mut gateway = Gateway::prepare_on(Engine::Postgres, &model, changes).await;
    let before = tool(&gateway, &["doctor", "--offline"]).await;
    assert_eq!(before.code, 0, "{before:?}");
    assert!(line(&before, "data folder").contains("first start"));
    assert!(line(&before, "gateway").contains("does not run"));
    assert!(line(&before, "disk").contains("MB free"));
    gateway.up().await;
    let beside = tool(&gateway, &["doctor", "--offline"]).await;
    assert!(line(&beside, "gateway").contains("runs and answers"));
    assert!(line(&beside, "database").contains("a gateway has it in use"));
    assert!(line(&beside, "http").contains("by the running gateway"));
    let told = line(&beside, "data folder");
    let folder = gateway.folder().join("data/weirgate");
    assert!(
        told.starts_with("ok ") && told.contains(folder.to_str().unwrap()),
        "{told}"
    );
    let place = told.split_whitespace().last().unwrap();
    assert!(fs::metadata(place).unwrap().is_dir(), "{told}");
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    let open = tool(&gateway, &["doctor", "--offline"]).await;
    let told = line(&open, "data folder");
    assert!(
        told.starts_with("warn") && told.contains("chmod 700"),
        "{told}"
    );
    gateway.term().await;
    let mut nowhere = gateway.command(&["doctor", "--offline"]);
    nowhere.env_remove("XDG_DATA_HOME").env_remove("HOME");
    let told = String::from_utf8(nowhere.output().await.unwrap().stdout).unwrap();
    assert!(
        told.contains("set XDG_DATA_HOME or HOME") && told.contains("warn data folder"),
        "{told}"
    );
}

#[tokio::test]
async fn each_model_is_asked_once_whatever_it_is_for_and_the_memory_too() {
    let model = FakeModel::start().await;
    let nobody = format!("http://127.0.0.1:{}/v1", free_port());
    let changes = |port: u16| {
        json!({
            "providers": { "away": { "kind": "openai", "base_url": nobody } },
            "models": {
                "chat": ["main/test", "main/test", "main/second"], "compress": ["away/short"],
                "choices": ["main/chosen"], "embed": "main/meaning",
            },
            "memory": { "backend": "redis", "redis": { "host": "127.0.0.1", "port": port } },
        })
    };
    let gateway = Gateway::prepare(&model, changes(redis::shared()));
    let said = tool(&gateway, &["doctor"]).await;
    assert_eq!(said.code, 1, "{said:?}");
    for (subject, level, words) in [
        ("model main/test", "ok", "answers, after"),
        ("model main/second", "ok", "answers, after"),
        ("model away/short", "FAIL", "cannot be reached"),
        ("model main/chosen", "ok", "answers, after"),
        ("embed main/meaning", "ok", "answers, after"),
        ("redis", "ok", "answers, after"),
    ] {
        let line = line(&said, subject);
        assert!(line.starts_with(level) && line.contains(words), "{line}");
    }
    assert_eq!(said.out.matches("model ").count(), 4, "{said:?}");
    gateway.configure(&model, changes(free_port()));
    let offline = tool(&gateway, &["doctor", "--offline"]).await;
    for subject in ["embed main/meaning", "redis"] {
        assert!(line(&offline, subject).contains("not asked"), "{offline:?}");
    }
    let away = tool(&gateway, &["doctor"]).await;
    let told = line(&away, "redis");
    assert!(
        told.starts_with("FAIL") && told.contains("memory.redis"),
        "{told}"
    );
}

fn ms(millis: u64) -> std::time::Duration {
    std::time::Duration::from_millis(millis)
}

#[tokio::test]
async fn a_faulty_configuration_and_a_locked_folder_are_said() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({ "language": "zh-CN" })).await;
    // A gateway whose socket is gone, as one that hangs.
    fs::remove_file(gateway.database().with_file_name("weirgate.sock")).unwrap();
    let said = tool(&gateway, &["doctor", "--offline"]).await;
    assert!(
        said.code == 1 && line(&said, "网关").starts_with("故障"),
        "{said:?}"
    );
    gateway.term().await;
    gateway.write(
        "agent.yaml",
        "flow_control: {mode: sometimes}\nnonsense: 1\n",
    );
    let said = tool(&gateway, &["doctor"]).await;
    assert_eq!(said.code, 78, "{said:?}");
    assert!(
        said.out.contains("2 errors") && said.out.lines().count() == 1,
        "{said:?}"
    );
}

/// A gateway whose accounts are reached as `accounts` says.
fn reaching(model: &FakeModel, accounts: serde_json::Value) -> Gateway {
    let changes = json!({ "platforms": { "qq": { "accounts": accounts } } });
    Gateway::prepare(model, changes)
}

#[tokio::test]
async fn accounts_that_the_gateway_calls_are_asked_who_they_are() {
    let model = FakeModel::start().await;
    let options = || Options {
        token: Some("correct-token".to_owned()),
        ..Options::default()
    };
    let (forward, http) = (
        FakeOneBot::listen(BOT, options()).await,
        FakeOneBot::listen_http(BOT + 1, options()).await,
    );
    let accounts = |token: &str| {
        json!({
            "main": null,
            "forward": { "connection": "forward", "url": forward.url(), "token": token },
            "http": { "connection": "http", "url": http.url(), "token": token, "secret": "a-long-secret" },
        })
    };
    let said = tool(&reaching(&model, accounts("correct-token")), &["doctor"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    for (name, fake) in [("forward", &forward), ("http", &http)] {
        let line = line(&said, &format!("account qq/{name}"));
        let text = format!("{} answers for the bot {}", fake.url(), fake.self_id());
        assert!(line.starts_with("ok ") && line.ends_with(&text), "{line}");
    }
    assert_eq!((forward.reply_count(), http.reply_count()), (0, 0));

    let said = tool(&reaching(&model, accounts("another-token")), &["doctor"]).await;
    assert_eq!(said.code, 1, "{said:?}");
    for name in ["forward", "http"] {
        let line = line(&said, &format!("account qq/{name}"));
        assert!(
            line.starts_with("FAIL") && line.contains("does not take the token"),
            "{line}"
        );
    }
    assert!(!said.out.contains("another-token"), "{said:?}");
}

#[tokio::test]
async fn an_account_that_cannot_be_reached_or_is_another_bot_is_said() {
    let model = FakeModel::start().await;
    let other = FakeOneBot::listen(BOT + 1, Options::default()).await;
    let closed = FakeOneBot::listen(BOT, Options::default()).await;
    closed.doors([Door::Close]);
    let nobody = format!("127.0.0.1:{}", free_port());
    let gateway = reaching(
        &model,
        json!({
            "main": null,
            "other": { "connection": "forward", "url": other.url(), "self_id": BOT.to_string() },
            "closed": { "connection": "forward", "url": closed.url() },
            "away": { "connection": "forward", "url": format!("ws://{nobody}") },
            "silent": { "connection": "http", "url": format!("http://{nobody}"), "secret": "a-long-secret" },
        }),
    );
    let said = tool(&gateway, &["doctor"]).await;
    assert_eq!(said.code, 1, "{said:?}");
    for (name, words) in [
        ("other", "it serves the bot 10002, self_id says 10001"),
        ("closed", "closed by the other side at once"),
        ("away", "refused"),
        ("silent", "refused"),
    ] {
        let line = line(&said, &format!("account qq/{name}"));
        assert!(line.starts_with("FAIL") && line.contains(words), "{line}");
    }
}
