//! /remind: what is noted, told in time, taken back, and kept over a kill.

use serde_json::json;
use weirgate_testkit::model::FakeModel;

use crate::gateway::{Chat as _, Gateway, LIMIT, rows};

#[tokio::test]
async fn a_reminder_is_told_in_time_also_over_a_kill() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let noted = fake.ask(7, "/remind 3s tea\nwith milk").await;
    assert!(noted.starts_with("Noted: "), "{noted}");
    gateway.kill().await;
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let told = fake.next_reply(LIMIT).await.unwrap();
    let told = if told.text().starts_with("Noted") {
        // Its receipt was lost with the process.
        fake.next_reply(LIMIT).await.unwrap()
    } else {
        told
    };
    assert_eq!(told.text(), "⏰ tea\nwith milk");
    assert_eq!(fake.ask(7, "/remind").await, "You have no reminders here.");
}

#[tokio::test]
async fn reminders_are_listed_for_their_person_and_taken_back() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let group = |user: u64, text: &'static str| fake.ask_as("member", 50, user, text);
    let noted = group(100_001, "/remind 2h call-home").await;
    let number = noted.trim_end_matches(" takes it back.");
    let number = number.rsplit(' ').next().unwrap().to_owned();
    assert!(number.parse::<i64>().is_ok(), "{noted}");
    group(100_001, "/remind daily 09:00 stand-up").await;
    let listed = group(100_001, "/remind list").await;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("call-home"), "{listed}");
    assert!(listed.contains("(again: 0 9 * * *) stand-up"), "{listed}");
    // Another member sees and drops his own alone.
    assert_eq!(
        group(100_002, "/remind").await,
        "You have no reminders here."
    );
    let drop = format!("/remind drop {number}");
    let not_his = fake.ask_as("member", 50, 100_002, &drop).await;
    assert!(
        not_his.starts_with("You have no reminder of this number"),
        "{not_his}"
    );
    let dropped = fake.ask_as("member", 50, 100_001, &drop).await;
    assert_eq!(dropped, format!("Reminder {number} is dropped."));
    let left = "SELECT count(*) FROM outbox WHERE kind = 1 AND state < 2";
    assert_eq!(rows(&gateway.database(), left), ["1"]);
    for (text, told) in [
        ("/remind tea", "When? For example"),
        ("/remind 10m", "What of?"),
        ("/remind 2020-01-01 10:00 x", "That time is over."),
        ("/remind cron * * * * * x", "That is too often"),
    ] {
        let answer = group(100_001, text).await;
        assert!(answer.starts_with(told), "{text}: {answer}");
    }
}
