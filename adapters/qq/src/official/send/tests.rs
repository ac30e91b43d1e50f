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
        files: Vec::new(),
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
    buttons: false,
};

#[test]
fn a_message_answers_while_it_can() {
    let part = outgoing(1, 0, "hi");
    assert_eq!(answered(&part, 999), Some(Answered::Message("m1")));
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
        Some(Answered::Message("m1")),
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
        buttons: false,
    };
    let refused = message(
        Place::Private("U"),
        &part,
        Some(Answered::Message("m1")),
        manner(true, Reply::Mention, both),
    );
    assert_eq!(
        refused,
        json!({ "content": "a * b example．com", "msg_id": "m1", "msg_type": 0, "msg_seq": 65 })
    );
    let channel = message(
        Place::Channel("5"),
        &part,
        Some(Answered::Message("m1")),
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
        Some(Answered::Message("m1")),
        manner(false, Reply::Quote, PLAIN),
    );
    assert_eq!(second, json!({ "content": "x", "msg_id": "m1" }));
}

#[test]
fn what_answers_a_press_says_so_and_comes_back_from_the_journal() {
    let event = Answered::Event("INTERACTION_CREATE:1");
    for answered in [event, Answered::Message("m1")] {
        assert_eq!(Answered::read(&answered.context()), answered);
    }
    let part = outgoing(1, 1, "x");
    let said = message(
        Place::Group("G"),
        &part,
        Some(event),
        manner(false, Reply::Quote, PLAIN),
    );
    let expected = json!({
        "content": "x", "event_id": "INTERACTION_CREATE:1", "msg_type": 0, "msg_seq": 66,
    });
    assert_eq!(said, expected);
}

#[test]
fn buttons_stand_under_markdown_until_they_are_refused() {
    let mut part = outgoing(1, 0, "sure?");
    part.buttons = vec![weirgate_sdk::Button {
        label: "yes".into(),
        id: "p/1".into(),
        style: weirgate_sdk::ButtonStyle::Plain,
    }];
    let keyboard = |markdown, refused| {
        let manner = manner(markdown, Reply::None, refused);
        !message(Place::Group("G"), &part, None, manner)["keyboard"].is_null()
    };
    let refused = Refused {
        buttons: true,
        ..PLAIN
    };
    assert!(keyboard(true, PLAIN));
    assert!(!keyboard(true, refused) && !keyboard(false, PLAIN));
}
