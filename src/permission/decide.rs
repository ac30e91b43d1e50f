//! The decision: may this actor use this capability in this scope?
//!
//! Owns [`Proof`], which only [`decide`] makes. It never looks anything up; the actor's role was found
//! before, from what is current when the action runs.

use weirgate_sdk::Timestamp;

use super::{
    BuiltIn, Capability, Role,
    audit::{AuditEvent, AuditRecord},
};
use crate::store::AuditResult;

/// Who wants to act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The person's number in the store.
    pub person: i64,
    /// The role in the conversation.
    pub role: Role,
    /// Owns the whole gateway, not only a conversation.
    pub global_owner: bool,
}

impl Actor {
    /// Whoever may open the data folder: he could change the database by hand as well. No person of a
    /// platform, so his number is 0 in the audit log.
    #[must_use]
    pub fn host() -> Self {
        Self {
            person: 0,
            role: BuiltIn::Owner.role(),
            global_owner: true,
        }
    }

    /// The role by which it is decided which models he may use; an owner of the gateway may use all.
    #[must_use]
    pub fn role_for_models(&self) -> Option<&str> {
        (!self.global_owner).then(|| self.role.name())
    }
}

/// Where an action has its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The actor's own things: his turns, his preferences.
    Own,
    /// A conversation, by its number.
    Conversation(i64),
    /// The whole gateway: needs a global owner, whatever the role.
    Global,
}

/// Shows that somebody was allowed to do something. Cannot be copied, stored or made by hand: an effect
/// that needs a right takes it as an argument.
#[derive(Debug)]
#[must_use]
pub struct Proof {
    actor: Actor,
    capability: Capability,
    scope: Scope,
    at: Timestamp,
}

impl Proof {
    /// Who was allowed.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// What was allowed.
    #[must_use]
    pub fn capability(&self) -> Capability {
        self.capability
    }

    /// Where.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The record of the action that the proof is spent on; written in the effect's transaction.
    pub fn record(self, event: AuditEvent, target: String, turn: i64) -> AuditRecord {
        AuditRecord::new(
            (event, AuditResult::Done),
            &self.actor,
            self.scope,
            target,
            turn,
            self.capability,
            self.at,
        )
    }
}

/// Shows that somebody was not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    actor: Actor,
    missing: Capability,
    scope: Scope,
    at: Timestamp,
}

impl Denial {
    /// A refusal by a rule of a place, whatever the actor's rights are.
    #[must_use]
    pub fn by_rule(actor: &Actor, scope: Scope, at: Timestamp) -> Self {
        Self {
            actor: actor.clone(),
            missing: Capability::empty(),
            scope,
            at,
        }
    }

    /// What was missing. Empty when only a global owner may.
    #[must_use]
    pub fn missing(&self) -> Capability {
        self.missing
    }

    /// The record of the refusal.
    pub fn record(self, event: AuditEvent, target: String, turn: i64) -> AuditRecord {
        AuditRecord::new(
            (event, AuditResult::Denied),
            &self.actor,
            self.scope,
            target,
            turn,
            self.missing,
            self.at,
        )
    }
}

/// Decides.
///
/// # Errors
/// A [`Denial`] that says what is missing. No rule means no.
pub fn decide(
    actor: &Actor,
    capability: Capability,
    scope: Scope,
    at: Timestamp,
) -> Result<Proof, Denial> {
    let held = actor.role.capabilities();
    let missing = capability - held;
    let global_refused = scope == Scope::Global && !actor.global_owner;
    if missing.is_empty() && !global_refused {
        Ok(Proof {
            actor: actor.clone(),
            capability,
            scope,
            at,
        })
    } else {
        Err(Denial {
            actor: actor.clone(),
            missing,
            scope,
            at,
        })
    }
}

#[cfg(test)]
mod tests;
