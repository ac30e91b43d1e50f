//! Answers while they are written.

use weirgate_sdk::{Preview, PreviewStart, Streaming};
use weirgate_testkit::discord::Fault;

use super::*;

async fn preview(rig: &Rig, question: &InboundMessage, attempt: u32) -> Box<dyn Preview> {
    let start = PreviewStart {
        conversation: question.conversation.clone(),
        turn: "t1".into(),
        attempt,
        answers: vec![question.id.clone()],
        reply_context: None,
    };
    let streams = rig.bot.streams().expect("it can");
    streams.open(start).await.expect("a preview")
}

fn blocks(text: &str) -> Vec<Block> {
    vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])]
}

fn of_turn(rig: &Rig, question: &InboundMessage, text: &str) -> Outgoing {
    Outgoing {
        turn: Some("t1".into()),
        answers: vec![question.id.clone()],
        ..rig.outgoing(&question.conversation, 1, text)
    }
}

async fn asked() -> (Rig, InboundMessage) {
    let rig = Rig::start().await;
    rig.fake.say(THREAD, 7, "hi", &Value::Null);
    let question = rig.heard().await;
    (rig, question)
}

#[tokio::test]
async fn one_message_grows_into_the_answer_and_mentions_nobody() {
    let (rig, question) = asked().await;
    let streaming = rig.bot.capabilities(&question.conversation).streaming;
    assert!(matches!(streaming, Streaming::Edit { .. }));
    let mut first = preview(&rig, &question, 1).await;
    // The message is there, and nobody heard so: the second attempt is the same message.
    rig.fake.fail("send", Fault::Lost);
    assert!(first.push(&blocks("Good mor")).await.is_err());
    drop(first);
    let mut second = preview(&rig, &question, 2).await;
    for text in ["Good mor", "Good @everyone", "Good morning", "Good morning"] {
        second.push(&blocks(text)).await.expect("shown");
    }
    second.finish().await;
    let answer = of_turn(&rig, &question, "Good morning!");
    let sent = rig.bot.send(answer.clone()).await.expect("sent");
    let [message] = &rig.fake.messages()[..] else {
        panic!("{:?}", rig.fake.messages());
    };
    assert_eq!((&*message.text, message.channel), ("Good morning!", THREAD));
    assert_eq!(
        message.reply_to.map(|id| id.to_string()),
        Some(question.id.to_string())
    );
    assert_eq!(rig.fake.edits(message.id), 3);
    assert_eq!(sent.message, Some(message.id.to_string().into()));
    // The second part, and the next answer, are messages of their own.
    let second = Outgoing {
        part: 1,
        parts: 2,
        ..answer
    };
    rig.bot.send(second).await.expect("sent");
    rig.send(&question.conversation, 2).await.expect("sent");
    assert_eq!(rig.fake.messages().len(), 3);
    rig.ended().await;
}

#[tokio::test]
async fn the_answer_arrives_whatever_became_of_its_beginning() {
    for (fault, kept) in [
        (Fault::code(404, 10_008), 2),
        // Too many edits of an old message: it is taken away, and the answer is a new one.
        (Fault::code(400, 30_046), 1),
    ] {
        let (rig, question) = asked().await;
        let mut growing = preview(&rig, &question, 1).await;
        growing.push(&blocks("Good")).await.expect("shown");
        growing.finish().await;
        rig.fake.fail("edit", fault);
        rig.bot
            .send(of_turn(&rig, &question, "Good morning!"))
            .await
            .expect("sent");
        let messages = rig.fake.messages();
        assert_eq!(messages.len(), kept, "{messages:?}");
        assert_eq!(
            messages.last().map(|last| &*last.text),
            Some("Good morning!")
        );
        rig.ended().await;
    }
}

#[tokio::test]
async fn a_pause_in_the_middle_ends_the_preview_and_delays_the_answer() {
    let (rig, question) = asked().await;
    let mut growing = preview(&rig, &question, 1).await;
    growing.push(&blocks("Good")).await.expect("shown");
    rig.fake.fail("edit", Fault::flood(0.3, false));
    let paused = growing.push(&blocks("Good mor")).await;
    assert!(
        matches!(paused, Err(SendError::RateLimited { .. })),
        "{paused:?}"
    );
    let answer = of_turn(&rig, &question, "Good morning!");
    while let Err(error) = rig.bot.send(answer.clone()).await {
        let SendError::RateLimited { after, .. } = error else {
            panic!("{error:?}");
        };
        tokio::time::sleep(after).await;
    }
    assert_eq!(rig.fake.messages().len(), 1);
    assert_eq!(rig.fake.messages()[0].text, "Good morning!");
    rig.ended().await;
}

#[tokio::test]
async fn the_beginning_of_an_answer_that_never_comes_is_taken_away() {
    let (rig, question) = asked().await;
    let mut growing = preview(&rig, &question, 1).await;
    growing.push(&blocks("Good")).await.expect("shown");
    assert_eq!(rig.fake.messages().len(), 1);
    rig.bot.ended(&question.conversation, &["5".into()]);
    rig.bot
        .ended(&question.conversation, std::slice::from_ref(&question.id));
    assert!(rig.fake.has_messages(0, LIMIT).await);
    assert_eq!(rig.fake.calls("delete").len(), 1);
    rig.ended().await;
}
