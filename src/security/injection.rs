//! Attempts to take over the model: what they look like, and where they are in a text.
//!
//! Owns the detector: the gateway's own rules (`injection/rules.yaml`), the operator's patterns, and the
//! disguises that are taken off first. It finds and never decides what follows; it keeps nothing of a text.

mod disguise;
mod rules;

use std::{ops::Range, sync::Arc};

use regex::Regex;

use super::normalise::Normalised;
use rules::Rules;

/// How sure it is that a match is an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An ordinary message may say it once in a while.
    Low,
    /// It rarely has another meaning.
    Medium,
    /// It has no other meaning.
    High,
}

impl Severity {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("low", Self::Low),
        ("medium", Self::Medium),
        ("high", Self::High),
    ];

    /// The word of agent.yaml.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A pattern of the operator.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Its name, for the log.
    pub name: Arc<str>,
    /// What it looks for, in normalised text.
    pub regex: Regex,
    /// How sure a match is.
    pub severity: Severity,
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule or pattern.
    pub rule: Arc<str>,
    /// How sure it is.
    pub severity: Severity,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What it was disguised as, such as `base64`.
    pub disguise: Option<&'static str>,
}

/// Finds attempts. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Detector {
    patterns: Arc<[Pattern]>,
    least: Severity,
}

impl Detector {
    /// A detector that reports from a severity on.
    #[must_use]
    pub fn new(patterns: impl IntoIterator<Item = Pattern>, least: Severity) -> Self {
        let patterns = patterns
            .into_iter()
            .filter(|pattern| pattern.severity >= least);
        Self {
            patterns: patterns.collect(),
            least,
        }
    }

    /// Everything that is found, in the order of the text. Linear time.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Finding> {
        let form = Normalised::of(text);
        let mut found = Vec::new();
        let ciphers = self.look(&form, None, &mut |mut finding| {
            finding.span = form.range_of(finding.span, text);
            found.push(finding);
        });
        disguise::each(text, &form, &ciphers, &mut |revealed| {
            let inner = Normalised::of(&revealed.text);
            self.look(&inner, Some(revealed.name), &mut |mut finding| {
                let span = inner.range_of(finding.span, &revealed.text);
                finding.span = form.range_of(revealed.place(span), text);
                if !found.iter().any(|known| covers(known, &finding)) {
                    found.push(finding);
                }
            });
        });
        found.sort_by(|one, other| {
            (one.span.start, &one.rule).cmp(&(other.span.start, &other.rule))
        });
        found
    }

    /// What the rules and patterns find in one form of a text; spans are those of the form.
    fn look(
        &self,
        form: &Normalised,
        disguise: Option<&'static str>,
        found: &mut dyn FnMut(Finding),
    ) -> Vec<disguise::Cipher> {
        let ciphers = Rules::own().find(form, self.least, |rule, span| {
            found(Finding {
                rule: Arc::clone(&rule.name),
                severity: rule.severity,
                span,
                disguise,
            });
        });
        for pattern in &*self.patterns {
            for matched in pattern.regex.find_iter(form.text()) {
                found(Finding {
                    rule: Arc::clone(&pattern.name),
                    severity: pattern.severity,
                    span: matched.range(),
                    disguise,
                });
            }
        }
        ciphers
    }
}

fn covers(known: &Finding, other: &Finding) -> bool {
    known.rule == other.rule
        && known.span.start <= other.span.start
        && other.span.end <= known.span.end
}

/// The text with everything that was found replaced; what overlaps or touches is one.
#[must_use]
pub fn replace(text: &str, found: &[Finding], replacement: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let mut open: Option<usize> = None;
    // They are in the order of their starts.
    for finding in found.iter().filter(|finding| !finding.span.is_empty()) {
        match open {
            Some(end) if finding.span.start <= end => open = Some(end.max(finding.span.end)),
            _ => {
                done = close(&mut out, open, done, replacement);
                out.push_str(text.get(done..finding.span.start).unwrap_or_default());
                open = Some(finding.span.end);
            }
        }
    }
    let done = close(&mut out, open, done, replacement);
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

fn close(out: &mut String, open: Option<usize>, done: usize, replacement: &str) -> usize {
    let Some(end) = open else {
        return done;
    };
    out.push_str(replacement);
    end
}

#[cfg(test)]
mod tests;
