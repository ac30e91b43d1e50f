//! Who has which standing on the platform, as it said last.
//!
//! Owns a bounded memory of it for groups: of those whom a message named an owner or an admin, and of whom an event
//! told. A message carries the standing that its sender had when he wrote it; what came later is here. Losing an entry
//! costs a question to the platform, never a right: who is not here counts for no more than the platform says now.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{
    AccountName, ConversationKey, Event, InboundMessage, Platform, PlatformRole, SenderKind,
    Timestamp, UserId,
};

use super::chat;

/// People in chats that are remembered, and people of accounts: some megabytes at most.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");

/// What is known of somebody's standing in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newest {
    /// The platform said so, and nothing later.
    Known(PlatformRole),
    /// It changed somewhere of which his chat may be a part, such as the server of a channel.
    Doubtful,
    /// Nothing was heard, or it was forgotten.
    Nothing,
}

/// Standings.
#[derive(Debug)]
pub struct Standings(Mutex<State>);

#[derive(Debug)]
struct State {
    said: LruCache<(ConversationKey, UserId), Said>,
    /// When somebody's standing changed anywhere at an account.
    changed: LruCache<(Platform, AccountName, UserId), u64>,
    /// Counts what was heard.
    count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Said {
    role: PlatformRole,
    /// As counted.
    number: u64,
    at: Timestamp,
}

impl Default for Standings {
    fn default() -> Self {
        Self(Mutex::new(State {
            said: LruCache::new(REMEMBERED),
            changed: LruCache::new(REMEMBERED),
            count: 0,
        }))
    }
}

impl Standings {
    /// A message of a group came.
    pub fn message(&self, message: &InboundMessage) {
        let sender = &message.sender;
        if sender.kind != SenderKind::Person {
            return;
        }
        let whose = (chat(&message.conversation), sender.key.id.clone());
        let mut state = self.0.lock();
        let known = state.said.get(&whose).copied();
        let was = known.is_some_and(|said| is_more(said.role));
        match sender.role {
            // What it said before holds no longer, and who is no more than a member stays that.
            PlatformRole::Unknown => {
                if was {
                    state.said.pop(&whose);
                }
            }
            // Most people are, all the time.
            PlatformRole::Member if known.is_none() => {}
            // One that was missed and is read late tells of a time before that.
            role if is_more(role)
                && !was
                && known.is_some_and(|said| message.sent_at < said.at) => {}
            role => state.put(whose, role, message.sent_at),
        }
    }

    /// Something happened; whether it is about somebody's standing.
    pub fn event(&self, event: &Event, now: Timestamp) -> bool {
        let (conversation, user, role) = match event {
            Event::RoleChanged {
                conversation,
                user,
                role,
            } => (conversation, user, Some(*role)),
            Event::MemberLeft { conversation, user } => {
                (conversation, user, Some(PlatformRole::Unknown))
            }
            Event::MemberJoined { conversation, user } => (conversation, user, None),
            _ => return false,
        };
        let mut state = self.0.lock();
        let whose = (chat(conversation), user.id.clone());
        match role {
            Some(role) => {
                state.put(whose, role, now);
                let account = (
                    conversation.platform.clone(),
                    conversation.account.clone(),
                    user.id.clone(),
                );
                let number = state.count;
                state.changed.put(account, number);
            }
            // He may have come as more than a member.
            None => {
                state.said.pop(&whose);
            }
        }
        true
    }

    /// An account was not connected, so that events may have been missed: who had more than a member has is asked for.
    pub fn missed(&self, platform: &Platform, account: &AccountName) {
        let mut state = self.0.lock();
        let here = state.said.iter().filter(|((chat, _), said)| {
            chat.platform == *platform && chat.account == *account && is_more(said.role)
        });
        let here: Vec<_> = here.map(|(whose, _)| whose.clone()).collect();
        for whose in here {
            state.said.pop(&whose);
        }
        state.count += 1;
    }

    /// How much was heard so far, to be taken before the platform is asked.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.lock().count
    }

    /// The platform was asked, and said so; unless anything was heard since `count`, which may be later.
    pub fn answer(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
        role: PlatformRole,
        count: u64,
    ) {
        let mut state = self.0.lock();
        let whose = (chat(conversation), user.clone());
        // The times of messages are the platform's, which the answer has none of.
        let at = state
            .said
            .get(&whose)
            .map_or(Timestamp::MIN, |said| said.at);
        if state.count == count {
            state.put(whose, role, at);
        }
    }

    /// What is known of somebody.
    #[must_use]
    pub fn newest(&self, conversation: &ConversationKey, user: &UserId) -> Newest {
        let mut state = self.0.lock();
        let account = (
            conversation.platform.clone(),
            conversation.account.clone(),
            user.clone(),
        );
        let changed = state.changed.get(&account).copied();
        let said = state.said.get(&(chat(conversation), user.clone())).copied();
        match (said, changed) {
            (Some(said), Some(changed)) if is_more(said.role) && said.number < changed => {
                Newest::Doubtful
            }
            (Some(said), _) => Newest::Known(said.role),
            (None, Some(_)) => Newest::Doubtful,
            (None, None) => Newest::Nothing,
        }
    }
}

impl State {
    fn put(&mut self, whose: (ConversationKey, UserId), role: PlatformRole, at: Timestamp) {
        self.count += 1;
        let number = self.count;
        self.said.put(whose, Said { role, number, at });
    }
}

/// Whether a standing is more than that of a member.
#[must_use]
pub fn is_more(role: PlatformRole) -> bool {
    matches!(role, PlatformRole::Owner | PlatformRole::Admin)
}

#[cfg(test)]
mod tests;
