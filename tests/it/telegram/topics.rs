//! A topic keeps everything that is said in it: long answers, questions, notices.

use serde_json::Value;
use weirgate_testkit::{
    model::Script,
    telegram::{BOT, BOT_NAME, Message, Standing},
};

use super::*;
use crate::gateway::LIMIT as SOON;

const TOPIC: i64 = 77;

/// Somebody says something to the bot in the topic.
fn say(fake: &FakeTelegram, user: i64, text: &str) {
    let mut changes = in_topic(TOPIC);
    changes["entities"] = json!([{ "type": "mention", "offset": 0, "length": 1 + BOT_NAME.len() }]);
    fake.say(GROUP, user, &format!("@{BOT_NAME} {text}"), &changes);
}

/// The next message, which stands in the topic.
async fn answer(fake: &FakeTelegram) -> Message {
    let message = fake.next_message(SOON).await;
    let message = message.unwrap_or_else(|| {
        let texts: Vec<String> = fake.messages().into_iter().map(|one| one.text).collect();
        panic!("no answer in time after {texts:?}")
    });
    assert_eq!(
        (message.chat, message.topic),
        (GROUP, Some(TOPIC)),
        "{message:?}"
    );
    message
}

#[tokio::test]
async fn whatever_a_turn_says_stays_in_its_topic() {
    let fake = FakeTelegram::start(TOKEN).await;
    for (user, standing) in [(BOT, Standing::Administrator), (1, Standing::Creator)] {
        fake.member(GROUP, user, standing);
    }
    let changes = json!({ "tools": { "approval": ["write_file"] } });
    let (model, _gateway) = whole::gateway(&fake, changes).await;
    // An answer that is longer than a message.
    let long = "A sentence of some words that fills the room. ".repeat(200);
    model.push(Script::answer(&long));
    say(&fake, 1, "tell me all");
    let mut length = 0;
    while length < long.trim().len() - 50 {
        length += answer(&fake).await.text.len();
    }
    // A question whether a tool may run, and what follows the yes.
    let call = ("write_file", json!({ "path": "a.txt", "content": "x" }));
    model.push(Script::calls(&[call]));
    say(&fake, 1, "write it down");
    let question = answer(&fake).await;
    assert!(
        question.text.contains("May I run write_file"),
        "{question:?}"
    );
    let (_, yes) = question.buttons.first().expect("a button for yes");
    model.push(Script::answer("written"));
    fake.press(GROUP, 1, question.id, yes);
    while !answer(&fake).await.text.contains("written") {}
    // A notice that nothing came of it.
    model.push(Script::error(400, "no such thing"));
    say(&fake, 1, "and now");
    let notice = answer(&fake).await;
    assert!(!notice.text.contains("re: "), "{notice:?}");
    // A refusal, and a command that nobody knows.
    fake.say(GROUP, 2, &format!("/kick@{BOT_NAME} 1"), &in_topic(TOPIC));
    assert!(answer(&fake).await.text.contains("Only an admin"));
    fake.say(GROUP, 2, &format!("/nothing@{BOT_NAME}"), &in_topic(TOPIC));
    answer(&fake).await;
    let typing = fake.calls("sendChatAction");
    assert!(
        typing
            .iter()
            .all(|call: &Value| call["message_thread_id"] == TOPIC),
        "{typing:?}"
    );
    assert_eq!(fake.violations(), Vec::<String>::new());
}
