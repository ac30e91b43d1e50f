//! What refused and lost messages lead to.

use weirgate_testkit::qq::{Policy, member};

use super::*;

/// Whether an error is of the class that is expected.
type Expected = fn(&SendError) -> bool;

#[tokio::test]
async fn a_lost_answer_is_sent_again_under_its_number_and_seen_once() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Group, "hi").await;
    rig.fake.fail("send", Fault::Lost);
    let lost = rig.send(&heard, 1, "once").await;
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    assert!(rig.bot.capabilities(&heard.conversation).idempotent);
    assert_eq!(rig.send(&heard, 1, "once").await, Ok(Sent::default()));
    rig.send(&heard, 2, "twice").await.expect("sent");
    let texts: Vec<String> = rig
        .fake
        .messages()
        .into_iter()
        .map(|sent| sent.text)
        .collect();
    assert_eq!(texts, ["once", "twice"]);
    let channel = rig.hear(Where::Channel, "hi").await;
    assert!(!rig.bot.capabilities(&channel.conversation).idempotent);
    rig.ended().await;
}

#[tokio::test]
async fn refusals_have_their_classes() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Group, "hi").await;
    let cases: [(Fault, Expected); 8] = [
        (Fault::code(400, 40_054_007), |error| {
            *error == SendError::TooLong
        }),
        (Fault::code(400, 40_034_024), |error| {
            *error == SendError::Expired
        }),
        (Fault::code(400, 22_009), |error| {
            *error == SendError::Expired
        }),
        (Fault::code(400, 11_253), |error| {
            matches!(error, SendError::Forbidden(_))
        }),
        (Fault::code(404, 10_003), |error| {
            matches!(error, SendError::Gone(_))
        }),
        (Fault::code(429, 50_002), |error| {
            matches!(error, SendError::RateLimited { .. })
        }),
        (Fault::Refused(502, Value::Null), |error| {
            matches!(error, SendError::Ambiguous(_))
        }),
        (Fault::code(400, 1), |error| {
            matches!(error, SendError::Rejected(_))
        }),
    ];
    for (id, (fault, expected)) in (1..).zip(cases) {
        rig.fake.fail("send", fault.clone());
        let error = rig.send(&heard, id, "x").await.expect_err("refused");
        assert!(expected(&error), "{fault:?}: {error:?}");
    }
    // Under review: it is on its way.
    rig.fake.fail("send", Fault::code(202, 304_023));
    assert_eq!(rig.send(&heard, 20, "x").await, Ok(Sent::default()));
    rig.ended().await;
}

#[tokio::test]
async fn what_can_no_longer_be_answered_is_a_message_of_its_own_where_that_is_allowed() {
    let rig = Rig::start().await;
    let mut heard = rig.hear(Where::Group, "hi").await;
    if let Some(context) = &mut heard.reply_context {
        context.expires_at = Some(1);
    }
    assert_eq!(rig.send(&heard, 1, "late").await, Err(SendError::Expired));
    rig.fake.allow(Policy {
        push: true,
        ..Policy::default()
    });
    rig.send(&heard, 2, "late").await.expect("sent");
    let seen = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(seen.said.get("msg_id"), None);
    rig.ended().await;
}

#[tokio::test]
async fn addresses_and_markdown_that_are_refused_are_written_otherwise() {
    let fake = FakeQq::start().await;
    fake.allow(Policy {
        links: false,
        ..Policy::default()
    });
    let settings = Settings {
        markdown: true,
        ..settings(&fake)
    };
    let rig = Rig::with(fake, settings).await;
    let heard = rig.hear(Where::Group, "hi").await;
    for _ in 0..2 {
        // Not delivered, and it may work later: the gateway comes again.
        let refused = rig
            .send(&heard, 1, "see a*b at https://example.com/x")
            .await;
        assert!(
            matches!(refused, Err(SendError::Unavailable(_))),
            "{refused:?}"
        );
    }
    rig.send(&heard, 1, "see a*b at https://example.com/x")
        .await
        .expect("sent");
    let seen = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(seen.text, "see a*b at example．com/x");
    // And from now on at once.
    rig.send(&heard, 2, "https://example.com")
        .await
        .expect("sent");
    // What is refused even so is refused for good, and says what to do.
    rig.fake.fail("send", Fault::code(400, 304_003));
    match rig.send(&heard, 3, "x").await {
        Err(SendError::Rejected(why)) => assert!(why.contains("register the domains"), "{why}"),
        other => panic!("{other:?}"),
    }
    rig.ended().await;
}

#[tokio::test]
async fn a_person_in_a_group_is_mentioned_on_request() {
    let fake = FakeQq::start().await;
    let reply = weirgate_qq::settings::Reply::Mention;
    let settings = Settings {
        reply,
        ..settings(&fake)
    };
    let rig = Rig::with(fake, settings).await;
    let heard = rig.hear(Where::Group, "hi").await;
    rig.send(&heard, 1, "<@all> yes").await.expect("sent");
    let seen = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(
        seen.text,
        format!(
            "<qqbot-at-user id=\"{}\" /> <\u{200B}@\u{200B}all> yes",
            member(7)
        )
    );
    rig.ended().await;
}
