//! Threads that are archived while an answer is written, and places where the bot may not write any more.

use weirgate_testkit::{discord::Fault, model::Script, upload};

use super::*;

#[tokio::test]
async fn an_archived_thread_is_opened_again_once_where_the_bot_may() {
    let rig = Rig::start().await;
    let here = place(CHANNEL, Some(THREAD));
    rig.fake.archive(THREAD, true);
    rig.send(&here, 1).await.expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(message.channel, THREAD);
    assert_eq!(rig.fake.calls("reopen").len(), 1);
    rig.fake.archive(THREAD, true);
    let file = Outgoing {
        files: vec![upload::file("a.txt", b"abc")],
        ..rig.outgoing(&here, 2, "")
    };
    rig.bot.send(file).await.expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(message.files.len(), 1);
    // Where it may not, nothing is tried again.
    rig.fake.archive(THREAD, false);
    let before = rig.fake.calls("send").len();
    let sent = rig.send(&here, 3).await;
    assert!(matches!(sent, Err(SendError::Forbidden(_))), "{sent:?}");
    assert_eq!(rig.fake.calls("send").len(), before + 1);
    assert_eq!(rig.fake.calls("reopen").len(), 3);
    rig.ended().await;
}

#[tokio::test]
async fn a_thread_that_is_archived_again_at_once_is_left() {
    let rig = Rig::start().await;
    let here = place(CHANNEL, Some(THREAD));
    for _ in 0..2 {
        rig.fake.fail("send", Fault::code(400, 50_083));
    }
    let sent = rig.send(&here, 1).await;
    assert!(matches!(sent, Err(SendError::Forbidden(_))), "{sent:?}");
    assert_eq!(rig.fake.calls("send").len(), 2);
    rig.ended().await;
}

#[tokio::test]
async fn an_answer_that_grew_ends_in_a_thread_that_was_archived_meanwhile() {
    let fake = FakeDiscord::start(TOKEN).await;
    let streaming = json!({ "output": { "platform_adaptation": {
        "strategy_by_platform": { "discord": "streaming" } } } });
    let (model, _gateway) = whole::gateway(&fake, streaming).await;
    model.push(
        Script::pieces(&["One sentence is here. ", "Another one."]).between(Duration::from_secs(3)),
    );
    let mention = json!({ "mentions": [{ "id": weirgate_testkit::discord::BOT.to_string(), "username": "weir" }] });
    fake.say(THREAD, 7, "<@10001> tell", &mention);
    let begun = fake
        .next_message(crate::gateway::LIMIT)
        .await
        .expect("it begins");
    assert_eq!(begun.channel, THREAD);
    fake.fail("edit", Fault::code(400, 50_083));
    let whole = || {
        let messages = fake.messages();
        messages
            .iter()
            .any(|one| one.text.ends_with("Another one."))
    };
    assert!(crate::gateway::until(whole).await, "{:?}", fake.messages());
    assert_eq!(fake.messages().len(), 1, "{:?}", fake.messages());
}

#[tokio::test]
async fn the_operator_is_told_once_where_the_bot_may_not_write() {
    let fake = FakeDiscord::start(TOKEN).await;
    let (_model, gateway) = whole::gateway(&fake, json!({})).await;
    for (count, code) in [(1, 50_013), (2, 50_001), (3, 50_013)] {
        fake.fail("send", Fault::code(403, code));
        fake.say(direct(7), 7, "/ping", &Value::Null);
        assert!(crate::gateway::until(|| fake.calls("send").len() == count).await);
    }
    // Elsewhere it is another matter, and none of the refused is tried again.
    fake.fail("send", Fault::code(403, 50_013));
    fake.say(direct(8), 8, "/ping", &Value::Null);
    assert!(crate::gateway::until(|| fake.calls("send").len() == 4).await);
    fake.say(direct(9), 9, "/ping", &Value::Null);
    let pong = fake
        .next_message(crate::gateway::LIMIT)
        .await
        .expect("an answer");
    assert_eq!(pong.text, "pong");
    assert_eq!(fake.calls("send").len(), 5);
    let told = gateway.log().matches("the bot may not write there").count();
    assert_eq!(told, 2, "{}", gateway.log());
}
