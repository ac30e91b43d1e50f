//! The process aborts at each point around each kind of commit. After the next start nothing is lost.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::{
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT},
};

const TIME: i64 = 1_700_000_000;

/// A gateway that will abort at a point, its model, and a client that comes back.
pub async fn armed(on: Engine, point: &str, changes: Value) -> (FakeModel, Gateway, FakeOneBot) {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    gateway.set("WEIRGATE_FAILPOINT", point);
    gateway.up().await;
    let fake = gateway.onebot().await;
    (model, gateway, fake)
}

/// Waits for the abort, after which nothing is armed any more.
pub async fn aborted(gateway: &mut Gateway) {
    let status = gateway.ended().await;
    assert_eq!(status.code(), None, "it was to abort: {}", gateway.log());
    gateway.set("WEIRGATE_FAILPOINT", "");
}

/// Waits for the abort and starts again, unarmed.
pub async fn again(gateway: &mut Gateway, fake: &FakeOneBot) {
    aborted(gateway).await;
    assert!(fake.connection_is(false, LIMIT).await);
    gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
}

/// All texts until a last question of the same person has been answered.
pub async fn texts(fake: &FakeOneBot) -> Vec<String> {
    fake.send_private(7, "last").await;
    let mut texts = Vec::new();
    loop {
        let text = fake.answer().await.text();
        if text == "re: last" {
            return texts;
        }
        texts.push(text);
    }
}

async fn a_message_that_was_not_committed_can_be_delivered_again(on: Engine) {
    let (model, mut gateway, fake) = armed(on, "accept.before", json!({})).await;
    fake.private_at(1, 7, "hello", TIME).await;
    again(&mut gateway, &fake).await;
    fake.private_at(1, 7, "hello", TIME).await;
    fake.private_at(1, 7, "hello", TIME).await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert_eq!(texts(&fake).await, [""; 0]);
    assert_eq!(model.count(), 2);
}

async fn a_committed_message_is_answered_and_its_repetition_is_not(on: Engine) {
    let (_model, mut gateway, fake) = armed(on, "accept.after", json!({})).await;
    fake.private_at(1, 7, "hello", TIME).await;
    again(&mut gateway, &fake).await;
    fake.private_at(1, 7, "hello", TIME).await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert_eq!(texts(&fake).await, [""; 0]);
}

async fn a_turn_that_was_begun_or_not_is_run_again(on: Engine) {
    for point in ["begin.before", "begin.after", "finish.before"] {
        let (_model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.send_private(7, "hello").await;
        again(&mut gateway, &fake).await;
        assert_eq!(fake.answer().await.text(), "re: hello", "{point}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
    }
}

async fn a_finished_turn_is_not_run_again_and_its_answer_is_sent(on: Engine) {
    let (model, mut gateway, fake) = armed(on, "finish.after", json!({})).await;
    fake.send_private(7, "hello").await;
    again(&mut gateway, &fake).await;
    assert_eq!(fake.answer().await.text(), "re: hello");
    assert_eq!(texts(&fake).await, [""; 0]);
    assert_eq!(model.count(), 2);
}

async fn a_command_is_run_again_until_its_end_is_written(on: Engine) {
    for point in ["finish.before", "finish.after"] {
        let (_model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.send_private(7, "/lang zh-CN").await;
        again(&mut gateway, &fake).await;
        assert_eq!(
            fake.answer().await.text(),
            "之后我会用中文回复你。",
            "{point}"
        );
        assert_eq!(
            fake.ask(7, "/nosuch").await,
            "没有 /nosuch 这个命令，试试 /help。"
        );
    }
}

async fn an_answer_without_a_receipt_comes_once_more_and_one_with_a_receipt_does_not(on: Engine) {
    for (point, copies) in [("receipt.before", 2), ("receipt.after", 1)] {
        let (model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.send_private(7, "hello").await;
        again(&mut gateway, &fake).await;
        assert_eq!(texts(&fake).await, vec!["re: hello"; copies], "{point}");
        assert_eq!(model.count(), 2, "{point}");
        let metrics = gateway.get("/metrics").await.body;
        let resent = metrics
            .lines()
            .find(|line| line.starts_with("weirgate_outbox_resends_total"));
        let counted = resent.is_some_and(|line| line.ends_with(" 1"));
        assert_eq!(counted, copies == 2, "{point}: {resent:?}");
    }
}

async fn the_parts_of_an_answer_all_come_in_order(on: Engine) {
    for point in [
        "intent.before:1",
        "intent.after:1",
        "intent.before:2",
        "receipt.before:2",
    ] {
        let long = ["one ", "two ", "three "].map(|word| word.repeat(20));
        let changes = json!({
            "platforms": { "qq": { "accounts": { "main": { "max_length": 100 } } } },
            "output": { "segmented": { "add_ellipsis": false } },
        });
        let (model, mut gateway, fake) = armed(on, point, changes).await;
        model.push(Script::answer(long.join("\n\n").trim()));
        fake.send_private(7, "tell me").await;
        again(&mut gateway, &fake).await;
        let mut parts = texts(&fake).await;
        let sent = parts.len();
        parts.dedup();
        assert!(
            sent - parts.len() <= 1,
            "{point}: one part was in doubt: {parts:?}"
        );
        let words: Vec<&str> = parts
            .iter()
            .flat_map(|part| part.split_whitespace())
            .collect();
        let expected: Vec<&str> = long
            .iter()
            .flat_map(|part| part.split_whitespace())
            .collect();
        assert_eq!(words, expected, "{point}");
        assert_eq!(model.count(), 2, "{point}: the model is not asked again");
    }
}

async fn dropped_messages_and_their_notice_are_written_together(on: Engine) {
    for point in ["end.before", "end.after"] {
        let changes = json!({
            "input_buffer": { "max_queue_size": 1 },
            "flow_control": { "auto": { "messages_per_request": 1 } },
        });
        let (model, mut gateway, fake) = armed(on, point, changes).await;
        model.push(Script::answer("first").before_headers(Duration::from_secs(600)));
        fake.send_private(7, "one").await;
        model.wait_for(1).await;
        fake.send_private(7, "two").await;
        fake.send_private(7, "three").await;
        again(&mut gateway, &fake).await;
        let texts = texts(&fake).await;
        let notices = texts
            .iter()
            .filter(|text| text.contains("fell out"))
            .count();
        let answers: Vec<&String> = texts
            .iter()
            .filter(|text| text.starts_with("re:"))
            .collect();
        if point == "end.before" {
            // Nothing was written: the message still waits and is answered.
            assert_eq!(answers, ["re: one", "re: two", "re: three"]);
            assert_eq!(notices, 0);
        } else {
            assert_eq!(answers, ["re: one", "re: three"]);
            assert_eq!(notices, 1);
        }
    }
}

async fn ambient_messages_do_not_stop_the_conversation(on: Engine) {
    for point in ["ambient.before", "ambient.after"] {
        let changes = json!({ "context": { "ambient": { "enable": true } } });
        let (model, mut gateway, fake) = armed(on, point, changes).await;
        fake.send_group(50, 7, "the sky is green", false).await;
        again(&mut gateway, &fake).await;
        fake.send_group(50, 7, "what did I say?", true).await;
        assert!(fake.answer().await.text().contains("what did I say?"));
        let kept = model.requests()[0]
            .body
            .to_string()
            .contains("the sky is green");
        assert_eq!(kept, point == "ambient.after");
    }
}

async fn a_message_that_crashes_three_times_is_set_aside_and_told(on: Engine) {
    let (model, mut gateway, fake) = armed(on, "begin.after", json!({})).await;
    fake.send_private(7, "poison").await;
    for _ in 0..2 {
        assert_eq!(gateway.ended().await.code(), None);
        assert!(fake.connection_is(false, LIMIT).await);
        // The next one may be gone before it was ready.
        gateway.spawn();
    }
    assert_eq!(gateway.ended().await.code(), None);
    gateway.set("WEIRGATE_FAILPOINT", "");
    gateway.up().await;
    let told = fake.answer().await.text();
    assert!(told.contains("in several tries"), "{told}");
    let (_, reference) = told.split_once("reference ").unwrap();
    gateway.logged(reference.trim_end_matches(')')).await;
    assert_eq!(
        fake.ask(7, "hello").await,
        "re: hello",
        "the next one is answered"
    );
    assert_eq!(
        model.requests()[0].last_user_text(),
        "hello",
        "the poison was never asked"
    );
    let why = fake.ask(7, "/status").await;
    assert!(why.contains("Waiting: 0"), "{why}");
}

suite!(
    a_message_that_was_not_committed_can_be_delivered_again,
    a_committed_message_is_answered_and_its_repetition_is_not,
    a_turn_that_was_begun_or_not_is_run_again,
    a_finished_turn_is_not_run_again_and_its_answer_is_sent,
    a_command_is_run_again_until_its_end_is_written,
    an_answer_without_a_receipt_comes_once_more_and_one_with_a_receipt_does_not,
    the_parts_of_an_answer_all_come_in_order,
    dropped_messages_and_their_notice_are_written_together,
    ambient_messages_do_not_stop_the_conversation,
    a_message_that_crashes_three_times_is_set_aside_and_told,
);
