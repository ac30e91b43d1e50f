//! Plain text for a platform that shows no markup.
//!
//! Owns how blocks look as characters: bullets, indentation, quoted lines, aligned tables, bare
//! addresses. Never writes platform codes: the text is sent as one literal text segment.

#[cfg(test)]
mod tests;

use weirgate_sdk::answer::{Block, Render, Rendered, list, spelled_out, table};

use crate::onebot::folded::{self, MAX_NODES};

/// Renders answers as plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainText {
    max_chars: usize,
    max_bytes: usize,
}

impl PlainText {
    /// A message holds at most `max_chars` characters (scalars) and `max_bytes` bytes of UTF-8.
    #[must_use]
    pub fn new(max_chars: usize, max_bytes: usize) -> Self {
        Self {
            max_chars,
            max_bytes,
        }
    }
}

impl Default for PlainText {
    /// 1,500 characters and 4,500 bytes: OneBot states no limit, clients refuse beyond about that.
    fn default() -> Self {
        Self::new(1_500, 4_500)
    }
}

impl Render for PlainText {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let mut lines = Lines::default();
        lines.blocks(blocks, true);
        Rendered {
            text: lines.out,
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.len() <= self.max_bytes && rendered.text.chars().nth(self.max_chars).is_none()
    }

    /// As forwarded messages.
    fn folds(&self, rendered: &Rendered) -> bool {
        folded::texts(&rendered.text, self.max_chars, self.max_bytes).len() <= MAX_NODES
    }
}

/// Text that grows line by line behind a prefix.
#[derive(Default)]
struct Lines {
    out: String,
    /// Stands in front of each line: quote markers and indentation.
    prefix: String,
    /// Stands in front of the next line instead: the marker of a list item.
    first: Option<String>,
}

impl Lines {
    fn line(&mut self, line: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let first = self.first.take();
        let prefix = first.as_deref().unwrap_or(&self.prefix);
        self.out.push_str(if line.is_empty() {
            prefix.trim_end()
        } else {
            prefix
        });
        self.out
            .extend(line.chars().filter(|c| *c == '\t' || !c.is_control()));
    }

    fn text(&mut self, text: &str) {
        for line in text.split('\n') {
            self.line(line.trim_end_matches('\r'));
        }
    }

    /// Blocks one below the other, an empty line between them if `spaced`.
    fn blocks(&mut self, blocks: &[Block], spaced: bool) {
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 && spaced {
                self.line("");
            }
            self.block(block);
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(content) | Block::Heading { content, .. } => {
                self.text(&spelled_out(content))
            }
            Block::List { start, items } => self.list(*start, items),
            Block::Code { text, .. } => self.text(text),
            Block::Quote(inner) => self.inside("> ", "> ", |lines| lines.blocks(inner, true)),
            Block::Table {
                alignments,
                header,
                rows,
            } => {
                self.text(&table::plain(alignments, header, rows));
            }
            Block::Rule => self.line("────────"),
        }
    }

    fn list(&mut self, start: Option<u64>, items: &[Vec<Block>]) {
        for item in list::items(start, '•', items) {
            self.inside(&item.first, &item.rest, |lines| {
                if item.blocks.is_empty() {
                    lines.line("");
                }
                lines.blocks(item.blocks, false);
            });
        }
    }

    /// Runs `body` with its first line behind `first` and the others behind `rest`.
    fn inside(&mut self, first: &str, rest: &str, body: impl FnOnce(&mut Self)) {
        let length = self.prefix.len();
        let outer = self.first.take().unwrap_or_else(|| self.prefix.clone());
        self.first = Some(outer + first);
        self.prefix.push_str(rest);
        body(self);
        self.prefix.truncate(length);
        self.first = None;
    }
}
