use weirgate_sdk::answer::Inline;

use super::*;

fn entry(id: i64, message: Option<&str>, text: &str) -> TranscriptEntry {
    TranscriptEntry {
        id,
        message: message.map(Into::into),
        turn: message.is_none().then(|| "t1".into()),
        answers: if message.is_none() {
            vec!["m1".into()]
        } else {
            vec![]
        },
        blocks: vec![Block::Paragraph(vec![Inline::Text(text.into())])],
        files: Vec::new(),
        brought: Vec::new(),
        pressed: false,
        choice: None,
        at: 7,
        pending: message.is_some(),
    }
}

#[test]
fn both_sides_of_a_talk_are_told_apart_and_sanitised() {
    let entries = [
        entry(1, Some("m1"), "<b>hi"),
        entry(2, None, "yes"),
        entry(3, Some("m2"), "x"),
    ];
    let body = page(&entries, 50).body(|id| id == "m1");
    assert_eq!(
        Value::Object(body),
        json!({ "more": false, "messages": [
            { "id": 1, "at": 7, "role": "user", "messageId": "m1", "pending": false,
              "html": "<p>&lt;b&gt;hi</p>" },
            { "id": 2, "at": 7, "role": "assistant", "answers": ["m1"], "turn": "t1",
              "html": "<p>yes</p>" },
            { "id": 3, "at": 7, "role": "user", "messageId": "m2", "pending": true,
              "html": "<p>x</p>" },
        ]})
    );
}

#[test]
fn a_page_that_is_too_long_keeps_the_newest_and_says_that_there_are_more() {
    let long = "x".repeat(MAX_FRAME / 2);
    let entries: Vec<_> = (1..=4).map(|id| entry(id, None, &long)).collect();
    let body = page(&entries, 50).body(|_| false);
    let ids: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, [4]);
    assert_eq!(body["more"], true);
}

#[test]
fn one_message_is_bounded_too() {
    let mut huge = entry(1, None, "first");
    huge.blocks.push(Block::Paragraph(vec![Inline::Text(
        "x".repeat(MAX_MESSAGE),
    )]));
    let body = page(&[huge], 1).body(|_| false);
    assert_eq!(body["messages"][0]["html"], "<p>first</p><p>…</p>");
    assert_eq!(body["more"], true);
}
