//! The form of messages.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, ReplyContext, ReplyTarget, UserKey, answer::Rendered};

use super::*;

fn outgoing(id: i64, part: u32, text: &str) -> Outgoing {
    let user = UserKey {
        platform: "qq".into(),
        realm: "1".into(),
        id: "A1".into(),
    };
    Outgoing {
        id,
        part,
        parts: 2,
        conversation: ConversationKey {
            platform: "qq".into(),
            account: "bot".into(),
            conversation: "group:G".into(),
            thread: None,
        },
        turn: Some(Arc::from("t1")),
        answers: Vec::new(),
        rendered: Rendered {
            text: text.into(),
            marks: Vec::new(),
        },
        reply: (part == 0).then(|| ReplyTarget {
            message: "m1".into(),
            author: user,
        }),
        reply_context: Some(ReplyContext {
            data: "m1".into(),
            expires_at: Some(1_000),
            uses_left: Some(4),
        }),
        buttons: Vec::new(),
        file: None,
        private: false,
    }
}

fn manner(markdown: bool, reply: Reply, refused: Refused) -> Manner {
    Manner {
        markdown,
        reply,
        refused,
    }
}

const PLAIN: Refused = Refused {
    markdown: false,
    links: false,
};

#[test]
fn a_message_answers_while_it_can() {
    let part = outgoing(1, 0, "hi");
    assert_eq!(answered(&part, 999), Some("m1"));
    assert_eq!(answered(&part, 1_000), None);
    let said = message(
        Place::Group("G"),
        &part,
        None,
        manner(false, Reply::Quote, PLAIN),
    );
    assert_eq!(
        said,
        json!({ "content": "hi", "msg_type": 0, "msg_seq": 65 })
    );
}

#[test]
fn each_part_has_a_number_of_its_own_and_keeps_it() {
    let mut known = std::collections::HashSet::new();
    for id in 1..200 {
        for part in 0..5 {
            let number = number(&outgoing(id, part, "x"));
            assert!(number > 0 && number < i64::from(i32::MAX));
            assert!(known.insert(number), "{id} {part}");
            assert_eq!(number, super::number(&outgoing(id, part, "other words")));
        }
    }
    assert!(number(&outgoing(i64::MAX, u32::MAX, "x")) < i64::from(i32::MAX));
    assert!(number(&outgoing(-5, 0, "x")) > 0);
}

#[test]
fn kinds_of_places_have_forms_of_their_own() {
    let part = outgoing(1, 0, "a \\* b https://example.com");
    let group = message(
        Place::Group("G"),
        &part,
        Some("m1"),
        manner(true, Reply::Mention, PLAIN),
    );
    assert_eq!(
        group,
        json!({
            "markdown": { "content": "<qqbot-at-user id=\"A1\" /> a \\* b https://example.com" },
            "msg_id": "m1", "msg_type": 2, "msg_seq": 65,
        })
    );
    let both = Refused {
        markdown: true,
        links: true,
    };
    let refused = message(
        Place::Private("U"),
        &part,
        Some("m1"),
        manner(true, Reply::Mention, both),
    );
    assert_eq!(
        refused,
        json!({ "content": "a * b example．com", "msg_id": "m1", "msg_type": 0, "msg_seq": 65 })
    );
    let channel = message(
        Place::Channel("5"),
        &part,
        Some("m1"),
        manner(false, Reply::Quote, PLAIN),
    );
    assert_eq!(
        channel,
        json!({
            "content": "a \\* b https://example.com", "msg_id": "m1",
            "message_reference": { "message_id": "m1", "ignore_get_message_error": true },
        })
    );
    let second = message(
        Place::Channel("5"),
        &outgoing(1, 1, "x"),
        Some("m1"),
        manner(false, Reply::Quote, PLAIN),
    );
    assert_eq!(second, json!({ "content": "x", "msg_id": "m1" }));
}
