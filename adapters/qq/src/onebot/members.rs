//! Members of groups as the implementation tells them, and the admins of the groups that were asked about.
//!
//! Owns the reading of member records and a bounded cache of admins. A role event, or somebody's coming and
//! going, makes the cache forget that group; what was asked before such an event is not kept.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;
use weirgate_sdk::{ConversationKey, Event, Member, Platform, PlatformRole, Timestamp, UserKey};

use super::wire::{self, MAX_ID, Raw, line};

/// Groups whose admins are kept; the oldest is forgotten first.
const MAX_GROUPS: usize = 256;
/// How long they are believed without an event: events are lost while nobody is connected.
const LIFETIME: Duration = Duration::from_secs(600);
/// Admins that are kept of a group; the platform has fewer.
const MAX_ADMINS: usize = 200;
/// Longest name, in characters.
const MAX_NAME: usize = 200;

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
        let mut cache = self.0.lock();
        cache.groups.remove(conversation);
        cache.changes += 1;
    }

    /// Forgets everything: events may have been missed.
    pub fn forget(&self) {
        let mut cache = self.0.lock();
        cache.groups.clear();
        cache.changes += 1;
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireMember<'a> {
    #[serde(borrow)]
    user_id: Raw<'a>,
    #[serde(borrow)]
    nickname: Raw<'a>,
    #[serde(borrow)]
    card: Raw<'a>,
    #[serde(borrow)]
    role: Raw<'a>,
    #[serde(borrow)]
    shut_up_timestamp: Raw<'a>,
}

/// Reads one member; `None` without an id.
#[must_use]
pub fn member(raw: Raw<'_>, platform: &Platform) -> Option<Member> {
    let wire: WireMember<'_> = wire::object(raw);
    let id = wire::id(wire.user_id, MAX_ID)?;
    let name = [wire.card, wire.nickname]
        .iter()
        .filter_map(|name| wire::text(*name))
        .map(|name| line(&name, MAX_NAME))
        .find(|name| !name.is_empty());
    let muted = wire::integer(wire.shut_up_timestamp).filter(|until| *until > 0);
    Some(Member {
        user: UserKey {
            platform: platform.clone(),
            realm: "".into(),
            id: id.as_ref().into(),
        },
        name: name.unwrap_or_default(),
        role: role(wire.role),
        muted_until: muted.map(|until: Timestamp| until.saturating_mul(1_000)),
    })
}

/// Reads the owner and the admins out of a list of members; `None` if it is no list.
#[must_use]
pub fn admins(raw: Raw<'_>, platform: &Platform) -> Option<Vec<Member>> {
    let list: Vec<&RawValue> = serde_json::from_str(raw?.get()).ok()?;
    let members = list
        .into_iter()
        .filter_map(|one| member(Some(one), platform));
    let admins =
        members.filter(|one| matches!(one.role, PlatformRole::Owner | PlatformRole::Admin));
    Some(admins.take(MAX_ADMINS).collect())
}

/// A role as the wire has it.
#[must_use]
pub fn role(raw: Raw<'_>) -> PlatformRole {
    match wire::text(raw).as_deref() {
        Some("owner") => PlatformRole::Owner,
        Some("admin") => PlatformRole::Admin,
        Some("member") => PlatformRole::Member,
        _ => PlatformRole::Unknown,
    }
}

#[cfg(test)]
mod tests;
