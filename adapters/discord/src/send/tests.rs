//! The form of messages.

use serde_json::json;

use super::*;

fn outgoing(id: i64, part: u32) -> Outgoing {
    Outgoing {
        id,
        part,
        parts: 9,
        conversation: Place {
            channel: 5,
            thread: None,
        }
        .key(&"discord".into(), &"main".into()),
        turn: None,
        answers: Vec::new(),
        rendered: weirgate_sdk::answer::Rendered::default(),
        reply: None,
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

#[test]
fn a_key_is_that_of_the_part_alone() {
    let made = key(&[7; 32], &outgoing(1, 2));
    assert_eq!(made, key(&[7; 32], &outgoing(1, 2)));
    assert!(made.len() <= 25, "{made}");
    for other in [
        key(&[7; 32], &outgoing(1, 3)),
        key(&[7; 32], &outgoing(2, 2)),
        key(&[8; 32], &outgoing(1, 2)),
    ] {
        assert_ne!(made, other);
    }
}

#[test]
fn every_message_mentions_nobody() {
    for answers in [None, Some(77)] {
        let mut message = worded("k", "@everyone <@1>");
        if let Some(answers) = answers {
            message = replying(message, 5, answers);
        }
        let wire = serde_json::to_value(&message).expect("JSON");
        let allowed = &wire["allowed_mentions"];
        assert_eq!(allowed["parse"], json!([]), "{wire}");
        assert_eq!(allowed["replied_user"], json!(false), "{wire}");
        for list in ["users", "roles"] {
            assert!(allowed[list].as_array().is_none_or(Vec::is_empty), "{wire}");
        }
        assert_eq!(
            (&wire["nonce"], &wire["enforce_nonce"]),
            (&json!("k"), &json!(true))
        );
        let reference = &wire["message_reference"];
        assert_eq!(
            reference["message_id"].as_str(),
            answers.map(|_| "77"),
            "{wire}"
        );
        assert_eq!(reference.is_object(), answers.is_some());
    }
}
