//! What is quoted, and what is nobody's business here.

use serde_json::{Value, json};
use weirgate_sdk::Timestamp;

use super::*;
use crate::{
    onebot::{
        answer::outcome,
        receive::{Received, Receiver},
    },
    settings::Settings,
};

const NOW: Timestamp = 1_790_000_000_000;

fn data(value: &Value) -> Data {
    let frame = json!({ "status": "ok", "data": value }).to_string();
    outcome(&serde_json::from_str(&frame).expect("a frame")).expect("ok")
}

fn message(changes: Value) -> InboundMessage {
    let mut event = json!({
        "post_type": "message", "message_type": "group", "group_id": 30001, "user_id": 20001,
        "message_id": 7, "time": 1_790_000_000, "self_id": 10001,
        "message": [
            { "type": "reply", "data": { "id": "5" } },
            { "type": "at", "data": { "qq": "10001" } },
            { "type": "text", "data": { "text": " what is that?" } },
        ],
    });
    for (key, value) in changes.as_object().expect("an object") {
        event[key] = value.clone();
    }
    let shared = Shared::new("main".into(), Settings::default());
    let event = event.to_string();
    let frame = serde_json::from_str(&event).expect("a frame");
    match Receiver::new(&shared, "10001").read(&frame, NOW, |_, id| id == "6") {
        Received::Event(Event::Message(message)) => *message,
        other => panic!("{other:?}"),
    }
}

fn private() -> InboundMessage {
    message(json!({ "message_type": "private", "sub_type": "friend", "group_id": null }))
}

fn said(changes: Value) -> Value {
    let mut said = json!({
        "message_type": "group", "group_id": "30001", "message_id": 5,
        "sender": { "user_id": 20002, "nickname": "nick", "card": "" },
        "message": [
            { "type": "text", "data": { "text": "look " } },
            { "type": "image", "data": { "file": "a.jpg", "url": "https://example.com/a" } },
        ],
    });
    for (key, value) in changes.as_object().expect("an object") {
        said[key] = value.clone();
    }
    said
}

#[test]
fn what_was_said_here_is_quoted_with_its_author() {
    let quote = |said: Value, of: &InboundMessage| read(&data(&said), of, Some("10001"));
    let of = message(json!({}));
    let told = quote(said(json!({})), &of).expect("said here");
    assert_eq!(told.quote.as_deref(), Some("nick: look [image]"));
    assert_eq!(told.author.as_deref(), Some("20002"));
    let empty = said(json!({ "message": [], "raw_message": "" }));
    let told = quote(empty, &of).expect("said here");
    assert_eq!((told.quote, told.author.as_deref()), (None, Some("20002")));
    let long = said(json!({ "message": "x".repeat(5_000) }));
    let quoted = quote(long, &of)
        .and_then(|said| said.quote)
        .expect("quoted");
    assert_eq!(quoted.chars().count(), "nick: ".len() + MAX_TEXT);
}

#[test]
fn what_was_said_elsewhere_is_not_told() {
    let of = message(json!({}));
    for elsewhere in [
        json!({ "group_id": 30002 }),
        json!({ "group_id": null }),
        json!({ "message_type": "private", "group_id": null }),
    ] {
        assert!(read(&data(&said(elsewhere)), &of, Some("10001")).is_none());
    }
    let of = private();
    let from = |user: u64| {
        json!({
            "message_type": "private", "group_id": null,
            "sender": { "user_id": user, "nickname": "n" },
        })
    };
    for (user, told) in [(20_001, true), (10_001, true), (20_002, false)] {
        let quote = read(&data(&said(from(user))), &of, Some("10001"));
        assert_eq!(quote.is_some(), told, "{user}");
    }
    assert!(read(&data(&said(json!({}))), &of, Some("10001")).is_none());
}

#[test]
fn only_what_is_said_to_the_bot_is_looked_into() {
    assert!(is_asked_about(&message(json!({}))));
    assert!(is_asked_about(&private()));
    let reply = |id: &str| json!({ "type": "reply", "data": { "id": id } });
    let unasked =
        message(json!({ "message": [reply("5"), { "type": "text", "data": { "text": "x" } }] }));
    assert!(!is_asked_about(&unasked));
    let at = json!({ "type": "at", "data": { "qq": 10001 } });
    let own = message(json!({ "message": [reply("6"), at.clone()] }));
    assert!(!is_asked_about(&own), "the bot knows what it said");
    assert!(!is_asked_about(&message(json!({ "message": [at] }))));
}
