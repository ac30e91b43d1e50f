//! Talking in circles: one partner and the bot, each answering the other, and nobody else.
//!
//! Owns the count. A bot that does not say it is one answers each answer; a person who floods does not wait for answers,
//! and people of a group take turns. In a private chat people answer each answer too, so more of them make a loop there.

use std::{num::NonZeroUsize, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::ChatKind;

use super::LoopLimit;
use crate::clock::{Tick, micros};

/// Conversations that are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4_096).expect("not zero");

/// What is to be done with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It is answered.
    Answer,
    /// It is a loop: the first message that is not answered.
    Loop,
    /// Its partner is not answered for a while.
    Paused,
}

/// A talk with one partner.
#[derive(Debug, Clone, Copy)]
struct Talk {
    partner: i64,
    /// Answers that were answered.
    count: u32,
    began: Tick,
    /// When he was last answered.
    answered: Option<Tick>,
    paused_until: Tick,
}

/// The talk of each conversation.
pub struct Talks(Mutex<LruCache<i64, Talk>>);

impl Default for Talks {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(REMEMBERED)))
    }
}

impl Talks {
    /// Somebody was heard at `since`, and is to be answered at `now`.
    pub fn heard(
        &self,
        (conversation, person): (i64, i64),
        since: Tick,
        (limit, chat): (LoopLimit, ChatKind),
        now: Tick,
    ) -> Heard {
        let most = limit.most(chat);
        if most == 0 {
            return Heard::Answer;
        }
        let mut talks = self.0.lock();
        let fresh = Talk {
            partner: person,
            count: 0,
            began: since,
            answered: None,
            paused_until: 0,
        };
        let talk = talks.get_or_insert_mut(conversation, || fresh);
        if talk.partner != person {
            // Somebody else takes part. A partner who is not answered stays that way.
            if now >= talk.paused_until {
                *talk = fresh;
            }
            return Heard::Answer;
        }
        if now < talk.paused_until {
            return Heard::Paused;
        }
        let in_turn = talk.answered.is_some_and(|answered| since >= answered);
        let in_time = now.saturating_sub(talk.began) <= window(limit.window);
        if !in_turn || !in_time {
            talk.count = 0;
            talk.began = since;
            return Heard::Answer;
        }
        talk.count += 1;
        if talk.count < most {
            return Heard::Answer;
        }
        *talk = Talk {
            paused_until: now.saturating_add(window(limit.pause)),
            ..fresh
        };
        Heard::Loop
    }

    /// He was answered.
    pub fn answered(&self, conversation: i64, person: i64, now: Tick) {
        let mut talks = self.0.lock();
        if let Some(talk) = talks.get_mut(&conversation)
            && talk.partner == person
        {
            talk.answered = Some(now);
        }
    }
}

fn window(duration: Duration) -> Tick {
    micros(duration)
}
