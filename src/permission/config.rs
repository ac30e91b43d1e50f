//! `permissions`: who owns the gateway.
//!
//! Owns the section's keys and defaults. It never grants anything to a wildcard.

use weirgate_sdk::settings::{Fields, Setting};

use crate::config::platform_name;

/// The section `permissions`.
#[derive(Debug, Clone, PartialEq)]
pub struct Permissions {
    /// The global owners: platform and the id of the user there.
    pub owners: Vec<(String, String)>,
    /// The platform's own roles count: a group's creator is owner there, its administrators are admins.
    pub platform_roles: bool,
}

impl Default for Permissions {
    fn default() -> Self {
        Self {
            owners: Vec::new(),
            platform_roles: true,
        }
    }
}

impl Permissions {
    /// Reads the section. An owner on a platform that is not one of `platforms` is an error: nobody
    /// would notice that he is none.
    #[must_use]
    pub fn read<'a>(mut fields: Fields<'a>, platforms: &[&'a str]) -> Self {
        let default = Self::default();
        let mut owners = Vec::new();
        let all = fields.get("owners");
        let all = all.and_then(|all| all.map_of(platforms));
        for (platform, ids) in all.unwrap_or_default() {
            if !platform_name(platform, &ids, platforms) {
                continue;
            }
            for id in ids.list().unwrap_or_default() {
                owners.extend(owner(&id).map(|id| (platform.to_owned(), id)));
            }
        }
        let platform_roles = fields.bool("platform_roles", default.platform_roles);
        const NOT_YET: &str = "is not available in this version: the built-in roles hold";
        for key in ["default_role", "roles", "commands", "inheritance"] {
            fields.refused(key, NOT_YET);
        }
        fields.finish();
        Self {
            owners,
            platform_roles,
        }
    }
}

fn owner(setting: &Setting<'_>) -> Option<String> {
    let id = setting.id()?;
    if id.contains('*') {
        setting.invalid(
            "an owner is one person: no wildcards",
            Some("write the id of the user"),
        );
        return None;
    }
    Some(id)
}
