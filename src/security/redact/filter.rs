//! The filter for text that comes in pieces. It holds back only what could still become a secret.
//! For every way of cutting, what goes out is what [`Redactor::redact`] makes of the whole text.

use super::runs::Runs;
use super::trie::ROOT;
use super::{Patterns, Redactor};
use std::fmt;
use std::sync::Arc;

/// Redacts one text piece by piece. Start it with [`Redactor::filter`].
///
/// All answer text goes through it, also text that is whole from the start. Callers know `push` and
/// `finish` only, so rules that look for more than known values can be added behind them.
pub struct Filter {
    patterns: Option<Arc<Patterns>>,
    state: u32,
    runs: Runs,
    /// Text that has not gone out, from `base` on; what lies before `done` is spent.
    held: String,
    /// Offset of `held` in the whole text, in bytes.
    base: usize,
    /// Up to here all text went out or was replaced.
    done: usize,
    replaced: bool,
}

impl Filter {
    pub(super) fn new(patterns: Option<Arc<Patterns>>) -> Self {
        let (state, runs, held) = (ROOT, Runs::default(), String::new());
        Self {
            patterns,
            state,
            runs,
            held,
            base: 0,
            done: 0,
            replaced: false,
        }
    }

    /// Takes the next piece and appends to `out` all text that is safe: none of it could be the
    /// beginning of a secret that goes on in a later piece. Held back are fewer bytes than the longest
    /// secret's longest spelling has.
    pub fn push(&mut self, delta: &str, out: &mut String) {
        let Some(patterns) = self.patterns.clone() else {
            out.push_str(delta);
            return;
        };
        let from = self.base + self.held.len();
        self.state = patterns
            .trie
            .scan(self.state, delta.as_bytes(), from, &mut self.runs);
        let end = from + delta.len();
        let open = patterns.trie.open(self.state);
        if open == 0 && self.done == from && self.runs.is_empty() {
            // Nothing waits and nothing was found: no need for a copy in between.
            out.push_str(delta);
            self.restart_at(end);
            return;
        }
        self.held.push_str(delta);
        self.emit(&patterns, end - open, out);
        self.compact();
    }

    /// Ends the text: appends what was held back. The filter can then be used for another text.
    pub fn finish(&mut self, out: &mut String) {
        if let Some(patterns) = self.patterns.clone() {
            let end = self.base + self.held.len();
            self.runs.add(end - patterns.trie.tail(self.state), end);
            self.emit(&patterns, end, out);
        }
        self.state = ROOT;
        self.restart_at(0);
    }

    /// Drops what is held back and begins another text, for an answer that begins anew.
    pub fn restart(&mut self) {
        self.replaced = false;
        self.state = ROOT;
        self.restart_at(0);
    }

    /// Whether anything was replaced since the start or [`Filter::restart`].
    #[must_use]
    pub fn has_replaced(&self) -> bool {
        self.replaced
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
        (self.base + self.held.len()).saturating_sub(self.done)
    }

    /// Appends everything before `frontier`. No pattern that begins before it is still open, so the
    /// ranges that begin there are final at their start; one may still grow at its end.
    fn emit(&mut self, patterns: &Patterns, frontier: usize, out: &mut String) {
        for run in self.runs.iter_mut() {
            if run.start >= frontier {
                break;
            }
            if !run.shown {
                out.push_str(piece(&self.held, self.base, self.done, run.start));
                out.push_str(&patterns.placeholder);
                crate::telemetry::metrics::redacted(1);
                run.shown = true;
                self.replaced = true;
            }
            self.done = self.done.max(run.end);
        }
        if self.done < frontier {
            out.push_str(piece(&self.held, self.base, self.done, frontier));
            self.done = frontier;
        }
        self.runs.forget(frontier);
    }

    /// Frees what went out, once it is the greater part, so that the copying stays linear.
    fn compact(&mut self) {
        let spent = self.done - self.base;
        if spent * 2 >= self.held.len() && self.held.is_char_boundary(spent) {
            self.held.drain(..spent);
            self.base = self.done;
        }
    }

    /// Forgets all text; the next byte is at `place`.
    fn restart_at(&mut self, place: usize) {
        self.held.clear();
        self.runs = Runs::default();
        self.base = place;
        self.done = place;
    }
}

/// The part of `held`, which begins at `base`, from `start` to `end`. Both are character boundaries:
/// a pattern is whole UTF-8, so neither its ends nor its open beginnings lie inside a character.
fn piece(held: &str, base: usize, start: usize, end: usize) -> &str {
    held.get(start.saturating_sub(base)..end.saturating_sub(base))
        .unwrap_or_default()
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
