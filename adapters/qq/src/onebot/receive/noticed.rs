//! Notices that are messages: somebody pokes the bot, or gives a file.
//!
//! Owns what they have in common: who, where and when, and that the platform gives them no id. What they say is `poke`'s
//! and `upload`'s.

use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, PlatformRole, Segment, Sender, SenderKind,
    Timestamp, Via,
};

use super::{DEDUPE_LIFETIME, Receiver, milliseconds};
use crate::onebot::{
    places::Place,
    wire::{self, Frame, MAX_ID},
};

/// A notice that becomes a message.
pub(super) struct Noticed {
    /// Who did it.
    pub(super) user: String,
    /// In which group; `None` in private.
    pub(super) group: Option<String>,
    sent_at: Timestamp,
}

/// What such a message says.
pub(super) struct Says {
    /// What its id begins with.
    pub(super) prefix: &'static str,
    /// What it is, with what sets it apart from another one of the same second.
    pub(super) what: &'static str,
    pub(super) apart: Option<String>,
    pub(super) segment: Segment,
    /// It is meant for the bot.
    pub(super) mentions_bot: bool,
}

impl Noticed {
    /// Reads who, where and when; `None` without a person.
    pub(super) fn read(frame: &Frame<'_>, now: Timestamp) -> Option<Self> {
        let id = |raw| wire::id(raw, MAX_ID);
        let time = wire::integer(frame.time).filter(|time| *time > 0);
        Some(Self {
            user: id(frame.user_id)?.into(),
            group: id(frame.group_id)
                .filter(|group| *group != "0")
                .map(Into::into),
            sent_at: time.map_or(now, milliseconds),
        })
    }

    /// The kind of chat.
    pub(super) fn chat(&self) -> ChatKind {
        match self.group {
            Some(_) => ChatKind::Group,
            None => ChatKind::Private,
        }
    }
}

impl Receiver<'_> {
    /// The message that a notice is. It is one however often it is told.
    pub(super) fn message_of(&self, noticed: &Noticed, says: Says, now: Timestamp) -> Event {
        let (user, seconds) = (&noticed.user, noticed.sent_at / 1_000);
        let place = match &noticed.group {
            Some(group) => Place::Group(group),
            None => Place::Private(user),
        };
        let apart = says.apart.map(|apart| format!("/{apart}"));
        let apart = apart.unwrap_or_default();
        let key = format!("{seconds}/{}/{user}/{place}{apart}", says.what);
        Event::Message(Box::new(InboundMessage {
            conversation: self.conversation(place.conversation().as_str()),
            chat: noticed.chat(),
            sender: Sender {
                key: self.user(user),
                name: String::new(),
                is_bot: false,
                role: PlatformRole::Unknown,
                kind: SenderKind::Person,
            },
            id: format!("{}{seconds}-{user}", says.prefix).into(),
            segments: vec![says.segment],
            via: Via::Text,
            mentions_bot: says.mentions_bot,
            reply_to: None,
            group_key: None,
            sent_at: noticed.sent_at,
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: key.into(),
                lifetime: DEDUPE_LIFETIME,
            },
        }))
    }
}
