//! Redaction by value in text that comes in pieces. Held back is only what could still become a secret.
//! For every way of cutting, what goes out is what the whole text would have become. A secret that is broken over
//! lines is found as if it were not.

use super::Patterns;
use super::lines::Joined;
use super::runs::Runs;
use super::trie::ROOT;
use crate::telemetry::metrics;

/// One text that is looked through piece by piece.
#[derive(Default)]
pub(super) struct Stream {
    state: u32,
    /// What is covered, in places of the joined text.
    runs: Runs,
    joined: Joined,
    /// Text that has not gone out, from `base` on; what lies before `done` is spent.
    pub(super) held: String,
    /// Offset of `held` in the whole text, in bytes.
    base: usize,
    /// Up to here all text went out or was replaced.
    done: usize,
    /// Something was replaced.
    pub(super) replaced: bool,
}

impl Stream {
    /// Takes the next piece and appends to `out` all text that is safe: none of it could be the beginning of a
    /// secret that goes on in a later piece. Held back are fewer bytes than the longest secret's longest spelling
    /// has, and the line breaks in it.
    pub(super) fn push(&mut self, delta: &str, patterns: &Patterns, out: &mut String) {
        let from = self.base + self.held.len();
        let Self {
            state,
            runs,
            joined,
            ..
        } = self;
        joined.read(delta, from, |piece, at| {
            *state = patterns.trie.scan(*state, piece, at, runs);
        });
        let end = from + delta.len();
        let open = patterns.trie.open(self.state);
        if open == 0 && self.done == from && self.runs.is_empty() {
            // Nothing waits and nothing was found: no need for a copy in between.
            out.push_str(delta);
            self.joined.forget(self.joined.len());
            self.held.clear();
            (self.base, self.done) = (end, end);
            return;
        }
        self.held.push_str(delta);
        let frontier = self.joined.len() - open;
        let until = if open == 0 {
            end
        } else {
            self.joined.place(frontier)
        };
        self.emit(patterns, frontier, until, out);
        self.compact();
    }

    /// Ends the text: appends what was held back.
    pub(super) fn finish(&mut self, patterns: &Patterns, out: &mut String) {
        let (end, all) = (self.base + self.held.len(), self.joined.len());
        self.runs.add(all - patterns.trie.tail(self.state), all);
        self.emit(patterns, all, end, out);
        self.restart();
    }

    /// Forgets the text.
    pub(super) fn restart(&mut self) {
        *self = Self {
            replaced: self.replaced,
            state: ROOT,
            ..Self::default()
        };
    }

    /// How many bytes are held back.
    pub(super) fn held_back(&self) -> usize {
        (self.base + self.held.len()).saturating_sub(self.done)
    }

    /// Appends everything before a place: `frontier` in the joined text, `until` in the text. No pattern that
    /// begins before it is still open, so the ranges that begin there are final at their start; one may still grow
    /// at its end.
    fn emit(&mut self, patterns: &Patterns, frontier: usize, until: usize, out: &mut String) {
        for run in self.runs.iter_mut() {
            if run.start >= frontier {
                break;
            }
            if !run.shown {
                let start = self.joined.place(run.start);
                out.push_str(piece(&self.held, self.base, self.done, start));
                out.push_str(&patterns.placeholder);
                metrics::redacted(1);
                run.shown = true;
                self.replaced = true;
            }
            self.done = self.done.max(self.joined.end(run.end));
        }
        if self.done < until {
            out.push_str(piece(&self.held, self.base, self.done, until));
            self.done = until;
        }
        self.runs.forget(frontier);
        let kept = self
            .runs
            .iter()
            .next()
            .map_or(frontier, |run| run.start.min(frontier));
        self.joined.forget(kept);
    }

    /// Frees what went out, once it is the greater part, so that the copying stays linear.
    fn compact(&mut self) {
        let spent = self.done - self.base;
        if spent * 2 >= self.held.len() && self.held.is_char_boundary(spent) {
            self.held.drain(..spent);
            self.base = self.done;
        }
    }
}

/// The part of `held`, which begins at `base`, from `start` to `end`. Both are character boundaries:
/// a pattern is whole UTF-8, so neither its ends nor its open beginnings lie inside a character.
fn piece(held: &str, base: usize, start: usize, end: usize) -> &str {
    held.get(start.saturating_sub(base)..end.saturating_sub(base))
        .unwrap_or_default()
}
