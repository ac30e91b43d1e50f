//! Events by POST, calls by POST.

use serde_json::json;
use tokio::net::TcpListener;
use weirgate_sdk::settings::Secret;
use weirgate_testkit::onebot::{Door, FakeOneBot, Options, Script};

use super::*;

const SECRET: &str = "secret-of-events";

/// A gateway's web server with the account's route.
async fn web(qq: &Qq) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("bound");
    let routes = qq.router().expect("an account by HTTP has a route");
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/onebot/main")
}

fn towards(fake: &FakeOneBot) -> Settings {
    with(Transport::Http {
        url: fake.url().to_owned(),
        secret: Secret::new(SECRET),
    })
}

async fn pair() -> (FakeOneBot, Rig) {
    let fake = FakeOneBot::listen_http(BOT, Options::default()).await;
    let rig = Rig::reach(towards(&fake));
    fake.post_to(&web(&rig.qq).await, SECRET);
    rig.is(&Connection::Up).await;
    (fake, rig)
}

fn said(id: i64, text: &str) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    said_at(id, text, now.as_secs())
}

fn said_at(id: i64, text: &str, time: u64) -> String {
    json!({
        "post_type": "message", "message_type": "private", "sub_type": "friend", "time": time,
        "self_id": BOT, "user_id": 20001, "message_id": id, "message": text,
    })
    .to_string()
}

#[tokio::test]
async fn words_go_both_ways_and_an_event_is_answered_when_it_is_durable() {
    let (fake, rig) = pair().await;
    let body = said(1, "hello");
    let signature = fake.sign(&body);
    rig.ingress.hold();
    let post = fake.post(&body, Some(&signature));
    let release = async {
        assert!(rig.ingress.handed_in(1, LIMIT).await);
        rig.ingress.release();
    };
    let (status, ()) = tokio::join!(post, release);
    assert_eq!(status, 204);
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    assert_eq!(message.own_text(), "hello");
    // The same event again is known.
    assert_eq!(fake.post(&body, Some(&signature)).await, 204);
    assert_eq!(rig.ingress.duplicates(), 1);
    let answer = outgoing("g30001", "hi", Some(("1", "20001")));
    let sent = rig.qq.send(answer).await.expect("sent");
    let reply = fake.next_reply(LIMIT).await.expect("a reply");
    assert_eq!(
        (reply.text(), reply.quotes()),
        ("hi".into(), Some(json!(1)))
    );
    assert_eq!(
        sent.message.expect("an id").as_str(),
        reply.message_id.to_string()
    );
    rig.stop().await;
}

#[tokio::test]
async fn an_event_that_is_not_durable_is_not_acknowledged() {
    let (fake, rig) = pair().await;
    let body = said(1, "kept");
    let signature = fake.sign(&body);
    rig.ingress.fail_store(2);
    assert_eq!(
        fake.post(&body, Some(&signature)).await,
        204,
        "once the store is back"
    );
    assert_eq!(rig.ingress.failures_left(), 0);
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    assert_eq!(message.own_text(), "kept");
    rig.stop().await;
}

#[tokio::test]
async fn only_signed_events_of_now_are_taken() {
    let (fake, rig) = pair().await;
    let body = said(1, "forged");
    let good = fake.sign(&body);
    let other = fake.sign(&said(2, "other"));
    for (signature, status) in [
        (None, 401),
        (Some(""), 403),
        (Some("sha1=00"), 403),
        (Some(&*other), 403),
    ] {
        assert_eq!(fake.post(&body, signature).await, status, "{signature:?}");
    }
    for odd in ["", "{", "null", "7"] {
        let signature = fake.sign(odd);
        // Counted, and nothing else.
        assert_eq!(fake.post(odd, Some(&signature)).await, 204, "{odd}");
    }
    // A body that somebody recorded is worth nothing later.
    let old = said_at(3, "recorded", 1_700_000_000);
    assert_eq!(fake.post(&old, Some(&fake.sign(&old))).await, 400);
    let huge = said(4, &"x".repeat(5 * 1024 * 1024));
    assert_eq!(fake.post(&huge, Some(&fake.sign(&huge))).await, 413);
    assert_eq!(texts(&rig.ingress.accepted()), Vec::<String>::new());
    assert_eq!(fake.post(&body, Some(&good)).await, 204);
    assert_eq!(texts(&rig.ingress.accepted()), ["forged"]);
    rig.stop().await;
}

#[tokio::test]
async fn answers_are_classified() {
    let (fake, rig) = pair().await;
    fake.script(Script::Fail {
        retcode: 1200,
        message: "发送失败，你已被移出该群".into(),
    });
    assert!(matches!(rig.say("g1", "a").await, Err(SendError::Gone(_))));
    fake.script(Script::TimeOut);
    assert!(matches!(
        rig.say("g1", "b").await,
        Err(SendError::Ambiguous(_))
    ));
    fake.script(Script::Drop);
    assert!(matches!(
        rig.say("g1", "c").await,
        Err(SendError::Ambiguous(_))
    ));
    rig.say("g1", "d").await.expect("sent");
    let seen: Vec<String> = fake
        .replies()
        .iter()
        .filter(|reply| reply.delivered())
        .map(|reply| reply.text())
        .collect();
    assert_eq!(seen, ["b", "c", "d"], "nothing was sent again");
    rig.stop().await;
}

#[tokio::test]
async fn a_silent_answer_is_an_unknown_outcome() {
    let fake = FakeOneBot::listen_http(BOT, Options::default()).await;
    let rig = Rig::reach(Settings {
        call_timeout: Duration::from_millis(300),
        ..towards(&fake)
    });
    rig.is(&Connection::Up).await;
    fake.script(Script::Silent);
    assert!(matches!(
        rig.say("g1", "x").await,
        Err(SendError::Ambiguous(_))
    ));
    rig.stop().await;
}

#[tokio::test]
async fn the_token_is_shown_and_a_refused_one_is_told() {
    let options = Options {
        token: Some("correct-token".into()),
        ..Options::default()
    };
    let fake = FakeOneBot::listen_http(BOT, options).await;
    let wrong = Rig::reach(Settings {
        token: Some(Secret::new("another-token")),
        ..towards(&fake)
    });
    let why = wrong.is_down().await;
    assert!(why.contains("token is refused"), "{why}");
    let unsent = wrong.say("g1", "x").await;
    assert!(
        matches!(unsent, Err(SendError::Unavailable(_))),
        "{unsent:?}"
    );
    wrong.stop().await;
    let right = Rig::reach(Settings {
        token: Some(Secret::new("correct-token")),
        self_id: Some(BOT.to_string()),
        ..towards(&fake)
    });
    right.is(&Connection::Up).await;
    right.say("g1", "x").await.expect("sent");
    right.stop().await;
}

#[tokio::test]
async fn an_implementation_that_goes_is_noticed_and_found_again() {
    let (fake, rig) = pair().await;
    // It is asked what it is each time that it comes, and only then.
    assert!(fake.was_called("get_version_info", 1, LIMIT).await);
    fake.reachable(false);
    rig.is_down().await;
    fake.reachable(true);
    rig.is(&Connection::Up).await;
    assert!(fake.was_called("get_version_info", 2, LIMIT).await);
    fake.doors([Door::Status(502), Door::Broken]);
    for _ in 0..2 {
        let unknown = rig.say("g1", "x").await;
        assert!(unknown.is_err(), "{unknown:?}");
    }
    rig.stop().await;
}

#[tokio::test]
async fn heartbeats_that_stop_are_a_degraded_account() {
    let (fake, rig) = pair().await;
    fake.heartbeat(Duration::from_millis(100), true).await;
    rig.is(&Connection::Degraded("no more events come".into()))
        .await;
    fake.heartbeat(Duration::from_secs(100), false).await;
    rig.is(&Connection::Degraded("the account is logged out".into()))
        .await;
    rig.stop().await;
}

#[tokio::test]
async fn a_stopped_account_takes_and_sends_nothing() {
    let (fake, rig) = pair().await;
    let qq = Arc::clone(&rig.qq);
    rig.stop().await;
    let body = said(1, "late");
    let signature = fake.sign(&body);
    assert_eq!(fake.post(&body, Some(&signature)).await, 503);
    let unsent = qq.send(outgoing("g1", "late", None)).await;
    assert!(
        matches!(unsent, Err(SendError::Unavailable(_))),
        "{unsent:?}"
    );
}
