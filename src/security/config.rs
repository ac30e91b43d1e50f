//! `security`: what may pass.
//!
//! Owns the section's keys, defaults and limits. Expressions are compiled here, so that a faulty one is an error
//! with its place; nothing is looked for here.

mod content;

use std::collections::BTreeSet;

use regex::Regex;
use weirgate_sdk::settings::{Fields, Setting};

pub use content::{ContentFilter, ListFile};

use super::{
    injection::{Pattern, Severity},
    paths::PathGuard,
    redact::{self, PLACEHOLDER, Sought},
    words::{self, Level},
};

/// Most patterns of the operator, in each list.
const MAX_PATTERNS: usize = 256;

/// The section `security`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Security {
    /// Attempts to take over the model.
    pub injection: Injection,
    /// Words that are not to be read here.
    pub content_filter: ContentFilter,
    /// Secrets.
    pub leakage_prevention: Leakage,
}

/// What is acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything that is found.
    Strict,
    /// What rarely has another meaning.
    Moderate,
    /// Only what has no other meaning.
    Permissive,
}

impl Mode {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("strict", Self::Strict),
        ("moderate", Self::Moderate),
        ("permissive", Self::Permissive),
    ];

    /// The least severity that is acted on.
    #[must_use]
    pub fn least(self) -> Severity {
        match self {
            Self::Strict => Severity::Low,
            Self::Moderate => Severity::Medium,
            Self::Permissive => Severity::High,
        }
    }
}

/// What is done about an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// What was found is replaced.
    Sanitize,
    /// The turn does not run.
    Block,
    /// The model is told not to trust the text.
    Warn,
}

/// The section `security.injection`.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    /// Look for it.
    pub enable: bool,
    /// What is acted on.
    pub mode: Mode,
    /// The operator's patterns, beside the rules of the gateway.
    pub patterns: Vec<NamedPattern>,
    /// What is done.
    pub on_detect: Reaction,
    /// Write what was found, and where, into the log.
    pub log_detections: bool,
}

/// An entry of `security.injection.patterns`.
#[derive(Debug, Clone)]
pub struct NamedPattern(pub Pattern);

impl PartialEq for NamedPattern {
    fn eq(&self, other: &Self) -> bool {
        let parts = |one: &Self| {
            (
                one.0.name.clone(),
                one.0.regex.as_str().to_owned(),
                one.0.severity,
            )
        };
        parts(self) == parts(other)
    }
}

impl Default for Injection {
    fn default() -> Self {
        let pattern = |name: &str, regex: &str, severity| {
            let regex = compile(regex).ok()?;
            Some(NamedPattern(Pattern {
                name: name.into(),
                regex,
                severity,
            }))
        };
        let shipped = [
            pattern(
                "role_play_injection",
                "(?i)(you are now|forget previous|ignore all)",
                Severity::High,
            ),
            pattern(
                "system_prompt_leak",
                "(?i)(repeat your? (system|initial) (prompt|instructions))",
                Severity::High,
            ),
            pattern(
                "code_injection",
                "(?i)(```(system|prompt|instructor))",
                Severity::Medium,
            ),
        ];
        Self {
            enable: true,
            mode: Mode::Strict,
            patterns: shipped.into_iter().flatten().collect(),
            on_detect: Reaction::Sanitize,
            log_detections: true,
        }
    }
}

/// The section `security.leakage_prevention`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leakage {
    /// Files that no tool opens; see [`PathGuard`].
    pub blocked_file_patterns: Vec<String>,
    /// Expressions that are replaced in answers, as they are written.
    pub blocked_output_patterns: Vec<String>,
    /// Replace keys, tokens and passwords in the maintained formats, too.
    pub known_formats: bool,
    /// What stands in place of a secret.
    pub placeholder: String,
}

impl Default for Leakage {
    fn default() -> Self {
        let all = |patterns: &[&str]| {
            patterns
                .iter()
                .map(|pattern| (*pattern).to_owned())
                .collect()
        };
        Self {
            blocked_file_patterns: all(&[
                "**/.env",
                "**/secrets.yaml",
                "**/*password*",
                "**/.git/credentials",
            ]),
            blocked_output_patterns: all(&[
                "sk-[A-Za-z0-9_-]{20,200}",
                "gh[pousr]_[A-Za-z0-9]{36,255}",
                "AKIA[0-9A-Z]{16}",
            ]),
            known_formats: true,
            placeholder: PLACEHOLDER.to_owned(),
        }
    }
}

impl Security {
    /// What is looked for in everything that leaves: logs, traces, errors, answers.
    #[must_use]
    pub fn sought(&self) -> Sought {
        let leakage = &self.leakage_prevention;
        let sought = Sought::default().placeholder(&leakage.placeholder);
        if leakage.known_formats {
            sought.known_formats()
        } else {
            sought
        }
    }

    /// What is looked for in answers.
    ///
    /// # Errors
    /// What is wrong with an expression; those that were read are right.
    pub fn sought_in_answers(&self) -> Result<Sought, String> {
        let patterns = &self.leakage_prevention.blocked_output_patterns;
        let words = self.content_filter.words_of_answers()?;
        Ok(self.sought().expressions(patterns)?.words(words))
    }

    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let read = Self {
            injection: Injection::read(fields.section("injection")),
            content_filter: ContentFilter::read(fields.section("content_filter")),
            leakage_prevention: Leakage::read(fields.section("leakage_prevention")),
        };
        fields.finish();
        read
    }
}

impl Injection {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let reactions = [
            ("sanitize", Reaction::Sanitize),
            ("block", Reaction::Block),
            ("warn", Reaction::Warn),
        ];
        let read = Self {
            enable: fields.bool("enable", default.enable),
            mode: fields.choice("mode", default.mode, &Mode::WORDS),
            patterns: match fields.get("patterns") {
                Some(list) => patterns(&list),
                None => default.patterns,
            },
            on_detect: fields.choice("on_detect", default.on_detect, &reactions),
            log_detections: fields.bool("log_detections", default.log_detections),
        };
        fields.finish();
        read
    }
}

fn patterns(list: &Setting<'_>) -> Vec<NamedPattern> {
    let mut names = BTreeSet::new();
    let mut read = Vec::new();
    for item in at_most(list) {
        let mut fields = item.fields();
        let name = fields.required_text("name");
        let regex = fields
            .require("regex")
            .and_then(|setting| expression(&setting));
        let severity = fields.choice("severity", Severity::High, &Severity::WORDS);
        fields.finish();
        if let Some(name) = name {
            if !names.insert(name.clone()) {
                item.invalid(format!("there are two patterns of the name {name}"), None);
            }
            let name = name.as_str().into();
            read.extend(regex.map(|regex| {
                NamedPattern(Pattern {
                    name,
                    regex,
                    severity,
                })
            }));
        }
    }
    read
}

impl Leakage {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            blocked_file_patterns: match fields.get("blocked_file_patterns") {
                Some(list) => file_patterns(&list),
                None => default.blocked_file_patterns,
            },
            blocked_output_patterns: match fields.get("blocked_output_patterns") {
                Some(list) => output_patterns(&list),
                None => default.blocked_output_patterns,
            },
            known_formats: fields.bool("known_formats", default.known_formats),
            placeholder: fields.text("placeholder", &default.placeholder),
        };
        fields.finish();
        read
    }
}

fn file_patterns(list: &Setting<'_>) -> Vec<String> {
    let read: Vec<String> = words(list)
        .into_iter()
        .map(|(_, pattern)| pattern)
        .collect();
    if let Err(fault) = PathGuard::new(&read) {
        list.invalid(format!("the patterns cannot be used: {fault}"), None);
    }
    read
}

fn output_patterns(list: &Setting<'_>) -> Vec<String> {
    let all = words(list);
    for (item, pattern) in &all {
        if expression(item).is_some() && !redact::is_finite(pattern) {
            item.warn(
                "matches have no longest length: no answer is shown while it is written; write {0,200} for *",
            );
        }
    }
    let read: Vec<String> = all.into_iter().map(|(_, pattern)| pattern).collect();
    if !list.describes()
        && let Err(fault) = Sought::default().expressions(&read)
    {
        let fault = fault.lines().last().unwrap_or_default();
        list.invalid(format!("the expressions cannot be used: {fault}"), None);
        return Vec::new();
    }
    read
}

/// The texts of a list that is not too long.
fn words<'a>(list: &Setting<'a>) -> Vec<(Setting<'a>, String)> {
    let items = at_most(list).into_iter();
    let read = items.filter_map(|item| {
        let text = item.word()?.to_owned();
        Some((item, text))
    });
    read.collect()
}

/// The items of a list that is not too long.
fn at_most<'a>(list: &Setting<'a>) -> Vec<Setting<'a>> {
    let items = list.list().unwrap_or_default();
    if items.len() > MAX_PATTERNS {
        list.invalid(format!("the list has more than {MAX_PATTERNS} items"), None);
        return Vec::new();
    }
    items
}

/// An expression that compiles within its limits and matches no empty text.
fn expression(setting: &Setting<'_>) -> Option<Regex> {
    let text = setting.word()?;
    let compiled = compile(text);
    if let Err(fault) = &compiled {
        setting.invalid(format!("the expression is not valid: {fault}"), None);
    }
    compiled.ok()
}

/// What rules look at is in lower case, so case never matters.
fn compile(text: &str) -> Result<Regex, String> {
    words::compile(text, Level::Standard)
}

#[cfg(test)]
mod tests;
