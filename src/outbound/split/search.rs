//! Looks for the end of each piece: the last cut of the best kind that still fits.
//!
//! Owns the walk over the answer. Cost: `fits` is asked by doubling and halving, never cut by cut.

use std::cell::Cell;
use std::ops::Range;

use weirgate_sdk::answer::Format;

use super::Piece;
use super::cuts;
use super::layout::{Fence, Kind, Layout, Table};
use super::marks::{Marks, Tier};
use super::pace::{self, Pace, Targets};

/// A piece that is not built yet.
#[derive(Debug, Clone, Copy)]
struct Draft {
    start: usize,
    cut: usize,
    tier: Tier,
}

/// First guess of the length of a piece, in bytes.
const FIRST_GUESS: usize = 512;

/// Smallest guess of the length of a piece, in bytes.
const LEAST_GUESS: usize = 32;

/// Longest white space that is kept inside a code block where it is cut, in bytes.
const MAX_BLANK: usize = 4096;

/// What a cut may damage, from nothing to anything but a scalar.
const KINDS: [Cut; 5] = [
    Cut::Sentence,
    Cut::Word,
    Cut::Cluster,
    Cut::AnyCluster,
    Cut::Scalar,
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Sentence,
    Word,
    Cluster,
    /// Between clusters, also inside links and markers.
    AnyCluster,
    Scalar,
}

pub(super) struct Splitter<'a> {
    text: &'a str,
    layout: Layout,
    format: Format,
    pace: Option<&'a Pace>,
    fits: &'a dyn Fn(&str) -> bool,
    /// Length of the pieces so far, in bytes.
    guess: usize,
    /// The stretch that was refused last.
    refused: Cell<Option<(usize, usize, Tier)>>,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(
        text: &'a str,
        format: Format,
        pace: Option<&'a Pace>,
        fits: &'a dyn Fn(&str) -> bool,
    ) -> Self {
        let layout = Layout::new(text, format);
        Self {
            text,
            layout,
            format,
            pace,
            fits,
            guess: FIRST_GUESS,
            refused: Cell::new(None),
        }
    }

    pub(super) fn run(mut self, start: usize) -> Vec<Piece> {
        let targets = self
            .pace
            .map(|pace| Targets::new(pace, self.text, &self.layout));
        let mut drafts: Vec<Draft> = Vec::new();
        let mut at = start;
        while at < self.text.len() {
            let target = targets
                .as_ref()
                .map_or(self.text.len(), |targets| targets.next(at));
            let draft = self.next(at, target);
            let source = self.source(&draft);
            if !self.slice(source.clone()).trim().is_empty() {
                self.guess = source.len().max(self.guess / 2).max(LEAST_GUESS);
                drafts.push(draft);
            }
            at = self.skip(draft.cut);
        }
        if let Some(pace) = self.pace {
            drafts = self.join(pace, drafts);
        }
        drafts.iter().map(|draft| self.piece(draft)).collect()
    }

    fn slice(&self, range: Range<usize>) -> &'a str {
        self.text.get(range).unwrap_or_default()
    }

    /// The code block whose code goes on at `at`.
    fn code_at(&self, at: usize) -> Option<&Fence> {
        match &self.layout.blocks.get(self.layout.index(at))?.kind {
            Kind::Code(fence) => (at > fence.body.start && at < fence.body.end).then_some(fence),
            _ => None,
        }
    }

    /// Where the next piece begins after a cut. White space counts in code only, and there only if
    /// code follows soon.
    fn skip(&self, cut: usize) -> usize {
        let blank = self.slice(cut..self.text.len());
        let next = self.text.len() - blank.trim_start().len();
        match self.code_at(cut) {
            Some(fence) if next < fence.body.end && next - cut <= MAX_BLANK => cut,
            Some(fence) if next < fence.body.end => {
                let line = self.slice(cut..next).rfind('\n');
                line.map_or(next, |line| cut + line + 1)
            }
            _ => next,
        }
    }

    /// The bytes of a piece: up to the cut, without white space at the end unless it is code's.
    fn source(&self, draft: &Draft) -> Range<usize> {
        if draft.tier != Tier::Bare && self.code_at(draft.cut).is_some() {
            return draft.start..draft.cut;
        }
        let source = self.slice(draft.start..draft.cut);
        draft.start..draft.start + source.trim_end().len()
    }

    fn marks(&self) -> Marks<'_> {
        let ellipsis = self.pace.is_some_and(|pace| pace.add_ellipsis);
        Marks {
            text: self.text,
            layout: &self.layout,
            format: self.format,
            ellipsis,
        }
    }

    fn piece(&self, draft: &Draft) -> Piece {
        let source = self.source(draft);
        let marks = self.marks();
        let prefix = marks.prefix(draft.start, draft.tier);
        let suffix = marks.suffix(draft.start, source.end, draft.cut, draft.tier);
        Piece {
            source,
            prefix,
            suffix,
        }
    }

    fn fits(&self, start: usize, cut: usize, tier: Tier) -> bool {
        let draft = Draft { start, cut, tier };
        (self.fits)(&self.piece(&draft).text(self.text))
    }

    /// The piece that begins at `start` and ends at `target` or, if that does not fit, before it.
    fn next(&self, start: usize, target: usize) -> Draft {
        for tier in [Tier::Full, Tier::Short, Tier::Bare] {
            if let Some(cut) = self.best(start, target, tier) {
                return Draft { start, cut, tier };
            }
        }
        let scalar = self
            .slice(start..self.text.len())
            .chars()
            .next()
            .map_or(1, char::len_utf8);
        Draft {
            start,
            cut: start + scalar,
            tier: Tier::Bare,
        }
    }

    fn best(&self, start: usize, target: usize, tier: Tier) -> Option<usize> {
        let index = self.layout.index(start);
        let block = self.layout.blocks.get(index)?;
        let end = self
            .layout
            .end(index)
            .unwrap_or(self.text.len())
            .min(target);
        let target = if tier == Tier::Bare { end } else { target };
        match &block.kind {
            Kind::Table(table) if tier == Tier::Bare || inside_row(table, start) => {
                let header = table.rows.first().copied().unwrap_or(start);
                let end = table
                    .row_after(start.max(header))
                    .map_or(end, |next| end.min(next));
                let row = self.last_fitting(start, tier, &[end]);
                row.or_else(|| self.in_text(start, end, tier))
            }
            kind => self
                .in_blocks(start, index, target, tier)
                .or_else(|| match kind {
                    Kind::Prose(_) => self.in_text(start, end, tier),
                    Kind::Code(fence) => self.in_code(fence, start, end, tier),
                    Kind::Table(table) => self.in_table(table, start, end, tier),
                }),
        }
    }

    /// The last end of a block up to `target` that fits.
    fn in_blocks(&self, start: usize, index: usize, target: usize, tier: Tier) -> Option<usize> {
        let blocks = self.layout.blocks.get(index + 1..).unwrap_or_default();
        self.widening(start, target, tier, |reach| {
            let starts = blocks.iter().map(|block| block.start);
            let mut cuts: Vec<usize> = starts
                .take_while(|at| *at <= reach && *at < target)
                .collect();
            cuts.extend((reach == target).then_some(target));
            cuts
        })
    }

    /// The last row of a table that fits, the header never alone.
    fn in_table(&self, table: &Table, start: usize, end: usize, tier: Tier) -> Option<usize> {
        let least = table.rows.get(1).map_or(start, |first| start.max(*first));
        let from = table.rows.partition_point(|row| *row <= least);
        let rows = table.rows.get(from..).unwrap_or_default();
        self.widening(start, end, tier, |reach| {
            rows.iter()
                .copied()
                .take_while(|row| *row <= reach && *row < end)
                .collect()
        })
    }

    /// The last line, then the last cluster of a code block that fits.
    fn in_code(&self, fence: &Fence, start: usize, end: usize, tier: Tier) -> Option<usize> {
        if tier == Tier::Bare {
            return self.in_text(start, end, tier);
        }
        let (from, end) = (start.max(fence.body.start), end.min(fence.body.end));
        if from >= end {
            return None;
        }
        let mark = fence.marker.chars().next().unwrap_or('`');
        // A fence character at the start of a line could close the block too early.
        let safe = |at: &usize| {
            let line = self.slice(*at..fence.body.end).chars();
            line.take(4).find(|c| *c != ' ') != Some(mark)
        };
        let lines = |reach| cuts::lines(self.text, from..reach);
        self.widening(start, end, tier, lines).or_else(|| {
            self.widening(start, end, tier, |reach| {
                cuts::clusters(self.text, from..reach)
                    .into_iter()
                    .filter(safe)
                    .collect()
            })
        })
    }

    /// The last sentence, else word, else cluster, else scalar that fits.
    fn in_text(&self, start: usize, end: usize, tier: Tier) -> Option<usize> {
        KINDS.into_iter().find_map(|kind| {
            self.widening(start, end, tier, |reach| {
                let range = start..reach;
                let found = match kind {
                    Cut::Sentence => cuts::sentences(self.text, range),
                    Cut::Word => cuts::words(self.text, range),
                    Cut::Cluster | Cut::AnyCluster => cuts::clusters(self.text, range),
                    Cut::Scalar => cuts::scalars(self.text, range),
                };
                match kind {
                    Cut::AnyCluster | Cut::Scalar => found,
                    _ => pace::allowed(self.text, &self.layout, found, reach),
                }
            })
        })
    }

    /// The last cut up to `end` that fits. `list` gives the cuts up to a byte, in order; it is asked
    /// for a stretch some times as long as a piece, and for more only while all of it fits.
    fn widening(
        &self,
        start: usize,
        end: usize,
        tier: Tier,
        list: impl Fn(usize) -> Vec<usize>,
    ) -> Option<usize> {
        let mut length = self.guess.saturating_mul(4);
        let mut best = None;
        loop {
            let reach = self
                .text
                .floor_char_boundary(start.saturating_add(length))
                .min(end);
            let cuts = list(reach);
            let found = self.last_fitting(start, tier, &cuts);
            let all = match found {
                Some(cut) => cuts.last() == Some(&cut),
                None => cuts.is_empty() && reach > start && self.reaches(start, reach, tier),
            };
            best = found.or(best);
            if !all || reach >= end {
                return best;
            }
            length = length.saturating_mul(2);
        }
    }

    /// Whether a piece could be that long. The last refusal is remembered: one kind of cut after the
    /// other asks for the same stretch.
    fn reaches(&self, start: usize, reach: usize, tier: Tier) -> bool {
        if self.refused.get() == Some((start, reach, tier)) {
            return false;
        }
        let fits = self.fits(start, reach, tier);
        if !fits {
            self.refused.set(Some((start, reach, tier)));
        }
        fits
    }

    /// The last of `cuts` (in order) that fits, taking for granted that shorter is easier. What is
    /// returned was asked for, so a piece fits even where that does not hold. Begins near the length
    /// of the piece before, goes on in growing steps until the answer turns, then by halves.
    fn last_fitting(&self, start: usize, tier: Tier, cuts: &[usize]) -> Option<usize> {
        let near = start.saturating_add(self.guess);
        let mut at = cuts.partition_point(|cut| *cut <= near).saturating_sub(1);
        let (mut low, mut high, mut step) = (0, cuts.len(), 1);
        let (mut best, mut first, mut turned) = (None, None, false);
        while low < high {
            at = at.clamp(low, high - 1);
            let cut = *cuts.get(at)?;
            let fits = cut > start && self.fits(start, cut, tier);
            if fits {
                best = Some(cut);
                low = at + 1;
            } else {
                high = at;
            }
            turned |= *first.get_or_insert(fits) != fits;
            at = match (turned, fits) {
                (true, _) => low + (high - low) / 2,
                (false, true) => low + step,
                (false, false) => high.saturating_sub(step + 1),
            };
            step = step.saturating_mul(2);
        }
        best
    }

    /// Joins a piece that is shorter than the pace wants to the one before while both fit together.
    fn join(&self, pace: &Pace, drafts: Vec<Draft>) -> Vec<Draft> {
        let short = |draft: &Draft| {
            let text = self.slice(self.source(draft));
            text.chars().take(pace.min_segment_length).count() < pace.min_segment_length
        };
        let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
        for draft in drafts {
            if let Some(last) = joined.last_mut()
                && (short(last) || short(&draft))
                && self.fits(last.start, draft.cut, last.tier)
            {
                last.cut = draft.cut;
            } else {
                joined.push(draft);
            }
        }
        joined
    }
}

fn inside_row(table: &Table, start: usize) -> bool {
    table.rows.first().is_some_and(|first| start > *first) && !table.row_at(start)
}
