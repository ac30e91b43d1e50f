//! Roles: named sets of capabilities, and who has which.
//!
//! Owns the built-in roles and the order in which a role is found. It never stores anything.

use weirgate_sdk::{PlatformRole, SenderKind, UserKey};

use super::Capability;

/// The built-in roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// May nothing.
    Blocked,
    /// May ask.
    Guest,
    /// May use commands, media and tools.
    Member,
    /// May moderate.
    Admin,
    /// May everything in the conversation.
    Owner,
}

impl Role {
    /// The capabilities of the role.
    #[must_use]
    pub fn capabilities(self) -> Capability {
        let bits = match self {
            Self::Owner => 0o777,
            Self::Admin => 0o774,
            Self::Member => 0o570,
            Self::Guest => 0o440,
            Self::Blocked => 0o000,
        };
        Capability::from_bits_truncate(bits)
    }
}

/// The role of a sender in a conversation: global owners first, then what stands behind the sender,
/// then the platform's own role (if it counts), then member.
///
/// An anonymous sender, a channel or a service has no person behind it and gets a guest's rights.
#[must_use]
pub fn role_of(
    user: &UserKey,
    kind: SenderKind,
    platform_role: PlatformRole,
    owners: &[(String, String)],
    platform_roles: bool,
) -> (Role, bool) {
    if kind != SenderKind::Person {
        return (Role::Guest, false);
    }
    if is_global_owner(user, owners) {
        return (Role::Owner, true);
    }
    let role = match platform_role {
        PlatformRole::Owner if platform_roles => Role::Owner,
        PlatformRole::Admin if platform_roles => Role::Admin,
        _ => Role::Member,
    };
    (role, false)
}

fn is_global_owner(user: &UserKey, owners: &[(String, String)]) -> bool {
    owners
        .iter()
        .any(|(platform, id)| platform == user.platform.as_str() && id == user.id.as_str())
}
