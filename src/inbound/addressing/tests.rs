//! What addresses the bot in a group, and what does not.

use weirgate_sdk::{Replied, Segment};

use super::*;
use crate::inbound::sample::said;

fn message(text: &str) -> InboundMessage {
    said("1", "7", text)
}

fn is_addressed(addressing: &Addressing, message: &InboundMessage) -> bool {
    addressing.is_addressed(message, &message.own_text(), false)
}

#[test]
fn a_group_message_needs_a_reason() {
    let rules = Addressing {
        mode: Mode::Mention,
        wake_words: vec!["weir".into(), "小堰".into()],
    };
    let plain = message("hello all");
    assert!(!is_addressed(&rules, &plain));
    assert!(rules.is_addressed(&plain, "hello all", true));

    let mention = InboundMessage {
        mentions_bot: true,
        ..plain.clone()
    };
    assert!(is_addressed(&rules, &mention));
    let private = InboundMessage {
        chat: ChatKind::Private,
        ..plain.clone()
    };
    assert!(is_addressed(&rules, &private));
    for (to_bot, expected) in [(Some(true), true), (Some(false), false), (None, false)] {
        let replied = Replied {
            message: "1".into(),
            author: None,
            to_bot,
        };
        let reply = InboundMessage {
            reply_to: Some(replied),
            ..plain.clone()
        };
        assert_eq!(is_addressed(&rules, &reply), expected, "{to_bot:?}");
    }
    let everybody = InboundMessage {
        segments: vec![Segment::MentionAll, Segment::Text("come".into())],
        ..plain.clone()
    };
    assert!(
        !is_addressed(&rules, &everybody),
        "a mention of everybody is not one of the bot"
    );
    assert!(is_addressed(
        &Addressing {
            mode: Mode::All,
            ..rules
        },
        &plain
    ));
}

#[test]
fn wake_words_stand_at_the_beginning_and_alone() {
    let rules = Addressing {
        mode: Mode::Mention,
        wake_words: vec!["weir".into(), "小堰".into()],
    };
    for (text, expected) in [
        ("weir, hello", true),
        ("  WEIR hello", true),
        ("weird things", false),
        ("hello weir", false),
        ("小堰你好", true),
        ("weir你好", true),
        ("", false),
    ] {
        assert_eq!(is_addressed(&rules, &message(text)), expected, "{text}");
    }
}
