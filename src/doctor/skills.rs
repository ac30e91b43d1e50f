//! The skills: how many there are, and each that is left out.
//!
//! Owns nothing. Which tools a server will offer is not known before it runs, so what one might is taken as there.

use super::Line;
use crate::{
    agent::{
        peer,
        skill::Skills,
        tool::{memory, registry},
    },
    app::ground,
    config::Config,
    i18n::{health::Subject, skills::SkillText},
    security::paths::PathGuard,
};

/// A line for all, and one for each that is left out.
pub(super) fn skills(config: &Config) -> Vec<Line> {
    let settings = &config.tools;
    if !settings.skills.enabled {
        return Vec::new();
    }
    let ground = ground(config);
    // A configuration that was read has patterns that can be used.
    let Ok(guard) = PathGuard::new(&ground.blocked) else {
        return Vec::new();
    };
    let skills = Skills::of(&settings.skills, ground.skills.clone(), guard);
    let mut known = registry::names(settings, ground);
    // Its tool is there where it is.
    known.retain(|name| config.memory.enable || name != memory::NAME);
    let servers = || settings.mcp.running();
    let peers = || config.agent_collaboration.running();
    let sorted = skills.sorted(|tool| {
        let of_server = |name: &str| {
            tool.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with("__"))
        };
        let of_agent = |name: &str| {
            tool.strip_prefix(peer::START).is_some_and(|rest| {
                rest.strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with("__"))
            })
        };
        known.iter().any(|name| name == tool)
            || servers().any(|server| of_server(&server.name))
            || peers().any(|peer| of_agent(&peer.name))
    });
    let count = sorted.usable.len();
    let found = (Subject::Skill(None), SkillText::Found { count }.into());
    let left_out = sorted.left_out.into_iter().map(|one| {
        let why = SkillText::Why(one.fault);
        (Subject::Skill(Some(one.name)), why.into())
    });
    std::iter::once(found).chain(left_out).collect()
}
