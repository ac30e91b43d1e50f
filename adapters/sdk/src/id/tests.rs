//! The key encoding is canonical and reversible, whatever the ids hold.

use proptest::prelude::*;

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

/// Parts of ids that could be taken for one another: what separates and escapes, letters of both cases, long ones.
fn part() -> impl Strategy<Value = String> {
    let pieces = [
        "/", "%", "%2F", "%25", ":", "x", "X", "1", "-", " ", "\u{e9}", "e\u{301}", "💬",
    ];
    let few = prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..5);
    let few = few.prop_map(|pieces| pieces.concat());
    prop_oneof![8 => few, 1 => ".{0,400}", 1 => "[xX]{300}"]
}

fn any_key() -> impl Strategy<Value = ConversationKey> {
    // A thread is never empty.
    let thread = prop::option::of(part().prop_map(|id| format!("1{id}")));
    (part(), part(), part(), thread).prop_map(|(platform, account, conversation, thread)| {
        ConversationKey {
            platform: platform.as_str().into(),
            account: account.as_str().into(),
            conversation: conversation.as_str().into(),
            thread: thread.as_deref().map(Into::into),
        }
    })
}

proptest! {
    #[test]
    fn two_keys_never_share_a_text(one in any_key(), other in any_key()) {
        let (text, others) = (one.encode(), other.encode());
        prop_assert_eq!(text == others, one == other);
        prop_assert_eq!(ConversationKey::decode(&text), Some(one));
    }

    #[test]
    fn what_stands_between_the_parts_is_never_of_a_part(chat in part(), thread in part()) {
        let thread = format!("1{thread}");
        let apart = conversation(&chat, Some(&thread)).encode();
        for between in ["/", ":", "%2F", ""] {
            let joined = conversation(&format!("{chat}{between}{thread}"), None).encode();
            prop_assert_ne!(&apart, &joined);
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
