//! Answers as plain text with entities.
//!
//! Owns how blocks look: bold headings, bullets, code and tables in fixed width, quotations, links. It writes no
//! markup, so nothing in a text can be taken for it. Entities are nested properly, and code is covered by nothing
//! but a link or a quotation: the platform allows no more.

mod entities;
mod sheet;

pub use entities::entities;
use weirgate_sdk::answer::{
    Block, Inline, Mark, MarkKind, Render, Rendered, language_tag, list, spelled_out, table,
    with_address,
};

use sheet::{Sheet, Style};

/// Entities of one message; the platform drops what goes beyond (python-telegram-bot, `telegram.constants`).
const MAX_ENTITIES: usize = 100;
/// All entities of one message in bytes; more are refused (tdlib/telegram-bot-api, issue 165).
const MAX_ENTITY_BYTES: usize = 9_500;
/// What an entity takes beside an address or the name of a language, in bytes, rounded up.
const ENTITY_BYTES: usize = 64;
/// The longest address that is made a link of, in bytes; a longer one is spelled out.
const MAX_URL: usize = 2_048;

/// Renders answers as text with entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entities {
    max_length: usize,
}

impl Entities {
    /// A message holds at most `max_length` UTF-16 units.
    #[must_use]
    pub fn new(max_length: usize) -> Self {
        Self { max_length }
    }
}

impl Render for Entities {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let mut sheet = Sheet::default();
        push_blocks(&mut sheet, blocks, true);
        sheet.finish()
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        // Never fewer units than code points, in which the server counts.
        let units: usize = rendered.text.chars().map(char::len_utf16).sum();
        let bytes: usize = rendered.marks.iter().map(entity_bytes).sum();
        units <= self.max_length
            && rendered.marks.len() <= MAX_ENTITIES
            && bytes <= MAX_ENTITY_BYTES
    }
}

fn entity_bytes(mark: &Mark) -> usize {
    ENTITY_BYTES
        + match &mark.kind {
            MarkKind::Link { url } => url.len(),
            MarkKind::Pre {
                language: Some(language),
            } => language.len(),
            _ => 0,
        }
}

/// Blocks one below the other, an empty line between them if `spaced`.
fn push_blocks(sheet: &mut Sheet, blocks: &[Block], spaced: bool) {
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            sheet.push_text(if spaced { "\n\n" } else { "\n" });
        }
        push_block(sheet, block);
    }
}

fn push_block(sheet: &mut Sheet, block: &Block) {
    match block {
        Block::Paragraph(content) => push_inlines(sheet, content),
        Block::Heading { content, .. } => {
            sheet.styled(Style::Bold, |sheet| push_inlines(sheet, content));
        }
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
        Block::Rule => sheet.push_text("────────"),
    }
}

fn push_list(sheet: &mut Sheet, start: Option<u64>, items: &[Vec<Block>]) {
    for (index, item) in list::items(start, '•', items).enumerate() {
        if index > 0 {
            sheet.push_text("\n");
        }
        sheet.inside(&item.first, &item.rest, |sheet| {
            push_blocks(sheet, item.blocks, false);
        });
    }
}

fn push_inlines(sheet: &mut Sheet, content: &[Inline]) {
    for inline in content {
        match inline {
            Inline::Text(text) => sheet.push_text(text),
            Inline::Code(text) => sheet.code(text),
            Inline::Strong(inner) => sheet.styled(Style::Bold, |sheet| push_inlines(sheet, inner)),
            Inline::Emphasis(inner) => {
                sheet.styled(Style::Italic, |sheet| push_inlines(sheet, inner));
            }
            Inline::Strike(inner) => {
                sheet.styled(Style::Strike, |sheet| push_inlines(sheet, inner));
            }
            Inline::Link { url, content, .. } => push_link(sheet, url, content),
            Inline::Image { url, alt } => {
                let alt = [Inline::Text(alt.clone())];
                push_link(sheet, url, &alt);
            }
            Inline::SoftBreak | Inline::HardBreak => sheet.push_text("\n"),
        }
    }
}

fn push_link(sheet: &mut Sheet, url: &str, content: &[Inline]) {
    let text = spelled_out(content);
    if !opens(url) {
        sheet.push_text(&with_address(&text, url));
    } else if text.trim().is_empty() {
        sheet.push_text(url);
    } else {
        sheet.linked(url, |sheet| push_inlines(sheet, content));
    }
}

/// Whether an address is one that the platform opens: not its own, which mean people and chats, and no scripts.
fn opens(url: &str) -> bool {
    let is_web = url.parse().is_ok_and(|url: reqwest::Url| {
        matches!(url.scheme(), "http" | "https") && url.host_str().is_some()
    });
    is_web && url.len() <= MAX_URL
}

#[cfg(test)]
mod tests;
