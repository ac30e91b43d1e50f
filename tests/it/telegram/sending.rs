//! Answers: where they go, and what each refusal means.

use serde_json::Value;
use weirgate_sdk::{Freeze, answer::Rendered};
use weirgate_testkit::telegram::Fault;

use super::*;

async fn group() -> Rig {
    let rig = Rig::start().await;
    rig.fake.say(GROUP, 7, "hi", &Value::Null);
    rig.heard().await;
    rig
}

#[tokio::test]
async fn an_answer_is_a_reply_in_the_topic_of_the_question() {
    let rig = Rig::start().await;
    rig.fake.say(GROUP, 7, "hi", &in_topic(77));
    let question = rig.heard().await;
    assert_eq!(question.conversation, place(GROUP, Some("77")));
    let outgoing = Outgoing {
        reply: Some(reply_to(&question)),
        ..rig.outgoing(&question.conversation, "answer")
    };
    let sent = rig.bot.send(outgoing).await.expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!((message.chat, message.topic), (GROUP, Some(77)));
    assert_eq!(
        message.reply_to.map(|id| id.to_string()),
        Some(question.id.to_string())
    );
    assert_eq!(sent.message, Some(message.id.to_string().into()));
    // General has a number only in what comes in.
    rig.fake.say(GROUP, 7, "hi", &in_topic(1));
    let question = rig.heard().await;
    rig.say(&question.conversation, "here").await.expect("sent");
    assert_eq!(
        rig.fake.next_message(LIMIT).await.expect("seen").topic,
        None
    );
    rig.stop().await;
}

#[tokio::test]
async fn words_for_a_topic_that_is_gone_go_to_the_chat() {
    let rig = group().await;
    rig.fake.topics(GROUP, &[5]);
    rig.say(&place(GROUP, Some("77")), "lost?")
        .await
        .expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!((message.topic, &*message.text), (None, "lost?"));
    assert_eq!(rig.fake.calls("sendMessage").len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn refusals_have_their_classes() {
    let rig = group().await;
    let here = place(GROUP, None);
    let refused = async |description: &str, code| {
        rig.fake
            .fail("sendMessage", Fault::refused(code, description));
        rig.say(&here, "x").await.expect_err("refused")
    };
    let blocked = refused("Forbidden: bot was kicked from the supergroup chat", 403).await;
    assert!(matches!(blocked, SendError::Forbidden(_)), "{blocked:?}");
    let gone = rig.say(&place(-5, None), "x").await;
    assert!(matches!(gone, Err(SendError::Gone(_))), "{gone:?}");
    let never_started = rig.say(&place(99, None), "x").await;
    assert!(
        matches!(never_started, Err(SendError::Gone(_))),
        "{never_started:?}"
    );
    let odd = refused("Bad Request: nobody knows", 400).await;
    assert!(matches!(odd, SendError::Rejected(_)), "{odd:?}");
    let mut outgoing = rig.outgoing(&here, "x");
    outgoing.rendered = Rendered {
        text: "x".repeat(5_000),
        marks: vec![],
    };
    assert_eq!(rig.bot.send(outgoing).await, Err(SendError::TooLong));
    rig.stop().await;
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_stays_the_same_conversation() {
    let rig = group().await;
    let here = place(GROUP, None);
    rig.fake.migrate(GROUP, -1_007);
    // Nobody has told of it yet: the refusal does, and the words go on.
    rig.say(&here, "one").await.expect("sent");
    rig.say(&here, "two").await.expect("sent");
    for text in ["one", "two"] {
        let message = rig.fake.next_message(LIMIT).await.expect("seen");
        assert_eq!((message.chat, &*message.text), (-1_007, text));
    }
    assert_eq!(rig.fake.calls("sendMessage").len(), 3);
    rig.fake.say(-1_007, 7, "still here", &Value::Null);
    assert_eq!(rig.heard().await.conversation, here);
    assert_eq!(rig.fake.confirmed(7, 2, LIMIT).await, 2);
    // What is known of it is stored with the position.
    let rig = rig.again().await;
    rig.fake.say(-1_007, 7, "after a restart", &Value::Null);
    assert_eq!(rig.heard().await.conversation, here);
    rig.say(&here, "three").await.expect("sent");
    assert_eq!(
        rig.fake.next_message(LIMIT).await.expect("seen").chat,
        -1_007
    );
    rig.stop().await;
}

#[tokio::test]
async fn an_answer_that_does_not_come_leaves_the_outcome_open() {
    let fake = FakeTelegram::start(TOKEN).await;
    let rig = Rig::run(fake, RecordingIngress::new());
    rig.is_up().await;
    rig.fake.say(7, 7, "hi", &Value::Null);
    let here = rig.heard().await.conversation;
    for fault in [
        Fault::Lost,
        Fault::Status(502, "<html>".into()),
        Fault::Status(200, "{}".into()),
    ] {
        rig.fake.fail("sendMessage", fault.clone());
        let sent = rig.say(&here, "x").await;
        assert!(
            matches!(sent, Err(SendError::Ambiguous(_))),
            "{fault:?}: {sent:?}"
        );
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_call_that_is_never_answered_ends_in_time() {
    let fake = FakeTelegram::start(TOKEN).await;
    fake.say(7, 7, "hi", &Value::Null);
    let settings = Settings {
        call_timeout: Duration::from_secs(1),
        ..settings(&fake)
    };
    let bot = weirgate_telegram::build(setup(), settings);
    let (stopper, stop) = Stopper::new();
    let ingress = RecordingIngress::new();
    let run = tokio::spawn({
        let (bot, ingress) = (Arc::clone(&bot), Arc::clone(&ingress));
        async move { bot.run(ingress, stop).await }
    });
    let rig = Rig {
        fake,
        bot,
        ingress,
        stopper,
        run,
    };
    rig.heard().await;
    rig.fake.fail("sendMessage", Fault::Silent);
    let sent = rig.say(&place(7, None), "x").await;
    assert!(matches!(sent, Err(SendError::Ambiguous(_))), "{sent:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_flood_wait_is_kept_by_the_whole_chat_and_by_nobody_else() {
    let rig = group().await;
    rig.fake.say(GROUP, 7, "hi", &in_topic(77));
    rig.fake.say(7, 7, "hi", &Value::Null);
    rig.fake.flood(GROUP, Duration::from_secs(60));
    // The service would count a second call into the chat as a violation.
    rig.fake.fail("sendMessage", Fault::Flood(60));
    for topic in [None, Some("77")] {
        match rig.say(&place(GROUP, topic), "x").await {
            Err(SendError::RateLimited { after, scope }) => {
                assert!(after > Duration::from_secs(50), "{after:?}");
                assert_eq!(scope, Freeze::Conversation);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(rig.fake.calls("sendMessage").len(), 1);
    rig.heard().await;
    rig.heard().await;
    rig.say(&place(7, None), "x").await.expect("sent");
    rig.stop().await;
}
