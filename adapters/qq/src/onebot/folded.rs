//! Answers that are too long for ordinary messages, as one that is opened to read them: forwarded messages.
//!
//! Owns how the text is laid out over the messages inside, and the form of the call, which names each field the way that
//! each family of implementations looks for it. Pure.

use serde_json::{Value, json};
use weirgate_sdk::{ConversationId, SendError};

use super::{
    places::{Place, id_value},
    send::{Call, text_segment},
};

/// The most messages inside; implementations take a hundred.
pub const MAX_NODES: usize = 60;

/// The call that sends these messages as one, written by `bot`.
///
/// # Errors
/// [`SendError::Rejected`] if the conversation is not one of this adapter's.
pub fn call(conversation: &ConversationId, texts: &[String], bot: &str) -> Result<Call, SendError> {
    let place = Place::parse(conversation.as_str())
        .ok_or_else(|| SendError::Rejected("not a conversation of this platform".into()))?;
    let nodes: Vec<Value> = texts.iter().map(|text| node(text, bot)).collect();
    Ok(match place {
        Place::Group(group) => Call {
            action: "send_group_forward_msg",
            params: json!({ "group_id": id_value(group), "messages": nodes }),
        },
        Place::Private(user) | Place::Temporary { user, .. } => Call {
            action: "send_private_forward_msg",
            params: json!({ "user_id": id_value(user), "messages": nodes }),
        },
    })
}

/// One message inside. NapCat and LLBot read `user_id` and `nickname`, go-cqhttp and Lagrange `uin` and `name`.
fn node(text: &str, bot: &str) -> Value {
    json!({ "type": "node", "data": {
        "user_id": bot, "nickname": bot, "uin": bot, "name": bot, "content": [text_segment(text)],
    }})
}

/// A text as messages of at most `chars` characters and `bytes` bytes, cut between lines where that is possible.
/// Only line breaks at the cuts are left out.
#[must_use]
pub fn texts(text: &str, chars: usize, bytes: usize) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in text.split('\n') {
        let fits = |more: &str| {
            let length = open.chars().count() + 1 + more.chars().count();
            length <= chars && open.len() + 1 + more.len() <= bytes
        };
        if !open.is_empty() && !fits(line) {
            texts.push(std::mem::take(&mut open));
        } else if !open.is_empty() {
            open.push('\n');
        }
        for character in line.chars() {
            let full =
                open.chars().count() + 1 > chars || open.len() + character.len_utf8() > bytes;
            if full && !open.is_empty() {
                texts.push(std::mem::take(&mut open));
            }
            open.push(character);
        }
    }
    texts.push(open);
    texts.retain(|text| !text.trim().is_empty());
    texts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_stay_together() {
        let text = "one\ntwo\n\nthree";
        assert_eq!(texts(text, 8, 100), ["one\ntwo\n", "three"]);
        assert_eq!(texts(text, 100, 100), [text]);
        assert_eq!(texts("abcdef", 4, 100), ["abcd", "ef"]);
        assert_eq!(texts("字字字", 100, 6), ["字字", "字"]);
    }

    #[test]
    fn each_family_finds_who_wrote_and_what() {
        let call = call(&"g30001".into(), &["a".to_owned()], "9007199254740993").expect("a call");
        let data = &call.params["messages"][0]["data"];
        for field in ["user_id", "nickname", "uin", "name"] {
            assert_eq!(data[field], "9007199254740993");
        }
        assert_eq!(
            data["content"],
            json!([{ "type": "text", "data": { "text": "a" } }])
        );
        assert_eq!(
            (call.action, &call.params["group_id"]),
            ("send_group_forward_msg", &json!(30_001))
        );
        let private = super::call(&"t1:9007199254740993".into(), &[], "1").expect("a call");
        assert_eq!(private.params["user_id"], "9007199254740993");
        assert!(super::call(&"x".into(), &[], "1").is_err());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[a-z字\n]{0,300}", chars in 4_usize..40) {
            let made = texts(&text, chars, chars * 3);
            let plain = |text: &str| text.replace('\n', "");
            prop_assert_eq!(plain(&made.concat()), plain(&text));
            for text in &made {
                prop_assert!(text.chars().count() <= chars && text.len() <= chars * 3);
            }
        }
    }
}
