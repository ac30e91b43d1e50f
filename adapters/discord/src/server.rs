//! Servers: who owns one, which roles there are, and what they allow.
//!
//! Owns the platform's arithmetic of rights (Permissions), and what is remembered of the servers in which the bot is, so
//! that the standing of whoever says something is known without asking. Bounded. Pure.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    num::NonZeroUsize,
};

use lru::LruCache;
use serde_json::Value;
use serenity::model::permissions::Permissions;
use weirgate_sdk::PlatformRole;

use crate::{channels::id, places::Snowflake};

/// Servers that are remembered; a bot with more is in several sessions.
const MAX_SERVERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// Members whose standing is remembered, so that a change of it is noticed.
const MAX_MEMBERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);
/// Roles of a server that are read; the platform allows so many.
const MAX_ROLES: usize = 250;

/// A role's place in the order of roles: higher ones compare greater. Of two at one height the older one is higher.
pub type Rank = (i64, Reverse<Snowflake>);

#[derive(Debug, Clone, Copy)]
struct Role {
    position: i64,
    permissions: Permissions,
}

/// A server as the platform describes it.
#[derive(Debug)]
pub struct Server {
    id: Snowflake,
    owner: Snowflake,
    roles: HashMap<Snowflake, Role>,
}

impl Server {
    /// Reads a description; `None` if it is not whole.
    #[must_use]
    pub fn read(server: &Value) -> Option<Self> {
        let roles = server["roles"].as_array()?.iter().take(MAX_ROLES);
        let role = |role: &Value| {
            let read = Role {
                position: role["position"].as_i64().unwrap_or(0),
                permissions: permissions(&role["permissions"]),
            };
            Some((id(&role["id"])?, read))
        };
        Some(Self {
            id: id(&server["id"])?,
            owner: id(&server["owner_id"])?,
            roles: roles.filter_map(role).collect(),
        })
    }

    /// Whether somebody owns it.
    #[must_use]
    pub fn is_owner(&self, user: Snowflake) -> bool {
        self.owner == user
    }

    /// The owner.
    #[must_use]
    pub fn owner(&self) -> Snowflake {
        self.owner
    }

    /// What a member may do in the server as a whole.
    #[must_use]
    pub fn rights(&self, user: Snowflake, member: &Value) -> Permissions {
        if self.owner == user {
            return Permissions::all();
        }
        // The role of everybody has the server's number.
        let own = roles(member).chain([self.id]);
        let all = own
            .filter_map(|role| self.roles.get(&role))
            .fold(Permissions::empty(), |all, role| all | role.permissions);
        if all.administrator() {
            Permissions::all()
        } else {
            all
        }
    }

    /// What a member may do in a channel of it.
    #[must_use]
    pub fn rights_in(&self, channel: &Value, user: Snowflake, member: &Value) -> Permissions {
        let mut rights = self.rights(user, member);
        if rights.administrator() {
            return rights;
        }
        let own: HashSet<Snowflake> = roles(member).collect();
        // First what holds for everybody, then for his roles together, then for him.
        let mut sums = [(Permissions::empty(), Permissions::empty()); 3];
        for rule in channel["permission_overwrites"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let place = match id(&rule["id"]) {
                Some(whom) if whom == self.id => 0,
                Some(whom) if own.contains(&whom) => 1,
                Some(whom) if whom == user => 2,
                _ => continue,
            };
            if let Some((deny, allow)) = sums.get_mut(place) {
                *deny |= permissions(&rule["deny"]);
                *allow |= permissions(&rule["allow"]);
            }
        }
        for (deny, allow) in sums {
            rights = (rights - deny) | allow;
        }
        rights
    }

    /// The standing of a member.
    #[must_use]
    pub fn standing(&self, user: Snowflake, member: &Value) -> PlatformRole {
        if self.owner == user {
            PlatformRole::Owner
        } else if self.rights(user, member).administrator() {
            PlatformRole::Admin
        } else {
            PlatformRole::Member
        }
    }

    /// The height of a member's highest role.
    #[must_use]
    pub fn rank(&self, member: &Value) -> Rank {
        let own = roles(member);
        let ranks = own.filter_map(|id| Some((self.roles.get(&id)?.position, Reverse(id))));
        ranks.max().unwrap_or((0, Reverse(self.id)))
    }
}

/// What is remembered of servers.
#[derive(Debug)]
pub struct Servers {
    known: LruCache<Snowflake, Known>,
    members: LruCache<(Snowflake, Snowflake), PlatformRole>,
}

/// Whom a server makes more than a member.
#[derive(Debug)]
struct Known {
    owner: Option<Snowflake>,
    /// Roles that administer it.
    admins: HashSet<Snowflake>,
}

impl Default for Servers {
    fn default() -> Self {
        Self {
            known: LruCache::new(MAX_SERVERS),
            members: LruCache::new(MAX_MEMBERS),
        }
    }
}

impl Servers {
    /// Takes in what an event tells of a server; whether the standing of somebody may be another one now.
    pub fn learn(&mut self, kind: &str, data: &Value) -> bool {
        let server = match kind {
            "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE" => id(&data["id"]),
            _ => id(&data["guild_id"]),
        };
        let Some(server) = server else { return false };
        match kind {
            "GUILD_CREATE" | "GUILD_UPDATE" => {
                if let Some(described) = Server::read(data) {
                    self.describe(server, &described);
                }
            }
            "GUILD_DELETE" => {
                self.known.pop(&server);
            }
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
                let role = id(&data["role"]["id"]);
                if let Some((known, role)) = self.known.get_mut(&server).zip(role) {
                    if permissions(&data["role"]["permissions"]).administrator() {
                        if known.admins.len() < MAX_ROLES {
                            known.admins.insert(role);
                        }
                    } else {
                        known.admins.remove(&role);
                    }
                }
            }
            "GUILD_ROLE_DELETE" => {
                if let Some((known, role)) = self.known.get_mut(&server).zip(id(&data["role_id"])) {
                    known.admins.remove(&role);
                }
            }
            "GUILD_MEMBER_UPDATE" | "GUILD_MEMBER_REMOVE" => {}
            _ => return false,
        }
        true
    }

    /// Whether anything is known of a server.
    #[must_use]
    pub fn is_known(&self, server: Snowflake) -> bool {
        self.known.contains(&server)
    }

    fn describe(&mut self, server: Snowflake, described: &Server) {
        let admins = described.roles.iter();
        let admins = admins.filter(|(_, role)| role.permissions.administrator());
        let known = Known {
            owner: Some(described.owner),
            admins: admins.map(|(id, _)| *id).collect(),
        };
        self.known.put(server, known);
    }

    /// The standing of a member, from his roles and from what the platform says of his rights beside them. Unknown where
    /// the server is.
    pub fn standing(&mut self, server: Snowflake, user: Snowflake, member: &Value) -> PlatformRole {
        let is_admin = permissions(&member["permissions"]).administrator();
        let Some(known) = self.known.get(&server) else {
            return if is_admin {
                PlatformRole::Admin
            } else {
                PlatformRole::Unknown
            };
        };
        let role = if known.owner == Some(user) {
            PlatformRole::Owner
        } else if is_admin
            || known.admins.contains(&server)
            || roles(member).any(|role| known.admins.contains(&role))
        {
            PlatformRole::Admin
        } else {
            PlatformRole::Member
        };
        self.members.put((server, user), role);
        role
    }

    /// A member is described anew: his standing, if it is another one than before.
    pub fn changed(
        &mut self,
        server: Snowflake,
        user: Snowflake,
        member: &Value,
    ) -> Option<PlatformRole> {
        let before = self.members.get(&(server, user)).copied();
        let role = self.standing(server, user, member);
        let ordinary = before.is_none() && role == PlatformRole::Member;
        (before != Some(role) && !ordinary && role != PlatformRole::Unknown).then_some(role)
    }
}

/// The roles of a member.
fn roles(member: &Value) -> impl Iterator<Item = Snowflake> + '_ {
    let roles = member["roles"].as_array().into_iter().flatten();
    roles.take(MAX_ROLES).filter_map(id)
}

/// Rights, which the platform writes as a text.
fn permissions(bits: &Value) -> Permissions {
    let bits = bits.as_str().and_then(|bits| bits.parse().ok());
    Permissions::from_bits_truncate(bits.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KICK: u64 = 1 << 1;
    const ADMIN: u64 = 1 << 3;
    const MANAGE_MESSAGES: u64 = 1 << 13;

    fn described() -> Value {
        let role = |id: u64, position: i64, bits: u64| json!({ "id": id.to_string(), "position": position, "permissions": bits.to_string() });
        json!({
            "id": "50", "owner_id": "1",
            "roles": [role(50, 0, 0), role(60, 1, KICK), role(61, 1, 0), role(70, 5, ADMIN)],
        })
    }

    fn member(roles: &[u64]) -> Value {
        let roles: Vec<String> = roles.iter().map(ToString::to_string).collect();
        json!({ "roles": roles })
    }

    #[test]
    fn rights_are_the_sum_of_roles() {
        let server = Server::read(&described()).expect("whole");
        assert!(server.rights(7, &member(&[60])).kick_members());
        assert!(!server.rights(7, &member(&[61])).kick_members());
        assert!(server.rights(1, &member(&[])).manage_guild());
        assert!(server.rights(7, &member(&[70])).ban_members());
        assert_eq!(server.standing(7, &member(&[70])), PlatformRole::Admin);
        assert_eq!(server.standing(7, &member(&[60])), PlatformRole::Member);
        assert_eq!(server.standing(1, &member(&[])), PlatformRole::Owner);
        let ranks = [&[][..], &[61], &[60], &[70, 60]].map(|roles| server.rank(&member(roles)));
        assert!(ranks.is_sorted() && ranks[1] != ranks[2], "{ranks:?}");
    }

    #[test]
    fn a_channel_gives_and_takes() {
        let server = Server::read(&described()).expect("whole");
        let rule = |id: u64, allow: u64, deny: u64| json!({ "id": id.to_string(), "allow": allow.to_string(), "deny": deny.to_string() });
        let channel = json!({ "permission_overwrites": [
            rule(50, MANAGE_MESSAGES, 0), rule(60, 0, MANAGE_MESSAGES), rule(9, MANAGE_MESSAGES, 0),
        ]});
        let may = |user, roles: &[u64]| {
            server
                .rights_in(&channel, user, &member(roles))
                .manage_messages()
        };
        assert!(may(7, &[]) && !may(7, &[60]) && may(9, &[60]) && may(7, &[70]));
    }

    #[test]
    fn the_standing_of_whoever_speaks_follows_the_events() {
        let mut servers = Servers::default();
        assert_eq!(
            servers.standing(50, 7, &member(&[70])),
            PlatformRole::Unknown
        );
        assert!(servers.learn("GUILD_CREATE", &described()));
        assert_eq!(servers.standing(50, 1, &member(&[])), PlatformRole::Owner);
        assert_eq!(servers.standing(50, 7, &member(&[70])), PlatformRole::Admin);
        assert_eq!(servers.changed(50, 7, &member(&[70])), None);
        assert_eq!(
            servers.changed(50, 7, &member(&[60])),
            Some(PlatformRole::Member)
        );
        assert_eq!(servers.changed(50, 8, &member(&[60])), None);
        let role = json!({ "guild_id": "50", "role": { "id": "60", "permissions": "8" } });
        assert!(servers.learn("GUILD_ROLE_UPDATE", &role));
        assert_eq!(
            servers.changed(50, 8, &member(&[60])),
            Some(PlatformRole::Admin)
        );
        let gone = json!({ "guild_id": "50", "role_id": "60" });
        assert!(servers.learn("GUILD_ROLE_DELETE", &gone));
        assert_eq!(
            servers.standing(50, 8, &member(&[60])),
            PlatformRole::Member
        );
        let pressed = json!({ "roles": [], "permissions": "8" });
        assert_eq!(servers.standing(50, 8, &pressed), PlatformRole::Admin);
        for (kind, odd) in [
            ("GUILD_CREATE", json!({ "id": "x" })),
            ("MESSAGE_CREATE", json!({ "guild_id": "50" })),
        ] {
            assert!(!servers.learn(kind, &odd));
        }
    }
}
