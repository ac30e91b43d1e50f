//! A message for the unit tests of this folder: somebody says something in a group.
//!
//! Owns nothing, and is in no build but theirs.

use std::time::Duration;

use weirgate_sdk::{
    ChatKind, ConversationKey, DedupeKey, InboundMessage, PlatformRole, Segment, Sender,
    SenderKind, UserKey, Via,
};

/// The message `id` of a person.
pub fn said(person: &str, id: &str, text: &str) -> InboundMessage {
    InboundMessage {
        conversation: ConversationKey {
            platform: "p".into(),
            account: "a".into(),
            conversation: "g1".into(),
            thread: None,
        },
        chat: ChatKind::Group,
        sender: Sender {
            key: UserKey {
                platform: "p".into(),
                realm: "".into(),
                id: person.into(),
            },
            name: "Ann".into(),
            is_bot: false,
            role: PlatformRole::Member,
            kind: SenderKind::Person,
        },
        id: id.into(),
        segments: vec![Segment::Text(text.into())],
        via: Via::Text,
        mentions_bot: false,
        reply_to: None,
        group_key: None,
        sent_at: 0,
        received_at: 0,
        reply_context: None,
        passed: Vec::new(),
        dedupe: DedupeKey {
            key: id.into(),
            lifetime: Duration::from_secs(1),
        },
    }
}
