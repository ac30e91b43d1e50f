//! What each kind of event becomes.

use serde_json::json;
use weirgate_sdk::{AttachmentKind, Segment};

use super::*;

const NOW: Timestamp = 1_764_600_000_000;

fn read(kind: &str, data: &Value) -> Event {
    let (platform, account) = ("qq".into(), "bot".into());
    let receiver = Receiver {
        platform: &platform,
        account: &account,
        app_id: "102000001",
        bot: "4900",
        replies: 4,
        streams: false,
    };
    receiver.read(kind, Some("EVENT:1"), data, NOW)
}

fn message(kind: &str, data: &Value) -> InboundMessage {
    match read(kind, data) {
        Event::Message(message) => *message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_private_message_brings_what_answering_it_needs() {
    let data = json!({
        "id": "ROBOT1.0_abc.def!!", "content": "你好\r\nhi", "timestamp": "2025-12-01T22:39:00+08:00",
        "author": { "id": "E4F4", "user_openid": "E4F4AE" },
    });
    let heard = message("C2C_MESSAGE_CREATE", &data);
    assert_eq!(heard.conversation.conversation.as_str(), "c2c:E4F4AE");
    assert_eq!(heard.sender.key.encode(), "qq/102000001/E4F4AE");
    assert_eq!(heard.own_text(), "你好\nhi");
    assert_eq!((heard.chat, heard.mentions_bot), (ChatKind::Private, false));
    let sent_at = 1_764_599_940_000;
    assert_eq!(heard.sent_at, sent_at);
    let context = heard.reply_context.expect("a context");
    assert_eq!(context.data, "ROBOT1.0_abc.def!!");
    assert_eq!(context.uses_left, Some(4));
    assert_eq!(context.expires_at, Some(sent_at + 3_600_000));
    assert_eq!(&*heard.dedupe.key, "ROBOT1.0_abc.def!!");
}

#[test]
fn a_mention_in_a_group_loses_its_space_and_is_known_as_the_full_message() {
    let data = json!({
        "id": "m1", "content": " /help me ", "timestamp": "2025-12-01T22:39:00+08:00",
        "group_openid": "C9F7", "author": { "member_openid": "A1", "member_role": "admin" },
    });
    let heard = message("GROUP_AT_MESSAGE_CREATE", &data);
    assert_eq!(heard.own_text(), "/help me");
    assert_eq!((heard.chat, heard.mentions_bot), (ChatKind::Group, true));
    assert_eq!(heard.sender.role, PlatformRole::Admin);
    let context = heard.reply_context.as_ref().expect("a context");
    assert_eq!(context.expires_at, Some(heard.sent_at + 300_000));
    let mut full = data.clone();
    full["mentions"] = json!([{ "member_openid": "B2", "is_you": true }, { "member_openid": "D4", "username": "dee" }]);
    full["content"] = "<@B2> /help <@D4> <@E5>".into();
    let full = message("GROUP_MESSAGE_CREATE", &full);
    assert_eq!(full.dedupe.key, heard.dedupe.key);
    assert!(full.mentions_bot);
    assert_eq!(full.own_text(), "/help @dee <@E5>");
    let other = json!({ "id": "m2", "content": "hi", "group_openid": "C9F7",
        "author": { "member_openid": "A1", "bot": true } });
    let other = message("GROUP_MESSAGE_CREATE", &other);
    assert!(!other.mentions_bot && other.sender.is_bot);
}

#[test]
fn channels_and_their_direct_messages_are_places_of_their_own() {
    let data = json!({
        "id": "08ab", "channel_id": "100", "guild_id": "50", "content": "<@!4900> hi <@!77>",
        "author": { "id": "9007199254740993", "username": "ann" }, "member": { "nick": "Ann", "roles": ["2"] },
        "mentions": [{ "id": "4900", "username": "weir", "bot": true }, { "id": "77", "username": "bob" }],
        "message_reference": { "message_id": "08aa" }, "timestamp": "2025-12-01T22:39:00+08:00",
    });
    let heard = message("AT_MESSAGE_CREATE", &data);
    assert_eq!(heard.conversation.conversation.as_str(), "channel:100");
    assert_eq!(heard.own_text(), "hi @bob");
    assert_eq!(
        (&*heard.sender.name, heard.sender.role),
        ("Ann", PlatformRole::Admin)
    );
    assert_eq!(
        heard.reply_to.map(|replied| replied.message),
        Some("08aa".into())
    );
    assert!(message("MESSAGE_CREATE", &data).mentions_bot);
    let mut direct = data.clone();
    direct["guild_id"] = "51".into();
    let direct = message("DIRECT_MESSAGE_CREATE", &direct);
    assert_eq!(direct.conversation.conversation.as_str(), "direct:51");
    assert_eq!(direct.chat, ChatKind::Private);
    let mut own = data;
    own["author"]["id"] = "4900".into();
    assert_eq!(read("MESSAGE_CREATE", &own), Event::OwnMessage);
}

#[test]
fn attachments_faces_and_words_of_a_voice_message_are_told() {
    let data = json!({
        "id": "m", "content": r#"<faceType=1,faceId="13",ext="eyJ0">a"#, "author": { "user_openid": "E4" },
        "attachments": [
            { "content_type": "image/png", "filename": "a.png", "url": "https://example.com/a?x=1", "size": 7 },
            { "content_type": "voice", "url": "example.com/v", "asr_refer_text": "good\nmorning" },
            { "content_type": "file", "filename": "b.pdf" }, 5,
        ],
    });
    let heard = message("C2C_MESSAGE_CREATE", &data);
    let kinds: Vec<_> = heard
        .segments
        .iter()
        .map(|segment| match segment {
            Segment::Attachment(attachment) => {
                format!("{:?} {}", attachment.kind, attachment.reference)
            }
            Segment::Placeholder(text) => text.clone(),
            Segment::Text(text) => format!("text {text}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "face",
            "text a",
            "Image https://example.com/a?x=1",
            "Audio https://example.com/v",
            "voice message: good morning",
            "attachment: b.pdf",
            "attachment: without a name",
        ]
    );
    assert_eq!(heard.own_text(), "a");
    assert!(matches!(&heard.segments[2], Segment::Attachment(image)
        if image.kind == AttachmentKind::Image && image.size == Some(7) && image.name.as_deref() == Some("a.png")));
}

#[test]
fn what_only_looks_like_a_mark_stays_text() {
    for text in [
        "<@1> <!here> @everyone <#3>",
        "a < b @ c > d",
        "<@",
        "<faceType=",
        "@",
        "<",
        "1<2",
    ] {
        let data = json!({ "id": "m", "content": text, "author": { "user_openid": "E4" } });
        let heard = message("C2C_MESSAGE_CREATE", &data);
        assert_eq!(heard.segments, [Segment::Text(text.to_owned())]);
    }
    let all = json!({ "id": "m", "content": "@everyone up", "mention_everyone": true, "channel_id": "1",
        "author": { "id": "5" } });
    let heard = message("MESSAGE_CREATE", &all);
    assert_eq!(
        heard.segments,
        [Segment::MentionAll, Segment::Text(" up".into())]
    );
    assert!(!heard.mentions_bot);
}

#[test]
fn the_bot_comes_and_goes_and_messages_are_recalled() {
    let group = json!({ "group_openid": "C9F7", "op_member_openid": "A1" });
    assert!(matches!(
        read("GROUP_ADD_ROBOT", &group),
        Event::BotAdded { .. }
    ));
    assert!(matches!(
        read("GROUP_DEL_ROBOT", &group),
        Event::BotRemoved { .. }
    ));
    let gone = json!({ "message": { "id": "08ab", "channel_id": "100", "guild_id": "50" } });
    let deleted = read("PUBLIC_MESSAGE_DELETE", &gone);
    let Event::Deleted {
        conversation,
        message,
    } = deleted
    else {
        panic!("{deleted:?}")
    };
    assert_eq!(
        (conversation.conversation.as_str(), message.as_str()),
        ("channel:100", "08ab")
    );
}

#[test]
fn what_is_not_whole_is_malformed_and_what_is_not_known_is_named() {
    for (kind, data) in [
        ("C2C_MESSAGE_CREATE", json!({})),
        ("C2C_MESSAGE_CREATE", json!(null)),
        (
            "C2C_MESSAGE_CREATE",
            json!({ "id": "m", "author": { "user_openid": "../x" } }),
        ),
        (
            "GROUP_AT_MESSAGE_CREATE",
            json!({ "id": "m", "author": { "member_openid": "A" } }),
        ),
        (
            "GROUP_AT_MESSAGE_CREATE",
            json!({ "id": 5, "group_openid": "G", "author": { "member_openid": "A" } }),
        ),
        ("GROUP_ADD_ROBOT", json!([])),
        ("MESSAGE_DELETE", json!({ "message": 5 })),
        (
            "C2C_MESSAGE_CREATE",
            json!({ "id": "m".repeat(513), "author": { "user_openid": "A" } }),
        ),
    ] {
        assert_eq!(
            read(kind, &data),
            Event::Malformed { name: kind.into() },
            "{data}"
        );
    }
    let other = Event::Other {
        name: "FRIEND_ADD".into(),
    };
    assert_eq!(read("FRIEND_ADD", &json!({})), other);
}

#[test]
fn long_ids_make_short_keys_and_odd_times_are_now() {
    let id = "R".repeat(500);
    let data =
        json!({ "id": id, "content": "x", "timestamp": "soon", "author": { "user_openid": "A" } });
    let heard = message("C2C_MESSAGE_CREATE", &data);
    assert_eq!((heard.dedupe.key.len(), heard.sent_at), (64, NOW));
    assert!(
        heard
            .reply_context
            .is_some_and(|context| context.data.len() <= 1_024)
    );
    let later = json!({ "id": "m", "content": "x", "timestamp": "2199-01-01T00:00:00Z", "author": { "user_openid": "A" } });
    assert_eq!(message("C2C_MESSAGE_CREATE", &later).sent_at, NOW);
    let seconds = json!({ "id": "m", "content": "x", "timestamp": 1_764_599_000, "author": { "user_openid": "A" } });
    assert_eq!(
        message("C2C_MESSAGE_CREATE", &seconds).sent_at,
        1_764_599_000_000
    );
}
