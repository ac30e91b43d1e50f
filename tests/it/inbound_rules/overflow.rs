//! The three strategies of a full queue, each with its exact count.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway};

/// A gateway whose queues hold three messages, with one turn running that ends when it is stopped.
async fn full(strategy: &str, messages: usize) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let changes: Value = json!({
        "input_buffer": {
            "max_queue_size": 3,
            "overflow_strategy": strategy,
            "overflow_hint": "[too many]",
        },
        "flow_control": { "auto": { "messages_per_request": 2 } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::hang());
    fake.send_private(1, "n0").await;
    model.wait_for(1).await;
    for number in 1..=messages {
        fake.send_private(1, &format!("n{number}")).await;
    }
    (model, gateway, fake)
}

async fn stop(fake: &FakeOneBot) {
    fake.send_private(1, "/stop").await;
    fake.answers(2).await;
}

fn asked(model: &FakeModel) -> Vec<String> {
    let requests = model.requests();
    requests
        .iter()
        .skip(1)
        .map(|request| request.last_user_text().to_owned())
        .collect()
}

#[tokio::test]
async fn drop_oldest_keeps_the_newest_and_tells_the_person_and_the_model() {
    let (model, gateway, fake) = full("drop_oldest", 8).await;
    let told = fake.answer().await.text();
    assert_eq!(
        told,
        "Too many messages at once: 5 older messages of yours fell out of the queue unanswered."
    );
    stop(&fake).await;
    fake.answers(2).await;
    let asked = asked(&model);
    let (hint, rest) = asked[0].split_once('\n').unwrap();
    assert!(
        hint.starts_with("[too many] (5 messages, within "),
        "{hint}"
    );
    assert_eq!(rest, "n6\nn7");
    assert_eq!(asked[1..], ["n8"], "the hint is given once");
    let metrics = gateway.get("/metrics").await.body;
    let counted = r#"weirgate_reasons_total{reason="queue_full_dropped_oldest"} 5"#;
    assert!(metrics.contains(counted), "{metrics}");
    assert_eq!(fake.ask(1, "/ping").await, "pong", "one notice only");
}

#[tokio::test]
async fn drop_newest_keeps_the_oldest_and_tells_the_person() {
    let (model, gateway, fake) = full("drop_newest", 8).await;
    let told = fake.answer().await.text();
    assert_eq!(
        told,
        "Too many messages at once: 5 messages of yours could not be taken."
    );
    stop(&fake).await;
    fake.answers(2).await;
    assert_eq!(asked(&model), ["n1\nn2", "n3"]);
    let metrics = gateway.get("/metrics").await.body;
    assert!(
        metrics.contains(r#"weirgate_reasons_total{reason="queue_full_refused"} 5"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn a_dropped_message_that_its_author_takes_back_is_not_counted() {
    let (_model, gateway, fake) = full("drop_oldest", 3).await;
    let mut ids = Vec::new();
    for number in 4..=6 {
        ids.push(fake.send_private(1, &format!("n{number}")).await);
    }
    // n1 to n3 fell out; these three follow them, and one of them is taken back before the notice.
    for number in 7..=9 {
        fake.send_private(1, &format!("n{number}")).await;
    }
    fake.recall(None, 1, ids[1]).await;
    let told = fake.answer().await.text();
    assert!(told.contains(": 5 older messages"), "{told}");
    assert_eq!(gateway.counted("recalled").await, 1);
}

#[tokio::test]
async fn block_drops_nothing_and_holds_nobody_else_up() {
    let (model, gateway, fake) = full("block", 30).await;
    assert_eq!(fake.ask(2, "me too").await, "re: me too");
    stop(&fake).await;
    let mut lines: Vec<String> = Vec::new();
    while lines.len() < 30 {
        let text = fake.answer().await.text();
        let words = text.strip_prefix("re: ").unwrap();
        lines.extend(words.lines().map(str::to_owned));
    }
    let expected: Vec<String> = (1..=30).map(|number| format!("n{number}")).collect();
    assert_eq!(lines, expected);
    assert_eq!(gateway.counted("held_back").await, 27, "all but three");
    let turns = asked(&model);
    assert!(
        turns.iter().all(|turn| turn.lines().count() <= 2),
        "no turn has more than two messages: {turns:?}"
    );
}

#[tokio::test]
async fn block_drops_nothing_over_a_kill() {
    let (_model, mut gateway, fake) = full("block", 30).await;
    // Answered last of all that came before: everything is in the journal.
    assert_eq!(fake.ask(2, "me too").await, "re: me too");
    gateway.kill().await;
    gateway.up().await;
    let mut lines: Vec<String> = Vec::new();
    while lines.len() < 31 {
        let text = fake.answer().await.text();
        let words = text.strip_prefix("re: ").unwrap();
        lines.extend(
            words
                .lines()
                .filter(|line| *line != "me too")
                .map(str::to_owned),
        );
    }
    let expected: Vec<String> = (0..=30).map(|number| format!("n{number}")).collect();
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn all_queues_together_are_bounded() {
    let model = FakeModel::start().await;
    let changes = json!({
        "input_buffer": {
            "max_queue_size": 5,
            "max_total": 5,
            "overflow_strategy": "drop_newest",
        },
        "flow_control": { "max_turns_in_flight": 1, "auto": { "messages_per_request": 1 } },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer("first").before_headers(Duration::from_secs(6)));
    fake.send_private(1, "first").await;
    model.wait_for(1).await;
    for user in 2..=9 {
        fake.send_private(user, "one").await;
    }
    let mut said = fake.answers(9).await;
    said.sort();
    let refused = "Too many messages at once: 1 message of yours could not be taken.";
    assert_eq!(said[..3], [refused; 3]);
    assert_eq!(
        said[3..],
        [
            "first", "re: one", "re: one", "re: one", "re: one", "re: one"
        ]
    );
    assert_eq!(gateway.counted("total_full").await, 3);
    assert_eq!(gateway.counted("queue_full_refused").await, 0);
}
