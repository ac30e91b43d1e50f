//! Where a long answer is cut for pace, as a person would send it in several messages.
//!
//! Owns the thresholds and modes. What the platform demands is decided elsewhere and comes on top.

use regex::Regex;

use super::cuts;
use super::layout::{Kind, Layout};

/// Splitting for pace.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Length at which splitting begins and to which pieces are filled: words in
    /// [`Mode::WordCount`], else characters.
    pub threshold: usize,
    /// Where cuts are made.
    pub mode: Mode,
    /// A piece shorter than this, in characters, is joined to its neighbour if both fit.
    pub min_segment_length: usize,
    /// Whether a piece that begins inside a paragraph begins with `...`.
    pub add_ellipsis: bool,
}

/// Where a text is cut for pace.
#[derive(Debug, Clone)]
pub enum Mode {
    /// At the last end of a sentence or block within the threshold.
    Sentence,
    /// At the last word within the threshold; a Chinese or Japanese character is a word.
    WordCount,
    /// Behind each match and nowhere else.
    Regex(Regex),
}

impl Pace {
    /// Whether `text` is long enough to be cut for pace.
    pub(super) fn applies(&self, text: &str) -> bool {
        self.measure(text.trim()) >= self.threshold.max(1)
    }

    fn measure(&self, text: &str) -> usize {
        match self.mode {
            Mode::WordCount => cuts::count_words(text),
            Mode::Sentence | Mode::Regex(_) => text.chars().count(),
        }
    }
}

/// The cuts in `found` that damage nothing. One in front of closing markers moves behind them.
pub(super) fn allowed(text: &str, layout: &Layout, found: Vec<usize>, end: usize) -> Vec<usize> {
    let keep = |at: usize| {
        let Some(behind) = layout.whole_around(at) else {
            return Some(at);
        };
        let skipped = text.get(at..behind)?;
        (behind < end && skipped.chars().all(cuts::is_closing)).then_some(behind)
    };
    found.into_iter().filter_map(keep).collect()
}

/// How far a cut is looked for at least, in bytes.
const LEAST_WINDOW: usize = 4096;

/// Finds where the pace wants each piece to end.
pub(super) struct Targets<'a> {
    pace: &'a Pace,
    text: &'a str,
    layout: &'a Layout,
    /// Cuts of [`Mode::Regex`], in order.
    matches: Vec<usize>,
}

impl<'a> Targets<'a> {
    pub(super) fn new(pace: &'a Pace, text: &'a str, layout: &'a Layout) -> Self {
        let mut matches = Vec::new();
        if let Mode::Regex(regex) = &pace.mode {
            let outside = |at: &usize| outside_code(text, layout, *at);
            matches.extend(
                regex
                    .find_iter(text)
                    .map(|found| found.end())
                    .filter(outside),
            );
            matches = allowed(text, layout, matches, text.len());
        }
        Self {
            pace,
            text,
            layout,
            matches,
        }
    }

    /// The end of the piece that begins at `start`.
    pub(super) fn next(&self, start: usize) -> usize {
        if matches!(self.pace.mode, Mode::Regex(_)) {
            let next = self.matches.partition_point(|at| *at <= start);
            return self.matches.get(next).copied().unwrap_or(self.text.len());
        }
        let window = start.saturating_add(self.pace.threshold.saturating_mul(8).max(LEAST_WINDOW));
        let mut filled = 0;
        let mut from = start;
        let mut best = None;
        for index in self.layout.index(start)..self.layout.blocks.len() {
            let end = self.layout.end(index).unwrap_or(self.text.len());
            for cut in self.cuts(index, from, end, window) {
                let part = self.text.get(from..cut).unwrap_or_default();
                if filled + self.pace.measure(part.trim_end()) > self.pace.threshold {
                    return best.unwrap_or(cut);
                }
                filled += self.pace.measure(part);
                best = Some(cut);
                from = cut;
            }
            if from < end {
                // No cut near: where there is a limit, it cuts.
                return best.unwrap_or(end);
            }
        }
        self.text.len()
    }

    /// The cuts of one block behind `from`, its end included if it is near.
    fn cuts(&self, index: usize, from: usize, end: usize, window: usize) -> Vec<usize> {
        let kind = self.layout.blocks.get(index).map(|block| &block.kind);
        let mut found = Vec::new();
        if let Some(Kind::Prose(_)) = kind {
            let window = self.text.floor_char_boundary(end.min(window).max(from));
            let range = from..window;
            found = match self.pace.mode {
                Mode::WordCount => cuts::words(self.text, range),
                Mode::Sentence | Mode::Regex(_) => cuts::sentences(self.text, range),
            };
            found = allowed(self.text, self.layout, found, window);
            if window < end {
                return found;
            }
        }
        found.push(end);
        found
    }
}

/// Whether byte `at` is not inside a code block or a table.
fn outside_code(text: &str, layout: &Layout, at: usize) -> bool {
    let index = layout.index(at);
    let Some(block) = layout.blocks.get(index) else {
        return true;
    };
    let whole = text
        .get(block.start..layout.end(index).unwrap_or(text.len()))
        .unwrap_or_default();
    let end = block.start + whole.trim_end().len();
    matches!(block.kind, Kind::Prose(_)) || at == block.start || at > end
}
