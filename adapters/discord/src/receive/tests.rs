//! What events say.

use proptest::prelude::*;
use serde_json::json;
use weirgate_sdk::{AttachmentKind, ChatKind, InboundMessage, Segment, SenderKind};

use super::*;

const BOT: Snowflake = 10_001;

fn channels() -> Channels {
    let mut channels = Channels::default();
    channels.learn(&json!({ "id": "5", "type": 0 }));
    channels.learn(&json!({ "id": "6", "type": 11, "parent_id": "5" }));
    channels.is_direct(9);
    channels
}

fn read(kind: &str, data: &Value) -> Vec<Event> {
    let ignored = HashSet::from(["13".to_owned()]);
    let receiver = Receiver {
        platform: &"discord".into(),
        account: &"main".into(),
        bot: BOT,
        ignored: &ignored,
        servers: &Mutex::default(),
        menu: &Menu::default(),
    };
    receiver.read(kind, data, &mut channels(), 99)
}

/// A message with changes laid over it.
fn message(changes: &Value) -> Value {
    let mut message = json!({
        "id": "175928847299117063", "channel_id": "5", "guild_id": "1", "type": 0, "content": "hello",
        "author": { "id": "7", "username": "ann", "global_name": "Ann" }, "mentions": [], "attachments": [],
    });
    for (name, value) in changes.as_object().expect("an object") {
        message[name] = value.clone();
    }
    message
}

fn heard(changes: &Value) -> InboundMessage {
    let mut events = read("MESSAGE_CREATE", &message(changes));
    match events.pop() {
        Some(Event::Message(message)) if events.is_empty() => *message,
        other => panic!("{other:?}"),
    }
}

fn only(kind: &str, changes: &Value) -> Event {
    let mut events = read(kind, &message(changes));
    assert_eq!(events.len(), 1);
    events.remove(0)
}

#[test]
fn places_are_channels_threads_and_direct_messages() {
    let plain = heard(&json!({}));
    assert_eq!(
        (plain.chat, plain.conversation.encode()),
        (ChatKind::Group, "discord/main/5/".into())
    );
    let thread = heard(&json!({ "channel_id": "6" }));
    assert_eq!(thread.conversation.encode(), "discord/main/5/6");
    let direct = heard(&json!({ "channel_id": "9" }));
    assert_eq!(
        (direct.chat, direct.conversation.encode()),
        (ChatKind::Private, "discord/main/9/".into())
    );
    assert_eq!(plain.sent_at, 1_462_015_105_796);
    assert_eq!(&*plain.dedupe.key, "10001/175928847299117063");
}

#[test]
fn people_bots_webhooks_and_the_platform_are_told_apart() {
    let kind = |changes: Value| {
        let sender = heard(&changes).sender;
        (sender.name, sender.is_bot, sender.kind)
    };
    assert_eq!(kind(json!({})), ("Ann".into(), false, SenderKind::Person));
    assert_eq!(
        kind(json!({ "member": { "nick": "Annie" } })),
        ("Annie".into(), false, SenderKind::Person)
    );
    let bot = json!({ "author": { "id": "8", "username": "b", "bot": true } });
    assert_eq!(kind(bot), ("b".into(), true, SenderKind::Person));
    let webhook = json!({ "webhook_id": "8", "author": { "id": "8", "username": "hook" } });
    assert_eq!(kind(webhook), ("hook".into(), true, SenderKind::Service));
    let system = json!({ "author": { "id": "8", "username": "s", "system": true } });
    assert_eq!(kind(system), ("s".into(), false, SenderKind::Service));
    assert_eq!(
        only("MESSAGE_CREATE", &json!({ "author": { "id": "10001" } })),
        Event::OwnMessage
    );
    assert!(matches!(
        only("MESSAGE_CREATE", &json!({ "author": { "id": "13" } })),
        Event::Other { .. }
    ));
    assert!(matches!(
        only("MESSAGE_CREATE", &json!({ "type": 7 })),
        Event::Other { .. }
    ));
}

#[test]
fn only_who_is_named_beside_the_text_is_mentioned() {
    let users = json!([
        { "id": "10001", "username": "weir" },
        { "id": "8", "username": "bob", "member": { "nick": "Bobby" } },
    ]);
    let message =
        heard(&json!({ "content": "<@10001>  ask <@!8> or <@9> <:wave:55>", "mentions": users }));
    assert!(message.mentions_bot);
    assert_eq!(message.own_text(), "ask @Bobby or <@9> :wave:");
    let all = heard(&json!({ "content": "@everyone hi", "mention_everyone": true }));
    assert_eq!(
        all.segments,
        [Segment::MentionAll, Segment::Text(" hi".into())]
    );
    assert!(!all.mentions_bot);
    let nobody = heard(&json!({ "content": "@everyone <@10001> < @ <" }));
    assert_eq!(
        (nobody.own_text().as_str(), nobody.mentions_bot),
        ("@everyone <@10001> < @ <", false)
    );
}

#[test]
fn a_reply_names_what_it_answers_and_whose_it_was() {
    let reply = |referenced: Value| {
        heard(
            &json!({ "type": 19, "message_reference": { "message_id": "77" }, "referenced_message": referenced }),
        )
    };
    let other = reply(json!({ "content": "before", "author": { "id": "8", "username": "bob" } }));
    let replied = other.reply_to.clone().expect("a reply");
    assert_eq!(
        (replied.message.as_str(), replied.to_bot),
        ("77", Some(false))
    );
    assert_eq!(replied.author, Some("8".into()));
    assert_eq!(other.segments[0], Segment::Quote("bob: before".into()));
    let own = reply(json!({ "content": "mine", "author": { "id": "10001" } }));
    assert_eq!(own.reply_to.expect("a reply").to_bot, Some(true));
    assert_eq!(own.segments, [Segment::Text("hello".into())]);
    let gone = reply(Value::Null).reply_to.expect("a reply");
    assert_eq!((gone.to_bot, gone.author), (None, None));
    let hook = reply(
        json!({ "content": "x", "webhook_id": "8", "author": { "id": "8", "username": "h" } }),
    );
    assert_eq!(hook.reply_to.expect("a reply").author, None);
    let forward = heard(&json!({
        "content": "", "message_reference": { "type": 1, "message_id": "77" },
        "message_snapshots": [{ "message": { "content": "/stop theirs" } }],
    }));
    assert_eq!(forward.segments, [Segment::Quote("/stop theirs".into())]);
    assert_eq!(forward.reply_to, None);
}

#[test]
fn what_is_not_text_is_described() {
    let url = "https://cdn.example/a.png?ex=68000000&is=1&hm=2";
    let segments = heard(&json!({
        "content": "",
        "attachments": [
            { "url": url, "filename": "a.png", "size": 5, "content_type": "image/png" },
            { "url": "x".repeat(3_000), "filename": "long.bin" },
        ],
        "sticker_items": [{ "id": "1", "name": "Wave" }],
        "embeds": [{ "title": "Title", "url": "https://example.com" }],
        "poll": { "question": { "text": "When?" }, "answers": [{ "poll_media": { "text": "now" } }] },
    }))
    .segments;
    let Segment::Attachment(file) = &segments[0] else {
        panic!("{segments:?}")
    };
    assert_eq!((file.kind, file.size), (AttachmentKind::Image, Some(5)));
    assert_eq!(file.expires_at, Some(0x6800_0000 * 1_000));
    let words = [
        "file: long.bin",
        "sticker: Wave",
        "card: Title https://example.com",
        "poll: When? (now)",
    ];
    let described: Vec<_> = words.map(|words| Segment::Placeholder(words.into())).into();
    assert_eq!(segments[1..], described);
    let preview =
        heard(&json!({ "content": "https://example.com", "embeds": [{ "title": "Title" }] }));
    assert_eq!(preview.segments.len(), 1);
    assert!(matches!(
        only("MESSAGE_CREATE", &json!({ "content": "" })),
        Event::Other { .. }
    ));
}

#[test]
fn edits_count_and_previews_do_not() {
    let edited = only(
        "MESSAGE_UPDATE",
        &json!({ "edited_timestamp": "2026-01-01T00:00:00Z" }),
    );
    assert!(
        matches!(&edited, Event::Edited(message) if message.own_text() == "hello"),
        "{edited:?}"
    );
    assert!(matches!(
        only("MESSAGE_UPDATE", &json!({})),
        Event::Other { .. }
    ));
    let own = json!({ "edited_timestamp": "x", "author": { "id": "10001" } });
    assert_eq!(only("MESSAGE_UPDATE", &own), Event::OwnMessage);
}

#[test]
fn each_deleted_message_is_told_where_it_was() {
    let told = read(
        "MESSAGE_DELETE_BULK",
        &json!({ "ids": ["1", "2"], "channel_id": "6" }),
    );
    let threads: Vec<_> = told
        .iter()
        .map(|event| match event {
            Event::Deleted {
                conversation,
                message,
            } => (conversation.encode(), message.to_string()),
            other => panic!("{other:?}"),
        })
        .collect();
    let place = || "discord/main/5/6".to_owned();
    assert_eq!(threads, [(place(), "1".into()), (place(), "2".into())]);
    let malformed =
        |data: Value| matches!(read("MESSAGE_DELETE", &data)[..], [Event::Malformed { .. }]);
    assert!(malformed(json!({ "id": 5, "channel_id": "6" })) && malformed(json!({})));
}

#[test]
fn what_is_unknown_or_unreadable_is_told_and_what_is_about_the_session_is_not() {
    assert_eq!(read("READY", &json!({})), []);
    let name = "TYPING_START".to_owned();
    assert_eq!(read("TYPING_START", &json!({})), [Event::Other { name }]);
    let malformed =
        |kind: &str, data: Value| matches!(read(kind, &data)[..], [Event::Malformed { .. }]);
    assert!(malformed(UNREADABLE, Value::Null) && malformed("MESSAGE_CREATE", json!([])));
    assert!(malformed(
        "MESSAGE_DELETE_BULK",
        json!({ "channel_id": "5", "ids": [] })
    ));
}

proptest! {
    #[test]
    fn no_text_is_a_panic_and_none_is_lost(text in "[<@!:>a1 \\PC]{0,40}", mentions in any::<bool>()) {
        let users = if mentions { json!([{ "id": "1", "username": "one" }]) } else { json!([]) };
        let events = read("MESSAGE_CREATE", &message(&json!({ "content": text, "mentions": users })));
        prop_assert_eq!(events.len(), 1);
        if let Event::Message(message) = &events[0] {
            let kept = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
            prop_assert!(mentions || kept(&message.own_text()) >= text.matches(|c: char| c.is_alphabetic() && c != 'a').count());
        }
    }
}
