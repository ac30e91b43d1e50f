//! How much one person, one conversation and one account may have, and when talking in circles ends.
//!
//! Owns what was used lately: messages and commands in a minute, tokens in a day, and who talks with the bot alone. Pure
//! but for its locks: time is an argument. What it says is told, recorded and stored by others.

pub mod config;
mod minute;
mod talk;

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{ChatKind, Timestamp};

use self::talk::Talks;
pub use self::{
    config::{Limits, LoopLimit, Quota},
    minute::Minute,
    talk::Heard,
};
use crate::{clock::Tick, store::Place};

/// People, conversations and accounts that are remembered. Whoever falls out begins his minute anew, and his day as the
/// store knows it.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(8_192).expect("not zero");
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Whose a limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Whose {
    /// A person's, by number.
    User(i64),
    /// A conversation's, by number.
    Conversation(i64),
    /// An account's, by number.
    Account(u32),
}

impl Whose {
    /// The three that a turn belongs to.
    #[must_use]
    pub fn of(person: i64, conversation: i64, account: u32) -> [Self; 3] {
        [
            Self::User(person),
            Self::Conversation(conversation),
            Self::Account(account),
        ]
    }

    /// What it may have.
    #[must_use]
    pub fn quota(self, limits: &Limits) -> Quota {
        match self {
            Self::User(_) => limits.user,
            Self::Conversation(_) => limits.conversation,
            Self::Account(_) => limits.account,
        }
    }

    /// Where its tokens of today are stored, and under which key.
    #[must_use]
    pub fn place(self) -> (Place, String) {
        match self {
            Self::User(person) => (Place::of_person(person), TOKENS.to_owned()),
            Self::Conversation(number) => (Place::of_conversation(number), TOKENS.to_owned()),
            Self::Account(number) => (Place::GATEWAY, format!("{TOKENS}:{number}")),
        }
    }
}

/// The stored key of the tokens of a day.
const TOKENS: &str = "tokens";

/// What somebody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// So many messages are to be answered by a model, the first of which waited so long.
    Messages(u32, Tick),
    /// A command is to be run.
    Command,
}

/// What was used on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    day: i64,
    tokens: u64,
    /// What they cost, in millionths of the currency.
    micros: u64,
}

impl Spent {
    /// Reads what is stored; what cannot be read is nothing.
    #[must_use]
    pub fn read(stored: Option<&str>) -> Self {
        let read = |text: &str| {
            let mut parts = text.split(' ');
            Some(Self {
                day: parts.next()?.parse().ok()?,
                tokens: parts.next()?.parse().ok()?,
                micros: parts.next().map_or(Some(0), |part| part.parse().ok())?,
            })
        };
        stored.and_then(read).unwrap_or_default()
    }

    /// As it is stored.
    #[must_use]
    pub fn encode(self) -> String {
        let cost = (self.micros > 0).then(|| format!(" {}", self.micros));
        format!("{} {}{}", self.day, self.tokens, cost.unwrap_or_default())
    }

    /// Tokens of today, and what they cost.
    #[must_use]
    pub fn today(self, now: Timestamp) -> (u64, u64) {
        if self.day == now.div_euclid(DAY) {
            (self.tokens, self.micros)
        } else {
            (0, 0)
        }
    }

    fn and(self, (tokens, micros): (u64, u64), now: Timestamp) -> Self {
        let today = self.today(now);
        Self {
            day: now.div_euclid(DAY),
            tokens: today.0.saturating_add(tokens),
            micros: today.1.saturating_add(micros),
        }
    }
}

/// What was used lately.
pub struct Used {
    messages: Mutex<LruCache<Whose, Minute>>,
    commands: Mutex<LruCache<Whose, Minute>>,
    tokens: Mutex<LruCache<Whose, Spent>>,
    talks: Talks,
}

impl Default for Used {
    fn default() -> Self {
        Self {
            messages: Mutex::new(LruCache::new(REMEMBERED)),
            commands: Mutex::new(LruCache::new(REMEMBERED)),
            tokens: Mutex::new(LruCache::new(REMEMBERED)),
            talks: Talks::default(),
        }
    }
}

impl Used {
    /// Takes what is wished for from all three; gives the most in a minute of the first that has no more. What the ones
    /// before gave is not given back: who asks too much has asked.
    pub fn take(&self, of: [Whose; 3], wish: Wish, limits: &Limits, now: Tick) -> Result<(), u32> {
        for whose in of {
            let quota = whose.quota(limits);
            let (minutes, most, what) = match wish {
                Wish::Messages(count, waited) => {
                    (&self.messages, quota.messages_per_minute, (count, waited))
                }
                Wish::Command => (&self.commands, quota.commands_per_minute, (1, 0)),
            };
            if most == 0 {
                continue;
            }
            let mut minutes = minutes.lock();
            let minute = minutes.get_or_insert_mut(whose, Minute::default);
            if !minute.take(most, what, now) {
                return Err(most);
            }
        }
        Ok(())
    }

    /// What is known of somebody's tokens; `None` if the store is to be asked.
    pub fn spent(&self, whose: Whose) -> Option<Spent> {
        self.tokens.lock().get(&whose).copied()
    }

    /// What the store knows, unless more was learnt meanwhile.
    pub fn learn(&self, whose: Whose, stored: Spent) -> Spent {
        *self.tokens.lock().get_or_insert_mut(whose, || stored)
    }

    /// Adds tokens; gives what is to be stored.
    pub fn spend(&self, whose: Whose, used: (u64, u64), now: Timestamp) -> Spent {
        let mut all = self.tokens.lock();
        let spent = all.get_or_insert_mut(whose, Spent::default);
        *spent = spent.and(used, now);
        *spent
    }

    /// Whether somebody has tokens left today.
    #[must_use]
    pub fn has_left(spent: Spent, most: u64, now: Timestamp) -> bool {
        most == 0 || spent.today(now).0 < most
    }

    /// Somebody is to be answered in a conversation; `since` is when he was heard.
    pub fn heard(
        &self,
        (conversation, person): (i64, i64),
        since: Tick,
        limit: (LoopLimit, ChatKind),
        now: Tick,
    ) -> Heard {
        self.talks.heard((conversation, person), since, limit, now)
    }

    /// He was answered.
    pub fn answered(&self, conversation: i64, person: i64, now: Tick) {
        self.talks.answered(conversation, person, now);
    }
}

#[cfg(test)]
mod tests;
