//! What of a turn's words reaches the model.
//!
//! Owns the verdict on a text that comes in: what is looked for, and what follows from what was found. Pure; the
//! turn acts on the verdict, and the journal keeps the words as they came.

use std::sync::Arc;

use super::{
    config::{Reaction, Security},
    injection::{self, Detector, Finding, Severity},
    words::{Hit, Words},
};

/// Looks at texts that come in. One for each configuration.
#[derive(Debug)]
pub struct Guard {
    /// `None` if nothing is to be taken out.
    words: Option<Arc<Words>>,
    /// `None` while it is not to be looked for.
    detector: Option<Detector>,
    reaction: Reaction,
    replacement: String,
    log: bool,
}

/// What becomes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It passes as it is.
    Pass,
    /// It passes without what was found.
    Sanitised,
    /// It passes, and is not to be trusted.
    Warned,
    /// It does not pass.
    Blocked,
}

/// A text that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What passes.
    pub text: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What was found of injection, in places of the text without the words of the blocklist.
    pub found: Vec<Finding>,
    /// What was found before of the blocklist, in places of the text as it came. It was taken out, unless it is only to
    /// be told.
    pub filtered: Vec<Hit>,
}

impl Checked {
    /// Something of the blocklist was taken out.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.filtered.iter().any(Hit::is_taken_out)
    }

    /// The entries of the blocklist for which a message is not answered.
    pub fn forbidden(&self) -> impl Iterator<Item = &str> {
        let hits = self.filtered.iter();
        let hits = hits.filter(|hit| hit.severity == Severity::High);
        hits.map(|hit| &*hit.entry)
    }
}

impl Guard {
    /// A guard for these settings.
    ///
    /// # Errors
    /// What is wrong with a blocklist; one that was read is right.
    pub fn new(security: &Security) -> Result<Self, String> {
        let injection = &security.injection;
        let patterns = injection.patterns.iter().map(|pattern| pattern.0.clone());
        Ok(Self {
            words: security.content_filter.words()?,
            detector: injection
                .enable
                .then(|| Detector::new(patterns, injection.mode.least())),
            reaction: injection.on_detect,
            replacement: security.content_filter.replacement.clone(),
            log: injection.log_detections,
        })
    }

    /// Looks at a text that is meant for the model.
    #[must_use]
    pub fn check(&self, text: String) -> Checked {
        let clean = self.words.as_ref().and_then(|words| words.replace(&text));
        let (text, filtered) = clean.unwrap_or((text, Vec::new()));
        let found = self
            .detector
            .as_ref()
            .map(|detector| detector.find(&text))
            .unwrap_or_default();
        let verdict = match self.reaction {
            _ if found.is_empty() => Verdict::Pass,
            Reaction::Sanitize => Verdict::Sanitised,
            Reaction::Block => Verdict::Blocked,
            Reaction::Warn => Verdict::Warned,
        };
        let text = match verdict {
            Verdict::Sanitised => injection::replace(&text, &found, &self.replacement),
            _ => text,
        };
        Checked {
            text,
            verdict,
            found,
            filtered,
        }
    }

    /// A text that nobody asked the bot about, such as what is said around it: it passes, without what was found
    /// unless findings are only to be warned of.
    #[must_use]
    pub fn overheard(&self, text: String) -> String {
        let checked = self.check(text);
        match checked.verdict {
            Verdict::Blocked => {
                injection::replace(&checked.text, &checked.found, &self.replacement)
            }
            _ => checked.text,
        }
    }

    /// Whether what is found is to be written into the log.
    #[must_use]
    pub fn logs(&self) -> bool {
        self.log
    }
}

#[cfg(test)]
mod tests;
