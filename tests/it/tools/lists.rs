//! `outbox`, `queue` and `dead`: what is listed, and what becomes of what is retried and dropped.

use std::time::Duration;

use serde_json::json;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::{FakeOneBot, Script as Send},
    webchat::WebChatClient,
};

use super::{listed, tool};
use crate::gateway::{Chat as _, Gateway, KEY, LIMIT, rows, until};

const OUTBOX: [&str; 3] = ["outbox", "list", "--json"];
const DEAD: [&str; 3] = ["dead", "list", "--json"];
const QUEUE: [&str; 3] = ["queue", "list", "--json"];

/// Says something whose answer the platform does not confirm.
async fn in_doubt(gateway: &Gateway, fake: &FakeOneBot, user: u64, text: &str) {
    let before = listed(gateway, &OUTBOX, "rows").await.len();
    fake.script(Send::TimeOut);
    fake.ask(user, text).await;
    let started = std::time::Instant::now();
    while listed(gateway, &OUTBOX, "rows").await.len() == before {
        assert!(started.elapsed() < LIMIT, "{}", gateway.log());
    }
}

#[tokio::test]
async fn a_reply_in_doubt_is_listed_retried_and_arrives_at_once() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    in_doubt(&gateway, &fake, 1, "hello").await;
    let said = tool(&gateway, &["outbox", "list"]).await.done();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("ID ") && lines.len() == 2, "{said}");
    for shown in ["unknown", "1/1", "send_unknown", "re: hello", "qq/main/"] {
        assert!(lines[1].contains(shown), "{shown} in {said}");
    }
    let id = listed(&gateway, &OUTBOX, "rows").await[0];
    let said = tool(&gateway, &["outbox", "retry", &format!("r{id}")]).await;
    assert_eq!(said.done(), format!("r{id}: is being sent\n"));
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert!(until(|| rows(&gateway.database(), "SELECT state FROM outbox") == ["2"]).await);
    let again = tool(&gateway, &["outbox", "retry", &id.to_string()]).await;
    assert_eq!(again.code, 1);
    assert_eq!(again.err, format!("r{id}: nothing to do: it is sent\n"));
    assert_eq!(
        tool(&gateway, &["outbox", "list"]).await.done(),
        "nothing\n"
    );
    let audit = "SELECT event || ' ' || target || ' ' || operator FROM audit";
    assert_eq!(
        rows(&gateway.database(), audit),
        [format!("reply_retried r{id} 0")]
    );
}

#[tokio::test]
async fn retried_replies_keep_their_order_and_a_dropped_one_never_arrives() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for text in ["one", "two", "three", "four"] {
        in_doubt(&gateway, &fake, 1, text).await;
    }
    let ids = listed(&gateway, &OUTBOX, "rows").await;
    let two = format!("r{}", ids[1]);
    let said = tool(&gateway, &["outbox", "drop", &two, "--json"]).await;
    assert_eq!(
        said.json(),
        json!([{ "id": two, "ok": { "is": "dropped" }, "error": null }])
    );
    tool(&gateway, &["outbox", "retry", "--all"]).await.done();
    assert_eq!(fake.answers(3).await, ["re: one", "re: three", "re: four"]);
    assert_eq!(fake.ask(1, "five").await, "re: five");
    assert_eq!(fake.reply_count(), 8);
}

#[tokio::test]
async fn what_is_retried_without_a_gateway_leaves_with_the_next_start() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({ "language": "zh-CN" })).await;
    let fake = gateway.onebot().await;
    in_doubt(&gateway, &fake, 1, "one").await;
    in_doubt(&gateway, &fake, 2, "two").await;
    gateway.term().await;
    let ids = listed(&gateway, &OUTBOX, "rows").await;
    let said = tool(&gateway, &["outbox", "retry", &format!("r{}", ids[0])]).await;
    assert_eq!(said.done(), format!("r{}：将在下次启动后发送\n", ids[0]));
    let waits = tool(&gateway, &["outbox", "list"]).await.done();
    assert!(waits.contains("ready") && waits.contains("编号"), "{waits}");
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: one");
    assert_eq!(listed(&gateway, &OUTBOX, "rows").await, [ids[1]]);
    assert_eq!(gateway.term().await.code(), Some(0));
}

#[tokio::test]
async fn a_failed_message_is_listed_and_answered_when_it_is_retried() {
    let model = FakeModel::start().await;
    let changes = json!({ "error_recovery": { "max_retries": { "api": 0 } } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    // A refusal is no failure, and a secret is not shown.
    fake.ask(1, "/nonsense").await;
    model.push(Script::error(500, "overloaded"));
    let asked = format!("my key is {KEY}\u{1b}[31m, or not?");
    fake.ask(1, &asked).await;
    let said = tool(&gateway, &["dead", "list"]).await.done();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(
        said.contains("model_failed") && said.contains("my key is"),
        "{said}"
    );
    assert!(!said.contains(KEY) && !said.contains('\u{1b}'), "{said}");
    let ids = listed(&gateway, &DEAD, "messages").await;
    let message = format!("m{}", ids[0]);
    let ambiguous = tool(&gateway, &["dead", "retry", &ids[0].to_string()]).await;
    assert_eq!(ambiguous.code, 2, "{ambiguous:?}");
    let said = tool(&gateway, &["dead", "retry", &message]).await.done();
    assert!(
        said.starts_with(&format!("{message}: waits for its turn as m")),
        "{said}"
    );
    assert_eq!(
        fake.answer().await.text(),
        format!(
            "re: {}",
            asked.replace(KEY, "[REDACTED]").replace('\u{1b}', "")
        )
    );
    assert_eq!(listed(&gateway, &DEAD, "messages").await, [0; 0]);
    let again = tool(&gateway, &["dead", "retry", &message]).await;
    assert!(again.err.contains("it is settled"), "{again:?}");
}

#[tokio::test]
async fn failed_messages_are_retried_in_order_or_dropped_without_a_gateway() {
    let model = FakeModel::start().await;
    let changes = json!({
        "error_recovery": { "max_retries": { "api": 0 } },
        "flow_control": { "auto": { "messages_per_request": 1 } },
    });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for text in ["one", "two", "three"] {
        model.push(Script::error(500, "overloaded"));
        fake.ask(1, text).await;
    }
    gateway.term().await;
    let ids = listed(&gateway, &DEAD, "messages").await;
    assert_eq!(ids.len(), 3);
    let two = format!("m{}", ids[1]);
    assert_eq!(
        tool(&gateway, &["dead", "drop", &two]).await.done(),
        format!("{two}: dropped\n")
    );
    tool(&gateway, &["dead", "retry", "--all"]).await.done();
    assert_eq!(tool(&gateway, &["dead", "list"]).await.done(), "nothing\n");
    assert_eq!(listed(&gateway, &QUEUE, "rows").await.len(), 2);
    gateway.up().await;
    assert_eq!(fake.answers(2).await, ["re: one", "re: three"]);
}

#[tokio::test]
async fn a_retried_message_of_the_page_is_shown_once() {
    let model = FakeModel::start().await;
    let changes = json!({ "error_recovery": { "max_retries": { "api": 0 } } });
    let gateway = Gateway::start(&model, changes).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    model.push(Script::error(500, "overloaded"));
    client.say("m1", "hello").await;
    client.skip_to("end").await;
    let said = tool(&gateway, &["dead", "retry", "--all"]).await.done();
    assert!(
        said.contains("waits for its turn"),
        "{said} {}",
        gateway.log()
    );
    while !client
        .skip_to("text")
        .await
        .to_string()
        .contains("re: hello")
    {}
    let mut other = WebChatClient::connect(gateway.http()).await;
    let history = other.enter(Some(&client.token)).await;
    let messages = history["messages"].as_array().unwrap();
    let said = messages.iter().filter(|message| message["role"] == "user");
    assert_eq!(said.count(), 1, "{history}");
    assert!(history.to_string().contains("re: hello"), "{history}");
    assert!(
        messages.iter().all(|message| message["pending"] != true),
        "{history}"
    );
}

#[tokio::test]
async fn the_queue_shows_who_waits_in_pages() {
    let model = FakeModel::start().await;
    let changes = json!({ "flow_control": { "max_turns_in_flight": 1 } });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    for user in 1..=5 {
        fake.send_private(user, &format!("from {user}")).await;
    }
    model.wait_for(1).await;
    let started = std::time::Instant::now();
    while listed(&gateway, &QUEUE, "rows").await.len() < 5 {
        assert!(started.elapsed() < LIMIT);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let said = tool(&gateway, &["queue", "list"]).await.done();
    assert!(said.contains("from 3") && said.contains("direct"), "{said}");
    let page = tool(&gateway, &["queue", "list", "--limit", "2", "--json"])
        .await
        .json();
    assert_eq!(page["rows"].as_array().unwrap().len(), 2);
    let next = page["next"].as_i64().unwrap().to_string();
    let rest = listed(
        &gateway,
        &["queue", "list", "--json", "--after", &next],
        "rows",
    )
    .await;
    assert_eq!(rest.len(), 3);
    let more = tool(&gateway, &["queue", "list", "--limit", "2"])
        .await
        .done();
    assert!(more.contains(&format!("--after {next}")), "{more}");
}

#[tokio::test]
async fn a_reply_that_waits_is_dropped_and_one_on_its_way_is_not() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    // The first one is under way and unanswered, so the others wait behind it.
    fake.script(Send::Delay(Duration::from_secs(8)));
    fake.ask(1, "one").await;
    for (count, text) in [(2, "two"), (3, "three")] {
        fake.send_private(1, text).await;
        let made = until(|| rows(&gateway.database(), "SELECT id FROM outbox").len() == count);
        assert!(made.await);
    }
    let ids = listed(&gateway, &OUTBOX, "rows").await;
    let id = |at: usize| format!("r{}", ids[at]);
    let first = tool(&gateway, &["outbox", "drop", &id(0)]).await;
    assert_eq!(
        first.err,
        format!("{}: it is being sent right now\n", id(0))
    );
    tool(&gateway, &["outbox", "drop", &id(1)]).await.done();
    assert_eq!(fake.answer().await.text(), "re: three");
}

#[tokio::test]
async fn a_folder_without_a_database_is_said_so_and_not_filled() {
    let model = FakeModel::start().await;
    let gateway = Gateway::prepare(&model, json!({}));
    for arguments in [OUTBOX, QUEUE, DEAD] {
        let said = tool(&gateway, &arguments).await;
        assert!(
            said.code == 1 && said.err.contains("no database"),
            "{said:?}"
        );
    }
    assert!(!gateway.database().exists());
}
