//! A call as a message of its caller.
//!
//! Owns the form in which the gateway gets it, and names for what the caller does not name.

use std::time::{Duration, SystemTime};

use weirgate_sdk::{
    ChatKind, DedupeKey, InboundMessage, PlatformRole, Segment, Sender, SenderKind, Timestamp,
    UserKey, Via, text::clean,
};

use crate::{PLATFORM, call::Call};

/// How long the same message of a caller is the same.
const LIFETIME: Duration = Duration::from_hours(24);

/// A name that nobody has.
pub(crate) fn label() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// A call as a message of its caller. `passed`: the gateways through which it came.
pub(crate) fn said(call: &Call, caller: &str, task: &str, passed: Vec<String>) -> InboundMessage {
    let (message, now) = (call.message.as_str(), now());
    let session = call.conversation.thread.as_ref();
    let session = session.map(|session| session.as_str()).unwrap_or_default();
    InboundMessage {
        conversation: call.conversation.clone(),
        chat: ChatKind::Private,
        sender: Sender {
            key: UserKey {
                platform: PLATFORM.into(),
                realm: "".into(),
                id: caller.into(),
            },
            name: caller.to_owned(),
            is_bot: false,
            role: PlatformRole::Unknown,
            kind: SenderKind::Person,
        },
        id: message.into(),
        segments: vec![Segment::Text(clean(task))],
        via: Via::Text,
        mentions_bot: false,
        reply_to: None,
        group_key: None,
        sent_at: now,
        received_at: now,
        reply_context: None,
        passed,
        dedupe: DedupeKey {
            // At most 64 bytes each, by who may write them.
            key: format!("{caller}/{session}/{message}").into(),
            lifetime: LIFETIME,
        },
    }
}

/// Now.
fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
}
