//! Redaction: what must not leave the process leaves it as a placeholder.
//! Owns what is looked for (the configuration's own secrets by value, keys and passwords by shape, the operator's
//! patterns), the placeholder that replaces it, and the one filter ([`Filter`]) through which all answer text goes
//! out, whole or in pieces. It never logs, and never shows a secret in `Debug`.
//!
//! Of values every run of bytes is replaced that occurrences cover, overlapping ones taken together, so that no
//! rest of a second secret stays beside the first. A text that ends inside a secret, at least eight bytes and half
//! of it, loses that piece too: a cut stream or a token limit must not show all but the last character.

mod filter;
mod forms;
mod lines;
mod placeholder;
mod runs;
mod shapes;
mod trie;
mod values;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::words::Words;
use crate::telemetry::metrics;
pub use filter::Filter;
use lines::Joined;
use parking_lot::RwLock;
use runs::Runs;
use shapes::Shapes;
pub(super) use shapes::{is_finite, longest};
use trie::Trie;
use weirgate_sdk::settings;

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

impl Secret {
    /// The secrets of a configuration, each with the path of its key.
    #[must_use]
    pub fn all(read: &[(String, settings::Secret)]) -> Vec<Self> {
        let named = |(name, secret): &(String, settings::Secret)| Self {
            name: name.clone(),
            value: secret.expose().to_owned(),
        };
        read.iter().map(named).collect()
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

/// What is looked for, compiled.
struct Patterns {
    trie: Trie,
    placeholder: String,
    /// Stages behind that of the values, in order.
    shapes: Vec<Arc<Shapes>>,
    /// The last stage.
    words: Option<Arc<Words>>,
}

/// What a redactor looks for beside the secrets that it is given.
#[derive(Clone)]
pub struct Sought {
    placeholder: String,
    shapes: Vec<Arc<Shapes>>,
    words: Option<Arc<Words>>,
}

impl Default for Sought {
    /// Nothing else.
    fn default() -> Self {
        Self {
            placeholder: PLACEHOLDER.to_owned(),
            shapes: Vec::new(),
            words: None,
        }
    }
}

/// A text without what must not leave.
#[derive(Debug)]
pub struct Cleaned<'a> {
    /// The text; borrowed if nothing was replaced.
    pub text: Cow<'a, str>,
    /// A secret was replaced.
    pub secrets: bool,
    /// A word of the blocklist was replaced.
    pub words: bool,
}

impl fmt::Debug for Sought {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sought")
            .field("placeholder", &self.placeholder)
            .field("stages", &self.shapes.len())
            .finish()
    }
}

impl Sought {
    /// What replaces what is found.
    #[must_use]
    pub fn placeholder(mut self, placeholder: &str) -> Self {
        placeholder.clone_into(&mut self.placeholder);
        self
    }

    /// Keys, tokens and passwords in the maintained formats, whoever they belong to.
    #[must_use]
    pub fn known_formats(mut self) -> Self {
        self.shapes.extend(known_formats());
        self
    }

    /// Expressions, replaced as they are written. One without a finite length makes a text go out whole.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn expressions(mut self, expressions: &[String]) -> Result<Self, String> {
        if !expressions.is_empty() {
            self.shapes.push(Arc::new(Shapes::written(expressions)?));
        }
        Ok(self)
    }
}

impl Sought {
    /// Words that are not to be read, replaced by what belongs to their list.
    #[must_use]
    pub fn words(mut self, words: Option<Arc<Words>>) -> Self {
        self.words = words;
        self
    }
}

/// The maintained formats, compiled at the first use.
fn known_formats() -> Option<Arc<Shapes>> {
    static KNOWN: OnceLock<Option<Arc<Shapes>>> = OnceLock::new();
    let compile = || match Shapes::known() {
        Ok(shapes) => Some(Arc::new(shapes)),
        Err(fault) => {
            // The file is part of the program and a test reads it: this cannot happen.
            tracing::error!(fault, "the formats of keys cannot be used");
            None
        }
    };
    KNOWN.get_or_init(compile).clone()
}

impl Redactor {
    /// A redactor for these secrets and the default placeholder.
    #[must_use]
    pub fn new<S: Into<Secret>>(secrets: impl IntoIterator<Item = S>) -> (Self, Vec<Warning>) {
        Self::seeking(secrets, &Sought::default())
    }

    /// A redactor for these secrets and what else is sought. A placeholder that is empty or could form a secret
    /// with the text around it is replaced, with a warning, so that redacting twice changes nothing.
    #[must_use]
    pub fn seeking<S: Into<Secret>>(
        secrets: impl IntoIterator<Item = S>,
        sought: &Sought,
    ) -> (Self, Vec<Warning>) {
        let placeholder = sought.placeholder.as_str();
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
        if patterns.is_empty() && sought.shapes.is_empty() && sought.words.is_none() {
            return (Self::default(), warnings);
        }
        let used = placeholder::choose(placeholder, &patterns);
        if used != placeholder {
            warnings.push(Warning::PlaceholderReplaced { used: used.clone() });
        }
        let joined: Vec<Vec<u8>> = patterns
            .iter()
            .map(|pattern| lines::joined(pattern))
            .collect();
        let trie = Trie::new(&joined);
        (
            Self {
                patterns: Arc::new(RwLock::new(Some(Arc::new(Patterns {
                    trie,
                    placeholder: used,
                    shapes: sought.shapes.clone(),
                    words: sought.words.clone(),
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
        self.clean(text).text
    }

    /// Like [`Redactor::redact`], with what was replaced.
    #[must_use]
    pub fn clean<'a>(&self, text: &'a str) -> Cleaned<'a> {
        let Some(patterns) = self.patterns() else {
            return Cleaned {
                text: Cow::Borrowed(text),
                secrets: false,
                words: false,
            };
        };
        let mut clean = patterns.values(text);
        for shapes in &patterns.shapes {
            if let Some(cleaner) = shapes.redact(&clean, &patterns.placeholder) {
                clean = Cow::Owned(cleaner);
            }
        }
        let secrets = matches!(clean, Cow::Owned(_));
        let words = patterns
            .words
            .as_ref()
            .and_then(|words| words.replace(&clean));
        Cleaned {
            secrets,
            words: words.is_some(),
            text: words.map_or(clean, |(cleaner, _)| Cow::Owned(cleaner)),
        }
    }

    /// A filter for one text that comes in pieces.
    #[must_use]
    pub fn filter(&self) -> Filter {
        Filter::new(self.patterns())
    }
}

impl Patterns {
    /// The text without the values of secrets.
    fn values<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let (mut runs, mut joined, mut state) = (Runs::default(), Joined::default(), trie::ROOT);
        joined.read(text, 0, |piece, at| {
            state = self.trie.scan(state, piece, at, &mut runs)
        });
        runs.add(joined.len() - self.trie.tail(state), joined.len());
        if runs.is_empty() {
            return Cow::Borrowed(text);
        }
        metrics::redacted(runs.iter().count());
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for run in runs.iter() {
            out.push_str(text.get(done..joined.place(run.start)).unwrap_or_default());
            out.push_str(&self.placeholder);
            done = joined.end(run.end);
        }
        out.push_str(text.get(done..).unwrap_or_default());
        Cow::Owned(out)
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
