//! The scripted platform's own markup: short tags around what is marked, everything else as text.
//!
//! Owns a form in which marked and plain text differ, so that a test sees which one was sent.

use weirgate_sdk::answer::{Block, Inline, Render, Rendered};

/// Renders strong text as `<b>…</b>` and code as `<c>…</c>`; blocks are lines.
#[derive(Debug, Clone, Copy)]
pub struct Tagged {
    limit: usize,
}

impl Tagged {
    /// A message holds at most `limit` characters, tags included.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit }
    }
}

impl Render for Tagged {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let mut text = String::new();
        push_blocks(blocks, &mut text);
        Rendered {
            text,
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.chars().count() <= self.limit
    }
}

fn push_blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        match block {
            Block::Paragraph(content) | Block::Heading { content, .. } => push(content, out),
            Block::List { items, .. } => {
                for item in items {
                    push_blocks(item, out);
                }
            }
            Block::Code { text, .. } => {
                out.push_str("<c>");
                out.push_str(text);
                out.push_str("</c>");
            }
            Block::Quote(inner) => push_blocks(inner, out),
            Block::Table { header, rows, .. } => {
                for cell in header.iter().chain(rows.iter().flatten()) {
                    push(cell, out);
                    out.push('\n');
                }
            }
            Block::Rule => out.push_str("---"),
        }
    }
}

fn push(content: &[Inline], out: &mut String) {
    for inline in content {
        match inline {
            Inline::Text(text) | Inline::Image { alt: text, .. } => out.push_str(text),
            Inline::Code(text) => {
                out.push_str("<c>");
                out.push_str(text);
                out.push_str("</c>");
            }
            Inline::Strong(inner) => {
                out.push_str("<b>");
                push(inner, out);
                out.push_str("</b>");
            }
            Inline::Emphasis(inner) | Inline::Strike(inner) => push(inner, out),
            Inline::Link { content, .. } => push(content, out),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
        }
    }
}
