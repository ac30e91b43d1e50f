//! Events: sessions that break, are resumed and begun anew, and what is missed between them.

use weirgate_testkit::discord::{Fault, OTHER_CHANNEL};

use super::*;

#[tokio::test]
async fn a_broken_connection_is_resumed_and_nothing_lost_or_told_twice() {
    let rig = Rig::start().await;
    rig.say("one");
    assert_eq!(rig.heard().await.own_text(), "one");
    for (count, code) in [(1, 4_000), (2, 1_001), (3, 4_008)] {
        rig.fake.close(code);
        rig.is_down().await;
        rig.is_up().await;
        let word = format!("after {code}");
        rig.say(&word);
        assert_eq!(rig.heard().await.own_text(), word);
        assert_eq!(rig.fake.sessions(), (1, count));
    }
    // Said while the bot cannot be reached.
    rig.fake.reachable(false);
    rig.is_down().await;
    rig.say("meanwhile");
    rig.fake.reachable(true);
    assert_eq!(rig.heard().await.own_text(), "meanwhile");
    rig.is_up().await;
    assert_eq!(rig.fake.sessions().0, 1);
    assert_eq!(rig.ingress.duplicates(), 0);
    rig.ended().await;
}

#[tokio::test]
async fn a_restart_resumes_behind_what_is_accepted() {
    let rig = Rig::start().await;
    rig.say("one");
    assert_eq!(rig.heard().await.own_text(), "one");
    rig.ingress.hold();
    rig.say("two");
    let before = texts(&rig.ingress.accepted());
    assert_eq!(before, ["one"]);
    // The receipt never comes, as if the process were killed.
    let ingress = Arc::clone(&rig.ingress);
    rig.run.abort();
    let _ = rig.run.await;
    ingress.fail_store(1);
    ingress.release();
    let rig = Rig::run(rig.fake, ingress);
    assert_eq!(rig.heard().await.own_text(), "two");
    rig.is_up().await;
    assert_eq!(rig.fake.sessions(), (1, 1));
    assert_eq!(rig.ingress.duplicates(), 0);
    rig.ended().await;
}

#[tokio::test]
async fn what_was_said_between_two_sessions_is_fetched_in_order() {
    let rig = Rig::start().await;
    rig.say("one");
    rig.heard().await;
    rig.fake.say(CHANNEL, 7, "in a channel", &Value::Null);
    rig.heard().await;
    let (fake, ingress) = rig.ended().await;
    fake.forget_session();
    let words: Vec<String> = (0..230).map(|number| format!("n{number}")).collect();
    for word in &words {
        fake.say(CHANNEL, 7, word, &Value::Null);
    }
    fake.say(THREAD, 7, "in a thread", &Value::Null);
    fake.say(direct(7), 7, "direct", &Value::Null);
    let rig = Rig::run(fake, ingress);
    rig.is_up().await;
    rig.fake.say(CHANNEL, 7, "now", &Value::Null);
    let mut heard = Vec::new();
    for _ in 0..words.len() + 3 {
        heard.push(rig.heard().await);
    }
    let of = |key: ConversationKey| {
        let here = heard.iter().filter(|message| message.conversation == key);
        here.map(InboundMessage::own_text).collect::<Vec<_>>()
    };
    let mut expected = words;
    expected.push("now".into());
    assert_eq!(of(place(CHANNEL, None)), expected);
    assert_eq!(of(place(CHANNEL, Some(THREAD))), ["in a thread"]);
    assert_eq!(of(place(direct(7), None)), ["direct"]);
    assert_eq!(rig.fake.sessions().0, 2);
    rig.ended().await;
}

#[tokio::test]
async fn nothing_is_fetched_at_the_first_start_or_where_nobody_wants_it() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.say(CHANNEL, 7, "long ago", &Value::Null);
    let rig = Rig::run(fake, RecordingIngress::new());
    rig.is_up().await;
    rig.say("one");
    assert_eq!(rig.heard().await.own_text(), "one");
    let (fake, ingress) = rig.ended().await;
    fake.forget_session();
    fake.say(CHANNEL, 7, "missed", &Value::Null);
    let settings = Settings {
        catch_up: Duration::ZERO,
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, ingress, settings);
    rig.is_up().await;
    rig.say("two");
    assert_eq!(rig.heard().await.own_text(), "two");
    assert_eq!(rig.fake.calls("messages").len(), 0);
    rig.ended().await;
}

#[tokio::test]
async fn a_thread_that_nobody_told_of_is_asked_for_once() {
    let rig = Rig::start().await;
    rig.fake.open_thread(777);
    for fault in [Fault::Status(502, String::new()), Fault::flood(0.2, false)] {
        rig.fake.fail("channel", fault);
    }
    for word in ["one", "two"] {
        rig.fake.say(777, 7, word, &Value::Null);
        let message = rig.heard().await;
        assert_eq!(message.conversation, place(CHANNEL, Some(777)));
        assert_eq!(message.own_text(), word);
    }
    assert_eq!(rig.fake.calls("channel").len(), 3);
    // What the platform does not tell is a place of its own.
    rig.fake.say(888, 7, "hidden", &Value::Null);
    assert_eq!(rig.heard().await.conversation, place(888, None));
    rig.ended().await;
}

#[tokio::test]
async fn edits_and_deletions_are_told_where_they_happened() {
    let rig = Rig::start().await;
    let id = rig.fake.say(THREAD, 7, "frist", &Value::Null);
    rig.heard().await;
    let edited = json!({
        "id": id.to_string(), "channel_id": THREAD.to_string(), "guild_id": "50", "type": 0, "content": "first",
        "edited_timestamp": "2026-12-01T00:00:01+00:00", "author": { "id": "7", "username": "ann" },
    });
    rig.fake.event("MESSAGE_UPDATE", edited);
    let gone = json!({ "id": id.to_string(), "channel_id": THREAD.to_string(), "guild_id": "50" });
    rig.fake.event("MESSAGE_DELETE", gone);
    let here = place(CHANNEL, Some(THREAD));
    let told = rig.ingress.events_hold(LIMIT, |events| match events {
        [
            ..,
            Event::Edited(edited),
            Event::Deleted {
                conversation,
                message,
            },
        ] => {
            assert_eq!(
                (&edited.conversation, edited.own_text().as_str()),
                (&here, "first")
            );
            assert_eq!(
                (conversation, message.as_str()),
                (&here, id.to_string().as_str())
            );
            Some(())
        }
        _ => None,
    });
    assert!(told.await.is_some(), "{:?}", rig.ingress.accepted());
    rig.ended().await;
}

#[tokio::test]
async fn a_session_that_is_over_is_begun_anew() {
    let rig = Rig::start().await;
    rig.say("one");
    rig.heard().await;
    rig.fake.forget_session();
    rig.fake.close(4_000);
    rig.is_down().await;
    rig.is_up().await;
    assert_eq!(rig.fake.sessions(), (2, 0));
    rig.fake.close(4_009);
    rig.is_down().await;
    rig.is_up().await;
    assert_eq!(rig.fake.sessions(), (3, 0));
    // The platform asks for a new connection, and for nothing else.
    rig.fake.raw(br#"{"op":7,"d":null}"#);
    rig.say("two");
    assert_eq!(rig.heard().await.own_text(), "two");
    rig.say("three");
    assert_eq!(rig.heard().await.own_text(), "three");
    assert_eq!(rig.fake.sessions().0, 3);
    rig.ended().await;
}

#[tokio::test]
async fn a_platform_that_falls_silent_is_left_and_found_again() {
    let rig = Rig::start().await;
    rig.fake.silent(true);
    let why = rig.is_down().await;
    assert!(why.contains("no sign of life"), "{why}");
    rig.fake.silent(false);
    rig.is_up().await;
    rig.say("back");
    assert_eq!(rig.heard().await.own_text(), "back");
    rig.ended().await;
}

#[tokio::test]
async fn what_somebody_has_to_mend_ends_the_account_with_the_reason() {
    let fake = FakeDiscord::start("MTAwMDE.OTHER.token").await;
    let why = Rig::run(fake, RecordingIngress::new()).failed().await;
    assert!(
        why.contains("token") && !why.contains("secret_value"),
        "{why}"
    );
    let fake = FakeDiscord::start(TOKEN).await;
    fake.forbid_content();
    let rig = Rig::run(fake, RecordingIngress::new());
    let why = rig.failed().await;
    assert!(
        why.contains("Message Content Intent") && why.contains("message_content"),
        "{why}"
    );
    let rig = Rig::start().await;
    rig.fake.close(4_004);
    assert!(rig.failed().await.contains("token"));
}

#[tokio::test]
async fn a_bot_that_may_not_read_all_works_without() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.forbid_content();
    let settings = Settings {
        message_content: false,
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, RecordingIngress::new(), settings);
    rig.is_up().await;
    rig.say("direct");
    assert_eq!(rig.heard().await.own_text(), "direct");
    rig.ended().await;
}

#[tokio::test]
async fn no_session_is_begun_over_the_daily_limit() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.sessions_left(Some(0));
    let rig = Rig::run(fake, RecordingIngress::new());
    let why = rig.is_down().await;
    assert!(why.contains("daily limit"), "{why}");
    assert_eq!(rig.fake.sessions().0, 0);
    rig.fake.sessions_left(Some(1));
    rig.is_up().await;
    rig.ended().await;
}

#[tokio::test]
async fn trouble_with_the_platform_at_the_start_is_outlasted() {
    let fake = FakeDiscord::start(TOKEN).await;
    for call in ["me", "gateway"] {
        for fault in [
            Fault::Status(502, "<html>Bad Gateway</html>".into()),
            Fault::Status(200, "<html>hello</html>".into()),
            Fault::Status(301, String::new()),
            Fault::flood(0.2, true),
            Fault::Lost,
        ] {
            fake.fail(call, fault);
        }
    }
    let rig = Rig::run(fake, RecordingIngress::new());
    rig.is_up().await;
    rig.say("hi");
    assert_eq!(rig.heard().await.own_text(), "hi");
    rig.ended().await;
}

#[tokio::test]
async fn each_of_several_connections_resumes_for_itself() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.divide(2);
    let pause = Duration::from_millis(200);
    let settings = Settings {
        identify_pause: pause,
        ..settings(&fake)
    };
    let rig = Rig::run_with(fake, RecordingIngress::new(), settings);
    rig.is_up().await;
    assert_eq!(rig.fake.sessions_of_each(), [(1, 0), (1, 0)]);
    assert!(rig.fake.least_pause() >= Some(pause));
    for (channel, word) in [(CHANNEL, "first"), (OTHER_CHANNEL, "second")] {
        rig.fake.say(channel, 7, word, &Value::Null);
        let heard = rig.heard().await;
        assert_eq!(
            (&heard.conversation, heard.own_text().as_str()),
            (&place(channel, None), word)
        );
    }
    rig.fake.close_one(1, 4_000);
    let half =
        |state: &Connection| matches!(state, Connection::Degraded(why) if why.contains("2 of 2"));
    assert!(rig.ingress.connection_is(LIMIT, half).await.is_some());
    rig.is_up().await;
    let (fake, ingress) = rig.ended().await;
    fake.say(OTHER_CHANNEL, 7, "meanwhile", &Value::Null);
    let rig = Rig::run(fake, ingress);
    assert_eq!(rig.heard().await.own_text(), "meanwhile");
    rig.is_up().await;
    assert_eq!(rig.fake.sessions_of_each(), [(1, 1), (1, 2)]);
    // Sessions of their own that are over: what was said is fetched for each.
    let (fake, ingress) = rig.ended().await;
    fake.forget_session();
    for (channel, word) in [(CHANNEL, "one"), (OTHER_CHANNEL, "two")] {
        fake.say(channel, 7, word, &Value::Null);
    }
    let rig = Rig::run(fake, ingress);
    let mut heard = vec![rig.heard().await.own_text(), rig.heard().await.own_text()];
    heard.sort();
    assert_eq!(heard, ["one", "two"]);
    rig.ended().await;
}

#[tokio::test]
async fn too_few_connections_end_the_account_with_the_remedy() {
    let fake = FakeDiscord::start(TOKEN).await;
    fake.divide(2);
    let settings = Settings {
        shards: weirgate_discord::settings::Shards::Count(1),
        ..settings(&fake)
    };
    let why = Rig::run_with(fake, RecordingIngress::new(), settings)
        .failed()
        .await;
    assert!(why.contains("shards: auto"), "{why}");
}

#[tokio::test]
async fn a_session_that_is_never_resumed_is_given_up() {
    let rig = Rig::start().await;
    rig.fake.refuse_resumes(4_000);
    rig.fake.close(4_000);
    rig.is_down().await;
    rig.is_up().await;
    assert_eq!(rig.fake.sessions(), (2, 0));
    rig.say("hi");
    assert_eq!(rig.heard().await.own_text(), "hi");
    rig.ended().await;
}
