//! `weirgate check`: says whether a configuration can be used, and everything that is wrong with it.
//!
//! Owns what belongs to the verdict and its exit code. It starts nothing and writes nothing.

use std::path::Path;

use weirgate_sdk::settings::Severity;

use super::{
    Config, EXIT_CONFIG, Environment, KnownPlatform, load,
    load::{count, file_name},
    report::render_problems_in,
};
use crate::i18n::{Language, problem::Checking};

/// The verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What to print, without a line break at the end. For standard output if the exit code is 0, else
    /// for standard error.
    pub text: String,
    /// 0, or [`EXIT_CONFIG`] if there is an error.
    pub exit_code: u8,
}

/// Checks the file that [`load()`] would load. `language` says in which language it is told, by the configuration if it can
/// be used.
#[must_use]
pub fn check(
    path: Option<&Path>,
    env: &Environment<'_>,
    platforms: &[KnownPlatform],
    language: impl Fn(Option<&Config>) -> Language,
) -> Checked {
    let (file, problems, language) = match load(path, env, platforms) {
        Ok((config, warnings)) => {
            let file = file_name(config.file.as_deref());
            (file, warnings, language(Some(&config)))
        }
        Err(error) => (error.file, error.problems, language(None)),
    };
    let errors = count(&problems, Severity::Error);
    let verdict = Checking::Verdict {
        file: &file,
        errors,
        warnings: count(&problems, Severity::Warning),
    };
    let mut text = render_problems_in(language, &file, &problems);
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&verdict.render(language));
    Checked {
        text,
        exit_code: if errors == 0 { 0 } else { EXIT_CONFIG },
    }
}

#[cfg(test)]
mod tests;
