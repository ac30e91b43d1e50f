//! Several processes on one database: one has an account, another takes over, and one that was stopped is fenced off.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    webchat::WebChatClient,
};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT},
};

/// How long an account may be without a process.
const TAKEOVER: Duration = Duration::from_secs(10);
/// How long that takes when the process before gave it back.
const HANDOVER: Duration = Duration::from_secs(4);
/// The exit code of a process that was fenced off.
const FENCED: i32 = 75;

/// Two processes; the first has the account.
async fn pair(model: &FakeModel, changes: Value) -> (Gateway, Gateway) {
    let mut first = Gateway::prepare_on(Engine::Postgres, model, changes.clone()).await;
    first.up().await;
    let mut second = Gateway::beside(&first, false, model, changes);
    second.up().await;
    (first, second)
}

/// Everything in the journal, but for the processes themselves.
async fn journal(gateway: &Gateway) -> Vec<String> {
    let tables = ["inbox", "ended", "outbox", "turn", "history"];
    let rows = tables.map(|table| format!("SELECT t::text AS row FROM {table} t"));
    let all = rows.join(" UNION ALL ");
    gateway
        .stored(&format!("SELECT row FROM ({all}) rows ORDER BY row"))
        .await
}

/// Waits for the end of an answer.
async fn finished(client: &mut WebChatClient) {
    while client.skip_to("text").await["final"] != true {}
}

#[tokio::test]
async fn a_process_without_the_account_is_ready_and_takes_it_when_the_other_is_killed() {
    let model = FakeModel::start().await;
    let (mut first, second) = pair(&model, json!({})).await;
    let fake = first.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    assert_eq!(first.account("qq/main").await, "up");
    assert_eq!(second.get("/readyz").await.status, 200);
    assert_eq!(second.account("qq/main").await, "standby");
    assert_eq!(second.account("webchat/default").await, "up");
    assert!(
        second
            .get("/metrics")
            .await
            .body
            .contains("weirgate_leases_held 1")
    );
    model.push(Script::hang());
    fake.send_private(2, "two").await;
    model.wait_for(2).await;
    let killed = Instant::now();
    first.kill().await;
    assert!(fake.connection_is(false, LIMIT).await);
    assert!(fake.connection_is(true, LIMIT).await, "{}", second.log());
    assert!(killed.elapsed() < TAKEOVER, "{:?}", killed.elapsed());
    assert_eq!(fake.answer().await.text(), "re: two");
    assert_eq!(fake.ask(1, "three").await, "re: three");
    assert_eq!(second.account("qq/main").await, "up");
    let metrics = second.get("/metrics").await.body;
    assert!(
        metrics.contains(r#"weirgate_leases_taken_total{outcome="unclean"} 2"#),
        "{metrics}"
    );
    first.up().await;
    assert_eq!(first.account("qq/main").await, "standby");
}

#[tokio::test]
async fn a_process_that_stops_hands_its_account_over_at_once() {
    let model = FakeModel::start().await;
    let (mut first, second) = pair(&model, json!({})).await;
    let fake = first.onebot().await;
    assert_eq!(fake.ask(1, "one").await, "re: one");
    assert_eq!(first.term().await.code(), Some(0));
    let stopped = Instant::now();
    assert!(fake.connection_is(true, LIMIT).await, "{}", second.log());
    assert!(stopped.elapsed() < HANDOVER, "{:?}", stopped.elapsed());
    assert_eq!(fake.ask(1, "two").await, "re: two");
}

#[tokio::test]
async fn a_process_that_was_stopped_for_too_long_writes_and_sends_nothing_more() {
    let model = FakeModel::start().await;
    let mut first = Gateway::prepare_on(Engine::Postgres, &model, json!({})).await;
    first.up().await;
    let one = first.onebot().await;
    // The stopped process keeps its address.
    let mut second = Gateway::beside(&first, true, &model, json!({}));
    second.up().await;
    // An answer that comes while the process is stopped: it finds it when it goes on.
    model.push(Script::answer("late").before_headers(Duration::from_secs(2)));
    one.send_private(1, "one").await;
    model.wait_for(1).await;
    let stopped = Instant::now();
    first.signal("STOP");
    let two = second.onebot().await;
    assert!(stopped.elapsed() < TAKEOVER, "{:?}", stopped.elapsed());
    assert_eq!(two.answer().await.text(), "re: one");
    two.private_at(7_000_001, 2, "two", 1_700_000_000).await;
    assert_eq!(two.answer().await.text(), "re: two");
    // Its last receipt is written beside what follows.
    let sent = "SELECT id::text FROM outbox WHERE state <> 2";
    let started = Instant::now();
    while !first.stored(sent).await.is_empty() {
        assert!(started.elapsed() < LIMIT);
    }
    let before = journal(&first).await;
    first.signal("CONT");
    let status = first.ended().await;
    assert_eq!(status.code(), Some(FENCED), "{}", first.log());
    assert!(first.log().contains("another process has taken over"));
    assert_eq!(one.reply_count(), 0, "{:?}", one.replies());
    assert_eq!(journal(&first).await, before);
    assert_eq!(two.reply_count(), 2);
}

#[tokio::test]
async fn an_answer_that_was_about_to_be_sent_when_the_process_was_stopped_is_sent_by_the_other_only()
 {
    let model = FakeModel::start().await;
    // The second answer waits ten seconds for its turn; that it is about to be sent is written before.
    let limits = json!({ "account_per_minute": 6, "account_burst": 1 });
    let changes =
        json!({ "platforms": { "qq": { "accounts": { "main": { "limits": limits } } } } });
    let mut first = Gateway::prepare_on(Engine::Postgres, &model, changes.clone()).await;
    first.up().await;
    let mut second = Gateway::beside(&first, true, &model, changes);
    second.up().await;
    let one = first.onebot().await;
    assert_eq!(one.ask(1, "one").await, "re: one");
    let due = tokio::time::Instant::now() + Duration::from_secs(11);
    one.send_private(2, "two").await;
    let started = Instant::now();
    let intents = "SELECT id::text FROM outbox WHERE state = 1";
    while first.stored(intents).await.is_empty() {
        assert!(started.elapsed() < LIMIT);
    }
    first.signal("STOP");
    let two = second.onebot().await;
    assert_eq!(two.answer().await.text(), "re: two");
    // When the stopped process goes on it is time for it to send.
    tokio::time::sleep_until(due).await;
    first.signal("CONT");
    assert_eq!(first.ended().await.code(), Some(FENCED), "{}", first.log());
    assert_eq!((one.reply_count(), two.reply_count()), (1, 1));
}

#[tokio::test]
async fn what_a_visitor_said_to_one_process_the_other_knows() {
    let model = FakeModel::start().await;
    let (first, second) = pair(&model, json!({})).await;
    let mut here = WebChatClient::connect(first.http()).await;
    here.enter(None).await;
    let mut there = WebChatClient::connect(second.http()).await;
    there.enter(Some(&here.token)).await;
    for (name, text) in [("m1", "first"), ("m3", "third")] {
        if name == "m3" {
            there.say("m2", "second").await;
            finished(&mut there).await;
        }
        here.say(name, text).await;
        finished(&mut here).await;
    }
    let requests = model.requests();
    let asked = requests.last().unwrap().body["messages"].to_string();
    for text in ["first", "re: first", "second", "re: second", "third"] {
        assert!(asked.contains(text), "{text} is not in {asked}");
    }
}

#[tokio::test]
async fn an_answer_that_one_process_makes_is_shown_to_a_visitor_at_the_other() {
    let model = FakeModel::start().await;
    let (first, second) = pair(&model, json!({})).await;
    let mut here = WebChatClient::connect(first.http()).await;
    here.enter(None).await;
    model.push(Script::answer("slow").before_headers(Duration::from_secs(1)));
    here.say("m1", "first").await;
    model.wait_for(1).await;
    let mut there = WebChatClient::connect(second.http()).await;
    let view = there.enter(Some(&here.token)).await;
    assert_eq!(view["messages"][0]["pending"], true, "{view}");
    let view = there.next_of("history").await;
    assert_eq!(view["replace"], true);
    assert_eq!(view["messages"][0]["pending"], false, "{view}");
    assert!(view["messages"][1]["html"].to_string().contains("slow"));
    there.say("m2", "second").await;
    finished(&mut there).await;
    assert_eq!(model.count(), 2);
}

#[tokio::test]
async fn what_is_set_by_a_command_holds_in_every_process() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": ["1"] } } });
    let (mut first, second) = pair(&model, owners).await;
    let fake = first.onebot().await;
    fake.ask(1, "/config context.system_prompt be brief").await;
    second.logged("changed: context.system_prompt").await;
    assert!(
        second.log().contains("cause=OtherProcess"),
        "{}",
        second.log()
    );
    // The other has the account now, and what was set there is in force.
    assert_eq!(first.term().await.code(), Some(0));
    assert!(fake.connection_is(true, LIMIT).await, "{}", second.log());
    fake.ask(2, "hello").await;
    assert!(model.requests()[0].body.to_string().contains("be brief"));
}

#[tokio::test]
async fn tools_ask_the_running_gateway_and_leave_to_each_what_is_its_own() {
    let model = FakeModel::start().await;
    let (first, second) = pair(&model, json!({})).await;
    let fake = first.onebot().await;
    model.push(Script::error(400, "no"));
    fake.ask(1, "this fails").await;
    let tool = async |gateway: &Gateway, arguments: &[&str]| {
        let ended = gateway.command(arguments).output().await.unwrap();
        let said = [ended.stdout, ended.stderr].concat();
        (ended.status.success(), String::from_utf8(said).unwrap())
    };
    let (_, listed) = tool(&second, &["dead", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed["messages"][0]["id"].as_str().map_or_else(
        || format!("m{}", listed["messages"][0]["id"]),
        str::to_owned,
    );
    let (done, said) = tool(&second, &["dead", "retry", &id]).await;
    assert!(
        !done && said.contains("belongs to another gateway"),
        "{said}"
    );
    let (done, said) = tool(&second, &["dead", "drop", &id]).await;
    assert!(
        !done && said.contains("belongs to another gateway"),
        "{said}"
    );
    let (done, said) = tool(&first, &["dead", "retry", &id]).await;
    assert!(done, "{said}");
    assert_eq!(fake.answer().await.text(), "re: this fails");
    assert_eq!(second.account("qq/main").await, "standby");
}
