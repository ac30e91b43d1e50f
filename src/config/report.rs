//! Writes problems for people: one line each, the hint on its own line.
//!
//! Pure.

use std::fmt::Write;

use weirgate_sdk::settings::{Problem, Severity};

use crate::i18n::{Language, problem::Checking};

/// The problems of a file, each as `file:line:column: key.path: what is wrong`, without a line break at
/// the end.
#[must_use]
pub fn render_problems(file: &str, problems: &[Problem]) -> String {
    render_problems_in(Language::En, file, problems)
}

/// The same in a language. Places and keys stay as they are.
pub(super) fn render_problems_in(language: Language, file: &str, problems: &[Problem]) -> String {
    let mut out = String::new();
    for problem in problems {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(file);
        if let Some(place) = problem.place {
            // Writing to a String cannot fail.
            let _ = write!(out, ":{}:{}", place.line, place.column);
        }
        out.push_str(": ");
        if problem.severity == Severity::Warning {
            out.push_str(&Checking::Warning.render(language));
        }
        if !problem.path.is_empty() {
            out.push_str(&problem.path);
            out.push_str(": ");
        }
        out.push_str(&Checking::Wrong(&problem.kind).render(language));
        if let Some(hint) = &problem.hint {
            out.push_str("\n  ");
            out.push_str(&Checking::Hint(hint).render(language));
        }
    }
    out
}
