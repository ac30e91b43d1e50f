//! The skills, the named agents and the programs that are tools: how many there are, and each that is left out.
//!
//! Owns nothing. Which tools a server will offer is not known before it runs, so what one might is taken as there.

use super::Line;
use crate::{
    agent::{
        peer,
        shelf::LeftOut,
        skill::Skills,
        subagent::tool as delegate,
        tool::{memory, registry},
    },
    app::{agents as found_agents, ground},
    config::Config,
    i18n::{
        health::{Here, Subject},
        skills::SkillText,
    },
    security::paths::PathGuard,
};

/// A line for all skills, and one for each that is left out.
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
    let sorted = skills.sorted(has(config));
    let found = SkillText::Found {
        count: sorted.usable.len(),
    };
    lines(Subject::Skill, found, sorted.left_out)
}

/// A line for all agents that can be named, and one for each that is left out; nothing if there are none.
pub(super) fn agents(config: &Config) -> Vec<Line> {
    let Some(agents) = found_agents(config) else {
        return Vec::new();
    };
    let sorted = agents.sorted(has(config));
    if sorted.usable.is_empty() && sorted.left_out.is_empty() {
        return Vec::new();
    }
    let found = SkillText::FoundAgents {
        count: sorted.usable.len(),
    };
    lines(Subject::Agent, found, sorted.left_out)
}

/// A line for all programs in the folder of tools, and one for each that is left out; nothing if there are none.
pub(super) fn programs(config: &Config) -> Vec<Line> {
    let found = registry::programs_of(ground(config).programs).found();
    let count = found.entries.len();
    if count == 0 && found.left_out.is_empty() {
        return Vec::new();
    }
    let left_out = found.left_out.iter().map(|(name, what)| {
        let what = what.clone();
        (
            Subject::Program(Some(name.clone())),
            Here::LeftOut { what }.into(),
        )
    });
    std::iter::once((Subject::Program(None), Here::Programs { count }.into()))
        .chain(left_out)
        .collect()
}

fn lines(
    subject: fn(Option<String>) -> Subject,
    found: SkillText,
    left_out: Vec<LeftOut>,
) -> Vec<Line> {
    let left_out = left_out.into_iter().map(|one| {
        let why = SkillText::Why(one.fault);
        (subject(Some(one.name)), why.into())
    });
    std::iter::once((subject(None), found.into()))
        .chain(left_out)
        .collect()
}

/// Which tools there are, or may be.
fn has(config: &Config) -> impl Fn(&str) -> bool {
    let mut known = registry::names(&config.tools, ground(config));
    // Its tool is there where it is.
    known.retain(|name| config.memory.enable || name != memory::NAME);
    let gives = config.agent_collaboration.subagents.enabled;
    known.retain(|name| gives || name != delegate::NAME);
    let servers = config.tools.mcp.running();
    let servers = servers.map(|server| format!("{}__", server.name));
    let peers = config.agent_collaboration.running();
    let peers = peers.map(|peer| format!("{}{}__", peer::START, peer.name));
    let starts: Vec<String> = servers.chain(peers).collect();
    move |tool| {
        let begins = |start: &String| tool.starts_with(start.as_str());
        known.iter().any(|name| name == tool) || starts.iter().any(begins)
    }
}
