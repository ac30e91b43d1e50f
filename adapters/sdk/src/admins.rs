//! The admins of the groups that were asked about.
//!
//! Owns a bounded cache. A role event, or somebody's coming and going, makes it forget that group; what was
//! asked before such an event is not kept. It asks nobody.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{event::Event, id::ConversationKey, moderation::Member};

/// Groups whose admins are kept; the oldest is forgotten first.
const MAX_GROUPS: usize = 256;
/// How long they are believed without an event: events are lost while nobody is connected.
const LIFETIME: Duration = Duration::from_secs(600);

/// The admins of groups.
#[derive(Debug, Default)]
pub struct Admins(Mutex<Cache>);

#[derive(Debug, Default)]
struct Cache {
    groups: HashMap<ConversationKey, (Instant, Vec<Member>)>,
    /// Counts changes, so that an answer which was on its way during one is not kept.
    changes: u64,
}

impl Admins {
    /// The admins of a group, if they are known.
    #[must_use]
    pub fn known(&self, group: &ConversationKey, now: Instant) -> Option<Vec<Member>> {
        let cache = self.0.lock();
        let (at, admins) = cache.groups.get(group)?;
        (now - *at < LIFETIME).then(|| admins.clone())
    }

    /// The number of changes so far, to be taken before the admins are asked for.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.0.lock().changes
    }

    /// Keeps the admins of a group, unless anything changed since `changes`.
    pub fn keep(&self, group: &ConversationKey, admins: Vec<Member>, changes: u64, now: Instant) {
        let mut cache = self.0.lock();
        if cache.changes != changes {
            return;
        }
        if cache.groups.len() >= MAX_GROUPS && !cache.groups.contains_key(group) {
            let oldest = cache.groups.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                cache.groups.remove(&oldest);
            }
        }
        cache.groups.insert(group.clone(), (now, admins));
    }

    /// Something happened in a group.
    pub fn heard(&self, event: &Event) {
        let (Event::RoleChanged { conversation, .. }
        | Event::MemberLeft { conversation, .. }
        | Event::BotAdded { conversation }
        | Event::BotRemoved { conversation }) = event
        else {
            return;
        };
        self.forget_group(conversation);
    }

    /// Who administers a group may be somebody else now.
    pub fn forget_group(&self, group: &ConversationKey) {
        let mut cache = self.0.lock();
        cache.groups.remove(group);
        cache.changes += 1;
    }

    /// Forgets everything: events may have been missed.
    pub fn forget(&self) {
        let mut cache = self.0.lock();
        cache.groups.clear();
        cache.changes += 1;
    }
}

#[cfg(test)]
mod tests;
