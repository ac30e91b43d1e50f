//! A secret: a key, a token, a password.
//!
//! Owns the promise that it is never printed by accident: no `Display`, and `Debug` shows asterisks.
//! It never wipes memory.

use std::fmt;

/// A text that must not appear in logs or messages.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// Below this many characters a secret is easy to guess and too short to be found by its value when
    /// texts are redacted.
    pub const SHORT: usize = 8;

    /// Wraps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// It has fewer than [`Secret::SHORT`] characters.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.0.chars().count() < Self::SHORT
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
