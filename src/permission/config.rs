//! `permissions`: who owns the gateway, what the roles may do, and which commands are for whom.
//!
//! Owns the section's keys and defaults. It never grants anything to a wildcard.

use std::collections::BTreeMap;

use weirgate_sdk::settings::{Fields, Setting, Value};

use super::{BuiltIn, Capability, Level, Roles, inherit::Drafts};
use crate::config::platform_name;

/// The section `permissions`.
#[derive(Debug, Clone, PartialEq)]
pub struct Permissions {
    /// The global owners: platform and the id of the user there.
    pub owners: Vec<(String, String)>,
    /// Whom nothing is answered anywhere: platform and the id of the user there.
    pub blocked: Vec<(String, String)>,
    /// Strangers are not heard in private before an owner of the gateway has let them in.
    pub pairing: bool,
    /// The platform's own roles count: a group's creator is owner there, its administrators are admins.
    pub platform_roles: bool,
    /// The role of whoever has no other.
    pub default_role: String,
    /// All roles, with what they inherit.
    pub roles: Roles,
    /// Commands that are on another level than they are by themselves, by name without the slash.
    pub commands: BTreeMap<String, Level>,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            owners: Vec::new(),
            blocked: Vec::new(),
            pairing: false,
            platform_roles: true,
            default_role: BuiltIn::Member.name().to_owned(),
            roles: Roles::default(),
            commands: BTreeMap::new(),
        }
    }
}

/// The longest chain of inheritance by default.
const MAX_DEPTH: u64 = 5;
/// The most roles in agent.yaml.
const MOST_ROLES: usize = 64;

impl Permissions {
    /// Reads the section. An owner on a platform that is not one of `platforms` is an error: nobody
    /// would notice that he is none; likewise somebody who is blocked. `commands` are the names of all commands.
    #[must_use]
    pub fn read<'a>(
        mut fields: Fields<'a>,
        platforms: &[&'a str],
        commands: &[&'static str],
    ) -> Self {
        let default = Self::default();
        let owners = people(&mut fields, "owners", platforms);
        let blocked = people(&mut fields, "blocked", platforms);
        let pairing = fields.bool("pairing", default.pairing);
        let platform_roles = fields.bool("platform_roles", default.platform_roles);
        let roles = read_roles(&mut fields);
        let default_role = fields.text("default_role", &default.default_role);
        if roles.get(&default_role).is_none() {
            fields.invalid("default_role", "there is no such role", None);
        }
        let commands = read_commands(fields.section("commands"), commands);
        fields.finish();
        Self {
            owners,
            blocked,
            pairing,
            platform_roles,
            default_role,
            roles,
            commands,
        }
    }
}

/// People by platform and id.
fn people<'a>(fields: &mut Fields<'a>, key: &str, platforms: &[&'a str]) -> Vec<(String, String)> {
    let mut people = Vec::new();
    let all = fields.get(key);
    let all = all.and_then(|all| all.map_of(platforms));
    for (platform, ids) in all.unwrap_or_default() {
        if !platform_name(platform, &ids, platforms) {
            continue;
        }
        for id in ids.list().unwrap_or_default() {
            people.extend(one(&id).map(|id| (platform.to_owned(), id)));
        }
    }
    people
}

fn one(setting: &Setting<'_>) -> Option<String> {
    let id = setting.id()?;
    if id.contains('*') {
        setting.invalid(
            "that is to be one person: no wildcards",
            Some("write the id of the user"),
        );
        return None;
    }
    Some(id)
}

fn read_roles(fields: &mut Fields<'_>) -> Roles {
    let mut drafts = Drafts::shipped();
    let written = fields.map("roles");
    if written.len() > MOST_ROLES {
        fields.invalid("roles", format!("more than {MOST_ROLES} roles"), None);
    }
    for (name, setting) in written {
        if !is_name(name) && !setting.describes() {
            setting.invalid(
                "a role's name has 1 to 32 letters, digits, - and _",
                Some("such as moderator"),
            );
            continue;
        }
        let mut inner = setting.fields();
        let given = inner.get("capabilities");
        let capabilities = given.as_ref().and_then(|given| capabilities(name, given));
        let inherits = inner
            .has("inherits")
            .then(|| inner.texts("inherits", MOST_ROLES));
        inner.finish();
        let place = setting;
        drafts.put(name, capabilities, inherits, move |what| {
            place.invalid(what, None);
        });
    }
    let mut inheritance = fields.section("inheritance");
    let enabled = inheritance.bool("enabled", true);
    let most = inheritance.usize(
        "max_depth",
        usize::try_from(MAX_DEPTH).unwrap_or(usize::MAX),
        1..=32,
    );
    inheritance.finish();
    drafts.resolve(enabled.then_some(most))
}

/// Names go into commands and into the store, where a space ends them.
fn is_name(name: &str) -> bool {
    (1..=32).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Reads the capabilities of a role: an octal number, or a list of names.
fn capabilities(role: &str, setting: &Setting<'_>) -> Option<Capability> {
    let is_list = matches!(setting.node().value, Value::List(_));
    if is_list || setting.describes() {
        let names: Vec<(&str, Capability)> = Capability::all().iter_names().collect();
        let mut all = Capability::empty();
        for item in setting.list().unwrap_or_default() {
            all |= item.choice(&names).unwrap_or_default();
        }
        if is_list {
            return Some(all);
        }
    }
    let text = setting.word()?;
    let bits = text.strip_prefix("0o");
    let bits = bits.and_then(|digits| u16::from_str_radix(digits, 8).ok());
    let Some(bits) = bits.filter(|bits| *bits <= 0o777) else {
        setting.invalid(
            "capabilities are an octal number such as 0o440, or a list of names",
            Some("write 0o in front: a decimal number would mean something else"),
        );
        return None;
    };
    Some(shorthand(role, bits))
}

/// Five numbers are names of the built-in roles where they stand for the role of that very name: taken
/// literally they would forbid everybody to speak.
fn shorthand(role: &str, bits: u16) -> Capability {
    let meant = match (role, bits) {
        ("owner", 0o700) => Some(BuiltIn::Owner),
        ("admin", 0o600) => Some(BuiltIn::Admin),
        ("member", 0o400) => Some(BuiltIn::Member),
        ("guest", 0o100) => Some(BuiltIn::Guest),
        _ => None,
    };
    meant.map_or_else(
        || Capability::from_bits_truncate(bits),
        BuiltIn::capabilities,
    )
}

fn read_commands(mut fields: Fields<'_>, known: &[&'static str]) -> BTreeMap<String, Level> {
    let mut levels = BTreeMap::new();
    for level in Level::ALL {
        for setting in fields.list(level.name()) {
            let Some(written) = setting.word() else {
                continue;
            };
            let name = written.trim_start_matches(['/', '／']).to_ascii_lowercase();
            if !known.contains(&name.as_str()) {
                setting.warn(format!("there is no command /{name} in this version"));
                continue;
            }
            if levels.insert(name.clone(), level).is_some() {
                setting.invalid(format!("/{name} is listed twice"), None);
            }
        }
    }
    fields.finish();
    levels
}

#[cfg(test)]
mod tests;
