//! Levels of commands: for whom a command is, in the words of agent.yaml.
//!
//! Owns what each level needs. It never decides.

use super::Capability;

/// For whom a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Whoever is answered at all.
    Public,
    /// Members.
    Member,
    /// Those who moderate.
    Admin,
    /// Those who own the conversation. Commands for the whole gateway need a global owner besides.
    Owner,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 4] = [Self::Public, Self::Member, Self::Admin, Self::Owner];

    /// The key under `permissions.commands`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// What a caller needs.
    #[must_use]
    pub fn capability(self) -> Capability {
        match self {
            Self::Public => Capability::SEND_MESSAGE,
            Self::Member => Capability::SEND_COMMAND,
            Self::Admin => Capability::SEND_COMMAND | Capability::MANAGE_MEMBER,
            Self::Owner => Capability::SEND_COMMAND | Capability::MANAGE_PERMISSION,
        }
    }
}
