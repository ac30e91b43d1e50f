//! Redaction by value: the configuration's own secrets never leave the process.
//! Owns the set of patterns made from the secrets and the placeholder that replaces them, and the one
//! filter ([`Filter`]) through which all answer text goes out, whole or in pieces.
//! It never guesses by the word before a value, never logs, and never shows a secret in `Debug`.
//!
//! What is replaced: every run of bytes that occurrences of patterns cover, overlapping ones taken
//! together, so that no rest of a second secret stays beside the first. A text that ends inside a
//! secret, at least eight bytes and half of it, loses that piece too: a cut stream or a token limit
//! must not show all but the last character.

mod filter;
mod forms;
mod placeholder;
mod runs;
mod trie;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::telemetry::metrics;
pub use filter::Filter;
use parking_lot::RwLock;
use runs::Runs;
use trie::Trie;

/// Shortest value that is redacted, in characters. Shorter ones would mangle ordinary text.
pub const MIN_SECRET_CHARS: usize = 8;

/// What stands in place of a secret unless configured otherwise.
pub const PLACEHOLDER: &str = "[REDACTED]";

/// One secret of the configuration. `Debug` shows the name only.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Where it is configured, for warnings; not secret. May be empty.
    pub name: String,
    /// The value; white space around it is ignored.
    pub value: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl From<&str> for Secret {
    fn from(value: &str) -> Self {
        Self {
            name: String::new(),
            value: value.to_owned(),
        }
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self {
            name: String::new(),
            value,
        }
    }
}

impl<N: Into<String>, V: Into<String>> From<(N, V)> for Secret {
    fn from((name, value): (N, V)) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

/// What the operator should know about the secrets, at start and after a reload. Holds no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Shorter than [`MIN_SECRET_CHARS`]: not redacted. Empty values are not reported.
    TooShort {
        /// Name of the secret.
        name: String,
    },
    /// Part of the placeholder itself: not redacted.
    InPlaceholder {
        /// Name of the secret.
        name: String,
    },
    /// A secret and the placeholder would run into each other; another placeholder is used.
    PlaceholderReplaced {
        /// The placeholder in use.
        used: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort { name } => write!(
                f,
                "secret {name:?} has fewer than {MIN_SECRET_CHARS} characters and is not redacted; use a longer one"
            ),
            Self::InPlaceholder { name } => write!(
                f,
                "secret {name:?} is part of the redaction placeholder and is not redacted; use another value"
            ),
            Self::PlaceholderReplaced { used } => write!(
                f,
                "the redaction placeholder runs into a secret; {used:?} is used instead"
            ),
        }
    }
}

/// Replaces known secrets in text. Cheap to clone; all clones look for the same secrets, also after
/// [`Redactor::replace`].
#[derive(Clone, Default)]
pub struct Redactor {
    /// `None` while there is nothing to look for, which makes every call a no-op.
    patterns: Arc<RwLock<Option<Arc<Patterns>>>>,
}

/// The compiled secrets.
struct Patterns {
    trie: Trie,
    placeholder: String,
}

impl Redactor {
    /// A redactor for these secrets and the default placeholder.
    #[must_use]
    pub fn new<S: Into<Secret>>(secrets: impl IntoIterator<Item = S>) -> (Self, Vec<Warning>) {
        Self::with_placeholder(secrets, PLACEHOLDER)
    }

    /// As [`Redactor::new`] with another placeholder. One that is empty or could form a secret with
    /// the text around it is replaced, with a warning, so that redacting twice changes nothing.
    #[must_use]
    pub fn with_placeholder<S: Into<Secret>>(
        secrets: impl IntoIterator<Item = S>,
        placeholder: &str,
    ) -> (Self, Vec<Warning>) {
        let mut warnings = Vec::new();
        let mut patterns = Vec::new();
        for secret in secrets {
            let Secret { name, value } = secret.into();
            let value = value.trim();
            if value.is_empty() {
                continue;
            }
            if value.chars().count() < MIN_SECRET_CHARS {
                warnings.push(Warning::TooShort { name });
            } else if placeholder::is_part(value, placeholder) {
                warnings.push(Warning::InPlaceholder { name });
            } else {
                patterns.extend(forms::of(value));
                patterns.extend(forms::behind_scheme(value).into_iter().flat_map(forms::of));
            }
        }
        patterns.sort_unstable();
        patterns.dedup();
        patterns.retain(|pattern| !placeholder::is_part(pattern, placeholder));
        if patterns.is_empty() {
            return (Self::default(), warnings);
        }
        let used = placeholder::choose(placeholder, &patterns);
        if used != placeholder {
            warnings.push(Warning::PlaceholderReplaced { used: used.clone() });
        }
        let trie = Trie::new(&patterns);
        (
            Self {
                patterns: Arc::new(RwLock::new(Some(Arc::new(Patterns {
                    trie,
                    placeholder: used,
                })))),
            },
            warnings,
        )
    }

    /// Whether there is nothing to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.read().is_none()
    }

    /// Looks for the secrets of `other` instead, from now on and in every clone. A text that is being
    /// filtered keeps those with which it began.
    pub fn replace(&self, other: &Self) {
        let patterns = other.patterns();
        *self.patterns.write() = patterns;
    }

    fn patterns(&self) -> Option<Arc<Patterns>> {
        self.patterns.read().clone()
    }

    /// The text without secrets; borrowed, without a copy, if there were none. Linear time.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(patterns) = self.patterns() else {
            return Cow::Borrowed(text);
        };
        let mut runs = Runs::default();
        let state = patterns
            .trie
            .scan(trie::ROOT, text.as_bytes(), 0, &mut runs);
        runs.add(text.len() - patterns.trie.tail(state), text.len());
        if runs.is_empty() {
            return Cow::Borrowed(text);
        }
        metrics::redacted(runs.iter().count());
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for run in runs.iter() {
            out.push_str(text.get(done..run.start).unwrap_or_default());
            out.push_str(&patterns.placeholder);
            done = run.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// A filter for one text that comes in pieces.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter::new(self.patterns())
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
