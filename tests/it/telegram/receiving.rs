//! Updates: conflicts, positions, albums.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use weirgate_sdk::{Cursor, Segment};
use weirgate_testkit::telegram::Fault;

use super::*;

/// Fields of an item of an album that is sent now.
fn item(album: &str, file: &str, caption: Option<&str>) -> Value {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut item = json!({
        "media_group_id": album, "photo": [{ "file_id": file }], "date": since.expect("a time").as_secs(),
    });
    if let Some(caption) = caption {
        item["caption"] = caption.into();
    }
    item
}

async fn is_degraded(rig: &Rig) -> String {
    let degraded = |state: &Connection| matches!(state, Connection::Degraded(_));
    match rig.ingress.connection_is(LIMIT, degraded).await {
        Some(Connection::Degraded(why)) => why,
        _ => panic!("{:?}", rig.ingress.connections()),
    }
}

#[tokio::test]
async fn somebody_else_who_polls_is_named_and_outlasted() {
    let rig = Rig::start().await;
    let asked = || rig.fake.calls("getUpdates").len();
    for _ in 0..3 {
        let text = "Conflict: terminated by other getUpdates request";
        rig.fake.fail("getUpdates", Fault::refused(409, text));
    }
    rig.fake.poll_beside();
    let why = is_degraded(&rig).await;
    assert!(why.contains("another program"), "{why}");
    let before = asked();
    rig.fake.say(7, 7, "after", &Value::Null);
    assert_eq!(rig.heard().await.own_text(), "after");
    rig.is_up().await;
    // Each pause is at least as long as a request waits.
    assert!(asked() - before <= 6, "{} requests", asked() - before);
    let states = rig.ingress.connections();
    let degraded = states
        .iter()
        .filter(|state| matches!(state, Connection::Degraded(_)));
    assert_eq!(degraded.count(), 1, "told once: {states:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_webhook_is_taken_away_and_what_waited_for_it_is_kept() {
    let fake = FakeTelegram::start(TOKEN).await;
    fake.set_webhook("https://example.com/hook");
    fake.say(7, 7, "waited", &Value::Null);
    let rig = Rig::run(fake, RecordingIngress::new());
    assert_eq!(rig.heard().await.own_text(), "waited");
    assert_eq!(rig.fake.webhook(), None);
    rig.stop().await;
}

#[tokio::test]
async fn a_token_that_is_not_one_ends_the_account_with_the_reason() {
    let fake = FakeTelegram::start("10001:other-token").await;
    let rig = Rig::run(fake, RecordingIngress::new());
    let ended = tokio::time::timeout(LIMIT, rig.run)
        .await
        .expect("ends")
        .expect("no panic");
    match ended {
        Err(AdapterError::Config(why)) => {
            assert!(
                why.contains("token") && !why.contains("TEST-secret"),
                "{why}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn trouble_with_the_service_is_outlasted_and_nothing_lost() {
    let rig = Rig::start().await;
    for fault in [
        Fault::Status(502, "<html>Bad Gateway</html>".into()),
        Fault::Status(200, "<html>hello</html>".into()),
        Fault::Status(301, String::new()),
        Fault::Flood(1),
        Fault::Lost,
        Fault::Broken,
    ] {
        rig.fake.fail("getUpdates", fault.clone());
        // Ends the request that waits, so that the next one meets the fault.
        rig.fake.say(7, 7, "before", &Value::Null);
        assert_eq!(rig.heard().await.own_text(), "before", "{fault:?}");
        rig.fake.say(7, 7, "after", &Value::Null);
        assert_eq!(rig.heard().await.own_text(), "after", "{fault:?}");
        rig.is_up().await;
    }
    assert_eq!(texts(&rig.ingress.accepted()).len(), 12);
    rig.stop().await;
}

#[tokio::test]
async fn reading_goes_on_where_it_was_stored_for_the_bot_alone() {
    let cursor = |bot: &str, value: String| Cursor {
        bot: bot.into(),
        value,
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("a time")
        .as_secs();
    for (stored, expected) in [
        (Some(cursor("10001", format!("501@{now}"))), Some(501)),
        (Some(cursor("222", format!("600000000@{now}"))), None),
        (
            Some(cursor("10001", format!("600000000@{}", now - 7 * 86_400))),
            None,
        ),
        (Some(cursor("10001", "nonsense".into())), None),
        (None, None),
    ] {
        let fake = FakeTelegram::start(TOKEN).await;
        fake.say(7, 7, "hi", &Value::Null);
        let ingress = RecordingIngress::new();
        ingress.set_cursor(stored.clone());
        let rig = Rig::run(fake, ingress);
        rig.is_up().await;
        let asked = rig.fake.calls("getUpdates");
        assert_eq!(asked[0]["offset"].as_i64(), expected, "{stored:?}");
        rig.stop().await;
    }
}

#[tokio::test]
async fn numbers_that_begin_anew_make_nobody_deaf() {
    let rig = Rig::start().await;
    rig.fake.number_from(600_000_000);
    rig.fake.say(7, 7, "high", &Value::Null);
    assert_eq!(rig.heard().await.own_text(), "high");
    assert_eq!(rig.fake.confirmed(7, 1, LIMIT).await, 1);
    let again = json!({
        "update_id": 1_042,
        "message": { "message_id": 9, "date": 1, "text": "low", "chat": { "id": 7, "type": "private" },
            "from": { "id": 7, "first_name": "A" } },
    });
    rig.fake.raw(again);
    assert_eq!(rig.heard().await.own_text(), "low");
    rig.stop().await;
}

#[tokio::test]
async fn an_album_is_one_message_and_is_not_confirmed_before_it_is_whole() {
    let rig = Rig::start().await;
    rig.fake
        .say(GROUP, 7, "", &item("a", "one", Some("before")));
    rig.fake.say(GROUP, 8, "beside", &Value::Null);
    rig.fake.say(GROUP, 7, "", &item("a", "two", None));
    assert!(rig.fake.given(3, LIMIT).await);
    rig.fake
        .say(GROUP, 7, "", &item("a", "three", Some("after /status")));
    let album = rig.heard().await;
    assert_eq!(album.own_text(), "before\nafter /status");
    let files: Vec<&str> = album
        .segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Attachment(file) => Some(file.reference.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(files, ["one", "two", "three"]);
    assert_eq!(album.group_key.as_deref(), Some("a"));
    assert_eq!(rig.heard().await.own_text(), "beside");
    assert_eq!(rig.fake.confirmed(7, 3, LIMIT).await, 3);
    rig.stop().await;
}

#[tokio::test]
async fn a_second_run_reads_on_after_the_first_without_a_word_twice() {
    let rig = Rig::start().await;
    rig.fake.say(7, 7, "one", &Value::Null);
    assert_eq!(rig.heard().await.own_text(), "one");
    let rig = rig.again().await;
    rig.fake.say(7, 7, "two", &Value::Null);
    assert_eq!(rig.heard().await.own_text(), "two");
    assert_eq!(rig.ingress.duplicates(), 0, "the stored position was used");
    rig.stop().await;
}
