//! The blocklist in a text that comes in pieces.
//!
//! Owns what is held back: as much as may still become part of a match, and of a list with an expression of no
//! finite length everything. Some of what went out is kept to be looked at again: a word begins where the one
//! before it ends.

use std::{mem, sync::Arc};

use super::Words;

/// How much of what went out is kept, in bytes.
const CONTEXT: usize = 64;

/// One text that is looked through piece by piece.
#[derive(Debug)]
pub(in crate::security) struct Stream {
    words: Arc<Words>,
    /// What went out lately, and what has not.
    held: String,
    /// Up to here `held` went out or was replaced.
    done: usize,
    /// Something was replaced.
    pub(in crate::security) replaced: bool,
}

impl Stream {
    pub(in crate::security) fn new(words: Arc<Words>) -> Self {
        Self {
            words,
            held: String::new(),
            done: 0,
            replaced: false,
        }
    }

    /// Takes the next piece and appends to `out` what is safe.
    pub(in crate::security) fn push(&mut self, delta: &str, out: &mut String) {
        self.held.push_str(delta);
        let Some(reach) = self.words.reach else {
            return;
        };
        // Looked at in steps: single letters need not be.
        if self.held.len() - self.done > reach + reach / 4 {
            self.emit(floor(&self.held, self.held.len() - reach), out);
        }
    }

    /// Ends the text: appends what was held back.
    pub(in crate::security) fn finish(&mut self, out: &mut String) {
        self.emit(self.held.len(), out);
        self.restart();
    }

    /// Forgets the text.
    pub(in crate::security) fn restart(&mut self) {
        self.held.clear();
        self.done = 0;
    }

    /// How many bytes are held back.
    pub(in crate::security) fn held_back(&self) -> usize {
        self.held.len() - self.done
    }

    /// Appends everything that begins before a place.
    fn emit(&mut self, until: usize, out: &mut String) {
        let words = Arc::clone(&self.words);
        for hit in words.find(&self.held) {
            if hit.span.start >= until {
                break;
            }
            if hit.span.start < self.done {
                continue;
            }
            out.push_str(self.held.get(self.done..hit.span.start).unwrap_or_default());
            out.push_str(&words.replacement);
            self.done = hit.span.end;
            self.replaced = true;
        }
        if self.done < until {
            out.push_str(self.held.get(self.done..until).unwrap_or_default());
            self.done = until;
        }
        let context = floor(&self.held, self.done.saturating_sub(CONTEXT));
        self.held = mem::take(&mut self.held).split_off(context);
        self.done -= context;
    }
}

/// The nearest character boundary at or before a place.
fn floor(text: &str, at: usize) -> usize {
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}
