//! Both encodings mean the same, literal text stays literal, nothing odd is lost without a word.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const BOT: &str = "10001";

fn read_event(event: &Value) -> Content {
    let json = event.to_string();
    let frame: wire::Frame<'_> = serde_json::from_str(&json).expect("a frame");
    read(frame.message, frame.raw_message, BOT)
}

fn read_message(message: Value) -> Content {
    read_event(&json!({ "message": message }))
}

fn one(kind: &str, data: Value) -> Segment {
    let mut content = read_message(json!([{ "type": kind, "data": data }]));
    assert_eq!(content.segments.len(), 1, "{content:?}");
    content.segments.remove(0)
}

fn text(text: &str) -> Segment {
    Segment::Text(text.into())
}

#[test]
fn array_text_is_literal() {
    let literal = "a &amp; b [CQ:face,id=1], &#91;";
    let content = read_message(json!([{ "type": "text", "data": { "text": literal } }]));
    assert_eq!(content.segments, [text(literal)]);
}

#[test]
fn a_string_is_parsed_and_an_array_is_not_whatever_is_configured() {
    let string = read_message(json!("hi [CQ:at,qq=10001] there &#91;x&#93;"));
    let array = read_message(json!([
        { "type": "text", "data": { "text": "hi " } },
        { "type": "at", "data": { "qq": 10001 } },
        { "type": "text", "data": { "text": " there [x]" } },
    ]));
    assert_eq!(string, array);
    assert!(string.mentions_bot);
    assert_eq!(string.segments[2], text("there [x]"));
}

#[test]
fn a_single_segment_without_a_list_is_read() {
    let content = read_message(json!({ "type": "text", "data": { "text": "x" } }));
    assert_eq!(content.segments, [text("x")]);
}

#[test]
fn raw_message_counts_when_there_is_no_message() {
    for event in [
        json!({ "raw_message": "&#91;hello" }),
        json!({ "message": null, "raw_message": "&#91;hello" }),
        json!({ "message": [], "raw_message": "&#91;hello" }),
    ] {
        assert_eq!(read_event(&event).segments, [text("[hello")], "{event}");
    }
}

#[test]
fn an_empty_message_is_empty() {
    for event in [
        json!({}),
        json!({ "message": [], "raw_message": "" }),
        json!({ "message": "" }),
        json!({ "message": 7.5e300 }),
        json!({ "message": [{ "type": "text", "data": { "text": "" } }] }),
        json!({ "message": [{ "type": "text" }] }),
    ] {
        let content = read_event(&event);
        assert!(
            content.segments.len() <= 1 && !content.mentions_bot,
            "{event}: {content:?}"
        );
    }
}

#[test]
fn the_bot_is_mentioned_by_its_id_only() {
    for (qq, mentioned) in [
        (json!("10001"), true),
        (json!(10001), true),
        (json!("all"), false),
        (json!(20001), false),
    ] {
        let content = read_message(json!([{ "type": "at", "data": { "qq": qq } }]));
        assert_eq!(content.mentions_bot, mentioned, "{qq}");
    }
    assert_eq!(one("at", json!({ "qq": "all" })), Segment::MentionAll);
}

#[test]
fn the_space_after_a_mention_of_the_bot_goes_and_others_stay() {
    let content = read_message(json!(
        "[CQ:at,qq=10001]  ask [CQ:at,qq=20002,name=@小明] too"
    ));
    let mention = Segment::Mention {
        user: "20002".into(),
        name: "小明".into(),
    };
    assert_eq!(content.segments[1..], [text("ask "), mention, text(" too")]);
    let unnamed = Segment::Mention {
        user: "20002".into(),
        name: "20002".into(),
    };
    assert_eq!(one("at", json!({ "qq": 20002 })), unnamed);
}

#[test]
fn a_reply_carries_the_identical_id() {
    for id in [
        json!(-912345678),
        json!(1712345678901_i64),
        json!("7301234567890123456"),
    ] {
        let content = read_message(json!([
            { "type": "reply", "data": { "id": id } },
            { "type": "text", "data": { "text": "x" } },
        ]));
        let expected = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
        assert_eq!(content.reply_to, Some(expected));
        assert_eq!(content.segments, [text("x")]);
    }
    assert_eq!(
        read_message(json!("[CQ:reply,id=-5]x")).reply_to.as_deref(),
        Some("-5")
    );
    let missing = read_message(json!([{ "type": "reply", "data": { "id": "undefined" } }]));
    assert_eq!(missing.reply_to, None);
}

#[test]
fn media_are_references() {
    let file = one(
        "file",
        json!({ "file": "报告.pdf", "file_id": "/x", "file_size": "1024", "url": "https://example.com/f" }),
    );
    let Segment::Attachment(file) = file else {
        panic!("{file:?}")
    };
    assert_eq!(file.kind, AttachmentKind::File);
    assert_eq!(file.reference, "https://example.com/f\n/x");
    assert_eq!(
        (file.name.as_deref(), file.size),
        (Some("报告.pdf"), Some(1024))
    );
    for (kind, expected) in [
        ("image", AttachmentKind::Image),
        ("record", AttachmentKind::Audio),
        ("video", AttachmentKind::Video),
    ] {
        let Segment::Attachment(found) = one(kind, json!({ "file": "a" })) else {
            panic!()
        };
        assert_eq!((found.kind, found.reference.as_str()), (expected, "a"));
    }
}

#[test]
fn media_without_a_usable_reference_are_placeholders() {
    assert_eq!(
        one("image", json!({})),
        Segment::Placeholder("image".into())
    );
    let inline = format!("base64://{}", "A".repeat(MAX_REFERENCE));
    assert_eq!(
        one("image", json!({ "file": inline })),
        Segment::Placeholder("image".into())
    );
}

#[test]
fn other_kinds_are_described() {
    for (kind, data, words) in [
        ("face", json!({ "id": 14 }), "emoji: 14"),
        ("mface", json!({ "summary": "[ok]" }), "sticker: [ok]"),
        (
            "share",
            json!({ "title": "T", "url": "https://example.com" }),
            "link: T https://example.com",
        ),
        (
            "location",
            json!({ "title": "家", "lat": "1.5", "lon": 2.5 }),
            "location: 家 1.5 2.5",
        ),
        (
            "forward",
            json!({ "id": "x", "content": [[]] }),
            "forwarded messages",
        ),
        ("poke", json!({}), "poke"),
        ("dice", json!({ "result": "3" }), "dice: 3"),
        ("mface2", json!(null), "mface2"),
        ("", json!(7), "unknown"),
        ("json", json!({ "data": "{" }), "card"),
        ("json", json!({ "data": "{\"prompt\":\"p\"}" }), "card: p"),
        ("xml", json!({ "data": "<a>" }), "card"),
    ] {
        assert_eq!(
            one(kind, data),
            Segment::Placeholder(words.into()),
            "{kind}"
        );
    }
}

#[test]
fn a_burst_of_segments_is_bounded_and_told() {
    let many: Vec<_> = (0..MAX_SEGMENTS + 7)
        .map(|_| json!({ "type": "poke", "data": {} }))
        .collect();
    let content = read_message(many.into());
    assert_eq!(content.segments.len(), MAX_SEGMENTS + 1);
    assert_eq!(
        content.segments.last(),
        Some(&Segment::Placeholder("7 more parts".into()))
    );
}

proptest! {
    #[test]
    fn text_of_an_array_arrives_as_it_is(pieces in prop::collection::vec("[^\\p{Cc}]{1,8}", 0..6)) {
        let segments: Vec<Value> =
            pieces.iter().map(|piece| json!({ "type": "text", "data": { "text": piece } })).collect();
        let content = read_message(segments.into());
        let expected: Vec<Segment> = pieces.iter().map(|piece| text(piece)).collect();
        prop_assert_eq!(content.segments, expected);
    }

    #[test]
    fn any_json_is_taken(kind in "text|at|reply|image|json|share|[a-z]{0,3}", value in "[0-9a-z\"{}\\[\\]:,]{0,20}") {
        let data = serde_json::from_str::<Value>(&value).unwrap_or(Value::from(value));
        for name in ["qq", "id", "text", "file", "data"] {
            let _ = read_message(json!([{ "type": kind, "data": { name: data.clone() } }, data.clone()]));
        }
    }
}

#[test]
fn faces_have_names_where_the_implementation_tells_them() {
    let face = |data: Value| {
        let message = json!([{ "type": "face", "data": data }]);
        let raw = serde_json::value::to_raw_value(&message).expect("JSON");
        read(Some(&raw), None, "10001").segments
    };
    let named = json!({ "id": "14", "raw": { "faceText": "/微笑" } });
    assert_eq!(face(named), [Segment::Placeholder("emoji: 微笑".into())]);
    for plain in [
        json!({ "id": 14 }),
        json!({ "id": "14", "raw": { "faceText": "" } }),
    ] {
        assert_eq!(face(plain), [Segment::Placeholder("emoji: 14".into())]);
    }
}

#[test]
fn forwarded_messages_are_quoted_if_they_came() {
    let forward = |data: Value| {
        let message = json!([{ "type": "forward", "data": data }]);
        let raw = serde_json::value::to_raw_value(&message).expect("JSON");
        read(Some(&raw), None, "10001").segments
    };
    let said =
        |name: &str, message: Value| json!({ "sender": { "nickname": name }, "message": message });
    let text = |text: &str| json!([{ "type": "text", "data": { "text": text } }]);
    let inner = json!([{ "type": "forward", "data": { "content": [said("x", text("deep"))] } }]);
    let content = json!([
        said("甲", text("one [CQ:at,qq=all]")),
        said("乙", json!("two[CQ:image,file=a.jpg]")),
        said("丙", inner),
        said("丁", json!([])),
        7,
    ]);
    let quoted = "甲: one [CQ:at,qq=all]\n乙: two[image]\n丙: [forwarded messages]";
    assert_eq!(
        forward(json!({ "id": "1", "content": content })),
        [Segment::Quote(quoted.into())]
    );
    let many: Vec<Value> = (0..35).map(|n| said("n", text(&n.to_string()))).collect();
    let Segment::Quote(lines) = &forward(json!({ "content": many }))[0] else {
        panic!("quoted");
    };
    assert!(lines.ends_with("n: 29\n(5 more)"), "{lines}");
    for nothing in [
        json!({ "id": "1" }),
        json!({ "content": [] }),
        json!({ "content": "x" }),
    ] {
        let placeholder = Segment::Placeholder("forwarded messages".into());
        assert_eq!(forward(nothing), [placeholder]);
    }
}
