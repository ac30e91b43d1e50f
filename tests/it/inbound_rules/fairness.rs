//! Whoever floods waits; everybody else does not. Counted in model requests, not in time.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, long};

async fn slow_model() -> FakeModel {
    FakeModel::start_with(|text| {
        Script::answer(&format!("re: {text}")).before_headers(Duration::from_millis(20))
    })
    .await
}

fn one_at_a_time() -> serde_json::Value {
    json!({
        "flow_control": { "max_turns_in_flight": 1, "auto": { "messages_per_request": 1 } },
        "input_buffer": { "max_queue_size": 5_000 },
    })
}

#[tokio::test]
async fn a_flood_of_one_delays_another_by_about_one_turn() {
    let model = slow_model().await;
    let gateway = Gateway::start(&model, one_at_a_time()).await;
    let fake = gateway.onebot().await;
    let flood = if long() { 2_000 } else { 300 };
    for number in 0..flood {
        fake.send_private(1, &format!("flood {number}")).await;
    }
    // A command of the flooder is answered when all of this is journaled and queued.
    fake.send_private(1, "/status").await;
    while !fake.answer().await.text().starts_with("Weirgate") {}
    let before = model.count();
    fake.send_private(2, "just one").await;
    while fake.answer().await.text() != "re: just one" {}
    let requests = model.requests();
    let place = requests
        .iter()
        .position(|request| request.last_user_text() == "just one");
    let delay = place.unwrap().saturating_sub(before);
    // The turn that runs, one that may have begun while the message was on its way, and slack for a
    // machine that held this test's own sends up.
    assert!(delay <= 4, "{delay} turns of the flood came first");
    assert!(place.unwrap() + 50 < flood, "the flood was still going on");
}

#[tokio::test]
async fn people_take_turns() {
    let model = slow_model().await;
    let gateway = Gateway::start(&model, one_at_a_time()).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer("first").before_headers(Duration::from_millis(1_500)));
    fake.send_private(9, "first").await;
    model.wait_for(1).await;
    for user in 1..=4 {
        for number in 1..=5 {
            fake.send_private(user, &format!("{user} {number}")).await;
        }
    }
    fake.answers(21).await;
    let requests = model.requests();
    let asked: Vec<&str> = requests
        .iter()
        .skip(1)
        .map(|request| request.last_user_text())
        .collect();
    for round in asked.chunks(4) {
        let users: BTreeSet<&str> = round.iter().map(|text| &text[..1]).collect();
        assert_eq!(users.len(), 4, "{asked:?}");
    }
    for user in 1..=4 {
        let name = user.to_string();
        let own = asked
            .iter()
            .filter(|text| text.starts_with(&name))
            .map(|text| &text[2..]);
        assert!(own.eq(["1", "2", "3", "4", "5"]), "{asked:?}");
    }
}

#[tokio::test]
async fn a_slow_conversation_does_not_hold_up_others() {
    let model = slow_model().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "slow").await;
    model.wait_for(1).await;
    fake.send_private(1, "behind").await;
    for user in 2..=20 {
        fake.send_private(user, "quick").await;
    }
    assert!(
        fake.answers(19)
            .await
            .iter()
            .all(|text| text == "re: quick")
    );
    assert_eq!(
        model.count(),
        20,
        "the second message of the slow one waits"
    );
}

#[tokio::test]
async fn the_users_rate_is_kept() {
    let model = FakeModel::start().await;
    let changes = json!({
        "flow_control": {
            "user": { "rate": 1.0, "burst": 2 },
            "auto": { "messages_per_request": 1 },
        },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    let started = std::time::Instant::now();
    for number in 0..4 {
        fake.send_private(1, &format!("n{number}")).await;
    }
    let texts = fake.answers(4).await;
    assert_eq!(texts, ["re: n0", "re: n1", "re: n2", "re: n3"]);
    // Two at once, then one a second.
    assert!(
        started.elapsed() >= Duration::from_millis(1_900),
        "{:?}",
        started.elapsed()
    );
}
