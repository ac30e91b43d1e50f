//! Writes what a cut makes necessary: closing and reopening of fences, tables, quotes and spans.
//!
//! Owns the marks of pieces. Never decides where to cut.

use weirgate_sdk::answer::Format;

use super::layout::{Block, CODE_INDENT, Fence, Kind, Layout};

/// How much is marked. Marks that leave no room for text are given up step by step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// Everything.
    Full,
    /// Fences without their language.
    Short,
    /// Nothing.
    Bare,
}

/// Deepest indentation that is rebuilt, in columns.
const MAX_INDENT: usize = 40;

/// How far the start of a piece is looked at, in bytes.
const LOOK_AHEAD: usize = 200;

/// The marks of one answer.
pub(super) struct Marks<'a> {
    pub(super) text: &'a str,
    pub(super) layout: &'a Layout,
    pub(super) format: Format,
    /// Whether a piece that begins inside a paragraph says so.
    pub(super) ellipsis: bool,
}

impl Marks<'_> {
    fn slice(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// What a piece that begins at `start` opens with.
    pub(super) fn prefix(&self, start: usize, tier: Tier) -> String {
        let block = self.layout.blocks.get(self.layout.index(start));
        let Some(block) = block.filter(|_| tier != Tier::Bare) else {
            return String::new();
        };
        let begins = self.slice(block.start, start).trim().is_empty();
        match &block.kind {
            Kind::Prose(_) if begins && self.format == Format::Html => {
                self.inside_text(block, "", start, true)
            }
            _ if begins => self.indentation(block, start),
            Kind::Code(fence) if start >= fence.body.start && start < fence.body.end => {
                self.reopen(fence, start, tier)
            }
            Kind::Table(table) if table.row_at(start) => table.header.clone(),
            Kind::Prose(lead) => self.inside_text(block, lead, start, false),
            Kind::Code(_) | Kind::Table(_) => String::new(),
        }
    }

    /// What a piece that began at `start` closes with when it ends at `end`, the cut at `cut`.
    pub(super) fn suffix(&self, start: usize, end: usize, cut: usize, tier: Tier) -> String {
        let index = self.layout.index(start);
        // Only elements of HTML reach over several blocks.
        let ended =
            self.format != Format::Html && cut >= self.layout.end(index).unwrap_or(self.text.len());
        let block = self
            .layout
            .blocks
            .get(index)
            .filter(|_| !ended && tier != Tier::Bare);
        match block.map(|block| &block.kind) {
            Some(Kind::Code(fence)) if cut > fence.body.start && cut < fence.body.end => {
                let broken = if self.slice(0, cut).ends_with('\n') {
                    ""
                } else {
                    "\n"
                };
                [broken, &fence.container, &fence.marker].concat()
            }
            Some(Kind::Prose(_)) => {
                let open = self.layout.open_at(end);
                open.iter().map(|span| span.close.as_str()).collect()
            }
            _ => String::new(),
        }
    }

    /// The piece begins with a block: only its place in lists has to be kept.
    fn indentation(&self, block: &Block, start: usize) -> String {
        let lead = self.slice(block.start, start);
        let lead = lead.rsplit(['\n', '\r']).next().unwrap_or_default();
        let columns = lead
            .chars()
            .fold(0, |at, c| if c == '\t' { (at / 4 + 1) * 4 } else { at + 1 });
        let code = matches!(&block.kind, Kind::Prose(lead) if lead == CODE_INDENT);
        if self.format != Format::Markdown || columns > MAX_INDENT {
            String::new()
        } else if columns <= 3 || code {
            lead.to_owned()
        } else if block.item || matches!(block.kind, Kind::Code(_)) {
            nested(columns)
        } else {
            String::new()
        }
    }

    /// Opens a fence that was closed at the end of the piece before.
    fn reopen(&self, fence: &Fence, start: usize, tier: Tier) -> String {
        let indent = fence.container.trim_start_matches(['>', '\t']);
        let indent = indent.len() - usize::from(fence.container.contains('>')).min(indent.len());
        let mut opener = fence.container.clone();
        if (4..=MAX_INDENT).contains(&indent) {
            opener.truncate(opener.len() - indent);
            opener.push_str(&nested(indent));
        }
        let info = if tier == Tier::Full {
            fence.info.as_str()
        } else {
            ""
        };
        let inside = if self.slice(0, start).ends_with('\n') {
            ""
        } else {
            fence.container.as_str()
        };
        [&opener, &fence.marker, info, "\n", inside].concat()
    }

    /// The piece begins inside a paragraph or a heading or, in HTML, inside elements around it.
    fn inside_text(&self, block: &Block, lead: &str, start: usize, begins: bool) -> String {
        let near = self
            .text
            .floor_char_boundary(start.saturating_add(LOOK_AHEAD));
        let rest = self.slice(start, near);
        if !block.quote.is_empty() && rest.starts_with('>') {
            // The line brings its own quote marker; nothing may stand before it.
            return String::new();
        }
        let dots = if self.ellipsis && !begins && lead != CODE_INDENT {
            "..."
        } else {
            ""
        };
        let mut open = self.layout.open_at(start);
        open.reverse();
        let mut prefix = [block.quote.as_str(), lead, dots].concat();
        prefix.extend(open.iter().map(|span| span.open.as_str()));
        let bare = dots.is_empty() && open.is_empty() && lead.is_empty();
        if bare && self.format == Format::Markdown && reads_as_block(rest) {
            prefix.push('\\');
        }
        prefix
    }
}

/// Opens lists down to a column (4 or more) without showing a marker of their own.
fn nested(mut columns: usize) -> String {
    let mut opener = String::new();
    while columns > 5 {
        opener.push_str("-   ");
        columns -= 4;
    }
    if columns > 0 {
        opener.push('-');
        opener.push_str(&" ".repeat(columns - 1));
    }
    opener
}

/// Whether text from the middle of a paragraph would open a block if it began a message.
fn reads_as_block(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let mut chars = line.chars();
    let Some(mark) = chars.next() else {
        return false;
    };
    let after = line.trim_start_matches(mark);
    let run = line.chars().count() - after.chars().count();
    let spaced = after.is_empty() || after.starts_with([' ', '\t']);
    match mark {
        '>' => true,
        '#' => run <= 6 && spaced,
        '-' | '+' | '*' => (run == 1 && spaced) || is_rule(line, mark),
        '_' => is_rule(line, mark),
        '~' => run >= 3,
        _ => false,
    }
}

fn is_rule(line: &str, mark: char) -> bool {
    let marks = line.chars().filter(|c| *c == mark).count();
    marks >= 3 && line.chars().all(|c| c == mark || c.is_whitespace())
}
