//! Who is let in, what the gateway is told, how connections end.

use weirgate_sdk::settings::Secret;
use weirgate_testkit::onebot::{FakeOneBot, Options, Refused, Script};

use super::*;

#[tokio::test]
async fn strangers_are_turned_away_before_the_upgrade() {
    let token = Some(Secret::new("correct-token"));
    let rig = Rig::start(Settings {
        token,
        self_id: Some("10001".into()),
        ..settings()
    })
    .await;
    let with = |token: Option<&str>, headers: Vec<(&'static str, String)>| Options {
        token: token.map(str::to_owned),
        headers,
        ..Options::default()
    };
    let good = Some("correct-token");
    for (options, status) in [
        (with(None, vec![]), 401),
        (with(Some("correct-tokem"), vec![]), 403),
        (with(good, vec![("x-self-id", String::new())]), 400),
        (with(good, vec![("x-self-id", "bot".into())]), 400),
        (with(good, vec![("x-self-id", "10002".into())]), 403),
        (with(good, vec![("x-client-role", "Admin".into())]), 400),
    ] {
        let refused = rig.connect_with(options).await.expect_err("refused");
        assert_eq!(refused, Refused::Status(status));
    }
    let url = format!("{}?access_token=correct-token", rig.url);
    let fake = FakeOneBot::connect(&url, BOT, None)
        .await
        .expect("connects");
    rig.is(&Connection::Up).await;
    drop(fake);
    rig.stop().await;
}

#[tokio::test]
async fn a_connection_without_its_heartbeats_is_dead() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    for _ in 0..3 {
        fake.heartbeat(Duration::from_millis(100), true).await;
    }
    assert_eq!(rig.is_down().await, "no sign of life");
    assert!(matches!(
        rig.say("g1", "x").await,
        Err(SendError::Unavailable(_))
    ));
    // The other side notices as well, and comes back.
    assert!(fake.connection_is(false, LIMIT).await);
    let _again = rig.connect().await;
    rig.stop().await;
}

#[tokio::test]
async fn a_logged_out_account_is_degraded() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    fake.heartbeat(Duration::from_secs(30), false).await;
    rig.is(&Connection::Degraded("the account is logged out".into()))
        .await;
    fake.heartbeat(Duration::from_secs(30), true).await;
    rig.is(&Connection::Up).await;
    rig.stop().await;
}

#[tokio::test]
async fn events_and_calls_may_have_connections_of_their_own() {
    let rig = Rig::start(settings()).await;
    let role = |role| Options {
        role,
        ..Options::default()
    };
    let events = rig.connect_with(role("Event")).await.expect("connects");
    rig.is(&Connection::Degraded("no connection for calls".into()))
        .await;
    assert!(matches!(
        rig.say("g1", "x").await,
        Err(SendError::Unavailable(_))
    ));
    let api = rig.connect_with(role("API")).await.expect("connects");
    rig.is(&Connection::Up).await;
    events.send_private(20_001, "hi").await;
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    rig.say("p20001", "hello").await.expect("sent");
    assert_eq!((api.reply_count(), events.reply_count()), (1, 0));
    drop(events);
    rig.is(&Connection::Degraded("no connection for events".into()))
        .await;
    rig.stop().await;
}

#[tokio::test]
async fn a_new_connection_replaces_the_old_and_another_bot_does_not() {
    let rig = Rig::start(settings()).await;
    let old = rig.connect().await;
    let other = FakeOneBot::connect(&rig.url, BOT + 1, None)
        .await
        .expect_err("refused");
    assert_eq!(other, Refused::Status(403));
    let new = rig.connect().await;
    assert!(old.connection_is(false, LIMIT).await);
    rig.say("g1", "x").await.expect("sent");
    assert_eq!((old.reply_count(), new.reply_count()), (0, 1));
    assert!(
        !rig.ingress
            .connections()
            .iter()
            .any(|state| matches!(state, Connection::Down(_)))
    );
    rig.stop().await;
}

#[tokio::test]
async fn an_address_in_use_is_a_fault_of_the_configuration() {
    let first = adapter(settings());
    let listen = first.bind().await.expect("binds");
    assert_eq!(
        first.bind().await,
        Ok(listen),
        "binding twice is one binding"
    );
    let second = adapter(listening(listen));
    assert!(matches!(second.bind().await, Err(AdapterError::Config(_))));
    let (_stopper, stop) = Stopper::new();
    let ended = second.run(RecordingIngress::new(), stop).await;
    assert!(matches!(ended, Err(AdapterError::Config(text)) if text.contains("127.0.0.1")));
}

#[tokio::test]
async fn stopping_ends_soon_answers_calls_under_way_and_hands_in_what_was_read() {
    let rig = Rig::start(settings()).await;
    let fake = rig.connect().await;
    fake.script(Script::Delay(Duration::from_millis(200)));
    let qq = Arc::clone(&rig.qq);
    let call = tokio::spawn(async move { qq.send(outgoing("g1", "last", None)).await });
    assert!(fake.replied(1, LIMIT).await);
    rig.ingress.hold();
    fake.send_private(20_001, "read").await;
    assert!(rig.ingress.handed_in(1, LIMIT).await);
    let (qq, ingress) = (Arc::clone(&rig.qq), Arc::clone(&rig.ingress));
    let stop = rig.stop();
    let release = async {
        assert!(call.await.expect("no panic").is_ok());
        ingress.release();
    };
    tokio::join!(stop, release);
    assert_eq!(texts(&ingress.accepted()), ["read"]);
    let after = qq.send(outgoing("g1", "late", None)).await;
    assert!(matches!(after, Err(SendError::Unavailable(_))));
    assert_eq!(
        ingress.connections().last(),
        Some(&Connection::Down("stopped".into()))
    );
}

#[tokio::test]
async fn an_account_can_run_again() {
    let qq = adapter(settings());
    for _ in 0..2 {
        let address = qq.bind().await.expect("binds");
        let ingress = RecordingIngress::new();
        let (stopper, stop) = Stopper::new();
        let task = tokio::spawn(run(Arc::clone(&qq), Arc::clone(&ingress), stop));
        let fake = FakeOneBot::connect(&format!("ws://{address}/"), BOT, None).await;
        let fake = fake.expect("connects");
        fake.send_private(20_001, "hi").await;
        assert!(ingress.next_message(LIMIT).await.is_some());
        stopper.stop();
        task.await.expect("no panic").expect("no error");
    }
}
