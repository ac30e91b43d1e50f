//! Answers in private chats, shown while they are written.

use weirgate_sdk::{Preview, PreviewStart, Streaming};

use super::*;

async fn rig() -> Rig {
    let fake = FakeQq::start().await;
    let settings = Settings {
        streaming: true,
        ..settings(&fake)
    };
    Rig::with(fake, settings).await
}

async fn preview(rig: &Rig, to: &InboundMessage) -> Box<dyn Preview> {
    let start = PreviewStart {
        conversation: to.conversation.clone(),
        turn: "t1".into(),
        attempt: 1,
        answers: vec![to.id.clone()],
        reply_context: to.reply_context.clone(),
    };
    let streams = rig.bot.streams().expect("it can");
    streams.open(start).await.expect("a preview")
}

fn blocks(text: &str) -> Vec<Block> {
    vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])]
}

fn answer(rig: &Rig, to: &InboundMessage, text: &str) -> Outgoing {
    Outgoing {
        turn: Some("t1".into()),
        ..rig.outgoing(to, 1, text)
    }
}

#[tokio::test]
async fn one_message_grows_into_the_answer() {
    let rig = rig().await;
    let heard = rig.hear(Where::Private, "tell me").await;
    let streaming = |to: &InboundMessage| rig.bot.capabilities(&to.conversation).streaming;
    assert!(matches!(streaming(&heard), Streaming::Edit { .. }));
    // One of the messages is kept for what grows.
    let uses = heard
        .reply_context
        .as_ref()
        .and_then(|context| context.uses_left);
    assert_eq!(uses, Some(3));
    let mut preview = preview(&rig, &heard).await;
    for text in [
        "Once",
        "Once upon a",
        "Once upon a time *there",
        "Once upon a time there was",
    ] {
        preview.push(&blocks(text)).await.expect("shown");
    }
    preview.finish().await;
    assert_eq!(rig.fake.growing(), ["Once upon a time there"]);
    let whole = "Once upon a time there was nothing.";
    let sent = rig.bot.send(answer(&rig, &heard, whole)).await;
    assert!(sent.expect("sent").message.is_some());
    assert!(rig.fake.growing().is_empty());
    let shown = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(
        (&*shown.text, &shown.said["input_state"]),
        (whole, &json!(10))
    );
    assert_eq!(rig.fake.calls("stream").len(), 4);
    assert!(rig.fake.calls("send").is_empty());
    let group = rig.hear(Where::Group, "tell me").await;
    assert_eq!(streaming(&group), Streaming::None);
    rig.ended().await;
}

#[tokio::test]
async fn an_answer_that_turned_out_otherwise_is_a_message_of_its_own() {
    let rig = rig().await;
    let heard = rig.hear(Where::Private, "tell me").await;
    let mut preview = preview(&rig, &heard).await;
    preview.push(&blocks("one two three")).await.expect("shown");
    // A text that does not go on is not shown.
    preview
        .push(&blocks("other words here"))
        .await
        .expect("left out");
    preview.finish().await;
    assert_eq!(rig.fake.growing(), ["one two"]);
    rig.bot
        .send(answer(&rig, &heard, "other words"))
        .await
        .expect("sent");
    let shown = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(
        (&*shown.text, &shown.said["msg_type"]),
        ("other words", &json!(0))
    );
    rig.ended().await;
}

#[tokio::test]
async fn the_last_words_that_are_lost_are_said_again_and_a_message_that_is_refused_is_left() {
    let rig = rig().await;
    let heard = rig.hear(Where::Private, "tell me").await;
    let mut shown = preview(&rig, &heard).await;
    shown.push(&blocks("one two three")).await.expect("shown");
    rig.fake.fail("stream", Fault::Refused(503, Value::Null));
    let whole = "one two three";
    let lost = rig.bot.send(answer(&rig, &heard, whole)).await;
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    rig.bot
        .send(answer(&rig, &heard, whole))
        .await
        .expect("sent");
    assert_eq!(rig.fake.messages().len(), 1);
    // It was ended, and only the platform's word of it was lost.
    let heard = rig.hear(Where::Private, "and now").await;
    let mut shown = preview(&rig, &heard).await;
    shown.push(&blocks("one two three")).await.expect("shown");
    rig.fake.fail("stream", Fault::Lost);
    let lost = rig.bot.send(answer(&rig, &heard, whole)).await;
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    rig.bot
        .send(answer(&rig, &heard, whole))
        .await
        .expect("sent");
    assert_eq!(rig.fake.messages().len(), 2);
    // Refused for good: the words come beside it.
    let heard = rig.hear(Where::Private, "again").await;
    let mut shown = preview(&rig, &heard).await;
    shown.push(&blocks("one two three")).await.expect("shown");
    rig.fake.fail("stream", Fault::code(400, 50_060));
    rig.bot
        .send(answer(&rig, &heard, whole))
        .await
        .expect("sent");
    let last = rig.fake.messages().pop().expect("a message");
    assert_eq!((&*last.text, &last.said["msg_type"]), (whole, &json!(0)));
    rig.ended().await;
}

#[tokio::test]
async fn a_preview_that_is_refused_is_given_up_and_a_flood_is_told() {
    let rig = rig().await;
    let heard = rig.hear(Where::Private, "tell me").await;
    let mut preview = preview(&rig, &heard).await;
    rig.fake.fail("stream", Fault::code(429, 50_002));
    let flood = preview.push(&blocks("one two three")).await;
    assert!(
        matches!(flood, Err(SendError::RateLimited { .. })),
        "{flood:?}"
    );
    rig.fake.fail("stream", Fault::code(400, 22_009));
    let refused = preview.push(&blocks("one two three")).await;
    assert_eq!(refused, Err(SendError::Expired));
    rig.fake.fail("stream", Fault::Refused(502, Value::Null));
    assert_eq!(preview.push(&blocks("one two three")).await, Ok(()));
    assert_eq!(preview.push(&blocks("one two three")).await, Ok(()));
    assert_eq!(rig.fake.growing(), ["one two"]);
    rig.ended().await;
}
