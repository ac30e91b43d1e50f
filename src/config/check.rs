//! `weirgate check`: says whether a configuration can be used, and everything that is wrong with it.
//!
//! Owns the words of the verdict and its exit code. It starts nothing and writes nothing.

use std::path::Path;

use weirgate_sdk::settings::{Problem, Severity};

use super::{
    EXIT_CONFIG, Environment, KnownPlatform, load,
    load::{count, file_name},
    render_problems,
};

/// The verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What to print, without a line break at the end. For standard output if the exit code is 0, else
    /// for standard error.
    pub text: String,
    /// 0, or [`EXIT_CONFIG`] if there is an error.
    pub exit_code: u8,
}

/// Checks the file that [`load()`] would load.
#[must_use]
pub fn check(path: Option<&Path>, env: &Environment<'_>, platforms: &[KnownPlatform]) -> Checked {
    match load(path, env, platforms) {
        Ok((config, warnings)) => {
            let file = file_name(config.file.as_deref());
            let verdict = match warnings.len() {
                0 => format!("{file}: ok"),
                n => format!("{file}: ok, {}", number(n, "warning")),
            };
            Checked {
                text: joined(&file, &warnings, &verdict),
                exit_code: 0,
            }
        }
        Err(error) => {
            let errors = number(count(&error.problems, Severity::Error), "error");
            let verdict = match count(&error.problems, Severity::Warning) {
                0 => format!("{}: {errors}", error.file),
                n => format!("{}: {errors}, {}", error.file, number(n, "warning")),
            };
            let text = joined(&error.file, &error.problems, &verdict);
            Checked {
                text,
                exit_code: EXIT_CONFIG,
            }
        }
    }
}

fn joined(file: &str, problems: &[Problem], verdict: &str) -> String {
    if problems.is_empty() {
        return verdict.to_owned();
    }
    format!("{}\n{verdict}", render_problems(file, problems))
}

fn number(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

#[cfg(test)]
mod tests;
