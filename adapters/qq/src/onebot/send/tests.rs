//! Answers leave as text, whatever they say, with the ids that came in.

use proptest::prelude::*;
use serde_json::json;
use weirgate_sdk::{ConversationKey, ReplyTarget, UserKey, answer::Rendered};

use super::*;

fn outgoing(conversation: &str, text: &str, reply: Option<(&str, &str)>) -> Outgoing {
    Outgoing {
        id: 1,
        part: 0,
        parts: 1,
        conversation: ConversationKey {
            platform: "qq".into(),
            account: "main".into(),
            conversation: conversation.into(),
            thread: None,
        },
        turn: None,
        answers: Vec::new(),
        rendered: Rendered {
            text: text.into(),
            marks: Vec::new(),
        },
        reply: reply.map(|(message, author)| ReplyTarget {
            message: message.into(),
            author: UserKey {
                platform: "qq".into(),
                realm: "".into(),
                id: author.into(),
            },
        }),
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

#[test]
fn codes_in_an_answer_are_text() {
    let text = "[CQ:at,qq=all] 注意 [CQ:image,file=file:///etc/hostname]";
    let call = call(&outgoing("g30001", text, None), Reply::Quote).expect("a call");
    assert_eq!(call.action, "send_group_msg");
    let message = json!([{ "type": "text", "data": { "text": text } }]);
    assert_eq!(
        call.params,
        json!({ "group_id": 30001, "message": message })
    );
}

#[test]
fn the_first_part_in_a_group_quotes_the_message_by_its_exact_id() {
    for (id, value) in [
        ("-912345678", json!(-912345678)),
        ("1712345678901", json!(1712345678901_i64)),
        ("7301234567890123456", json!("7301234567890123456")),
        ("Qm9z+Ab/01", json!("Qm9z+Ab/01")),
    ] {
        let mut part = outgoing("g30001", "x", Some((id, "20001")));
        let message = call(&part, Reply::Quote).expect("a call").params["message"].clone();
        assert_eq!(
            message[0],
            json!({ "type": "reply", "data": { "id": value } })
        );
        assert_eq!(message[1]["type"], "text");
        part.part = 1;
        let message = call(&part, Reply::Quote).expect("a call").params["message"].clone();
        assert_eq!(message.as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn a_poke_is_not_quoted() {
    let part = outgoing("g30001", "x", Some(("poke-1700000000-20001", "20001")));
    let message = call(&part, Reply::Quote).expect("a call").params["message"].clone();
    assert_eq!(
        message,
        json!([{ "type": "text", "data": { "text": "x" } }])
    );
}

#[test]
fn a_mention_names_the_author_and_never_everybody() {
    let message = |author: &str| {
        let part = outgoing("g1", "x", Some(("5", author)));
        call(&part, Reply::Mention).expect("a call").params["message"].clone()
    };
    assert_eq!(
        message("20001")[0],
        json!({ "type": "at", "data": { "qq": "20001" } })
    );
    assert_eq!(message("20001")[1]["data"]["text"], " x");
    for author in ["all", "anonymous:7", ""] {
        assert_eq!(
            message(author),
            json!([{ "type": "text", "data": { "text": "x" } }]),
            "{author}"
        );
    }
}

#[test]
fn private_chats_get_plain_text() {
    let part = outgoing("p20001", "x", Some(("5", "20001")));
    let message = json!([{ "type": "text", "data": { "text": "x" } }]);
    let sent = call(&part, Reply::Quote).expect("a call");
    assert_eq!(sent.action, "send_private_msg");
    assert_eq!(sent.params, json!({ "user_id": 20001, "message": message }));
    let sent = call(&outgoing("t30001:20001", "x", None), Reply::Quote).expect("a call");
    let expected = json!({ "user_id": 20001, "group_id": 30001, "message": message });
    assert_eq!(sent.params, expected);
}

#[test]
fn nothing_is_sent_without_text_or_place() {
    for part in [
        outgoing("g1", " \n", None),
        outgoing("", "x", None),
        outgoing("x1", "x", None),
    ] {
        assert!(matches!(
            call(&part, Reply::Quote),
            Err(SendError::Rejected(_))
        ));
    }
}

proptest! {
    #[test]
    fn the_text_leaves_byte_for_byte(text in "\\PC{0,30}[^\\s]\\PC{0,30}") {
        let sent = call(&outgoing("g1", &text, None), Reply::Quote).expect("a call");
        prop_assert_eq!(sent.params["message"][0]["data"]["text"].as_str(), Some(&*text));
        prop_assert_eq!(sent.params["message"].as_array().map(Vec::len), Some(1));
    }
}
