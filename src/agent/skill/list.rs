//! What the prompt says of the skills: a line for each, within a number of tokens.
//!
//! Owns the form of the lines and what is left out where there is no room. The same skills give the same bytes. Pure.

use std::sync::Arc;

use super::Skill;
use crate::agent::context::estimate_tokens;

/// What a description is shortened to where whole ones have no room, in characters.
const SHORT: usize = 120;
/// Stands where not all of them have room.
const MORE: &str = "- (more of them: call skill without a name)";

/// The lines, of at most so many tokens: with whole descriptions, else with their beginnings, else so many names as have
/// room.
#[must_use]
pub fn listing<'a>(skills: impl Iterator<Item = &'a Arc<Skill>>, tokens: usize) -> String {
    let skills: Vec<&Arc<Skill>> = skills.collect();
    for most in [usize::MAX, SHORT] {
        let lines: Vec<String> = skills.iter().map(|skill| line(skill, most)).collect();
        let text = lines.join("\n");
        if estimate_tokens(&text) <= tokens {
            return text;
        }
    }
    let mut text = String::new();
    for skill in skills {
        let name = format!("- {}\n", skill.name);
        if estimate_tokens(&format!("{text}{name}{MORE}")) > tokens {
            break;
        }
        text.push_str(&name);
    }
    if text.is_empty() {
        return text;
    }
    text.push_str(MORE);
    text
}

fn line(skill: &Skill, most: usize) -> String {
    let mut about: String = skill.description.chars().take(most).collect();
    if about.len() < skill.description.len() {
        about.push('…');
    }
    format!("- {}: {about}", skill.name)
}
