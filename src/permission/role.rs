//! Roles: named sets of capabilities.
//!
//! Owns the five built-in roles and the table of all roles. Who has which is found in `standing`; this
//! file never looks anybody up.

use std::{collections::BTreeMap, sync::Arc};

use super::Capability;

/// The roles that are always there, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltIn {
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

impl BuiltIn {
    /// All of them, lowest first.
    pub const ALL: [Self; 5] = [
        Self::Blocked,
        Self::Guest,
        Self::Member,
        Self::Admin,
        Self::Owner,
    ];

    /// The name, as in agent.yaml, commands and the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Guest => "guest",
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// What the role may do unless agent.yaml says otherwise.
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

    /// The role as it is shipped.
    #[must_use]
    pub fn role(self) -> Role {
        Role::new(self.name(), self.capabilities())
    }
}

/// A role: a name and what it may do. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    name: Arc<str>,
    capabilities: Capability,
}

impl Role {
    /// A role.
    #[must_use]
    pub fn new(name: &str, capabilities: Capability) -> Self {
        Self {
            name: name.into(),
            capabilities,
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it may do.
    #[must_use]
    pub fn capabilities(&self) -> Capability {
        self.capabilities
    }

    /// Whether it is this built-in role.
    #[must_use]
    pub fn is(&self, built_in: BuiltIn) -> bool {
        &*self.name == built_in.name()
    }

    /// Whether it may strictly less than the other: the only order among roles that holds for custom ones
    /// as well.
    #[must_use]
    pub fn is_below(&self, other: &Self) -> bool {
        other.capabilities.contains(self.capabilities) && self.capabilities != other.capabilities
    }

    /// The same role without some of its capabilities.
    #[must_use]
    pub fn without(&self, capabilities: Capability) -> Self {
        Self {
            name: Arc::clone(&self.name),
            capabilities: self.capabilities - capabilities,
        }
    }
}

/// All roles: the built-in ones and those of agent.yaml.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    built_in: [Role; 5],
    custom: BTreeMap<String, Role>,
}

impl Default for Roles {
    fn default() -> Self {
        Self {
            built_in: BuiltIn::ALL.map(BuiltIn::role),
            custom: BTreeMap::new(),
        }
    }
}

impl Roles {
    /// A built-in role.
    #[must_use]
    pub fn built_in(&self, role: BuiltIn) -> Role {
        // The array has one for each, in the order of the enum.
        self.built_in[role as usize].clone()
    }

    /// A role by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Role> {
        let built_in = self.built_in.iter().find(|role| role.name() == name);
        built_in.or_else(|| self.custom.get(name))
    }

    /// Puts a role in the place of the one with its name, or adds it.
    pub fn set(&mut self, role: Role) {
        match self
            .built_in
            .iter_mut()
            .find(|old| old.name() == role.name())
        {
            Some(old) => *old = role,
            None => {
                self.custom.insert(role.name().to_owned(), role);
            }
        }
    }

    /// All roles, the most powerful built-in ones first, then those of agent.yaml by name.
    pub fn all(&self) -> impl Iterator<Item = &Role> {
        self.built_in.iter().rev().chain(self.custom.values())
    }
}
