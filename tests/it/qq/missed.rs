//! What was said while nobody listened is asked for, where the implementation keeps it.

use weirgate_sdk::Cursor;
use weirgate_testkit::onebot::{FakeOneBot, Options};

use super::*;

fn program(app_name: &'static str) -> Options {
    Options {
        app_name,
        ..Options::default()
    }
}

fn now() -> i64 {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).expect("a time")
}

/// An account that listened until so many seconds ago.
fn returning(fake: &FakeOneBot, bot: u64, seconds_ago: i64) -> Rig {
    let ingress = RecordingIngress::new();
    ingress.set_cursor(Some(Cursor {
        bot: bot.to_string().into(),
        value: (now() - seconds_ago).to_string(),
    }));
    let settings = with(Transport::Forward {
        url: fake.url().to_owned(),
    });
    Rig::run(adapter(settings), ingress)
}

async fn all(rig: &Rig, count: usize) -> Vec<String> {
    let enough = |events: &[Event]| (texts(events).len() >= count).then(|| texts(events));
    let found = rig.ingress.events_hold(LIMIT, enough).await;
    found.unwrap_or_else(|| panic!("{:?}", texts(&rig.ingress.accepted())))
}

#[tokio::test]
async fn after_a_restart_the_gap_is_filled_and_nothing_else() {
    for app_name in ["NapCat.Onebot", "LLOneBot", "go-cqhttp"] {
        let fake = FakeOneBot::listen(BOT, program(app_name)).await;
        fake.past(Some(30_001), 20_001, "before", 200);
        fake.past(Some(30_001), 20_002, "one", 90);
        fake.past(Some(30_001), 20_001, "two", 80);
        fake.past(Some(30_001), BOT, "the bot's own", 70);
        fake.past(None, 20_001, "private", 60);
        let rig = returning(&fake, BOT, 100);
        // go-cqhttp keeps no history of private chats.
        let expected: &[&str] = match app_name {
            "go-cqhttp" => &["one", "two"],
            _ => &["one", "two", "private"],
        };
        assert_eq!(all(&rig, expected.len()).await, expected, "{app_name}");
        // An event that comes by itself as well is the same message.
        fake.send_private(20_003, "live").await;
        assert_eq!(
            all(&rig, expected.len() + 1).await.len(),
            expected.len() + 1
        );
        rig.stop().await;
    }
}

#[tokio::test]
async fn a_reconnect_asks_again_and_what_is_known_stays_one() {
    let fake = FakeOneBot::listen(BOT, program("NapCat.Onebot")).await;
    let rig = returning(&fake, BOT, 100);
    fake.past(Some(30_001), 20_001, "one", 50);
    rig.is(&Connection::Up).await;
    all(&rig, 1).await;
    fake.past(Some(30_001), 20_001, "two", 0);
    fake.drop_connection();
    assert_eq!(all(&rig, 2).await, ["one", "two"]);
    rig.stop().await;
}

#[tokio::test]
async fn nothing_is_asked_by_who_never_listened_or_listened_as_another_bot() {
    let fake = FakeOneBot::listen(BOT, program("NapCat.Onebot")).await;
    fake.past(Some(30_001), 20_001, "old", 10);
    let fresh = Rig::reach(with(Transport::Forward {
        url: fake.url().to_owned(),
    }));
    let other = FakeOneBot::listen(BOT, program("NapCat.Onebot")).await;
    other.past(Some(30_001), 20_001, "old", 10);
    let changed = returning(&other, BOT + 1, 100);
    for (rig, fake) in [(fresh, fake), (changed, other)] {
        rig.is(&Connection::Up).await;
        fake.send_private(20_001, "new").await;
        assert_eq!(all(&rig, 1).await, ["new"]);
        let asked = fake.called();
        assert!(
            !asked.iter().any(|action| action.contains("history")),
            "{asked:?}"
        );
        rig.stop().await;
    }
}

#[tokio::test]
async fn how_far_was_listened_is_noted_with_the_messages() {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    let rig = Rig::reach(with(Transport::Forward {
        url: fake.url().to_owned(),
    }));
    rig.is(&Connection::Up).await;
    fake.send_private(20_001, "hello").await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    let platform = rig.qq.platform();
    let noted = weirgate_sdk::Ingress::cursor(&*rig.ingress, &platform, &rig.qq.account()).await;
    let expected = Cursor {
        bot: BOT.to_string().into(),
        value: (message.sent_at / 1_000).to_string(),
    };
    assert_eq!(noted, Some(expected));
    rig.stop().await;
}
