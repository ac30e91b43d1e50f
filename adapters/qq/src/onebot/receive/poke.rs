//! Pokes: somebody taps the bot's picture, which is a way to call it.
//!
//! Owns when such a notice becomes a message: where the operator wants it so.

use weirgate_sdk::{ChatKind, Event, Segment, Timestamp};

use super::{
    Receiver,
    noticed::{Noticed, Says},
};
use crate::onebot::wire::{self, Frame, MAX_ID};

/// What the id of a poke begins with: the platform gives it none, so it cannot be quoted.
pub const POKE: &str = "poke-";

impl Receiver<'_> {
    /// The message that a poke of the bot is; `None` for any other notice, or if pokes are not answered.
    pub(super) fn poke(&self, frame: &Frame<'_>, now: Timestamp) -> Option<Event> {
        if !self.pokes || wire::id(frame.target_id, MAX_ID)? != self.bot {
            return None;
        }
        let noticed = Noticed::read(frame, now).filter(|noticed| noticed.user != *self.bot)?;
        if self.ignored.contains(&*noticed.user) {
            return None;
        }
        let says = Says {
            prefix: POKE,
            // Nobody pokes twice in a second.
            what: "poke",
            apart: None,
            segment: Segment::Placeholder("poke".to_owned()),
            mentions_bot: noticed.chat() == ChatKind::Group,
        };
        Some(self.message_of(&noticed, says, now))
    }
}
