//! The gateway connects to the implementation: what it meets, and what becomes of what was under way.

use serde_json::json;
use weirgate_sdk::settings::Secret;
use weirgate_testkit::onebot::{Door, FakeOneBot, Options, Script};

use super::*;

fn towards(fake: &FakeOneBot) -> Settings {
    with(Transport::Forward {
        url: fake.url().to_owned(),
    })
}

async fn pair() -> (FakeOneBot, Rig) {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    let rig = Rig::reach(towards(&fake));
    rig.is(&Connection::Up).await;
    (fake, rig)
}

#[tokio::test]
async fn the_token_is_shown_and_words_go_both_ways() {
    let token = "correct-token";
    let options = Options {
        token: Some(token.into()),
        ..Options::default()
    };
    let fake = FakeOneBot::listen(BOT, options).await;
    let rig = Rig::reach(Settings {
        token: Some(Secret::new(token)),
        self_id: Some(BOT.to_string()),
        ..towards(&fake)
    });
    rig.is(&Connection::Up).await;
    fake.send_group(30_001, 20_001, "hello", true).await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    assert!(
        message.mentions_bot,
        "the bot is known before its first event"
    );
    assert_eq!(message.own_text(), "hello");
    rig.say("g30001", "hi").await.expect("sent");
    assert_eq!(fake.next_reply(LIMIT).await.expect("a reply").text(), "hi");
    rig.stop().await;
}

#[tokio::test]
async fn it_tries_for_ever_and_says_what_it_met() {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    fake.doors([
        Door::Broken,
        Door::Status(401),
        Door::Status(502),
        Door::WrongToken,
        Door::Close,
        Door::Status(404),
    ]);
    let rig = Rig::reach(towards(&fake));
    rig.is(&Connection::Up).await;
    let told: Vec<String> = rig
        .ingress
        .connections()
        .iter()
        .filter_map(|state| match state {
            Connection::Down(why) => Some(why.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 6, "{told:?}");
    for (told, words) in told[1..].iter().zip([
        "the token is refused (HTTP 401)",
        "HTTP 502",
        "the token is refused",
        "closed by the other side at once",
        "nothing is served at this address",
    ]) {
        assert!(told.contains(words), "{told:?} in place of {words:?}");
    }
    rig.stop().await;
}

#[tokio::test]
async fn nobody_at_the_address_is_down_until_somebody_comes() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds");
    let address = gone.local_addr().expect("bound");
    drop(gone);
    let rig = Rig::reach(with(Transport::Forward {
        url: format!("ws://{address}"),
    }));
    assert!(rig.is_down().await.contains("refused"));
    assert!(matches!(
        rig.say("g1", "x").await,
        Err(SendError::Unavailable(_))
    ));
    rig.stop().await;
}

#[tokio::test]
async fn another_bot_than_the_configured_one_is_not_served() {
    let fake = FakeOneBot::listen(BOT + 1, Options::default()).await;
    let rig = Rig::reach(Settings {
        self_id: Some(BOT.to_string()),
        ..towards(&fake)
    });
    let why = rig.is_down().await;
    assert!(why.contains("10002") && why.contains("10001"), "{why}");
    rig.stop().await;
}

#[tokio::test]
async fn a_restart_in_the_middle_of_sends_tells_unknown_from_unsent() {
    let (fake, rig) = pair().await;
    fake.script(Script::Silent);
    let qq = Arc::clone(&rig.qq);
    let under_way = tokio::spawn(async move { qq.send(outgoing("g1", "under way", None)).await });
    assert!(fake.replied(1, LIMIT).await);
    fake.reachable(false);
    let outcome = under_way.await.expect("no panic");
    assert!(
        matches!(outcome, Err(SendError::Ambiguous(_))),
        "{outcome:?}"
    );
    rig.is_down().await;
    let unsent = rig.say("g1", "never left").await;
    assert!(
        matches!(unsent, Err(SendError::Unavailable(_))),
        "{unsent:?}"
    );
    fake.reachable(true);
    rig.is(&Connection::Up).await;
    rig.say("g1", "after").await.expect("sent");
    let texts: Vec<String> = fake.replies().iter().map(|reply| reply.text()).collect();
    assert_eq!(texts, ["under way", "after"], "nothing was sent twice");
    rig.stop().await;
}

#[tokio::test]
async fn what_comes_twice_after_a_reconnect_is_one_message() {
    let (fake, rig) = pair().await;
    let event = json!({
        "post_type": "message", "message_type": "private", "sub_type": "friend", "time": 7,
        "self_id": BOT, "user_id": 20001, "message_id": "Qm9z+Ab/01", "message": "once",
    });
    fake.raw(event.clone()).await;
    assert!(rig.ingress.next_message(LIMIT).await.is_some());
    fake.drop_connection();
    rig.is_down().await;
    rig.is(&Connection::Up).await;
    assert!(fake.connection_is(true, LIMIT).await);
    fake.raw(event).await;
    fake.send_private(20_001, "other").await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    assert_eq!(message.own_text(), "other");
    assert_eq!(rig.ingress.duplicates(), 1);
    rig.stop().await;
}

#[tokio::test]
async fn a_server_without_its_heartbeats_is_left_and_found_again() {
    let (fake, rig) = pair().await;
    for _ in 0..3 {
        fake.heartbeat(Duration::from_millis(100), true).await;
    }
    assert_eq!(rig.is_down().await, "no sign of life");
    rig.is(&Connection::Up).await;
    rig.stop().await;
}

#[tokio::test]
async fn several_accounts_each_have_their_own_server() {
    let (one, first) = pair().await;
    let (two, second) = pair().await;
    one.send_private(20_001, "to one").await;
    two.send_private(20_001, "to two").await;
    for (rig, text) in [(&first, "to one"), (&second, "to two")] {
        let message = rig.ingress.next_message(LIMIT).await.expect("a message");
        assert_eq!(message.own_text(), text);
    }
    first.say("p20001", "from one").await.expect("sent");
    assert_eq!((one.reply_count(), two.reply_count()), (1, 0));
    first.stop().await;
    second.say("p20001", "from two").await.expect("sent");
    second.stop().await;
}

#[tokio::test]
async fn stopping_while_nobody_answers_ends_at_once() {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    fake.reachable(false);
    let rig = Rig::reach(towards(&fake));
    rig.is(&Connection::Waiting).await;
    let begun = std::time::Instant::now();
    rig.stop().await;
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
