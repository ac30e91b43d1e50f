//! Pokes: somebody taps the bot's picture, which is a way to call it.
//!
//! Owns how such a notice becomes a message, where the operator wants it so.

use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, PlatformRole, Segment, Sender, SenderKind,
    Timestamp, Via,
};

use super::{DEDUPE_LIFETIME, Receiver, milliseconds};
use crate::onebot::{
    places::Place,
    wire::{self, Frame, MAX_ID},
};

/// What the id of a poke begins with: the platform gives it none, so it cannot be quoted.
pub const POKE: &str = "poke-";

impl Receiver<'_> {
    /// The message that a poke of the bot is; `None` for any other notice, or if pokes are not answered.
    pub(super) fn poke(&self, frame: &Frame<'_>, now: Timestamp) -> Option<Event> {
        let id = |raw| wire::id(raw, MAX_ID);
        if !self.pokes || id(frame.target_id)? != self.bot {
            return None;
        }
        let user = id(frame.user_id).filter(|user| *user != self.bot)?;
        if self.ignored.contains(&*user) {
            return None;
        }
        let group = id(frame.group_id).filter(|group| *group != "0");
        let (chat, place) = match &group {
            Some(group) => (ChatKind::Group, Place::Group(group)),
            None => (ChatKind::Private, Place::Private(&user)),
        };
        let time = wire::integer(frame.time).filter(|time| *time > 0);
        let sent_at = time.map_or(now, milliseconds);
        // It has no id of its own; nobody pokes twice in a second.
        let key = format!("{}/poke/{user}/{place}", sent_at / 1_000);
        Some(Event::Message(Box::new(InboundMessage {
            conversation: self.conversation(place.conversation().as_str()),
            chat,
            sender: Sender {
                key: self.user(&user),
                name: String::new(),
                is_bot: false,
                role: PlatformRole::Unknown,
                kind: SenderKind::Person,
            },
            id: format!("{POKE}{}-{user}", sent_at / 1_000).into(),
            segments: vec![Segment::Placeholder("poke".to_owned())],
            via: Via::Text,
            mentions_bot: chat == ChatKind::Group,
            reply_to: None,
            group_key: None,
            sent_at,
            received_at: now,
            reply_context: None,
            dedupe: DedupeKey {
                key: key.into(),
                lifetime: DEDUPE_LIFETIME,
            },
        })))
    }
}
