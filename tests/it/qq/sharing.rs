//! Several accounts at one address, told apart by the bot that a connection names.

use weirgate_sdk::settings::Secret;
use weirgate_testkit::onebot::{FakeOneBot, Refused};

use super::*;

fn account(listen: SocketAddr, bot: u64, token: &str) -> Settings {
    Settings {
        self_id: Some(bot.to_string()),
        token: Some(Secret::new(token)),
        ..listening(listen)
    }
}

#[tokio::test]
async fn each_bot_reaches_its_own_account_until_the_last_one_stops() {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let first = Rig::start(account(any, BOT, "token-of-one")).await;
    let listen = first.qq.local_addr().expect("bound");
    let second = Rig::start(account(listen, BOT + 1, "token-of-two")).await;
    assert_eq!(second.qq.local_addr(), Some(listen));
    let url = &first.url;
    let one = FakeOneBot::connect(url, BOT, Some("token-of-one"))
        .await
        .expect("connects");
    let two = FakeOneBot::connect(url, BOT + 1, Some("token-of-two"))
        .await
        .expect("connects");
    first.is(&Connection::Up).await;
    second.is(&Connection::Up).await;
    // Whoever has one token has no other account, and no third bot.
    let stolen = FakeOneBot::connect(url, BOT + 1, Some("token-of-one")).await;
    assert_eq!(stolen.expect_err("refused"), Refused::Status(403));
    let third = FakeOneBot::connect(url, BOT + 2, Some("token-of-one")).await;
    assert_eq!(third.expect_err("refused"), Refused::Status(403));
    one.send_private(20_001, "to one").await;
    two.send_private(20_001, "to two").await;
    for (rig, text) in [(&first, "to one"), (&second, "to two")] {
        let message = rig.ingress.next_message(LIMIT).await.expect("a message");
        assert_eq!(message.own_text(), text);
    }
    first.say("p20001", "from one").await.expect("sent");
    second.say("p20001", "from two").await.expect("sent");
    assert_eq!((one.reply_count(), two.reply_count()), (1, 1));

    let url = first.url.clone();
    first.stop().await;
    // The address stays open for the other account, and only for it.
    second.say("p20001", "still here").await.expect("sent");
    let gone = FakeOneBot::connect(&url, BOT, Some("token-of-one")).await;
    assert_eq!(gone.expect_err("refused"), Refused::Status(403));
    let again = FakeOneBot::connect(&url, BOT + 1, Some("token-of-two")).await;
    again.expect("connects");
    second.stop().await;
    let closed = FakeOneBot::connect(&url, BOT + 1, Some("token-of-two")).await;
    assert!(matches!(closed, Err(Refused::Failed(_))));
}

#[tokio::test]
async fn accounts_that_cannot_be_told_apart_are_refused() {
    let first = Rig::start(Settings {
        self_id: Some(BOT.to_string()),
        ..settings()
    })
    .await;
    let listen = first.qq.local_addr().expect("bound");
    for settings in [
        listening(listen),
        Settings {
            self_id: Some(BOT.to_string()),
            ..listening(listen)
        },
    ] {
        let error = adapter(settings).bind().await.expect_err("refused");
        let AdapterError::Config(text) = error else {
            panic!("{error:?}");
        };
        assert!(text.contains("self_id") && text.contains("main"), "{text}");
    }
    first.stop().await;
}
