//! What each kind of update becomes.

use serde_json::json;
use weirgate_sdk::{ChatKind, InboundMessage, PlatformRole, Replied, SenderKind};

use super::*;

const NOW: Timestamp = 1_790_000_000_123;
const GROUP: i64 = -1_001_234_567_890;

fn read(update: &Value) -> Vec<Event> {
    read_with(&Moves::default(), update)
}

fn read_with(moves: &Moves, update: &Value) -> Vec<Event> {
    let bot = Bot {
        id: 10_001,
        username: "MyBot".into(),
    };
    let receiver = Receiver {
        moves,
        handles: &Handles::default(),
        platform: &"telegram".into(),
        account: &"main".into(),
        bot: &bot,
        ignored: &HashSet::from(["66".to_owned()]),
    };
    receiver.read(update, NOW)
}

fn message(changes: &Value) -> Value {
    let mut message = json!({
        "message_id": 5, "date": 1_790_000_000, "text": "hi",
        "chat": { "id": GROUP, "type": "supergroup", "title": "G" },
        "from": { "id": 7, "is_bot": false, "first_name": "A", "last_name": "B" },
    });
    for (name, value) in changes.as_object().into_iter().flatten() {
        message[name] = value.clone();
    }
    json!({ "update_id": 9, "message": message })
}

fn heard(changes: &Value) -> InboundMessage {
    match read(&message(changes)).pop() {
        Some(Event::Message(message)) => *message,
        other => panic!("{other:?}"),
    }
}

fn key(chat: i64, thread: Option<&str>) -> ConversationKey {
    ConversationKey {
        platform: "telegram".into(),
        account: "main".into(),
        conversation: chat.to_string().into(),
        thread: thread.map(Into::into),
    }
}

#[test]
fn a_message_has_its_keys() {
    let message = heard(&json!({}));
    assert_eq!(message.conversation, key(GROUP, None));
    assert_eq!(message.chat, ChatKind::Group);
    assert_eq!(
        (message.sender.key.id.as_str(), &*message.sender.name),
        ("7", "A B")
    );
    assert_eq!(message.sender.kind, SenderKind::Person);
    assert_eq!(
        (message.sent_at, message.received_at),
        (1_790_000_000_000, NOW)
    );
    assert_eq!(&*message.dedupe.key, "10001/9");
    let private = heard(&json!({ "chat": { "id": 7, "type": "private" } }));
    assert_eq!(
        (private.chat, private.conversation),
        (ChatKind::Private, key(7, None))
    );
}

#[test]
fn topics_are_conversations_and_roots_of_replies_are_not() {
    let topic = heard(&json!({ "message_thread_id": 77, "is_topic_message": true }));
    assert_eq!(topic.conversation, key(GROUP, Some("77")));
    let general = heard(&json!({ "message_thread_id": 1, "is_topic_message": true }));
    assert_eq!(general.conversation, key(GROUP, None));
    let replied = json!({ "message_id": 4, "from": { "id": 10_001 } });
    let root = heard(&json!({ "message_thread_id": 8_123, "reply_to_message": replied }));
    assert_eq!(root.conversation, key(GROUP, None));
    let expected = Replied {
        message: "4".into(),
        to_bot: Some(true),
        author: Some("10001".into()),
    };
    assert_eq!(root.reply_to, Some(expected));
    let hidden = json!({
        "message_id": 4, "from": { "id": 1_087_968_824 }, "sender_chat": { "id": GROUP },
    });
    let answer = heard(&json!({ "reply_to_message": hidden }));
    assert_eq!(answer.reply_to.and_then(|replied| replied.author), None);
    let start = json!({ "message_id": 77, "from": { "id": 10_001 }, "forum_topic_created": {} });
    let topic = heard(
        &json!({ "message_thread_id": 77, "is_topic_message": true, "reply_to_message": start }),
    );
    assert_eq!(
        topic.reply_to, None,
        "the note that opens a topic is nobody's message"
    );
}

#[test]
fn who_speaks_is_told_apart() {
    let stand_in = json!({ "id": 1_087_968_824, "is_bot": true, "username": "GroupAnonymousBot" });
    let channel_bot = json!({ "id": 136_817_688, "is_bot": true, "username": "Channel_Bot" });
    let service = json!({ "id": 777_000, "is_bot": false, "first_name": "Telegram" });
    let channel = json!({ "id": -1_007, "type": "channel", "title": "News" });
    for (changes, kind, id) in [
        (
            json!({ "from": stand_in, "sender_chat": { "id": GROUP, "title": "G" } }),
            SenderKind::Anonymous,
            GROUP,
        ),
        (
            json!({ "from": channel_bot, "sender_chat": channel }),
            SenderKind::Channel,
            -1_007,
        ),
        (
            json!({ "from": service, "sender_chat": channel, "is_automatic_forward": true }),
            SenderKind::Service,
            -1_007,
        ),
        (json!({ "from": service }), SenderKind::Service, 777_000),
    ] {
        let sender = heard(&changes).sender;
        assert_eq!(sender.kind, kind, "{changes}");
        assert_eq!(sender.key.id.as_str(), id.to_string(), "{changes}");
        assert!(!sender.is_bot, "nobody's bot: {changes}");
        let role = if kind == SenderKind::Anonymous {
            PlatformRole::Admin
        } else {
            PlatformRole::Unknown
        };
        assert_eq!(sender.role, role, "{changes}");
    }
    let bot = heard(&json!({ "from": { "id": 8, "is_bot": true, "first_name": "B" } }));
    assert!(bot.sender.is_bot);
    let post = json!({ "update_id": 9, "channel_post": {
        "message_id": 5, "date": 1, "text": "news", "chat": channel, "sender_chat": channel,
    }});
    assert!(
        matches!(&read(&post)[..], [Event::Message(post)] if post.sender.kind == SenderKind::Channel)
    );
    assert_eq!(
        read(&message(&json!({ "from": { "id": 10_001 } }))),
        [Event::OwnMessage]
    );
    assert_eq!(
        read(&message(&json!({ "from": { "id": 66 } }))),
        [other("message of an ignored user")]
    );
}

#[test]
fn what_is_put_into_a_chat_by_itself_mentions_nobody() {
    let entities = json!([{ "type": "mention", "offset": 0, "length": 6 }]);
    let post = heard(&json!({
        "text": "@MyBot", "entities": entities, "is_automatic_forward": true,
        "sender_chat": { "id": -1_007, "type": "channel", "title": "News" },
    }));
    assert!(!post.mentions_bot);
}

#[test]
fn edits_carry_the_whole_message_and_never_more() {
    let mut update = message(&json!({ "text": "changed" }));
    update["edited_message"] = update["message"].take();
    update.as_object_mut().expect("a map").remove("message");
    match &read(&update)[..] {
        [Event::Edited(message)] => assert_eq!(message.own_text(), "changed"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn changes_of_members_are_events() {
    let change = |kind: &str, user: i64, before: Value, after: Value| {
        let member = |mut member: Value| {
            member["user"] = json!({ "id": user });
            member
        };
        let value = json!({
            "chat": { "id": GROUP, "type": "supergroup" }, "from": { "id": 1 }, "date": 1,
            "old_chat_member": member(before), "new_chat_member": member(after),
        });
        read(&json!({ "update_id": 9, kind: value }))
            .pop()
            .expect("an event")
    };
    let status = |status: &str| json!({ "status": status });
    let conversation = key(GROUP, None);
    let user = UserKey {
        platform: "telegram".into(),
        realm: "".into(),
        id: "7".into(),
    };
    let at = || (conversation.clone(), user.clone());
    let left = {
        let (conversation, user) = at();
        Event::MemberLeft { conversation, user }
    };
    assert_eq!(
        change("chat_member", 7, status("member"), status("kicked")),
        left
    );
    let gone = json!({ "status": "restricted", "is_member": false });
    assert_eq!(change("chat_member", 7, status("member"), gone), left);
    let (place, who) = at();
    let joined = Event::MemberJoined {
        conversation: place,
        user: who,
    };
    assert_eq!(
        change("chat_member", 7, status("left"), status("member")),
        joined
    );
    let (place, who) = at();
    let promoted = Event::RoleChanged {
        conversation: place,
        user: who,
        role: PlatformRole::Admin,
    };
    assert_eq!(
        change("chat_member", 7, status("member"), status("administrator")),
        promoted
    );
    let added = Event::BotAdded {
        conversation: conversation.clone(),
    };
    assert_eq!(
        change("my_chat_member", 10_001, status("left"), status("member")),
        added
    );
    let removed = Event::BotRemoved { conversation };
    assert_eq!(
        change(
            "my_chat_member",
            10_001,
            status("administrator"),
            status("kicked")
        ),
        removed
    );
    assert_eq!(
        change("chat_member", 7, json!({}), status("member")),
        malformed("chat_member")
    );
}

#[test]
fn notes_about_a_chat_are_no_messages() {
    let note = |changes: &Value| {
        let mut update = message(changes);
        update["message"]
            .as_object_mut()
            .expect("a map")
            .remove("text");
        read(&update)
    };
    let users = json!({ "new_chat_members": [{ "id": 8 }, { "id": 10_001 }, { "id": 9 }] });
    let joined = note(&users);
    assert_eq!(joined.len(), 2, "{joined:?}");
    assert_eq!(
        note(&json!({ "pinned_message": {} })),
        [other("pinned_message")]
    );
    assert_eq!(
        note(&json!({ "new_chat_title": "x" })),
        [other("new_chat_title")]
    );
    assert_eq!(note(&json!({})), [other("empty message")]);
}

#[test]
fn a_group_that_became_a_supergroup_is_the_same_conversation() {
    let to = json!({ "migrate_to_chat_id": GROUP, "chat": { "id": -42, "type": "group" } });
    let from = json!({ "migrate_from_chat_id": -42 });
    for notes in [[&to, &from], [&from, &to]] {
        let moves = Moves::default();
        for note in notes {
            assert!(matches!(
                &read_with(&moves, &message(note))[..],
                [Event::Other { .. }]
            ));
        }
        match &read_with(&moves, &message(&json!({})))[..] {
            [Event::Message(message)] => assert_eq!(message.conversation, key(-42, None)),
            other => panic!("{other:?}"),
        }
        assert_eq!(moves.present(-42), GROUP);
    }
}

#[test]
fn a_stop_is_that_of_the_person_in_his_chat() {
    let update = json!({ "update_id": 9, "stopped_message_generation": {
        "chat": { "id": 7, "type": "private", "first_name": "A" }, "draft_id": 3, "message_thread_id": 12,
    }});
    match &read(&update)[..] {
        [
            Event::StopPressed {
                conversation,
                sender,
            },
        ] => {
            assert_eq!(*conversation, key(7, Some("12")));
            assert_eq!(sender.key.id.as_str(), "7");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_nobody_knows_is_named_and_what_is_broken_too() {
    for (update, expected) in [
        (
            json!({ "update_id": 8, "some_new_kind": {} }),
            other("some_new_kind"),
        ),
        (json!({ "update_id": 8 }), other("update")),
        (json!({ "message": {} }), malformed("update")),
        (json!([]), malformed("update")),
        (json!(7), malformed("update")),
        (
            json!({ "update_id": 8, "message": null }),
            malformed("message"),
        ),
        (
            json!({ "update_id": 8, "message": { "message_id": 1, "chat": { "id": "x" } } }),
            malformed("message"),
        ),
        (
            json!({ "update_id": 8, "message": { "message_id": 1, "chat": { "id": 5 }, "text": "x" } }),
            malformed("message"),
        ),
        (
            json!({ "update_id": 8, "my_chat_member": 5 }),
            malformed("my_chat_member"),
        ),
    ] {
        assert_eq!(read(&update), [expected], "{update}");
    }
}
