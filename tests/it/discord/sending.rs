//! Answers: where they go, and what each refusal means.

use weirgate_sdk::{Finding, Freeze, ReplyTarget, UserKey, answer::Rendered};
use weirgate_testkit::discord::{BOT, Fault};

use super::*;

fn reply_to(message: &InboundMessage) -> Option<ReplyTarget> {
    Some(ReplyTarget {
        message: message.id.clone(),
        author: UserKey {
            platform: "discord".into(),
            realm: "".into(),
            id: "7".into(),
        },
    })
}

#[tokio::test]
async fn an_answer_is_a_reply_in_the_thread_of_the_question() {
    let rig = Rig::start().await;
    rig.fake.say(THREAD, 7, "hi", &Value::Null);
    let question = rig.heard().await;
    assert_eq!(question.conversation, place(CHANNEL, Some(THREAD)));
    let outgoing = Outgoing {
        reply: reply_to(&question),
        ..rig.outgoing(&question.conversation, 1, "@everyone *answer*")
    };
    let sent = rig.bot.send(outgoing).await.expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(
        (message.channel, &*message.text),
        (THREAD, r"@everyone \*answer\*")
    );
    assert_eq!(
        message.reply_to.map(|id| id.to_string()),
        Some(question.id.to_string())
    );
    assert_eq!(sent.message, Some(message.id.to_string().into()));
    rig.ended().await;
}

#[tokio::test]
async fn a_post_of_a_forum_is_a_conversation_of_its_own() {
    const FORUM: u64 = 600;
    let rig = Rig::start().await;
    let (first, second) = (
        rig.fake.open_post(FORUM, 7, "how do I begin?"),
        rig.fake.open_post(FORUM, 8, "and where does it end?"),
    );
    for (number, post, words) in [
        (1, first, "how do I begin?"),
        (2, second, "and where does it end?"),
    ] {
        let message = rig.heard().await;
        assert_eq!(message.conversation, place(FORUM, Some(post)));
        assert_eq!(message.own_text(), words);
        let outgoing = Outgoing {
            reply: reply_to(&message),
            ..rig.outgoing(&message.conversation, number, "an answer")
        };
        rig.bot.send(outgoing).await.expect("sent");
        let sent = rig.fake.next_message(LIMIT).await.expect("seen");
        assert_eq!((sent.channel, sent.reply_to), (post, Some(post)));
    }
    // What is told of the post is enough: nothing was asked.
    assert_eq!(rig.fake.calls("channel").len(), 0);
    rig.ended().await;
}

#[tokio::test]
async fn a_reply_that_is_not_allowed_goes_out_without_one() {
    let rig = Rig::start().await;
    rig.fake.say(CHANNEL, 7, "hi", &Value::Null);
    let question = rig.heard().await;
    rig.fake.fail("send", Fault::code(400, 160_002));
    let outgoing = Outgoing {
        reply: reply_to(&question),
        ..rig.outgoing(&question.conversation, 1, "answer")
    };
    rig.bot.send(outgoing).await.expect("sent");
    let message = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!((&*message.text, message.reply_to), ("answer", None));
    // A message that is gone keeps nobody from an answer.
    let mut gone = rig.outgoing(&question.conversation, 2, "late");
    gone.reply = reply_to(&InboundMessage {
        id: "5".into(),
        ..question
    });
    rig.bot.send(gone).await.expect("sent");
    assert_eq!(
        rig.fake.next_message(LIMIT).await.expect("seen").reply_to,
        None
    );
    rig.ended().await;
}

#[tokio::test]
async fn refusals_have_their_classes() {
    let rig = Rig::start().await;
    let here = place(CHANNEL, None);
    let refused = async |status, code| {
        rig.fake.fail("send", Fault::code(status, code));
        rig.send(&here, 1).await.expect_err("refused")
    };
    let forbidden = refused(403, 50_013).await;
    assert!(
        matches!(forbidden, SendError::Forbidden(_)),
        "{forbidden:?}"
    );
    let token = refused(401, 0).await;
    assert!(matches!(token, SendError::Unavailable(_)), "{token:?}");
    let odd = refused(400, 50_035).await;
    assert!(matches!(odd, SendError::Rejected(_)), "{odd:?}");
    let gone = rig.send(&place(404, None), 1).await;
    assert!(matches!(gone, Err(SendError::Gone(_))), "{gone:?}");
    let mut outgoing = rig.outgoing(&here, 1, "x");
    outgoing.rendered = Rendered {
        text: "x".repeat(2_001),
        marks: vec![],
    };
    assert_eq!(rig.bot.send(outgoing).await, Err(SendError::TooLong));
    rig.ended().await;
}

#[tokio::test]
async fn a_pause_is_kept_by_its_channel_or_by_all_without_another_call() {
    let rig = Rig::start().await;
    rig.say("hi");
    let (here, other) = (place(CHANNEL, None), rig.heard().await.conversation);
    rig.fake.fail("send", Fault::flood(30.0, false));
    let after = |sent: Result<Sent, SendError>| match sent {
        Err(SendError::RateLimited { after, scope }) => (after <= Duration::from_secs(30), scope),
        other => panic!("{other:?}"),
    };
    for _ in 0..3 {
        assert_eq!(
            after(rig.send(&here, 1).await),
            (true, Freeze::Conversation)
        );
    }
    assert_eq!(rig.fake.calls("send").len(), 1);
    rig.send(&other, 2).await.expect("sent");
    rig.fake.fail("send", Fault::flood(30.0, true));
    for _ in 0..3 {
        assert_eq!(after(rig.send(&other, 3).await), (true, Freeze::Account));
    }
    assert_eq!(rig.fake.calls("send").len(), 3);
    rig.ended().await;
}

#[tokio::test]
async fn people_see_that_an_answer_is_written_until_it_is_not_allowed() {
    let rig = Rig::start().await;
    let indicates = rig.bot.indicates().expect("it does");
    let here = place(CHANNEL, Some(THREAD));
    assert_eq!(indicates.indicate(&here).await, Ok(()));
    assert_eq!(rig.fake.typing(), [THREAD]);
    rig.fake.fail("typing", Fault::code(403, 50_013));
    let forbidden = indicates.indicate(&here).await;
    assert!(
        matches!(forbidden, Err(SendError::Forbidden(_))),
        "{forbidden:?}"
    );
    rig.ended().await;
}

#[tokio::test]
async fn a_lost_answer_leaves_the_outcome_open_and_a_second_send_is_the_same_message() {
    let fake = FakeDiscord::start(TOKEN).await;
    let settings = Settings {
        call_timeout: Duration::from_secs(1),
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, RecordingIngress::new(), settings);
    rig.is_up().await;
    let here = place(CHANNEL, None);
    for (id, fault) in [
        (1, Fault::Lost),
        (2, Fault::Silent),
        (3, Fault::Status(502, "<html>".into())),
        (4, Fault::Status(200, "<html>".into())),
    ] {
        rig.fake.fail("send", fault.clone());
        let sent = rig.send(&here, id).await;
        assert!(
            matches!(sent, Err(SendError::Ambiguous(_))),
            "{fault:?}: {sent:?}"
        );
        rig.send(&here, id).await.expect("sent");
    }
    assert_eq!(rig.fake.messages().len(), 4);
    rig.ended().await;
}

#[tokio::test]
async fn the_account_checks_itself() {
    let fake = FakeDiscord::start(TOKEN).await;
    let found = async |fake: &FakeDiscord| {
        let found = weirgate_discord::build(setup(), settings(fake))
            .check(false)
            .await;
        assert!(!format!("{found:?}").contains("secret_value"));
        found
    };
    let reached = Finding::Reached {
        address: fake.url(),
        bot: BOT.to_string(),
        online: true,
    };
    assert_eq!(found(&fake).await, std::slice::from_ref(&reached));
    fake.forbid_content();
    let closed = Finding::NotGranted {
        what: "Message Content Intent".into(),
        key: "message_content".into(),
    };
    assert_eq!(found(&fake).await, [reached, closed]);
    let other = FakeDiscord::start("MTAwMDE.OTHER.token").await;
    let refused = Finding::TokenRefused {
        address: other.url(),
    };
    assert_eq!(found(&other).await, [refused]);
    assert_eq!(
        weirgate_discord::build(setup(), settings(&fake))
            .check(true)
            .await,
        []
    );
    fake.reachable(false);
    let unreached = found(&fake).await;
    assert!(
        matches!(unreached[..], [Finding::NotReached { .. }]),
        "{unreached:?}"
    );
}
