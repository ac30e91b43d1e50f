//! Answers while they are written.

use serde_json::Value;
use weirgate_sdk::{Preview, PreviewStart, Streaming};
use weirgate_testkit::telegram::Fault;

use super::*;

async fn preview(rig: &Rig, conversation: &ConversationKey, attempt: u32) -> Box<dyn Preview> {
    let start = PreviewStart {
        conversation: conversation.clone(),
        turn: "t1".into(),
        attempt,
        answers: vec!["1".into()],
        reply_context: None,
    };
    let streams = rig.bot.streams().expect("it can");
    streams.open(start).await.expect("a preview")
}

fn blocks(text: &str) -> Vec<Block> {
    vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])]
}

fn of_turn(rig: &Rig, conversation: &ConversationKey, text: &str) -> Outgoing {
    Outgoing {
        turn: Some("t1".into()),
        ..rig.outgoing(conversation, text)
    }
}

async fn rig(chat: i64, changes: &Value) -> (Rig, ConversationKey) {
    let rig = Rig::start().await;
    rig.fake.say(chat, 7, "hi", changes);
    let conversation = rig.heard().await.conversation;
    (rig, conversation)
}

#[tokio::test]
async fn in_private_a_draft_shows_each_state_once_and_the_answer_is_a_message() {
    let (rig, here) = rig(7, &in_topic(12)).await;
    assert!(matches!(
        rig.bot.capabilities(&here).streaming,
        Streaming::Draft { .. }
    ));
    let mut first = preview(&rig, &here, 1).await;
    for text in ["Hi", "Hi", "Hi there"] {
        first.push(&blocks(text)).await.expect("shown");
    }
    // Another attempt takes the place of the first.
    let mut second = preview(&rig, &here, 2).await;
    second.push(&blocks("Hello")).await.expect("shown");
    second.finish().await;
    let drafts = rig.fake.drafts();
    let texts: Vec<_> = drafts
        .iter()
        .filter_map(|draft| draft["text"].as_str())
        .collect();
    assert_eq!(texts, ["Hi", "Hi there", "Hello"]);
    let same = |name: &str| drafts.iter().all(|draft| draft[name] == drafts[0][name]);
    assert!(same("draft_id") && same("message_thread_id"));
    assert_eq!(drafts[0]["message_thread_id"], 12);
    assert_eq!(drafts[0]["can_stop"], true);
    rig.bot
        .send(of_turn(&rig, &here, "Hello!"))
        .await
        .expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!((&*message.text, message.edits), ("Hello!", 0));
    rig.stop().await;
}

#[tokio::test]
async fn in_a_group_one_message_grows_into_the_answer() {
    let (rig, here) = rig(GROUP, &in_topic(77)).await;
    assert!(matches!(
        rig.bot.capabilities(&here).streaming,
        Streaming::Edit { .. }
    ));
    let mut first = preview(&rig, &here, 1).await;
    first.push(&blocks("Good mor")).await.expect("shown");
    drop(first);
    let mut second = preview(&rig, &here, 2).await;
    for text in ["Good", "Good morning", "Good morning"] {
        second.push(&blocks(text)).await.expect("shown");
    }
    second.finish().await;
    let sent = rig
        .bot
        .send(of_turn(&rig, &here, "Good morning!"))
        .await
        .expect("sent");
    let [message] = &rig.fake.messages()[..] else {
        panic!("{:?}", rig.fake.messages());
    };
    assert_eq!(
        (&*message.text, message.edits, message.topic),
        ("Good morning!", 3, Some(77))
    );
    assert_eq!(message.reply_to, Some(1));
    assert_eq!(sent.message, Some(message.id.to_string().into()));
    // The second part, and the next answer, are messages of their own.
    let second = Outgoing {
        part: 1,
        parts: 2,
        ..of_turn(&rig, &here, "And more.")
    };
    rig.bot.send(second).await.expect("sent");
    rig.say(&here, "Next.").await.expect("sent");
    assert_eq!(rig.fake.messages().len(), 3);
    rig.stop().await;
}

#[tokio::test]
async fn an_answer_equal_to_what_is_shown_is_there_already() {
    let (rig, here) = rig(GROUP, &Value::Null).await;
    let mut preview = preview(&rig, &here, 1).await;
    preview.push(&blocks("Sure.")).await.expect("shown");
    preview.finish().await;
    rig.bot
        .send(of_turn(&rig, &here, "Sure."))
        .await
        .expect("sent");
    assert_eq!(rig.fake.messages().len(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn failed_edits_leave_one_message_and_the_answer_whole() {
    let (rig, here) = rig(GROUP, &Value::Null).await;
    let mut preview = preview(&rig, &here, 1).await;
    preview.push(&blocks("a")).await.expect("shown");
    for fault in [Fault::Lost, Fault::Status(502, String::new())] {
        rig.fake.fail("editMessageText", fault);
        preview
            .push(&blocks("a b"))
            .await
            .expect("an older text for a while");
    }
    rig.fake.fail("editMessageText", Fault::Flood(60));
    let limited = preview.push(&blocks("a b c")).await;
    assert!(
        matches!(limited, Err(SendError::RateLimited { .. })),
        "{limited:?}"
    );
    let before = rig.fake.calls("editMessageText").len();
    let limited = preview.push(&blocks("a b c d")).await;
    assert!(
        matches!(limited, Err(SendError::RateLimited { .. })),
        "{limited:?}"
    );
    let waits = rig.bot.send(of_turn(&rig, &here, "a b c d e")).await;
    assert!(
        matches!(waits, Err(SendError::RateLimited { .. })),
        "{waits:?}"
    );
    assert_eq!(
        rig.fake.calls("editMessageText").len(),
        before,
        "left alone meanwhile"
    );
    assert_eq!(rig.fake.messages().len(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(60)).await;
    tokio::time::resume();
    rig.bot
        .send(of_turn(&rig, &here, "a b c d e"))
        .await
        .expect("the pause is over");
    let [message] = &rig.fake.messages()[..] else {
        panic!("{:?}", rig.fake.messages());
    };
    assert_eq!(&*message.text, "a b c d e");
    rig.stop().await;
}

#[tokio::test]
async fn an_edit_whose_outcome_is_unknown_may_be_made_again() {
    let (rig, here) = rig(GROUP, &Value::Null).await;
    let mut preview = preview(&rig, &here, 1).await;
    preview.push(&blocks("a")).await.expect("shown");
    rig.fake.fail("editMessageText", Fault::Lost);
    let first = rig.bot.send(of_turn(&rig, &here, "a b")).await;
    assert!(matches!(first, Err(SendError::Unavailable(_))), "{first:?}");
    rig.bot
        .send(of_turn(&rig, &here, "a b"))
        .await
        .expect("it is there already");
    let texts: Vec<_> = rig
        .fake
        .messages()
        .into_iter()
        .map(|message| message.text)
        .collect();
    assert_eq!(texts, ["a b"]);
    rig.stop().await;
}

#[tokio::test]
async fn a_message_that_somebody_deleted_is_sent_anew() {
    let (rig, here) = rig(GROUP, &Value::Null).await;
    let mut preview = preview(&rig, &here, 1).await;
    preview.push(&blocks("a")).await.expect("shown");
    let text = "Bad Request: message to edit not found";
    rig.fake.fail("editMessageText", Fault::refused(400, text));
    rig.bot
        .send(of_turn(&rig, &here, "a b"))
        .await
        .expect("sent");
    assert_eq!(rig.fake.messages().len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn a_preview_shows_no_more_than_one_message_holds() {
    let (rig, here) = rig(GROUP, &Value::Null).await;
    let mut preview = preview(&rig, &here, 1).await;
    let long = "word ".repeat(1_800);
    for length in [4_000, 6_000, 9_000] {
        let text: String = long.chars().take(length).collect();
        preview.push(&blocks(&text)).await.expect("shown");
    }
    let [message] = &rig.fake.messages()[..] else {
        panic!("{:?}", rig.fake.messages().len());
    };
    assert_eq!((message.text.chars().count(), message.edits), (4_096, 1));
    rig.stop().await;
}
