//! The real gateway with accounts of all three ways at once.

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{FakeOneBot, Options},
};

use super::BOT;
use crate::gateway::{Chat as _, Gateway, LIMIT, until};

#[tokio::test]
async fn three_accounts_are_reached_in_three_ways_and_answered() {
    let model = FakeModel::start().await;
    let options = || Options {
        token: Some("token-of-calls".into()),
        ..Options::default()
    };
    let dialled = FakeOneBot::listen(BOT + 1, options()).await;
    let posted = FakeOneBot::listen_http(BOT + 2, options()).await;
    let off = json!({ "account_per_minute": 0, "conversation_interval": 0 });
    let accounts = json!({
        "dialled": {
            "connection": "forward", "url": dialled.url(), "token": "token-of-calls", "limits": off,
        },
        "po sted": {
            "connection": "http", "url": posted.url(), "token": "token-of-calls",
            "secret": "secret-of-events", "limits": off,
        },
    });
    let changes = json!({ "platforms": { "qq": { "accounts": accounts } } });
    let gateway = Gateway::start(&model, changes).await;
    let url = format!("http://{}/onebot/po%20sted", gateway.http());
    posted.post_to(&url, "secret-of-events");
    let reverse = gateway.onebot().await;
    assert!(dialled.connection_is(true, LIMIT).await);
    for fake in [&reverse, &dialled, &posted] {
        assert_eq!(fake.ask(20_001, "/ping").await, "pong");
    }
    let ready = gateway.get("/readyz").await.body;
    for account in ["main", "dialled", "po sted"] {
        assert!(
            ready.contains(&format!("\"qq/{account}\":\"up\"")),
            "{ready}"
        );
    }
    let log = gateway.log();
    assert!(
        !log.contains("token-of-calls") && !log.contains("secret-of-events"),
        "{log}"
    );
}

#[tokio::test]
async fn a_gateway_that_was_away_answers_what_was_asked_meanwhile_once() {
    let model = FakeModel::start().await;
    let options = Options {
        app_name: "NapCat.Onebot",
        ..Options::default()
    };
    let fake = FakeOneBot::listen(BOT, options).await;
    let account = json!({
        "connection": "forward", "url": fake.url(), "reconnect": 0.1,
        "limits": { "account_per_minute": 0, "conversation_interval": 0 },
    });
    let changes = json!({ "platforms": { "qq": { "accounts": { "dialled": account } } } });
    let mut gateway = Gateway::start(&model, changes).await;
    assert!(fake.connection_is(true, LIMIT).await);
    assert_eq!(fake.ask(20_001, "/ping").await, "pong");
    gateway.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    fake.past(None, 20_002, "/ping", 0);
    gateway.up().await;
    let answer = fake.answer().await;
    assert_eq!(answer.text(), "pong");
    // A connection later it is asked for again, and known.
    fake.drop_connection();
    let asked = || {
        let called = fake.called();
        called
            .iter()
            .filter(|name| *name == "get_friend_msg_history")
            .count()
            >= 2
    };
    assert!(until(asked).await);
    assert_eq!(fake.ask(20_003, "/ping").await, "pong");
    assert_eq!(fake.reply_count(), 3);
}

#[tokio::test]
async fn a_very_long_answer_is_forwarded_unless_the_operator_says_no() {
    let lines: Vec<String> = (0..1_000)
        .map(|line| format!("line {line} of many"))
        .collect();
    for (most, action) in [(10, "send_private_forward_msg"), (0, "send_private_msg")] {
        let model = FakeModel::start().await;
        let adaptation = json!({ "fold_by_platform": { "qq": most } });
        let changes = json!({ "output": { "platform_adaptation": adaptation } });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        model.push(Script::answer(&lines.join("\n\n")));
        fake.send_private(20_001, "all of it").await;
        let answer = fake.answer().await;
        assert_eq!(answer.action, action);
        assert!(answer.text().starts_with("line 0 of many"));
        let whole = answer.text().contains("line 999 of many");
        assert_eq!(whole, most > 0);
    }
}

#[tokio::test]
async fn accounts_that_cannot_be_told_apart_are_found_before_the_start() {
    let model = FakeModel::start().await;
    let twin = json!({ "listen": "127.0.0.1:6199", "self_id": "10001" });
    let accounts = json!({ "one": twin, "two": twin });
    let gateway = Gateway::prepare(
        &model,
        json!({ "platforms": { "qq": { "accounts": accounts } } }),
    );
    let output = gateway.command(&["check"]).output().await.expect("runs");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("one and two") && said.contains("self_id"),
        "{said}"
    );
}
