//! Nothing that was read is lost, nothing that was sent is sent again.

use serde_json::json;
use weirgate_testkit::onebot::{Options, Script};

use super::*;

#[tokio::test]
async fn a_flood_arrives_whole_and_in_order_without_waiting_for_receipts() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    rig.ingress.hold();
    for text in numbers(1_000) {
        fake.send_group(30_001, 20_001, &text, false).await;
    }
    assert!(
        rig.ingress.handed_in(1_000, LIMIT).await,
        "waits for receipts"
    );
    // Calls are answered meanwhile.
    rig.say("g30001", "busy").await.expect("sent");
    assert_eq!(rig.ingress.accepted().len(), 0);
    rig.ingress.release();
    let all = |events: &[Event]| (events.len() >= 1_000).then_some(());
    rig.ingress
        .events_hold(LIMIT, all)
        .await
        .expect("all of them");
    assert_eq!(texts(&rig.ingress.accepted()), numbers(1_000));
    rig.stop().await;
}

#[tokio::test]
async fn nothing_is_lost_while_the_store_fails_and_the_connection_breaks() {
    let rig = Rig::start(settings()).await;
    let reconnect = Some(Duration::from_millis(200));
    let fake = rig
        .connect_with(Options {
            reconnect,
            ..Options::default()
        })
        .await
        .expect("ok");
    rig.ingress.fail_store(3);
    for text in numbers(50) {
        fake.send_group(30_001, 20_001, &text, false).await;
    }
    assert!(rig.ingress.handed_in(50, LIMIT).await);
    fake.drop_connection();
    fake.connection_is(false, LIMIT).await;
    fake.connection_is(true, LIMIT).await;
    fake.send_group(30_001, 20_001, "50", false).await;
    let all = |events: &[Event]| (texts(events).len() == 51).then(|| texts(events));
    let found = rig
        .ingress
        .events_hold(LIMIT, all)
        .await
        .expect("all of them");
    assert_eq!(found, numbers(51));
    rig.stop().await;
}

#[tokio::test]
async fn the_same_event_twice_is_one_message() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let event = |id: i64| {
        json!({
            "post_type": "message", "message_type": "private", "time": 7, "user_id": 20001,
            "message_id": id, "message": "x", "self_id": BOT,
        })
    };
    for id in [1, 1, 2] {
        fake.raw(event(id)).await;
    }
    let two = |events: &[Event]| (events.len() == 2).then_some(());
    rig.ingress
        .events_hold(LIMIT, two)
        .await
        .expect("two messages");
    assert_eq!(rig.ingress.duplicates(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn refusals_and_unknown_outcomes_are_told_apart() {
    let call_timeout = Duration::from_millis(500);
    let rig = Rig::start(Settings {
        call_timeout,
        ..settings()
    })
    .await;
    let fake = rig.connect().await;
    let fail = |retcode: i64, message: &str| Script::Fail {
        retcode,
        message: message.into(),
    };
    fake.script(fail(100, "SEND_MSG_API_ERROR"));
    assert!(matches!(
        rig.say("g1", "a").await,
        Err(SendError::Rejected(_))
    ));
    fake.script(fail(1200, "发送失败，你已被移出该群"));
    assert!(matches!(rig.say("g1", "b").await, Err(SendError::Gone(_))));
    fake.script(Script::TimeOut);
    assert!(matches!(
        rig.say("g1", "c").await,
        Err(SendError::Ambiguous(_))
    ));
    fake.script(Script::Silent);
    assert!(matches!(
        rig.say("g1", "d").await,
        Err(SendError::Ambiguous(_))
    ));
    fake.script(Script::Drop);
    assert!(matches!(
        rig.say("g1", "e").await,
        Err(SendError::Ambiguous(_))
    ));
    rig.is_down().await;
    assert!(matches!(
        rig.say("g1", "f").await,
        Err(SendError::Unavailable(_))
    ));
    // What people saw came once each: nothing was sent again.
    let seen: Vec<String> = fake
        .replies()
        .iter()
        .filter(|reply| reply.delivered())
        .map(|reply| reply.text())
        .collect();
    assert_eq!(seen, ["c", "d", "e"]);
    rig.stop().await;
}

#[tokio::test]
async fn several_unknown_outcomes_degrade_the_account_until_one_is_answered() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for _ in 0..5 {
        fake.script(Script::TimeOut);
        assert!(matches!(
            rig.say("g1", "x").await,
            Err(SendError::Ambiguous(_))
        ));
    }
    rig.is(&Connection::Degraded(
        "sends end without a known outcome".into(),
    ))
    .await;
    assert_eq!(fake.reply_count(), 5);
    rig.say("g1", "y").await.expect("sent");
    rig.is(&Connection::Up).await;
    let degraded = |state: &&Connection| matches!(state, Connection::Degraded(_));
    assert_eq!(rig.ingress.connections().iter().filter(degraded).count(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn a_slow_answer_does_not_hold_up_others() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    fake.script(Script::Delay(Duration::from_millis(300)));
    let slow = async {
        let sent = rig.say("g1", "slow").await.expect("sent");
        (sent, tokio::time::Instant::now())
    };
    let quick = async {
        assert!(fake.replied(1, LIMIT).await);
        let sent = rig.say("g2", "quick").await.expect("sent");
        (sent, tokio::time::Instant::now())
    };
    let ((slow, slow_at), (quick, quick_at)) = tokio::join!(slow, quick);
    assert!(quick_at < slow_at);
    let replies = fake.replies();
    for (sent, text) in [(slow, "slow"), (quick, "quick")] {
        let reply = replies
            .iter()
            .find(|reply| reply.text() == text)
            .expect("recorded");
        assert_eq!(
            sent.message.expect("an id").as_str(),
            reply.message_id.to_string()
        );
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_burst_of_calls_is_answered_to_the_last() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    let calls: Vec<_> = (0..1_000)
        .map(|number| {
            let qq = Arc::clone(&rig.qq);
            let part = outgoing(&format!("g{number}"), &number.to_string(), None);
            tokio::spawn(async move { qq.send(part).await })
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let sent = call.await.expect("no panic");
        assert!(sent.is_ok(), "{number}: {sent:?}");
    }
    assert_eq!(fake.reply_count(), 1_000);
    rig.stop().await;
}
