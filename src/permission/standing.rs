//! Who is who: the role of a sender in a conversation.
//!
//! Owns the order in which a role is found. Pure; whatever it needs was looked up before, from what is
//! current when the action runs.

use weirgate_sdk::{PlatformRole, SenderKind, Timestamp, UserKey};

use super::{
    BuiltIn, Capability, Permissions, Role,
    policy::{Grant, Policy},
};

/// What is known of somebody, besides what agent.yaml says.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Who.
    pub user: &'a UserKey,
    /// What stands behind his messages.
    pub kind: SenderKind,
    /// The platform's own role.
    pub platform_role: PlatformRole,
    /// He claimed the gateway.
    pub claimed: bool,
    /// An owner of the gateway blocked him everywhere with /block.
    pub blocked: bool,
    /// The role that he was given in the conversation.
    pub grant: Option<&'a Grant>,
    /// The conversation's policy.
    pub policy: &'a Policy,
    /// The role that the account gives whoever has no other.
    pub of_account: Option<&'a str>,
    /// Now.
    pub now: Timestamp,
}

/// A role in a conversation, and whether its bearer owns the whole gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The role.
    pub role: Role,
    /// Owns the gateway.
    pub global_owner: bool,
}

/// The role of somebody. Global owners come first. Then who is blocked in the whole gateway is that. The blacklist beats
/// everything else, and a whitelist that is not empty shuts out who is not on it. Then count, in this order, a role that was given here and
/// has not run out, the platform's own role, the default role of the conversation, that of the account, and that of
/// the gateway.
///
/// An anonymous sender, a channel or a service has no person behind it and gets a guest's rights, unless the
/// platform vouches for more and the conversation's policy takes its word.
#[must_use]
pub fn standing(known: &Known<'_>, rules: &Permissions) -> Standing {
    let role = |role: Role| Standing {
        role: guest_limits(role, known.policy),
        global_owner: false,
    };
    let built_in = |which| role(rules.roles.built_in(which));
    let policy = known.policy;
    let is_person = known.kind == SenderKind::Person;
    if is_person && (known.claimed || is_one_of(known.user, &rules.owners)) {
        return Standing {
            role: rules.roles.built_in(BuiltIn::Owner),
            global_owner: true,
        };
    }
    if known.blocked || is_one_of(known.user, &rules.blocked) {
        return built_in(BuiltIn::Blocked);
    }
    let listed = |list: &[String]| list.iter().any(|id| id == known.user.id.as_str());
    if listed(&policy.blacklist) || !policy.whitelist.is_empty() && !listed(&policy.whitelist) {
        return built_in(BuiltIn::Blocked);
    }
    let grant = known.grant.filter(|grant| grant.holds(known.now));
    if !is_person {
        // Nobody in particular is given rights, but whoever it is can be shut out.
        if grant.is_some_and(|grant| grant.role == BuiltIn::Blocked.name()) {
            return built_in(BuiltIn::Blocked);
        }
        let vouched = policy.anonymous_admins && known.kind == SenderKind::Anonymous;
        let from_platform = vouched
            .then(|| of_platform(known.platform_role, rules))
            .flatten();
        return built_in(from_platform.unwrap_or(BuiltIn::Guest));
    }
    if let Some(grant) = grant {
        // A role that agent.yaml no longer has gives nothing.
        return named(rules, &grant.role).map_or_else(|| built_in(BuiltIn::Guest), role);
    }
    if let Some(which) = of_platform(known.platform_role, rules) {
        return built_in(which);
    }
    let by_default = [policy.default_role.as_deref(), known.of_account];
    let by_default = by_default.into_iter().flatten();
    let by_default = by_default.filter_map(|name| named(rules, name)).next();
    role(by_default.unwrap_or_else(|| {
        named(rules, &rules.default_role).unwrap_or_else(|| rules.roles.built_in(BuiltIn::Guest))
    }))
}

fn named(rules: &Permissions, name: &str) -> Option<Role> {
    rules.roles.get(name).cloned()
}

fn of_platform(role: PlatformRole, rules: &Permissions) -> Option<BuiltIn> {
    match role {
        PlatformRole::Owner if rules.platform_roles => Some(BuiltIn::Owner),
        PlatformRole::Admin if rules.platform_roles => Some(BuiltIn::Admin),
        _ => None,
    }
}

/// What the conversation's policy takes from guests.
fn guest_limits(role: Role, policy: &Policy) -> Role {
    if !role.is(BuiltIn::Guest) {
        return role;
    }
    let mut taken = Capability::empty();
    taken.set(Capability::READ, !policy.allow_guest_read);
    taken.set(Capability::SEND_MESSAGE, !policy.allow_guest_send);
    role.without(taken)
}

/// Whether agent.yaml names this user among these people.
#[must_use]
pub fn is_one_of(user: &UserKey, people: &[(String, String)]) -> bool {
    people
        .iter()
        .any(|(platform, id)| platform == user.platform.as_str() && id == user.id.as_str())
}

#[cfg(test)]
mod tests;
