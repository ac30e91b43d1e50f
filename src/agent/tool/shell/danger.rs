//! Which command lines somebody has to say yes to before they run.
//!
//! Owns the rules of `danger.txt` and the operator's. They make people look; what keeps the machine whole is the sandbox.
//! Pure.

use regex::{Regex, RegexBuilder};

use super::parse::commands;

/// The rules of the gateway: a name, where it looks, an expression.
const RULES: &str = include_str!("danger.txt");
/// The name of the operator's.
const OWN: &str = "configured";
/// The name of what cannot be looked through.
const TANGLED: &str = "tangled";
/// Most bytes that an expression may take.
const BYTES: usize = 1 << 20;

/// The rules.
#[derive(Debug)]
pub(super) struct Danger {
    /// For each command by itself.
    commands: Vec<(String, Regex)>,
    /// For the whole without blanks and quotes.
    texts: Vec<(String, Regex)>,
}

/// An expression of the operator.
///
/// # Errors
/// What is wrong with it.
pub(super) fn compile(expression: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(expression).size_limit(BYTES).build();
    built.map_err(|error| error.to_string())
}

impl Danger {
    /// The rules of the gateway, and these.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn new(own: &[String]) -> Result<Self, String> {
        let mut rules = Self {
            commands: Vec::new(),
            texts: Vec::new(),
        };
        for line in RULES.lines().filter(|line| !line.starts_with('#')) {
            let field = |text: &'static str| {
                let (field, rest) = text.split_once(' ')?;
                Some((field, rest.trim_start()))
            };
            let Some((name, (place, expression))) =
                field(line).and_then(|(name, rest)| Some((name, field(rest)?)))
            else {
                continue;
            };
            let rule = (name.to_owned(), compile(expression.trim())?);
            match place {
                "command" => rules.commands.push(rule),
                _ => rules.texts.push(rule),
            }
        }
        for expression in own {
            rules.commands.push((OWN.to_owned(), compile(expression)?));
        }
        Ok(rules)
    }

    /// The rule that names a command line; `None` if none does.
    pub(super) fn of(&self, line: &str) -> Option<&str> {
        let Some(commands) = commands(line) else {
            return Some(TANGLED);
        };
        let hidden = |sign: &char| !sign.is_whitespace() && !matches!(sign, '\'' | '"' | '\\');
        let text: String = line.chars().filter(hidden).collect();
        let of_command = self.commands.iter().find(|(_, rule)| {
            let mut all = commands.iter();
            all.any(|command| rule.is_match(command))
        });
        let of_text = || self.texts.iter().find(|(_, rule)| rule.is_match(&text));
        of_command.or_else(of_text).map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests;
