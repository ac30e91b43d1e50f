//! Mentions, commands, quotations and what is no text.

use serde_json::json;
use weirgate_sdk::{Attachment, AttachmentKind};

use super::*;

fn bot() -> Bot {
    Bot {
        id: 10_001,
        username: "MyBot".into(),
    }
}

fn text(words: &str) -> Segment {
    Segment::Text(words.into())
}

fn mention(user: &str, name: &str) -> Segment {
    Segment::Mention {
        user: user.into(),
        name: name.into(),
    }
}

/// What a message says, read by somebody who has met nobody.
fn read(message: &Value) -> Content {
    super::read(message, &bot(), &|_| None)
}

/// A message with a text in which these pieces are entities of this kind.
fn with(words: &str, entities: &[(&str, &str)]) -> Value {
    let units = |text: &str| text.chars().map(char::len_utf16).sum::<usize>();
    let entities: Vec<Value> = entities
        .iter()
        .map(|(kind, piece)| {
            let before = words.split(piece).next().unwrap_or_default();
            json!({ "type": kind, "offset": units(before), "length": units(piece) })
        })
        .collect();
    json!({ "text": words, "entities": entities })
}

#[test]
fn the_bot_is_mentioned_by_name_in_any_case_and_others_by_theirs() {
    let message = with(
        "😀 @mybot hello @MyBotty",
        &[("mention", "@mybot"), ("mention", "@MyBotty")],
    );
    let handle = || Segment::Handle("MyBotty".into());
    let content = read(&message);
    assert_eq!(
        content.segments,
        [text("😀 "), mention("10001", ""), text("hello "), handle()]
    );
    assert!(content.mentions_bot);
    let content = read(&with("hi @MyBotty", &[("mention", "@MyBotty")]));
    assert_eq!(
        (content.segments, content.mentions_bot),
        (vec![text("hi "), handle()], false)
    );
}

#[test]
fn a_user_name_is_its_bearer_where_he_is_known() {
    let bearer = |name: &str| (name == "bobby").then_some(7);
    let message = with(
        "/ban @bobby @alice",
        &[("mention", "@bobby"), ("mention", "@alice")],
    );
    let content = super::read(&message, &bot(), &bearer);
    assert_eq!(
        content.segments,
        [
            text("/ban "),
            mention("7", "bobby"),
            text(" "),
            Segment::Handle("alice".into()),
        ]
    );
    // What only looks like one is a word.
    let content = super::read(&with("/ban @bobby", &[]), &bot(), &bearer);
    assert_eq!(content.segments, [text("/ban @bobby")]);
}

#[test]
fn people_without_a_name_are_mentioned_by_their_ids() {
    let mut message = with("ask 王 now", &[("text_mention", "王")]);
    message["entities"][0]["user"] = json!({ "id": 7, "first_name": "王" });
    let content = read(&message);
    assert_eq!(
        content.segments,
        [text("ask "), mention("7", "王"), text(" now")]
    );
    message["entities"][0]["user"] = json!({ "id": 10_001 });
    assert!(read(&message).mentions_bot);
}

#[test]
fn commands_go_to_the_bot_that_they_name() {
    for (words, expected, mine, another) in [
        ("/status", "/status", false, false),
        ("/status@mybot", "/status", true, false),
        ("/status@OtherBot", "/status@OtherBot", false, true),
        ("/status@", "/status@", false, false),
        ("/STATUS@MyBot arg", "/STATUS arg", true, false),
        ("text /status@MyBot", "text /status@MyBot", false, false),
        ("/a/b@MyBot", "/a/b@MyBot", false, false),
    ] {
        let content = read(&json!({ "caption": words }));
        assert_eq!(content.segments, [text(expected)], "{words}");
        assert_eq!(
            (content.mentions_bot, content.for_another_bot),
            (mine, another),
            "{words}"
        );
    }
}

#[test]
fn hidden_addresses_are_shown_and_odd_entities_passed_over() {
    let mut message = with("see here, ok", &[("text_link", "here"), ("bold", "ok")]);
    message["entities"][0]["url"] = json!("https://example.com/");
    let content = read(&message);
    let link = Segment::Placeholder("link: https://example.com/".into());
    assert_eq!(content.segments, [text("see here"), link, text(", ok")]);
    let odd = json!({ "text": "😀 @MyBot", "entities": [
        { "type": "mention", "offset": 1, "length": 6 },
        { "type": "mention", "offset": 3, "length": 60 },
        { "type": "mention", "offset": -3, "length": 6 },
        { "type": "mention", "offset": u64::MAX, "length": u64::MAX },
        { "type": 5 }, 7, null,
    ]});
    assert_eq!(read(&odd).segments, [text("😀 @MyBot")]);
}

#[test]
fn what_is_answered_is_a_quotation() {
    let answered = |replied: Value| {
        let message = json!({ "text": "why?", "reply_to_message": replied });
        read(&message).segments
    };
    let said = json!({ "message_id": 1, "from": { "id": 7, "first_name": "A", "last_name": "B" }, "text": "so" });
    assert_eq!(
        answered(said),
        [Segment::Quote("A B: so".into()), text("why?")]
    );
    // Its own words the bot knows, unless a part of them is picked.
    let own =
        json!({ "message_id": 1, "from": { "id": 10_001, "first_name": "Bot" }, "text": "so" });
    assert_eq!(answered(own.clone()), [text("why?")]);
    let picked = json!({ "text": "why?", "reply_to_message": own, "quote": { "text": "o" } });
    assert_eq!(read(&picked).segments[0], Segment::Quote("Bot: o".into()));
    // Every message of a topic seems to answer the one that opened it.
    let start =
        json!({ "message_id": 1, "from": { "id": 7 }, "forum_topic_created": { "name": "t" } });
    assert_eq!(answered(start), [text("why?")]);
}

#[test]
fn forwarded_words_are_somebody_elses() {
    let message = json!({
        "text": "/stop @MyBot",
        "forward_origin": { "type": "channel", "chat": { "id": -7, "title": "News" } },
    });
    let content = read(&message);
    assert_eq!(
        content.segments,
        [Segment::Quote("News: /stop @MyBot".into())]
    );
    assert!(!content.mentions_bot);
}

#[test]
fn files_are_references_and_other_things_described() {
    let photo = json!({
        "photo": [{ "file_id": "small", "file_size": 10 }, { "file_id": "large", "file_size": 1_000 }],
        "caption": "look",
    });
    let file = |kind, reference: &str, name: Option<&str>, size| {
        Segment::Attachment(Attachment {
            kind,
            reference: reference.into(),
            name: name.map(Into::into),
            size,
            expires_at: None,
        })
    };
    let expected = [
        file(AttachmentKind::Image, "large", None, Some(1_000)),
        text("look"),
    ];
    assert_eq!(read(&photo).segments, expected);
    let document = json!({ "document": { "file_id": "d", "file_name": "a\n.pdf" } });
    let expected = [file(AttachmentKind::File, "d", Some("a .pdf"), None)];
    assert_eq!(read(&document).segments, expected);
    for (message, words) in [
        (json!({ "sticker": { "emoji": "😀" } }), "sticker 😀"),
        (
            json!({ "location": { "latitude": 1.5, "longitude": -2 } }),
            "location: 1.50000, -2.00000",
        ),
        (
            json!({ "poll": { "question": "q?", "options": [{ "text": "a" }, { "text": "b" }] } }),
            "poll: q? (a / b)",
        ),
        (
            json!({ "dice": { "emoji": "🎲", "value": 4 } }),
            "dice 🎲 4",
        ),
        (json!({ "hologram": { "x": 1 } }), "hologram"),
        (json!({ "photo": [] }), "photo"),
        (json!({ "voice": { "file_id": 7 } }), "voice"),
    ] {
        let found = read(&message).segments;
        assert_eq!(found, [Segment::Placeholder(words.into())], "{message}");
    }
    assert_eq!(
        read(&json!({ "message_id": 1, "date": 1 })),
        Content::default()
    );
}
