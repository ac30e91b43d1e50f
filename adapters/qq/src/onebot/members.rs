//! Members of groups as the implementation tells them.
//!
//! Owns the reading of member records.

use serde::Deserialize;
use serde_json::value::RawValue;
use weirgate_sdk::{Member, Platform, PlatformRole, Timestamp, UserKey, text::line};

use super::wire::{self, MAX_ID, Raw};

/// Admins that are kept of a group; the platform has fewer.
const MAX_ADMINS: usize = 200;
/// Longest name, in characters.
const MAX_NAME: usize = 200;

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
