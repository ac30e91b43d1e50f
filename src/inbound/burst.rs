//! Bursts of one person in a group: what is said close to a word to the bot belongs to it.
//!
//! Owns which unaddressed messages are held until their burst is over, and how much of that is held. Pure: it takes
//! the time as an argument, and never waits, writes or decides who is addressed.

use std::{collections::HashMap, time::Duration};

use weirgate_sdk::{ConversationKey, InboundMessage, MessageId, UserKey};

use super::body;
use crate::clock::{Tick, micros};

/// Most messages that are held of one burst; the oldest gives way.
const MAX_OF_ONE: usize = 16;
/// Most bursts that are followed at once; people beyond are heard as if there were no bursts.
const MAX_BURSTS: usize = 4_096;
/// Most bytes of held messages, encoded; messages beyond are not held.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// How long a burst goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pause {
    /// The silence that ends it; zero where there are no bursts.
    pub silence: Duration,
    /// Its longest time from its first message.
    pub longest: Duration,
}

/// Who says something, and where.
pub type Speaker = (ConversationKey, UserKey);

/// What becomes of an unaddressed message.
#[derive(Debug, PartialEq)]
pub enum Aside {
    /// The bot was addressed in this burst, so it is meant for the bot too.
    Belongs(Box<InboundMessage>),
    /// It is held until its burst is over. What gives way for it is only context.
    Held {
        /// When to ask for [`Bursts::over`], if a burst begins with it.
        begins: Option<Tick>,
        /// The oldest message of a long burst.
        gives_way: Option<Box<InboundMessage>>,
    },
    /// It is only context.
    Passed(Box<InboundMessage>),
}

/// What there is to be done about a burst.
#[derive(Debug, PartialEq)]
pub enum Over {
    /// It goes on until then, if nothing more is said.
    GoesOn(Tick),
    /// It is over; what was held and is only context, in order.
    Ended(Vec<InboundMessage>),
}

/// All bursts that are not over.
#[derive(Debug, Default)]
pub struct Bursts {
    of: HashMap<Speaker, Burst>,
    bytes: usize,
}

#[derive(Debug)]
struct Burst {
    first: Tick,
    until: Tick,
    /// The bot was addressed.
    met: bool,
    held: Vec<Held>,
}

#[derive(Debug)]
struct Held {
    message: Box<InboundMessage>,
    bytes: usize,
}

impl Burst {
    fn new(now: Tick) -> Self {
        Self {
            first: now,
            until: now,
            met: false,
            held: Vec::new(),
        }
    }

    fn goes_on(&mut self, now: Tick, pause: Pause) {
        let longest = self.first.saturating_add(micros(pause.longest));
        self.until = now.saturating_add(micros(pause.silence)).min(longest);
    }
}

impl Bursts {
    /// Somebody says something that does not address the bot. A burst that is over, but was not asked for yet, is
    /// continued by nothing: its messages stay for [`Bursts::over`], and the new one is only context.
    pub fn aside(&mut self, message: Box<InboundMessage>, now: Tick, pause: Pause) -> Aside {
        let speaker = speaker(&message);
        let followed = self.of.len();
        match self.of.get_mut(&speaker) {
            Some(burst) if burst.until < now => return Aside::Passed(message),
            Some(burst) if burst.met => {
                burst.goes_on(now, pause);
                return Aside::Belongs(message);
            }
            None if followed >= MAX_BURSTS => return Aside::Passed(message),
            _ => {}
        }
        let bytes = body::encode(&message).len();
        if self.bytes.saturating_add(bytes) > MAX_BYTES || body::is_too_large(&message) {
            return Aside::Passed(message);
        }
        let (burst, begins) = self.follow(speaker, now, pause);
        burst.held.push(Held { message, bytes });
        let gives_way = (burst.held.len() > MAX_OF_ONE).then(|| burst.held.remove(0));
        self.bytes += bytes;
        let gives_way = gives_way.map(|held| self.let_go(held));
        Aside::Held { begins, gives_way }
    }

    /// The burst of a person, which goes on; and when to ask for its end, if it begins.
    fn follow(&mut self, speaker: Speaker, now: Tick, pause: Pause) -> (&mut Burst, Option<Tick>) {
        let begins = !self.of.contains_key(&speaker);
        let burst = self.of.entry(speaker).or_insert_with(|| Burst::new(now));
        burst.goes_on(now, pause);
        let until = begins.then_some(burst.until);
        (burst, until)
    }

    /// Somebody addresses the bot: what he said before in the same burst, in order, and when to ask for its end, if it
    /// begins with this. They are given again until [`Bursts::taken`], so that a failure loses none.
    pub fn met(
        &mut self,
        message: &InboundMessage,
        now: Tick,
        pause: Pause,
    ) -> (Vec<InboundMessage>, Option<Tick>) {
        let speaker = speaker(message);
        match self.of.get(&speaker) {
            Some(burst) if burst.until < now => return (Vec::new(), None),
            None if self.of.len() >= MAX_BURSTS => return (Vec::new(), None),
            _ => {}
        }
        let (burst, begins) = self.follow(speaker, now, pause);
        burst.met = true;
        let held = burst.held.iter().map(|held| (*held.message).clone());
        (held.collect(), begins)
    }

    /// A held message was taken back; whether it was held.
    pub fn recalled(&mut self, conversation: &ConversationKey, message: &MessageId) -> bool {
        let holds = |burst: &Burst| burst.held.iter().any(|held| held.message.id == *message);
        let mut found = self.of.iter();
        let found = found.find(|((place, _), burst)| place == conversation && holds(burst));
        let Some(speaker) = found.map(|(speaker, _)| speaker.clone()) else {
            return false;
        };
        self.taken(&speaker, message)
    }

    /// A held message has new words; whether it was held.
    pub fn edited(&mut self, message: &InboundMessage) -> bool {
        let Some(burst) = self.of.get_mut(&speaker(message)) else {
            return false;
        };
        let mut held = burst.held.iter_mut();
        let Some(held) = held.find(|held| held.message.id == message.id) else {
            return false;
        };
        held.message.segments.clone_from(&message.segments);
        self.bytes -= held.bytes;
        held.bytes = body::encode(&held.message).len();
        self.bytes += held.bytes;
        true
    }

    /// Ends a burst whose silence is over. One that goes on is to be asked for again.
    pub fn over(&mut self, speaker: &Speaker, now: Tick) -> Over {
        match self.of.get(speaker) {
            Some(burst) if burst.until > now => return Over::GoesOn(burst.until),
            _ => {}
        }
        let held = self.of.remove(speaker).map(|burst| burst.held);
        let held = held.unwrap_or_default().into_iter();
        Over::Ended(held.map(|held| *self.let_go(held)).collect())
    }

    /// What was given by [`Bursts::met`] is in the journal; whether it was held.
    pub fn taken(&mut self, speaker: &Speaker, message: &MessageId) -> bool {
        let Some(burst) = self.of.get_mut(speaker) else {
            return false;
        };
        let mut held = burst.held.iter();
        let Some(place) = held.position(|held| held.message.id == *message) else {
            return false;
        };
        let held = burst.held.remove(place);
        self.let_go(held);
        true
    }

    fn let_go(&mut self, held: Held) -> Box<InboundMessage> {
        self.bytes -= held.bytes;
        held.message
    }
}

/// Whose burst a message belongs to.
#[must_use]
pub fn speaker(message: &InboundMessage) -> Speaker {
    (message.conversation.clone(), message.sender.key.clone())
}

#[cfg(test)]
mod tests;
