//! The key encoding is canonical and reversible, whatever the ids hold.

use super::*;

fn conversation(conversation: &str, thread: Option<&str>) -> ConversationKey {
    ConversationKey {
        platform: "p".into(),
        account: "a/b".into(),
        conversation: conversation.into(),
        thread: thread.map(Into::into),
    }
}

#[test]
fn keys_come_back_as_they_went() {
    for id in ["", "1", "a/b", "%2F", "%", "-1/%25/💬", "../../x"] {
        for thread in [None, Some("1"), Some("a/%")] {
            let key = conversation(id, thread);
            assert_eq!(ConversationKey::decode(&key.encode()), Some(key));
        }
        let user = UserKey {
            platform: "p".into(),
            realm: "r/".into(),
            id: id.into(),
        };
        assert_eq!(UserKey::decode(&user.encode()), Some(user));
    }
}

#[test]
fn different_keys_have_different_texts() {
    let keys = [
        conversation("a/b", None),
        conversation("a", Some("b")),
        conversation("a%2Fb", None),
        conversation("a", None),
    ];
    for (index, one) in keys.iter().enumerate() {
        for other in &keys[index + 1..] {
            assert_ne!(one.encode(), other.encode());
        }
    }
}

#[test]
fn foreign_texts_are_refused() {
    for text in [
        "",
        "a",
        "a/b",
        "a/b/c/d/e",
        "a/b/%zz/",
        "a/b/%2/",
        "a/b/%2f/",
    ] {
        assert_eq!(ConversationKey::decode(text), None, "{text}");
    }
}
