//! What is wrong in a configuration, and the collector that gathers it.
//!
//! Owns the words of the messages. They name keys, places and variables; a value is shown only
//! shortened, and never when it is a secret or came from a variable.

use std::{cell::RefCell, collections::BTreeSet, fmt};

use super::{
    node::Place,
    reference::{Described, Reference, Shape},
    secret::Secret,
};

/// Whether a problem stops the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The configuration is refused.
    Error,
    /// Said, then passed.
    Warning,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Nothing reads this key.
    Unknown,
    /// The key stands twice in one map.
    Duplicate {
        /// Where it stood first.
        first: Place,
    },
    /// A key that must be there is not, or has no value.
    Missing,
    /// A value of the wrong kind.
    WrongType {
        /// What should be there.
        expected: &'static str,
        /// What is there, fit to be shown.
        found: String,
    },
    /// A number outside its limits.
    OutOfRange {
        /// The value, fit to be shown.
        found: String,
        /// Least allowed.
        least: String,
        /// Most allowed.
        most: String,
        /// The unit with a space before it, or nothing.
        unit: &'static str,
    },
    /// One of a few words was expected.
    NotAChoice {
        /// The value, fit to be shown.
        found: String,
        /// The words.
        choices: Vec<String>,
    },
    /// Known, but not in this version; the note says what, or what instead.
    NotAvailable(String),
    /// A remark on something that was read, such as that it has no effect.
    Note(String),
    /// Anything else, as one lower-case fragment.
    Invalid(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("unknown key"),
            Self::Duplicate { first } => {
                write!(
                    f,
                    "the key stands here for the second time (first in line {})",
                    first.line
                )
            }
            Self::Missing => f.write_str("a value is missing"),
            Self::WrongType { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::OutOfRange {
                found,
                least,
                most,
                unit,
            } => {
                write!(f, "{found} is not between {least} and {most}{unit}")
            }
            Self::NotAChoice { found, choices } => {
                write!(f, "{found} is none of {}", choices.join(", "))
            }
            Self::NotAvailable(note) | Self::Note(note) | Self::Invalid(note) => f.write_str(note),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key's path from the top of the file, such as `flow_control.auto.api_rpm_limit`; empty for
    /// the file as a whole.
    pub path: String,
    /// Where; `None` if there is no such place, such as a file that cannot be read.
    pub place: Option<Place>,
    /// What is wrong.
    pub kind: Kind,
    /// What to do, without a full stop.
    pub hint: Option<String>,
    /// Whether it stops the start.
    pub severity: Severity,
}

impl Problem {
    /// An error.
    #[must_use]
    pub fn error(path: impl Into<String>, place: Option<Place>, kind: Kind) -> Self {
        Self {
            path: path.into(),
            place,
            kind,
            hint: None,
            severity: Severity::Error,
        }
    }

    /// A warning.
    #[must_use]
    pub fn warning(path: impl Into<String>, place: Option<Place>, kind: Kind) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, place, kind)
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Reads a file that a `*_file` key names and gives its text, or says why not (without its content).
type ReadFile = Box<dyn Fn(&str) -> Result<String, String>>;

/// Gathers problems while a configuration is read. It belongs to one reading in one thread.
pub struct Problems {
    found: RefCell<Vec<Problem>>,
    known: RefCell<BTreeSet<String>>,
    secrets: RefCell<Vec<(String, Secret)>>,
    read_file: ReadFile,
    /// Set in the describing mode.
    reference: Option<Reference>,
}

impl Default for Problems {
    fn default() -> Self {
        Self::new()
    }
}

impl Problems {
    /// An empty collector that cannot read files.
    #[must_use]
    pub fn new() -> Self {
        Self::with_files(|_| Err("files are not read here".to_owned()))
    }

    /// An empty collector; `read_file` gives the text of the files that `*_file` keys name.
    #[must_use]
    pub fn with_files(read_file: impl Fn(&str) -> Result<String, String> + 'static) -> Self {
        Self {
            found: RefCell::default(),
            known: RefCell::default(),
            secrets: RefCell::default(),
            read_file: Box::new(read_file),
            reference: None,
        }
    }

    /// A collector for the describing mode: whoever reads with it finds every key there and no value, gets
    /// the defaults, and what he asked for is in [`Problems::described`]. What is reported means nothing.
    #[must_use]
    pub fn describing() -> Self {
        Self {
            reference: Some(Reference::default()),
            ..Self::new()
        }
    }

    /// All keys that were asked for in the describing mode, in the order of the reading.
    #[must_use]
    pub fn described(&self) -> Vec<Described> {
        self.reference
            .as_ref()
            .map(Reference::all)
            .unwrap_or_default()
    }

    pub(super) fn describes(&self) -> bool {
        self.reference.is_some()
    }

    pub(super) fn note_shape(&self, path: &str, shape: impl FnOnce() -> Shape) {
        if let Some(reference) = &self.reference {
            reference.shape(path, shape());
        }
    }

    pub(super) fn note_default(&self, path: &str, default: impl FnOnce() -> String) {
        if let Some(reference) = &self.reference {
            reference.holds(path, default());
        }
    }

    pub(super) fn note_required(&self, path: &str) {
        if let Some(reference) = &self.reference {
            reference.required(path);
        }
    }

    /// Adds one.
    pub fn push(&self, problem: Problem) {
        self.found.borrow_mut().push(problem);
    }

    /// At least one is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.found
            .borrow()
            .iter()
            .any(|p| p.severity == Severity::Error)
    }

    /// Takes all out, in the order of the file.
    #[must_use]
    pub fn take(&self) -> Vec<Problem> {
        let mut all = self.found.take();
        all.sort_by_key(|problem| problem.place);
        all
    }

    /// The paths of all keys that were asked for, present or not: the reference of what can be set.
    #[must_use]
    pub fn known_keys(&self) -> BTreeSet<String> {
        self.known.borrow().clone()
    }

    /// Every secret that was read, with the path of its key: what must be kept out of logs and answers.
    #[must_use]
    pub fn secrets(&self) -> Vec<(String, Secret)> {
        self.secrets.borrow().clone()
    }

    pub(super) fn keep_secret(&self, path: String, secret: Secret) {
        self.secrets.borrow_mut().push((path, secret));
    }

    pub(super) fn know(&self, path: String) {
        self.known.borrow_mut().insert(path);
    }

    pub(super) fn read_file(&self, path: &str) -> Result<String, String> {
        (self.read_file)(path)
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problems")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}
