//! What each wire event means, and that odd ones do no harm.

mod families;

use serde_json::{Value, json};
use weirgate_sdk::Segment;

use super::*;

const NOW: Timestamp = 1_700_000_000_500;

fn read(event: &Value) -> Received {
    let event = event.to_string();
    let receiver = Receiver {
        platform: &"qq".into(),
        account: &"main".into(),
        bot: "10001",
        ignored: &HashSet::from(["20009".to_owned()]),
        catch_up: Duration::ZERO,
        pokes: true,
        requests: &Requests::default(),
    };
    let frame = serde_json::from_str(&event).expect("a frame");
    receiver.read(&frame, NOW, |conversation, id| {
        conversation.conversation.as_str() == "g30001" && id == "77"
    })
}

fn message(event: &Value) -> InboundMessage {
    match read(event) {
        Received::Event(Event::Message(message)) => *message,
        other => panic!("{event}: {other:?}"),
    }
}

fn event(event: &Value) -> Event {
    match read(event) {
        Received::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

fn other_name(given: &Value) -> String {
    match event(given) {
        Event::Other { name } => name,
        other => panic!("{other:?}"),
    }
}

/// A group message with some fields replaced.
fn group(changes: Value) -> Value {
    let mut event = json!({
        "time": 1_700_000_000, "self_id": 10001, "post_type": "message", "message_type": "group",
        "sub_type": "normal", "message_id": 5, "user_id": 20001, "group_id": 30001,
        "message": [{ "type": "text", "data": { "text": "hi" } }],
        "sender": { "user_id": 20001, "nickname": "Nick", "card": "", "role": "admin" },
    });
    for (name, value) in changes.as_object().expect("an object") {
        event[name] = value.clone();
    }
    event
}

#[test]
fn a_group_message_is_read() {
    let message = message(&group(json!({})));
    assert_eq!(message.conversation.encode(), "qq/main/g30001/");
    assert_eq!(message.chat, ChatKind::Group);
    assert_eq!(message.sender.key.encode(), "qq//20001");
    assert_eq!(message.sender.name, "Nick");
    assert_eq!(message.sender.role, PlatformRole::Admin);
    assert_eq!(message.id.as_str(), "5");
    assert_eq!(message.segments, [Segment::Text("hi".into())]);
    assert_eq!(
        (message.sent_at, message.received_at),
        (1_700_000_000_000, NOW)
    );
    assert_eq!(&*message.dedupe.key, "1700000000/5/g30001");
    assert_eq!(message.dedupe.lifetime, Duration::from_secs(600));
    assert!(!message.mentions_bot && message.reply_to.is_none());
}

#[test]
fn ids_as_numbers_and_strings_are_one_user_and_one_conversation() {
    let numbers = message(&group(json!({})));
    let strings = message(&group(
        json!({ "user_id": "20001", "group_id": "30001", "message_id": "Qm9z+Ab/01" }),
    ));
    assert_eq!(numbers.sender.key, strings.sender.key);
    assert_eq!(numbers.conversation, strings.conversation);
    assert_eq!(strings.id.as_str(), "Qm9z+Ab/01");
    let nested = message(&group(
        json!({ "user_id": null, "sender": { "user_id": "20001" } }),
    ));
    assert_eq!(nested.sender.key, numbers.sender.key);
}

#[test]
fn the_card_is_the_name_if_there_is_one() {
    let sender = json!({ "nickname": "Nick", "card": "  群\u{202e}名\n片 ", "role": "owner" });
    let shown = message(&group(json!({ "sender": sender }))).sender;
    assert_eq!(
        (shown.name.as_str(), shown.role),
        ("群名 片", PlatformRole::Owner)
    );
    let long = json!({ "nickname": "n".repeat(500) });
    assert_eq!(
        message(&group(json!({ "sender": long }))).sender.name.len(),
        200
    );
    let none = message(&group(json!({ "sender": 7 }))).sender;
    assert_eq!((none.name.as_str(), none.role), ("", PlatformRole::Unknown));
}

#[test]
fn private_chats_and_sessions_through_a_group_are_apart() {
    let private = |sub_type: &str, sender: Value| {
        let changes = json!({
            "message_type": "private", "sub_type": sub_type, "group_id": null, "sender": sender,
        });
        let message = message(&group(changes));
        assert_eq!(message.chat, ChatKind::Private);
        message.conversation.conversation.as_str().to_owned()
    };
    assert_eq!(private("friend", json!({})), "p20001");
    assert_eq!(
        private("group", json!({ "group_id": 30001 })),
        "t30001:20001"
    );
    assert_eq!(private("group", json!({})), "p20001");
    assert_eq!(private("friend", json!({ "group_id": 30001 })), "p20001");
}

#[test]
fn anonymous_members_are_nobody_and_kept_apart() {
    let masked = |id: u64| {
        let anonymous = json!({ "id": id, "name": "大力鬼王", "flag": "f" });
        let changes =
            json!({ "sub_type": "anonymous", "user_id": 80000000, "anonymous": anonymous });
        message(&group(changes)).sender
    };
    let one = masked(1);
    assert_eq!(
        (one.kind, one.role),
        (SenderKind::Anonymous, PlatformRole::Unknown)
    );
    assert_eq!(one.name, "大力鬼王");
    assert_ne!(one.key, masked(2).key);
    let plain = message(&group(json!({ "anonymous": null }))).sender;
    assert_eq!(plain.kind, SenderKind::Person);
}

#[test]
fn replies_know_the_bots_own_messages() {
    let reply = |id: u64| {
        let reply = json!([{ "type": "reply", "data": { "id": id } }]);
        message(&group(json!({ "message": reply })))
            .reply_to
            .expect("a reply")
    };
    assert_eq!(
        reply(77),
        Replied {
            message: "77".into(),
            to_bot: Some(true),
            author: None,
        }
    );
    assert_eq!(
        reply(78),
        Replied {
            message: "78".into(),
            to_bot: None,
            author: None,
        }
    );
}

#[test]
fn the_bots_own_messages_never_come_in() {
    for changes in [
        json!({ "user_id": 10001 }),
        json!({ "user_id": "10001" }),
        json!({ "post_type": "message_sent" }),
    ] {
        assert_eq!(event(&group(changes)), Event::OwnMessage);
    }
}

#[test]
fn ignored_users_and_foreign_bots_are_passed_over() {
    assert_eq!(
        other_name(&group(json!({ "user_id": 20009 }))),
        "message.of an ignored user"
    );
    assert_eq!(
        other_name(&group(json!({ "self_id": "10002" }))),
        "message.of another bot"
    );
    message(&group(json!({ "self_id": null })));
}

#[test]
fn messages_that_cannot_be_answered_are_not_made_up() {
    for changes in [
        json!({ "user_id": "undefined", "sender": {} }),
        json!({ "message_id": null }),
        json!({ "group_id": {} }),
    ] {
        let name = "message".to_owned();
        assert_eq!(event(&group(changes)), Event::Malformed { name });
    }
    let guild = group(json!({ "message_type": "guild" }));
    assert_eq!(other_name(&guild), "message.guild");
}

#[test]
fn dedupe_keys_tell_chats_ids_and_times_apart_and_stay_short() {
    let key = |changes: Value| message(&group(changes)).dedupe.key;
    let first = key(json!({}));
    assert_eq!(first, key(json!({ "message_id": "5", "font": 14 })));
    for changes in [
        json!({ "group_id": 30002 }),
        json!({ "message_id": -5 }),
        json!({ "time": 1_700_000_001 }),
        json!({ "message_type": "private" }),
    ] {
        assert_ne!(first, key(changes));
    }
    let longest = key(json!({
        "message_type": "private", "sub_type": "group", "group_id": "9".repeat(MAX_ID),
        "user_id": "9".repeat(MAX_ID), "message_id": "9".repeat(MAX_MESSAGE_ID), "time": i64::MAX,
    }));
    assert!(longest.len() <= 200, "{}", longest.len());
}

#[test]
fn odd_times_are_bounded() {
    let sent_at = |time: Value| message(&group(json!({ "time": time }))).sent_at;
    assert_eq!(sent_at(json!(null)), NOW);
    assert_eq!(sent_at(json!(-1)), NOW);
    assert_eq!(sent_at(json!("1700000000")), 1_700_000_000_000);
    assert_eq!(sent_at(json!(1_700_000_000_123_i64)), 1_700_000_000_123);
    assert_eq!(sent_at(json!(i64::MAX)), i64::MAX);
}

fn notice(kind: &str, sub_type: &str, user: u64) -> Value {
    json!({
        "post_type": "notice", "notice_type": kind, "sub_type": sub_type, "self_id": 10001,
        "time": 3, "group_id": 30001, "user_id": user, "message_id": -9, "operator_id": 1,
    })
}

#[test]
fn notices_become_events() {
    let conversation = |id: &str| ConversationKey {
        platform: "qq".into(),
        account: "main".into(),
        conversation: id.into(),
        thread: None,
    };
    let here = conversation("g30001");
    let user = UserKey {
        platform: "qq".into(),
        realm: "".into(),
        id: "20001".into(),
    };
    let cases = [
        (
            notice("group_recall", "", 20001),
            Event::Deleted {
                conversation: here.clone(),
                message: "-9".into(),
            },
        ),
        (
            notice("friend_recall", "", 20001),
            Event::Deleted {
                conversation: conversation("p20001"),
                message: "-9".into(),
            },
        ),
        (
            notice("group_admin", "set", 20001),
            Event::RoleChanged {
                conversation: here.clone(),
                user: user.clone(),
                role: PlatformRole::Admin,
            },
        ),
        (
            notice("group_admin", "unset", 20001),
            Event::RoleChanged {
                conversation: here.clone(),
                user: user.clone(),
                role: PlatformRole::Member,
            },
        ),
        (
            notice("group_increase", "approve", 20001),
            Event::MemberJoined {
                conversation: here.clone(),
                user: user.clone(),
            },
        ),
        (
            notice("group_decrease", "kick", 20001),
            Event::MemberLeft {
                conversation: here.clone(),
                user,
            },
        ),
        (
            notice("group_increase", "invite", 10001),
            Event::BotAdded {
                conversation: here.clone(),
            },
        ),
        (
            notice("group_decrease", "leave", 10001),
            Event::BotRemoved {
                conversation: here.clone(),
            },
        ),
        (
            notice("group_decrease", "kick_me", 20001),
            Event::BotRemoved { conversation: here },
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(event(&given), expected);
    }
}

#[test]
fn unknown_and_incomplete_events_are_only_named() {
    let typing = json!({
        "post_type": "notice", "notice_type": "notify", "sub_type": "input_status", "user_id": 1,
        "self_id": 10001, "time": 3,
    });
    assert_eq!(other_name(&typing), "notice.notify.input_status");
    for (given, name) in [
        (
            json!({ "post_type": "notice", "notice_type": "group_card" }),
            "notice.group_card",
        ),
        (
            json!({ "post_type": "notice", "notice_type": "group_recall" }),
            "notice.group_recall",
        ),
        (json!({ "post_type": "notice" }), "notice"),
        (
            json!({ "post_type": "request", "request_type": "friend" }),
            "request.friend",
        ),
        (json!({ "post_type": "天气", "time": {} }), "天气"),
    ] {
        assert_eq!(other_name(&given), name);
    }
    let long = json!({ "post_type": "notice", "notice_type": "x".repeat(500) });
    assert_eq!(other_name(&long).len(), 64);
}

#[test]
fn a_poke_of_the_bot_is_a_message_to_it() {
    let poke = |changes: Value| {
        let mut event = json!({ "time": 1_700_000_000, "self_id": 10001, "post_type": "notice",
            "notice_type": "notify", "sub_type": "poke", "user_id": 9_007_199_254_740_993_u64,
            "target_id": 10001, "group_id": 30001 });
        for (name, value) in changes.as_object().expect("an object") {
            event[name] = value.clone();
        }
        event
    };
    let heard = message(&poke(json!({})));
    assert_eq!(heard.conversation.conversation.as_str(), "g30001");
    assert_eq!(heard.sender.key.id.as_str(), "9007199254740993");
    assert_eq!(heard.segments, [Segment::Placeholder("poke".into())]);
    assert!(heard.mentions_bot && !heard.is_empty());
    let again = message(&poke(json!({})));
    assert_eq!((again.dedupe, again.id), (heard.dedupe.clone(), heard.id));
    let later = message(&poke(json!({ "time": 1_700_000_001 })));
    assert_ne!(later.dedupe.key, heard.dedupe.key);
    let friend = message(&poke(json!({ "group_id": null })));
    assert_eq!(
        friend.conversation.conversation.as_str(),
        "p9007199254740993"
    );
    assert_eq!(
        (friend.chat, friend.mentions_bot),
        (ChatKind::Private, false)
    );
    for other in [
        json!({ "target_id": 20001 }),
        json!({ "user_id": 10001 }),
        json!({ "user_id": 20009 }),
        json!({ "target_id": {} }),
    ] {
        assert_eq!(other_name(&poke(other)), "notice.notify.poke");
    }
    for (kind, detail) in [("ban", "ban"), ("ban", "lift_ban")] {
        let ban = json!({ "post_type": "notice", "notice_type": format!("group_{kind}"), "sub_type": detail,
            "self_id": 10001, "group_id": 30001, "user_id": 10001, "operator_id": 7, "duration": 60 });
        assert_eq!(other_name(&ban), format!("notice.group_ban.{detail}"));
    }
}

#[test]
fn heartbeats_tell_pause_and_state() {
    let beat = |interval: Value, status: Value| {
        read(&json!({
            "post_type": "meta_event", "meta_event_type": "heartbeat", "self_id": 10001,
            "interval": interval, "status": status,
        }))
    };
    let expected = Received::Heartbeat {
        interval: Some(Duration::from_secs(5)),
        online: Some(false),
    };
    assert_eq!(
        beat(json!(5000), json!({ "online": false, "good": true })),
        expected
    );
    let unknown = Received::Heartbeat {
        interval: None,
        online: None,
    };
    for (interval, status) in [
        (json!(0), json!({ "online": null })),
        (json!(-5), json!("x")),
    ] {
        assert_eq!(beat(interval, status), unknown);
    }
    let lifecycle = json!({ "post_type": "meta_event", "meta_event_type": "lifecycle" });
    assert_eq!(read(&lifecycle), Received::Nothing);
}

#[test]
fn answers_are_told_from_events() {
    let answer = json!({ "status": "ok", "retcode": 0, "data": null, "echo": 1 });
    assert_eq!(read(&answer), Received::Answer);
    assert_eq!(
        read(&json!({ "retcode": 1403, "status": "failed" })),
        Received::Answer
    );
    let name = "no post_type".to_owned();
    assert_eq!(event(&json!({})), Event::Malformed { name });
}
