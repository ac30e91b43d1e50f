//! The layout of Markdown: reads the source with the same parser as the renderers.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{Block, CODE_INDENT, Fence, Kind, Layout, Span, Table};
use crate::outbound::markdown::{mask, options};

/// Spans inside each other that are reopened; deeper ones are left to themselves.
const MAX_SPANS: usize = 16;

pub(super) fn read(text: &str) -> Layout {
    let masked = mask::mask(text);
    let mut reader = Reader {
        text,
        layout: Layout::default(),
        line: 0,
        seen: 0,
        open: Vec::new(),
    };
    for (event, range) in Parser::new_ext(&masked, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => reader.start(&tag, range),
            Event::End(TagEnd::Strong | TagEnd::Emphasis | TagEnd::Strikethrough) => {
                reader.open.pop();
            }
            Event::Code(_) => reader.code_span(range),
            Event::InlineHtml(_) => reader.layout.atoms.push(range),
            Event::Rule => reader.block(range.start),
            _ => {}
        }
    }
    reader.layout
}

struct Reader<'a> {
    text: &'a str,
    layout: Layout,
    /// Start of the line on which the newest block begins.
    line: usize,
    /// Up to here line breaks were looked for.
    seen: usize,
    /// Open spans; none for those that are not reopened.
    open: Vec<Option<usize>>,
}

impl Reader<'_> {
    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Begins a block with the line that holds `at`, unless one began there.
    fn block(&mut self, at: usize) {
        let fresh = self.slice(self.seen..at);
        if let Some(found) = fresh.rfind('\n') {
            self.line = self.seen + found + 1;
        }
        self.seen = self.seen.max(at);
        if self
            .layout
            .blocks
            .last()
            .is_none_or(|block| block.start < self.line)
        {
            let mut block = Block::prose(self.line);
            block.quote = quote_of(self.slice(self.line..at));
            self.layout.blocks.push(block);
            self.glue(self.line, at);
        }
    }

    /// Markers in front of a block stay with its first character.
    fn glue(&mut self, from: usize, to: usize) {
        if from < to {
            self.layout.atoms.push(from..to + 1);
        }
    }

    fn set(&mut self, kind: Kind) {
        if let Some(block) = self.layout.blocks.last_mut() {
            block.kind = kind;
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(range.start),
            Tag::Item => {
                self.block(range.start);
                let item = self.slice(range.clone());
                let text = item.trim_start_matches(|c: char| c.is_ascii_digit());
                let text = text
                    .trim_start_matches(['-', '+', '*', '.', ')'])
                    .trim_start();
                self.glue(range.start, range.end - text.len());
                if let Some(block) = self.layout.blocks.last_mut() {
                    block.item = true;
                }
            }
            Tag::Heading { .. } => {
                self.block(range.start);
                let hashes = self
                    .slice(range)
                    .bytes()
                    .take_while(|byte| *byte == b'#')
                    .count();
                if hashes > 0 {
                    self.set(Kind::Prose(format!("{} ", "#".repeat(hashes))));
                }
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                self.block(range.start);
                let fence = self.fence(range);
                self.set(Kind::Code(fence));
            }
            Tag::CodeBlock(CodeBlockKind::Indented) => {
                self.block(range.start);
                self.set(Kind::Prose(CODE_INDENT.to_owned()));
            }
            Tag::Table(_) => {
                self.block(range.start);
                let table = self.table(range);
                self.set(Kind::Table(table));
            }
            Tag::Strong => self.span(range, 2),
            Tag::Emphasis => self.span(range, 1),
            Tag::Strikethrough => {
                let length = if self.slice(range.clone()).starts_with("~~") {
                    2
                } else {
                    0
                };
                self.span(range, length);
            }
            Tag::Link { .. } | Tag::Image { .. } => self.layout.atoms.push(range),
            _ => {}
        }
    }

    /// A span with markers of `length` bytes; with 0 it has none and is only counted.
    fn span(&mut self, range: Range<usize>, length: usize) {
        let content = range.start + length..range.end.saturating_sub(length);
        let parent = self.open.iter().rev().find_map(|open| *open);
        if length == 0 || content.is_empty() || self.open.len() >= MAX_SPANS {
            self.open.push(None);
            return;
        }
        let marker = self.slice(range.start..content.start).to_owned();
        // No cut may leave a marker alone: it would be shown.
        self.layout.atoms.push(range.start..content.start + 1);
        self.layout.atoms.push(content.end - 1..range.end);
        self.open.push(Some(self.layout.spans.len()));
        self.layout.spans.push(Span {
            content,
            parent,
            open: marker.clone(),
            close: marker,
        });
    }

    /// Code in a line stays whole; if it cannot, each part is code.
    fn code_span(&mut self, range: Range<usize>) {
        let ticks = self
            .slice(range.clone())
            .bytes()
            .take_while(|byte| *byte == b'`')
            .count();
        self.span(range.clone(), ticks);
        self.open.pop();
        self.layout.atoms.push(range);
    }

    fn fence(&self, range: Range<usize>) -> Fence {
        let source = self.slice(range.clone());
        let (first, rest) = source.split_once('\n').unwrap_or((source, ""));
        let mark = first.chars().next().unwrap_or('`');
        let info = first.trim_start_matches(mark);
        let marker = first
            .get(..first.len() - info.len())
            .unwrap_or_default()
            .to_owned();
        let begin = range.end - rest.len();
        let last = rest.trim_end_matches(['\n', '\r']);
        let line = last.rfind('\n').map_or(0, |at| at + 1);
        let closing = last
            .get(line..)
            .unwrap_or_default()
            .trim_start_matches(['>', ' ', '\t']);
        let closed = closing.starts_with(&marker) && closing.trim().chars().all(|c| c == mark);
        let end = if closed { begin + line } else { range.end };
        let lead = self.slice(self.line..range.start);
        Fence {
            body: begin..end,
            marker,
            info: info.trim_end().to_owned(),
            container: blank(lead),
        }
    }

    fn table(&self, range: Range<usize>) -> Table {
        let mut rows = Vec::new();
        let mut header = String::new();
        let quote = quote_of(self.slice(self.line..range.start));
        let mut at = range.start;
        for (index, line) in self.slice(range.clone()).split_inclusive('\n').enumerate() {
            let inner = line.trim_start_matches(['>', ' ', '\t']);
            if index < 2 {
                header.push_str(&quote);
                header.push_str(inner.trim_end());
                header.push('\n');
            }
            if index != 1 && !inner.trim().is_empty() {
                rows.push(at + (line.len() - line.trim_start().len()));
            }
            at += line.len();
        }
        Table { header, rows }
    }
}

/// What stands in front of a line, list markers made blank: the inside of a list item.
fn blank(lead: &str) -> String {
    let keep = |c: char| if matches!(c, '>' | '\t') { c } else { ' ' };
    lead.chars().map(keep).collect()
}

/// The quote markers in front of a line.
fn quote_of(lead: &str) -> String {
    let blank = blank(lead);
    let end = blank.rfind('>').map_or(0, |at| at + 1);
    let quote = blank.get(..end).unwrap_or_default();
    if quote.is_empty() {
        String::new()
    } else {
        format!("{quote} ")
    }
}
