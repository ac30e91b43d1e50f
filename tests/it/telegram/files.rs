//! Files on their way out.

use serde_json::Value;
use weirgate_testkit::{
    model::{FakeModel, Script},
    telegram::Fault,
    upload,
};

use super::*;
use crate::gateway::{Gateway, LIMIT};

#[tokio::test]
async fn a_file_goes_into_the_topic_and_to_the_chat_when_that_is_gone() {
    let rig = Rig::start().await;
    rig.fake.say(GROUP, 7, "hello", &in_topic(77));
    rig.heard().await;
    let file = |topic| Outgoing {
        files: vec![upload::file("a \"b\".md", b"content")],
        ..rig.outgoing(&place(GROUP, topic), "")
    };
    for (topic, shown) in [(Some("77"), Some(77)), (Some("78"), None), (None, None)] {
        assert!(rig.bot.send(file(topic)).await.is_ok());
        let message = rig.fake.next_message(LIMIT).await.expect("a message");
        let (name, content) = message.file.expect("a file");
        assert_eq!((&*name, &*content), ("a %22b%22.md", &b"content"[..]));
        assert_eq!(message.topic, shown);
    }
    let rights = "Bad Request: not enough rights to send documents to the chat";
    rig.fake.fail("sendDocument", Fault::refused(400, rights));
    let refused = rig.bot.send(file(None)).await;
    assert!(
        matches!(refused, Err(SendError::Forbidden(_))),
        "{refused:?}"
    );
    rig.fake.fail("sendDocument", Fault::Flood(3));
    let flood = rig.bot.send(file(None)).await;
    assert!(
        matches!(flood, Err(SendError::RateLimited { .. })),
        "{flood:?}"
    );
    rig.stop().await;
}

/// A gateway that sends answers of more than two messages as files.
async fn gateway(fake: &FakeTelegram) -> (FakeModel, Gateway) {
    let model = FakeModel::start().await;
    let account = json!({
        "token": TOKEN, "api_url": fake.url(), "poll_timeout": 1, "reconnect": 0.1,
        "limits": { "account_per_second": 0, "conversation_interval": 0, "group_interval": 0 },
    });
    let changes = json!({
        "platforms": { "telegram": { "accounts": { "main": account } } },
        "output": { "long_as_file": 2, "default_strategy": "full",
            "platform_adaptation": { "strategy_by_platform": { "telegram": "full" } } },
    });
    let gateway = Gateway::start(&model, changes).await;
    (model, gateway)
}

fn long() -> String {
    (0..900)
        .map(|number| format!("Line number {number}.\n\n"))
        .collect()
}

#[tokio::test]
async fn a_long_answer_is_its_first_message_and_a_file_with_all_of_it() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, gateway) = gateway(&fake).await;
    model.push(Script::answer(&long()));
    fake.say(7, 7, "tell me", &Value::Null);
    let first = fake.next_message(LIMIT).await.expect("a message");
    assert!(first.text.starts_with("Line number 0."), "{first:?}");
    let second = fake.next_message(LIMIT).await.expect("a file");
    let (name, content) = second.file.expect("a file");
    assert_eq!(name, "answer.md");
    assert_eq!(String::from_utf8_lossy(&content).trim(), long().trim());
    fake.say(7, 7, "/why", &Value::Null);
    let why = fake.next_message(LIMIT).await.expect("a message").text;
    assert!(why.contains("sent_as_file"), "{why}");
    // Nothing else came, and what fits stays words.
    model.push(Script::answer("short"));
    fake.say(7, 7, "again", &Value::Null);
    let short = fake.next_message(LIMIT).await.expect("a message");
    assert_eq!((&*short.text, short.file), ("short", None));
    drop(gateway);
    assert_eq!(fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn words_follow_where_the_file_is_not_taken() {
    let fake = FakeTelegram::start(TOKEN).await;
    let (model, _gateway) = gateway(&fake).await;
    let rights = "Bad Request: not enough rights to send documents to the chat";
    fake.fail("sendDocument", Fault::refused(400, rights));
    model.push(Script::answer(&long()));
    fake.say(7, 7, "tell me", &Value::Null);
    let mut all = String::new();
    while !all.contains("Line number 899.") {
        let message = fake.next_message(LIMIT).await.expect("the rest");
        assert_eq!(message.file, None);
        all.push_str(&message.text);
        all.push('\n');
    }
    for number in 0..900 {
        let line = format!("Line number {number}.");
        assert_eq!(all.matches(&line).count(), 1, "{line}");
    }
    fake.say(7, 7, "/why", &Value::Null);
    let why = fake.next_message(LIMIT).await.expect("a message").text;
    assert!(why.contains("file_as_text"), "{why}");
}
