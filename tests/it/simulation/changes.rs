//! What people do to their messages after they sent them, and who is not answered at all: on a platform
//! that reports it, with the whole core behind it.
//!
//! Owns calm worlds, in which nothing fails but by a test's own word.

use std::time::Duration;

use tokio::time::sleep;
use weirgate_sdk::{Event, InboundMessage, Outcome, Replied};
use weirgate_testkit::scripted::ScriptedAdapter;

use super::world::{Process, World};

async fn feed(stage: &ScriptedAdapter, event: Event) -> Outcome {
    let receipt = stage.feed(vec![event]).await.expect("running");
    receipt.await.expect("accepted")[0]
}

async fn say(stage: &ScriptedAdapter, message: InboundMessage) -> Outcome {
    feed(stage, Event::Message(Box::new(message))).await
}

/// Waits until the conversation shows this many messages.
async fn shown(stage: &ScriptedAdapter, place: &str, count: usize) -> Vec<String> {
    while stage.texts(place).len() < count {
        sleep(Duration::from_millis(10)).await;
    }
    stage.texts(place)
}

/// What /why says of a message.
async fn why(stage: &ScriptedAdapter, place: &str, message: &str) -> String {
    let before = stage.texts(place).len();
    let mut question = stage.message(place, "u", &format!("why-{message}"), "/why");
    question.reply_to = Some(Replied {
        message: message.into(),
        to_bot: None,
        author: None,
    });
    say(stage, question).await;
    shown(stage, place, before + 1).await.swap_remove(before)
}

fn one_by_one() -> World {
    World::calm(|config| {
        config.flow_control.user.rate = 0.0;
        config.flow_control.auto.messages_per_request = 1;
    })
}

#[test]
fn a_waiting_message_is_answered_as_it_was_edited() {
    let mut world = one_by_one();
    let stage = world.stages[0].clone();
    world.quiet(async |process: Process| {
        stage.running().await;
        say(&stage, stage.message("p", "u", "m1", "#u.p.1 first")).await;
        say(&stage, stage.message("p", "u", "m2", "#u.p.2 as it was")).await;
        let edited = stage.message("p", "u", "m2", "#u.p.22 as it is");
        feed(&stage, Event::Edited(Box::new(edited))).await;
        // Too late: it runs, or has run.
        let late = stage.message("p", "u", "m1", "#u.p.11 too late");
        feed(&stage, Event::Edited(Box::new(late))).await;
        let texts = shown(&stage, "p", 2).await;
        assert!(texts[0].contains("answer to #u.p.1"), "{texts:?}");
        assert!(texts[1].contains("answer to #u.p.22"), "{texts:?}");
        let told = why(&stage, "p", "m2").await;
        assert!(told.contains("edited"), "{told}");
        process.stop().await;
    });
    assert_eq!(world.watch.lock().requests, 2);
}

#[test]
fn an_edit_of_a_waiting_message_survives_a_crash() {
    let mut world = one_by_one();
    let stage = world.stages[0].clone();
    world.quiet(async |_process: Process| {
        stage.running().await;
        say(&stage, stage.message("p", "u", "m1", "#u.p.1 first")).await;
        say(&stage, stage.message("p", "u", "m2", "#u.p.2 as it was")).await;
        let edited = stage.message("p", "u", "m2", "#u.p.22 as it is");
        feed(&stage, Event::Edited(Box::new(edited))).await;
        // Here it crashes, before the first is answered.
    });
    assert_eq!(stage.texts("p"), [""; 0]);
    world.quiet(async |process: Process| {
        let texts = shown(&stage, "p", 2).await;
        assert!(texts[1].contains("answer to #u.p.22"), "{texts:?}");
        process.stop().await;
    });
}

#[test]
fn an_edit_that_makes_a_message_a_command_changes_nothing() {
    let mut world = one_by_one();
    let stage = world.stages[0].clone();
    world.quiet(async |process: Process| {
        stage.running().await;
        say(&stage, stage.message("p", "u", "m1", "#u.p.1 first")).await;
        say(&stage, stage.message("p", "u", "m2", "#u.p.2 second")).await;
        let edited = stage.message("p", "u", "m2", "/reset");
        feed(&stage, Event::Edited(Box::new(edited))).await;
        let texts = shown(&stage, "p", 2).await;
        assert!(texts[1].contains("answer to #u.p.2"), "{texts:?}");
        process.stop().await;
    });
}

#[test]
fn a_receipt_that_the_store_refuses_holds_the_conversation() {
    let mut world = one_by_one();
    let stage = world.stages[0].clone();
    world.quiet(async |process: Process| {
        stage.running().await;
        process.store.refuse_receipts(true);
        say(&stage, stage.message("p", "u", "m1", "#u.p.1 first")).await;
        say(&stage, stage.message("p", "u", "m2", "#u.p.2 second")).await;
        say(&stage, stage.message("other", "v", "m3", "#v.o.1 third")).await;
        shown(&stage, "other", 1).await;
        sleep(Duration::from_secs(60)).await;
        // Were it shown now, a crash would leave two answers in doubt.
        assert_eq!(stage.texts("p").len(), 1);
        process.store.refuse_receipts(false);
        let texts = shown(&stage, "p", 2).await;
        assert!(texts[1].contains("answer to #u.p.2"), "{texts:?}");
        process.stop().await;
    });
}

#[test]
fn another_bot_is_not_answered() {
    let before = counted("other_bot");
    let mut world = one_by_one();
    let stage = world.stages[0].clone();
    world.quiet(async |process: Process| {
        stage.running().await;
        let mut bot = stage.message("g", "robot", "m1", "#robot.g.1 hello");
        bot.sender.is_bot = true;
        assert_eq!(say(&stage, bot).await, Outcome::Ignored);
        let person = stage.message("g", "u", "m2", "#u.g.2 hello");
        assert!(matches!(say(&stage, person).await, Outcome::Accepted(_)));
        let texts = shown(&stage, "g", 1).await;
        assert!(texts[0].contains("#u.g.2"), "{texts:?}");
        process.stop().await;
    });
    assert_eq!(world.watch.lock().requests, 1);
    assert!(counted("other_bot") > before);
}

/// How often a reason was given in this process, in all tests together.
fn counted(reason: &str) -> u64 {
    let text = weirgate::telemetry::metrics::install().render();
    let series = format!("weirgate_reasons_total{{reason=\"{reason}\"}} ");
    let value = text.lines().find_map(|line| line.strip_prefix(&series));
    value.map_or(0, |value| value.parse().expect("a number"))
}
