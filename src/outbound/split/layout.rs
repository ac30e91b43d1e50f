//! Reads an answer once and says where its blocks begin, which stretches stay whole and which spans
//! have to be closed and reopened at a cut.
//!
//! Owns the picture of the source in bytes. Never decides where to cut.

mod html;
mod markdown;

use std::ops::Range;

use weirgate_sdk::answer::Format;

use crate::outbound::markdown::url;

/// What leads a line of an indented code block.
pub(super) const CODE_INDENT: &str = "    ";

/// The picture of an answer.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// In order of their starts, the first at byte 0; a block reaches to the start of the next.
    pub(super) blocks: Vec<Block>,
    /// Spans of markup in order of their starts.
    spans: Vec<Span>,
    /// Stretches without a cut, apart from their ends: in order, not touching.
    atoms: Vec<Range<usize>>,
}

/// A block and what reopening it takes.
#[derive(Debug)]
pub(super) struct Block {
    /// Byte at which it begins: the start of a line wherever the format has lines.
    pub(super) start: usize,
    /// What it is.
    pub(super) kind: Kind,
    /// The quote markers in front of its lines, such as `"> "`.
    pub(super) quote: String,
    /// Whether it opens a list item.
    pub(super) item: bool,
}

/// Kind of a block.
#[derive(Debug)]
pub(super) enum Kind {
    /// Text, with what a piece that begins inside it is led by, such as `"## "`.
    Prose(String),
    /// A fenced code block.
    Code(Fence),
    /// A table.
    Table(Table),
}

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Fence {
    /// Bytes of the code: behind the opening line, up to the closing line.
    pub(super) body: Range<usize>,
    /// The opening run of fence characters. The source closes with it, so it is long enough.
    pub(super) marker: String,
    /// What follows the marker.
    pub(super) info: String,
    /// What stands in front of each line: quote markers and the indentation of list items.
    pub(super) container: String,
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    /// Header and delimiter lines, as they are repeated.
    pub(super) header: String,
    /// First visible bytes of the header row and of each body row.
    pub(super) rows: Vec<usize>,
}

/// A span that is closed at the end of a piece and reopened in the next.
#[derive(Debug)]
pub(super) struct Span {
    /// Bytes of the content, markers excluded.
    content: Range<usize>,
    /// Index of the span around.
    parent: Option<usize>,
    /// What reopens it.
    pub(super) open: String,
    /// What closes it.
    pub(super) close: String,
}

impl Layout {
    /// Reads `text`.
    pub(super) fn new(text: &str, format: Format) -> Self {
        let mut layout = match format {
            Format::Plain => plain(text),
            Format::Markdown => markdown::read(text),
            Format::Html => html::read(text),
        };
        if layout.blocks.first().is_none_or(|block| block.start > 0) {
            layout.blocks.insert(0, Block::prose(0));
        }
        layout.atoms.extend(url::find(text));
        layout.atoms.extend(mail(text));
        if format != Format::Plain {
            layout.atoms.extend(references(text));
        }
        layout.atoms = merged(layout.atoms);
        layout
    }

    /// Index of the block that holds byte `at`.
    pub(super) fn index(&self, at: usize) -> usize {
        self.blocks
            .partition_point(|block| block.start <= at)
            .saturating_sub(1)
    }

    /// Start of the block behind `index`, if there is one.
    pub(super) fn end(&self, index: usize) -> Option<usize> {
        self.blocks.get(index + 1).map(|block| block.start)
    }

    /// End of the link, reference or marker that a cut at byte `at` would damage.
    pub(super) fn whole_around(&self, at: usize) -> Option<usize> {
        let before = self.atoms.partition_point(|atom| atom.start < at);
        let atom = before
            .checked_sub(1)
            .and_then(|index| self.atoms.get(index))?;
        (at < atom.end).then_some(atom.end)
    }

    /// The spans that are open at byte `at`, the innermost first.
    pub(super) fn open_at(&self, at: usize) -> Vec<&Span> {
        let before = self.spans.partition_point(|span| span.content.start < at);
        let mut next = before.checked_sub(1);
        let mut open = Vec::new();
        while let Some(span) = next.and_then(|i| self.spans.get(i)) {
            if at < span.content.end {
                open.push(span);
            }
            next = span.parent;
        }
        open
    }
}

impl Table {
    /// Whether a row begins at byte `at`.
    pub(super) fn row_at(&self, at: usize) -> bool {
        self.rows.binary_search(&at).is_ok()
    }

    /// The row that begins behind byte `at`.
    pub(super) fn row_after(&self, at: usize) -> Option<usize> {
        self.rows
            .get(self.rows.partition_point(|row| *row <= at))
            .copied()
    }
}

impl Block {
    fn prose(start: usize) -> Self {
        Self {
            start,
            kind: Kind::Prose(String::new()),
            quote: String::new(),
            item: false,
        }
    }
}

/// Plain text: a block ends at an empty line.
fn plain(text: &str) -> Layout {
    let mut layout = Layout::default();
    let mut empty = true;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let blank = line.trim().is_empty();
        if empty && !blank {
            layout.blocks.push(Block::prose(at));
        }
        empty = blank;
        at += line.len();
    }
    layout
}

/// Sorts the stretches and joins those that touch so that no cut is left between them.
fn merged(mut atoms: Vec<Range<usize>>) -> Vec<Range<usize>> {
    atoms.sort_unstable_by_key(|atom| atom.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(atoms.len());
    for atom in atoms {
        match merged.last_mut() {
            Some(last) if atom.start < last.end => last.end = last.end.max(atom.end),
            _ => merged.push(atom),
        }
    }
    merged
}

/// Mail addresses: what holds together around an `@`.
fn mail(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b".+-_".contains(byte);
    let mut found = Vec::new();
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let before = bytes.get(from..at).unwrap_or_default();
        let before = before.iter().rev().take_while(|byte| part(byte)).count();
        let after = bytes.get(at + 1..).unwrap_or_default();
        let domain = after.iter().take_while(|byte| part(byte)).count();
        let dots = after
            .iter()
            .take(domain)
            .rev()
            .take_while(|byte| **byte == b'.')
            .count();
        from = at + 1 + domain;
        if before > 0 && domain > dots {
            found.push(at - before..from - dots);
        }
    }
    found
}

/// Character references (`&amp;`) and escaped punctuation.
fn references(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for (at, mark) in text.match_indices(['&', '\\']) {
        let after = bytes.get(at + 1..).unwrap_or_default();
        if mark == "&" {
            let name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'#';
            let length = after.iter().take(32).take_while(name).count();
            if length > 0 && after.get(length) == Some(&b';') {
                found.push(at..at + length + 2);
            }
        } else if after.first().is_some_and(u8::is_ascii_punctuation) {
            found.push(at..at + 2);
        }
    }
    found
}
