//! /stop and /cancel: never waiting, also in the middle of a stream, with the partial answer kept.

use std::time::{Duration, Instant};

use serde_json::json;
use weirgate_testkit::{
    model::{Ending, FakeModel, Script},
    webchat::WebChatClient,
};

use crate::gateway::{Chat as _, Gateway, alone, rows, until};

/// How long a request may go on after a stop. It is a figure of an idle machine, so only where no test runs beside is it
/// insisted on.
fn moment() -> Duration {
    if alone() {
        Duration::from_millis(200)
    } else {
        Duration::from_secs(1)
    }
}

#[tokio::test]
async fn stop_ends_a_request_that_waits_for_its_first_word() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "hello").await;
    model.wait_for(1).await;
    let pressed = Instant::now();
    fake.send_private(1, "/stop").await;
    assert!(
        until(|| model.running() == 0).await,
        "the provider sees the client leave"
    );
    assert!(pressed.elapsed() < moment(), "{:?}", pressed.elapsed());
    let mut said = fake.answers(2).await;
    said.sort();
    assert_eq!(said, ["(stopped)", "Stopped 1 answer."]);
    assert_eq!(gateway.counted("stopped").await, 1);
    assert_eq!(fake.ask(1, "next").await, "re: next", "the way is free");
    assert_eq!(
        fake.ask(1, "/stop").await,
        "Nothing of yours is running here."
    );
}

#[tokio::test]
async fn stop_in_the_middle_of_a_stream_keeps_and_marks_what_was_said() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    model.push(Script::pieces(&["The first half is said, long enough. "]).ending(Ending::Hang));
    client.say("m1", "go").await;
    client.skip_to("text").await;
    let pressed = Instant::now();
    client.send(json!({ "type": "stop" })).await;
    assert!(until(|| model.running() == 0).await);
    assert!(pressed.elapsed() < moment(), "{:?}", pressed.elapsed());
    let last = loop {
        let frame = client.skip_to("text").await;
        if frame["final"] == true {
            break frame;
        }
    };
    assert_eq!(
        last["text"],
        "The first half is said, long enough.\n(stopped)"
    );
    assert_eq!(client.skip_to("end").await["messageId"], "m1");
    client.say("m2", "and now?").await;
    client.skip_to("end").await;
    let body = model.requests()[1].body.to_string();
    assert!(
        body.contains("The first half is said"),
        "it is part of the history: {body}"
    );
}

#[tokio::test]
async fn stop_says_what_waits_and_cancel_drops_it() {
    let model = FakeModel::start().await;
    let one = json!({ "flow_control": { "auto": { "messages_per_request": 1 } } });
    let gateway = Gateway::start(&model, one).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    model.push(Script::hang());
    fake.send_private(1, "first").await;
    model.wait_for(1).await;
    for text in ["second", "third", "fourth"] {
        fake.send_private(1, text).await;
    }
    let status = fake.ask(1, "/status").await;
    assert!(status.contains("yours here: 3"), "{status}");
    fake.send_private(1, "/stop").await;
    let said = fake.answers(2).await;
    let told = said
        .iter()
        .any(|text| text == "Stopped 1 answer. 3 messages still in the queue; /cancel drops them.");
    assert!(told, "{said:?}");
    model.wait_for(2).await;
    fake.send_private(1, "/cancel").await;
    let mut said = fake.answers(2).await;
    said.sort();
    assert_eq!(
        said,
        [
            "(stopped)",
            "Stopped 1 answer and dropped 2 waiting messages."
        ]
    );
    assert_eq!(fake.ask(1, "fresh").await, "re: fresh");
    assert_eq!(model.count(), 3, "third and fourth were never asked");
    assert_eq!(gateway.counted("cancelled").await, 2);
}

#[tokio::test]
async fn a_cancelled_message_stays_cancelled_over_a_kill() {
    let model = FakeModel::start().await;
    let one = json!({ "flow_control": { "auto": { "messages_per_request": 1 } } });
    let mut gateway = Gateway::start(&model, one).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "first").await;
    model.wait_for(1).await;
    fake.send_private(1, "second").await;
    fake.send_private(1, "/cancel").await;
    fake.answers(2).await;
    gateway.kill().await;
    gateway.up().await;
    fake.send_private(1, "third").await;
    // An answer that was in doubt at the kill may come again before it.
    while fake.answer().await.text() != "re: third" {}
    assert_eq!(model.count(), 2);
}

#[tokio::test]
async fn only_a_moderator_stops_everybody() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    model.push(Script::hang());
    fake.group_as("member", 50, 1, "one").await;
    fake.group_as("member", 50, 2, "two").await;
    model.wait_for(2).await;
    fake.group_as("member", 50, 3, "/stop all").await;
    assert_eq!(
        fake.answer().await.text(),
        "Only an admin may do that here."
    );
    fake.group_as("member", 50, 3, "/stop").await;
    assert_eq!(
        fake.answer().await.text(),
        "Nothing of yours is running here."
    );
    assert_eq!(model.running(), 2);
    fake.group_as("admin", 50, 4, "/stop all").await;
    let mut said = fake.answers(3).await;
    said.sort();
    assert_eq!(said, ["(stopped)", "(stopped)", "Stopped 2 answers."]);
    assert!(until(|| model.running() == 0).await);
    gateway.term().await;
    let audit = rows(&gateway.database(), "SELECT * FROM audit ORDER BY id");
    let count = |event: &str| audit.iter().filter(|row| row.contains(event)).count();
    assert_eq!(
        (count("command_blocked"), count("turn_stopped")),
        (1, 1),
        "{audit:?}"
    );
}

#[tokio::test]
async fn stop_skips_the_users_limit_and_a_full_queue() {
    let model = FakeModel::start().await;
    let changes = json!({
        "input_buffer": { "max_queue_size": 1 },
        "flow_control": {
            "user": { "rate": 0.01, "burst": 1 },
            "auto": { "messages_per_request": 1 },
        },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    fake.send_private(1, "two").await;
    fake.send_private(1, "/stop").await;
    let mut said = fake.answers(2).await;
    said.sort();
    assert_eq!(
        said,
        [
            "(stopped)",
            "Stopped 1 answer. 1 message still in the queue; /cancel drops them."
        ]
    );
}
