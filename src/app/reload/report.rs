//! What came of a reload, for the log and for whoever asked.
//!
//! Owns the words and the form of the answer. Values are masked where the difference was made.

use serde_json::{Value, json};
use weirgate_sdk::settings::{Problem, Severity};

use super::Cause;
use crate::{
    command::configure::Reloaded,
    config::{reload::Change, render_problems},
    security::redact::Redactor,
};

/// Changes that are logged one by one; of more only the number is.
const LOGGED: usize = 64;

/// What came of a reload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The new configuration runs.
    Applied {
        /// What is in force.
        changes: Vec<Change>,
        /// What is not, until a restart.
        restart: Vec<Change>,
        /// What is odd about it.
        warnings: Vec<Problem>,
        /// The file.
        file: String,
    },
    /// Nothing that can be changed while the gateway runs is another one.
    Unchanged {
        /// What is not in force until a restart.
        restart: Vec<Change>,
    },
    /// The running configuration stays.
    Refused {
        /// Everything that is wrong.
        problems: Vec<Problem>,
        /// The file.
        file: String,
    },
}

impl Report {
    /// The outcome in one word.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Applied { .. } => "applied",
            Self::Unchanged { .. } => "unchanged",
            Self::Refused { .. } => "refused",
        }
    }

    /// The answer for a person, a line each.
    #[must_use]
    pub fn to_lines(&self, redactor: &Redactor) -> Reloaded {
        let text = |text: String| redactor.redact(&text).into_owned();
        let changes = |changes: &[Change]| {
            let lines = changes.iter().map(ToString::to_string);
            lines.map(text).collect()
        };
        let problems = |file: &str, problems: &[Problem]| {
            let lines = render_problems(file, problems);
            lines.lines().map(|line| text(line.to_owned())).collect()
        };
        match self {
            Self::Applied {
                changes: changed,
                restart,
                warnings,
                file,
            } => Reloaded::Applied {
                changes: changes(changed),
                restart: changes(restart),
                warnings: problems(file, warnings),
            },
            Self::Unchanged { restart } => Reloaded::Unchanged {
                restart: changes(restart),
            },
            Self::Refused {
                problems: wrong,
                file,
            } => Reloaded::Refused {
                problems: problems(file, wrong),
            },
        }
    }

    /// The answer for a program.
    #[must_use]
    pub fn to_json(&self, redactor: &Redactor) -> Value {
        let text = |text: &str| redactor.redact(text).into_owned();
        let change = |change: &Change| {
            let value = |value: &Option<String>| value.as_deref().map(text);
            json!({ "key": text(&change.key), "from": value(&change.from), "to": value(&change.to) })
        };
        let list = |changes: &[Change]| changes.iter().map(change).collect::<Vec<_>>();
        let problem = |problem: &Problem| {
            json!({
                "key": text(&problem.path),
                "line": problem.place.map(|place| place.line),
                "column": problem.place.map(|place| place.column),
                "problem": text(&problem.kind.to_string()),
                "hint": problem.hint.as_deref().map(text),
                "severity": match problem.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                },
            })
        };
        let problems = |all: &[Problem]| all.iter().map(problem).collect::<Vec<_>>();
        let outcome = self.outcome();
        match self {
            Self::Applied {
                changes,
                restart,
                warnings,
                file,
            } => json!({
                "outcome": outcome, "file": text(file), "changes": list(changes),
                "needs_restart": list(restart), "warnings": problems(warnings),
            }),
            Self::Unchanged { restart } => json!({
                "outcome": outcome, "changes": [], "needs_restart": list(restart),
            }),
            Self::Refused {
                problems: all,
                file,
            } => json!({
                "outcome": outcome, "file": text(file), "problems": problems(all),
            }),
        }
    }

    /// Writes it into the log.
    pub(super) fn log(&self, cause: Cause) {
        match self {
            Self::Applied {
                changes,
                restart,
                warnings,
                file,
            } => {
                let count = changes.len();
                tracing::info!(%file, ?cause, changes = count, "the configuration was reloaded");
                // The text is in the message, so that one change never counts as a repeat of another.
                for change in changes.iter().take(LOGGED) {
                    tracing::info!("changed: {change}");
                }
                if count > LOGGED {
                    tracing::info!("changed: {} more keys", count - LOGGED);
                }
                log_restart(restart);
                for warning in warnings {
                    tracing::warn!("{}", render_problems(file, std::slice::from_ref(warning)));
                }
            }
            Self::Unchanged { restart } => {
                tracing::info!(?cause, "the configuration was read again; nothing changed");
                log_restart(restart);
            }
            Self::Refused { problems, file } => {
                let errors = problems
                    .iter()
                    .filter(|problem| problem.severity == Severity::Error);
                let text = render_problems(file, problems).replace('\n', "; ");
                tracing::error!(
                    ?cause,
                    errors = errors.count(),
                    "the new configuration is refused, the running one stays: {text}"
                );
            }
        }
    }
}

fn log_restart(restart: &[Change]) {
    for change in restart.iter().take(LOGGED) {
        tracing::warn!("not in force until a restart: {change}");
    }
}
