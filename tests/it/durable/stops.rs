//! SIGTERM drains, a second one ends at once, and a message that crashes the process is set aside.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, LIMIT, person, until};

#[tokio::test]
async fn sigterm_loses_nothing_and_repeats_nothing() {
    let model = FakeModel::start_with(|text| {
        Script::answer(&format!("re {text}")).before_headers(Duration::from_millis(120))
    })
    .await;
    let changes = json!({ "flow_control": { "auto": { "messages_per_request": 1 } } });
    let mut gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    for number in 0..6 {
        for user in 1..=10 {
            fake.send_private(user, &format!("{user} {number}")).await;
        }
    }
    model.wait_for(12).await;
    let status = gateway.term().await;
    assert_eq!(status.code(), Some(0), "{}", gateway.log());
    assert!(fake.connection_is(false, LIMIT).await);
    let before = fake.reply_count();
    assert!(before < 60, "it did not wait for everything");
    assert_eq!(
        usize::try_from(before).unwrap(),
        model.count(),
        "running turns were finished"
    );
    gateway.up().await;
    assert!(
        fake.replied(60, LIMIT).await,
        "{} answers",
        fake.reply_count()
    );
    gateway.term().await;
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for reply in fake.replies() {
        answers
            .entry(person(&reply).to_owned())
            .or_default()
            .push(reply.text());
    }
    for user in 1..=10 {
        let expected: Vec<String> = (0..6).map(|number| format!("re {user} {number}")).collect();
        assert_eq!(answers[&user.to_string()], expected);
    }
    assert_eq!(model.count(), 60);
}

#[tokio::test]
async fn a_second_sigterm_ends_at_once_and_the_message_is_answered_later() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(7, "hello").await;
    model.wait_for(1).await;
    gateway.signal("TERM");
    gateway.logged("draining").await;
    assert_eq!(gateway.get("/readyz").await.status, 503, "it drains");
    let second = Instant::now();
    let status = gateway.term().await;
    assert_eq!(status.code(), Some(1));
    // Far less than the twenty seconds that a turn may take to end.
    assert!(
        second.elapsed() < Duration::from_secs(8),
        "{:?}",
        second.elapsed()
    );
    assert_eq!(fake.reply_count(), 0);
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert_eq!(fake.reply_count(), 1);
}

#[tokio::test]
async fn a_turn_that_outlasts_the_grace_time_is_run_again_after_the_next_start() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(7, "hello").await;
    model.wait_for(1).await;
    let stopping = Instant::now();
    let status = gateway.term().await;
    assert_eq!(status.code(), Some(0), "{}", gateway.log());
    // Running turns have so long to end.
    assert!(stopping.elapsed() >= Duration::from_secs(20));
    assert_eq!(fake.reply_count(), 0);
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert_eq!(fake.ask(7, "and then?").await, "re: and then?");
    assert_eq!((fake.reply_count(), model.count()), (2, 3));
}

#[tokio::test]
async fn what_is_read_while_it_drains_is_kept() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let slow = Script::answer("first").before_headers(Duration::from_millis(1_000));
    model.push(slow);
    fake.send_private(1, "one").await;
    model.wait_for(1).await;
    gateway.signal("TERM");
    gateway.logged("draining").await;
    fake.send_private(2, "two").await;
    assert_eq!(gateway.ended().await.code(), Some(0));
    assert_eq!(fake.answer().await.text(), "first");
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert_eq!(fake.answer().await.text(), "re: two");
    assert!(until(|| fake.reply_count() == 2).await);
}

#[tokio::test]
async fn turns_that_kills_hit_by_chance_are_not_set_aside() {
    let hold = Arc::new(AtomicBool::new(true));
    let held = Arc::clone(&hold);
    let model = FakeModel::start_with(move |text| match held.load(Ordering::Relaxed) {
        true => Script::hang(),
        false => Script::answer(&format!("re: {text}")),
    })
    .await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    for user in 1..=5 {
        fake.send_private(user, "hello").await;
    }
    for kill in 1..=4 {
        // All at once three times, and then one by one.
        let together = if kill <= 3 { 5 } else { 1 };
        assert!(
            until(|| model.running() == together).await,
            "{}",
            model.running()
        );
        gateway.kill().await;
        assert!(until(|| model.running() == 0).await);
        hold.store(kill < 4, Ordering::Relaxed);
        gateway.up().await;
    }
    assert_eq!(fake.answers(5).await, ["re: hello"; 5]);
    assert_eq!(model.count(), 3 * 5 + 1 + 5);
}
