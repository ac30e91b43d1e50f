//! The filter for text that comes in pieces: one stage behind the other, each of which holds back only what
//! could still become something to replace.
//! For every way of cutting, what goes out is what [`Redactor::redact`] makes of the whole text.

use super::{Patterns, Redactor, shapes, values};
use crate::security::words;
use std::fmt;
use std::sync::Arc;

/// Redacts one text piece by piece. Start it with [`Redactor::filter`].
///
/// All answer text goes through it, also text that is whole from the start. Callers know `push` and
/// `finish` only.
pub struct Filter {
    patterns: Option<Arc<Patterns>>,
    values: values::Stream,
    shapes: Vec<shapes::Stream>,
    words: Option<words::Stream>,
    /// What goes from one stage to the next.
    between: [String; 2],
}

impl Filter {
    pub(super) fn new(patterns: Option<Arc<Patterns>>) -> Self {
        let shapes = patterns.iter().flat_map(|patterns| &patterns.shapes);
        Self {
            shapes: shapes
                .map(|shapes| shapes::Stream::new(Arc::clone(shapes)))
                .collect(),
            words: patterns
                .as_ref()
                .and_then(|patterns| patterns.words.clone())
                .map(words::Stream::new),
            patterns,
            values: values::Stream::default(),
            between: Default::default(),
        }
    }

    /// Takes the next piece and appends to `out` all text that is safe: none of it could be the
    /// beginning of something to replace that goes on in a later piece.
    pub fn push(&mut self, delta: &str, out: &mut String) {
        let Some(patterns) = self.patterns.clone() else {
            out.push_str(delta);
            return;
        };
        if self.shapes.is_empty() && self.words.is_none() {
            self.values.push(delta, &patterns, out);
            return;
        }
        let [safe, _] = &mut self.between;
        safe.clear();
        self.values.push(delta, &patterns, safe);
        self.pass(&patterns.placeholder, false, out);
    }

    /// Ends the text: appends what was held back. The filter can then be used for another text.
    pub fn finish(&mut self, out: &mut String) {
        let Some(patterns) = self.patterns.clone() else {
            return;
        };
        let [safe, _] = &mut self.between;
        safe.clear();
        self.values.finish(&patterns, safe);
        self.pass(&patterns.placeholder, true, out);
    }

    /// Sends what stands between the stages through the shapes.
    fn pass(&mut self, placeholder: &str, last: bool, out: &mut String) {
        let [safe, next] = &mut self.between;
        for stage in &mut self.shapes {
            next.clear();
            stage.push(safe, placeholder, next);
            if last {
                stage.finish(placeholder, next);
            }
            std::mem::swap(safe, next);
        }
        match &mut self.words {
            Some(stage) => {
                stage.push(safe, out);
                if last {
                    stage.finish(out);
                }
            }
            None => out.push_str(safe),
        }
    }

    /// Drops what is held back and begins another text, for an answer that begins anew.
    pub fn restart(&mut self) {
        self.values.restart();
        self.values.replaced = false;
        for stage in &mut self.shapes {
            stage.restart();
            stage.replaced = false;
        }
        if let Some(stage) = &mut self.words {
            stage.restart();
            stage.replaced = false;
        }
    }

    /// Whether a word of the blocklist was replaced since the start or [`Filter::restart`].
    #[must_use]
    pub fn has_filtered(&self) -> bool {
        self.words.as_ref().is_some_and(|stage| stage.replaced)
    }

    /// Whether a secret was replaced since the start or [`Filter::restart`].
    #[must_use]
    pub fn has_replaced(&self) -> bool {
        self.values.replaced || self.shapes.iter().any(|stage| stage.replaced)
    }

    /// Whether it looks for what the redactor looks for now.
    #[must_use]
    pub fn is_of(&self, redactor: &Redactor) -> bool {
        match (&self.patterns, &redactor.patterns()) {
            (Some(own), Some(present)) => Arc::ptr_eq(own, present),
            (own, present) => own.is_none() && present.is_none(),
        }
    }

    /// How many bytes are held back.
    #[must_use]
    pub fn held_back(&self) -> usize {
        let shapes = self.shapes.iter().map(shapes::Stream::held_back);
        let words = self.words.as_ref().map_or(0, words::Stream::held_back);
        self.values.held_back() + shapes.sum::<usize>() + words
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("held_back", &self.held_back())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
