//! What a model is told of skills or agents: a line for each, within a number of tokens.
//!
//! Owns the form of the lines and what is left out where there is no room. The same skills give the same bytes. Pure.

use crate::agent::context::estimate_tokens;

/// What a description is shortened to where whole ones have no room, in characters.
const SHORT: usize = 120;
/// Stands where not all of the skills have room.
pub const MORE: &str = "- (more of them: call skill without a name)";

/// The lines, of at most so many tokens: with whole descriptions, else with their beginnings, else so many names as have
/// room, and `more`.
#[must_use]
pub fn listing<'a>(
    named: impl Iterator<Item = (&'a str, &'a str)>,
    more: &str,
    tokens: usize,
) -> String {
    let named: Vec<(&str, &str)> = named.collect();
    for most in [usize::MAX, SHORT] {
        let lines: Vec<String> = named.iter().map(|one| line(*one, most)).collect();
        let text = lines.join("\n");
        if estimate_tokens(&text) <= tokens {
            return text;
        }
    }
    let mut text = String::new();
    for (name, _) in named {
        let name = format!("- {name}\n");
        if estimate_tokens(&format!("{text}{name}{more}")) > tokens {
            break;
        }
        text.push_str(&name);
    }
    if text.is_empty() {
        return text;
    }
    text.push_str(more);
    text
}

fn line((name, description): (&str, &str), most: usize) -> String {
    let mut about: String = description.chars().take(most).collect();
    if about.len() < description.len() {
        about.push('…');
    }
    format!("- {name}: {about}")
}
