//! Answers in the platform's dialect of Markdown.
//!
//! Owns which marks are written, and that nothing in a text becomes one. Whom a text seems to mention is not decided
//! here: every message says that it mentions nobody.

mod escape;
mod sheet;

use reqwest::Url;
use weirgate_sdk::answer::{
    Block, Inline, Render, Rendered, language_tag, list, plain_text, spelled_out, table,
    with_address,
};

use sheet::{Sheet, Style};

/// Longest address that is made a link, in bytes.
const MAX_URL: usize = 1_000;
/// The smallest heading; smaller ones are only bold.
const MAX_HEADING: u8 = 3;

/// Renders answers for the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Markdown {
    max_length: usize,
}

impl Markdown {
    /// A message holds at most `max_length` code points, marks included.
    #[must_use]
    pub fn new(max_length: usize) -> Self {
        Self { max_length }
    }
}

impl Render for Markdown {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let mut sheet = Sheet::default();
        push_blocks(&mut sheet, blocks, true);
        Rendered {
            text: sheet.finish(),
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.chars().nth(self.max_length).is_none()
    }
}

/// Blocks one below the other, an empty line between them if `spaced`.
fn push_blocks(sheet: &mut Sheet, blocks: &[Block], spaced: bool) {
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            sheet.end_line();
            if spaced {
                sheet.end_line();
            }
        }
        push_block(sheet, block);
    }
}

fn push_block(sheet: &mut Sheet, block: &Block) {
    match block {
        Block::Paragraph(content) => push_inlines(sheet, content),
        Block::Heading { level, content } => push_heading(sheet, *level, content),
        Block::List { start, items } => push_list(sheet, *start, items),
        Block::Code { language, text } => {
            sheet.fixed(language.as_deref().and_then(language_tag), text)
        }
        Block::Quote(inner) => sheet.quoted(|sheet| push_blocks(sheet, inner, true)),
        Block::Table {
            alignments,
            header,
            rows,
        } => {
            sheet.fixed(None, &table::plain(alignments, header, rows));
        }
        Block::Rule => sheet.text("────────"),
    }
}

fn push_heading(sheet: &mut Sheet, level: u8, content: &[Inline]) {
    if level > MAX_HEADING || plain_text(content).contains('\n') {
        return sheet.styled(Style::Strong, |sheet| push_inlines(sheet, content));
    }
    let marks = "#".repeat(level.max(1).into());
    sheet.mark(&format!("{marks} "));
    push_inlines(sheet, content);
}

fn push_list(sheet: &mut Sheet, start: Option<u64>, items: &[Vec<Block>]) {
    for (index, item) in list::items(start, '-', items).enumerate() {
        if index > 0 {
            sheet.end_line();
        }
        sheet.inside(&item.first, &item.rest, |sheet| {
            push_blocks(sheet, item.blocks, false);
        });
    }
}

fn push_inlines(sheet: &mut Sheet, content: &[Inline]) {
    for inline in content {
        match inline {
            Inline::Text(text) => sheet.text(text),
            Inline::Code(text) => sheet.code(text),
            Inline::Strong(inner) => {
                sheet.styled(Style::Strong, |sheet| push_inlines(sheet, inner));
            }
            Inline::Emphasis(inner) => {
                sheet.styled(Style::Emphasis, |sheet| push_inlines(sheet, inner));
            }
            Inline::Strike(inner) => {
                sheet.styled(Style::Strike, |sheet| push_inlines(sheet, inner));
            }
            Inline::Link { url, content, .. } => push_link(sheet, url, &spelled_out(content)),
            Inline::Image { url, alt } => push_link(sheet, url, alt),
            Inline::SoftBreak | Inline::HardBreak => sheet.end_line(),
        }
    }
}

fn push_link(sheet: &mut Sheet, url: &str, text: &str) {
    let text = text.replace('\n', " ");
    // A text that looks like an address is not shown as a link to another one.
    let shown = with_address(&text, url);
    let is_word = !text.trim().is_empty() && shown != text && !text.contains("://");
    match address(url).filter(|_| is_word) {
        Some(address) => {
            sheet.mark("[");
            sheet.text(&text);
            sheet.mark(&format!("]({address})"));
        }
        None => sheet.text(&shown),
    }
}

/// An address that the platform opens, in a form that ends no mark. Only those of the web are: no scripts, and not the
/// platform's own.
fn address(url: &str) -> Option<String> {
    let parsed: Url = url.parse().ok()?;
    let is_web = matches!(parsed.scheme(), "http" | "https") && parsed.host_str().is_some();
    let mut address = String::new();
    for character in parsed.as_str().chars() {
        match character {
            '(' => address.push_str("%28"),
            ')' => address.push_str("%29"),
            '<' => address.push_str("%3C"),
            '>' => address.push_str("%3E"),
            '\\' => address.push_str("%5C"),
            other => address.push(other),
        }
    }
    (is_web && address.len() <= MAX_URL).then_some(address)
}

#[cfg(test)]
mod tests;
