//! Answers in a form in which nothing in them becomes a mention or a mark of the platform.
//!
//! Owns what is done to text that looks like one, the Markdown of entitled bots, and how an address is written
//! where the platform refuses those it does not know. Pure.

use std::borrow::Cow;

use weirgate_sdk::answer::{
    Block, Inline, Render, Rendered, language_tag, list, plain_text, spelled_out, table,
    with_address,
};

use crate::format::PlainText;

/// A character of no width: behind a sign that would begin a mention it leaves the sign alone.
pub const BREAK: char = '\u{200B}';
/// What begins a mention, a face or another mark in texts (bot-docs, message format).
const OPENERS: [&str; 7] = [
    "<@",
    "<#",
    "<qqbot-",
    "<emoji",
    "<face",
    "@everyone",
    "@all",
];

/// Renders answers for the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    plain: PlainText,
    markdown: bool,
    max_length: usize,
}

impl Form {
    /// A message holds at most `max_length` characters; with `markdown` it is written in the platform's Markdown.
    #[must_use]
    pub fn new(max_length: usize, markdown: bool) -> Self {
        Self {
            plain: PlainText::new(max_length, max_length.saturating_mul(4)),
            markdown,
            max_length,
        }
    }
}

impl Render for Form {
    fn render(&self, blocks: &[Block]) -> Rendered {
        let text = if self.markdown {
            let mut out = String::new();
            push_blocks(&mut out, blocks, "\n\n");
            out
        } else {
            self.plain.render(blocks).text
        };
        Rendered {
            text: disarm(&text).into_owned(),
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.chars().nth(self.max_length).is_none()
    }
}

/// Leaves signs that would begin a mention without their effect.
#[must_use]
pub fn disarm(text: &str) -> Cow<'_, str> {
    let begins = |rest: &str| OPENERS.iter().any(|opener| starts_with(rest, opener));
    if !text
        .char_indices()
        .any(|(at, c)| matches!(c, '<' | '@') && text.get(at..).is_some_and(begins))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for (at, character) in text.char_indices() {
        out.push(character);
        if matches!(character, '<' | '@') && text.get(at..).is_some_and(begins) {
            out.push(BREAK);
        }
    }
    Cow::Owned(out)
}

fn starts_with(text: &str, opener: &str) -> bool {
    text.get(..opener.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(opener))
}

/// A text whose addresses are not addresses to the platform, and still readable: the point becomes a wide one
/// between a word and a word, the scheme is left out. Never longer.
#[must_use]
pub fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let scheme = ["https://", "http://"]
            .into_iter()
            .find(|scheme| starts_with(rest, scheme));
        if let Some(scheme) = scheme {
            rest = rest.get(scheme.len()..).unwrap_or_default();
            continue;
        }
        let next = rest.get(first.len_utf8()..).unwrap_or_default();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
        let point = first == '.'
            && is_word(out.chars().next_back().map(letter))
            && is_word(next.chars().next());
        out.push(if point { '．' } else { first });
        rest = next;
    }
    out
}

/// A digit stands in names of hosts as well.
fn letter(character: char) -> char {
    if character.is_ascii_digit() {
        'x'
    } else {
        character
    }
}

/// The text of Markdown that was refused, its escapes gone: what people then read.
#[must_use]
pub fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes =
            character == '\\' && characters.peek().is_some_and(char::is_ascii_punctuation);
        if !escapes {
            out.push(character);
        } else if let Some(escaped) = characters.next() {
            out.push(escaped);
        }
    }
    out
}

fn push_blocks(out: &mut String, blocks: &[Block], between: &str) {
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            out.push_str(between);
        }
        push_block(out, block);
    }
}

fn push_block(out: &mut String, block: &Block) {
    match block {
        Block::Paragraph(content) => push_lines(out, content),
        Block::Heading { level, content } => {
            // The platform knows two sizes.
            out.push_str(if *level <= 1 { "# " } else { "## " });
            out.push_str(&escaped(&plain_text(content).replace('\n', " ")));
        }
        Block::List { start, items } => push_list(out, *start, items),
        Block::Code { language, text } => push_code(out, language.as_deref(), text),
        Block::Quote(inner) => push_behind(out, "> ", "> ", |out| push_blocks(out, inner, "\n\n")),
        Block::Table {
            alignments,
            header,
            rows,
        } => {
            push_code(out, None, &table::plain(alignments, header, rows));
        }
        Block::Rule => out.push_str("***"),
    }
}

/// A block of code behind a fence that is longer than any in it.
fn push_code(out: &mut String, language: Option<&str>, text: &str) {
    let language = language.and_then(language_tag);
    let mut longest = 0;
    let mut run = 0;
    for character in text.chars() {
        run = if character == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    out.push_str(&format!(
        "{fence}{}\n{text}\n{fence}",
        language.unwrap_or_default()
    ));
}

fn push_list(out: &mut String, start: Option<u64>, items: &[Vec<Block>]) {
    for (index, item) in list::items(start, '-', items).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_behind(out, &item.first, &item.rest, |out| {
            push_blocks(out, item.blocks, "\n");
        });
    }
}

/// What `body` writes, its first line behind `first` and the others behind `rest`.
fn push_behind(out: &mut String, first: &str, rest: &str, body: impl FnOnce(&mut String)) {
    let mut inner = String::new();
    body(&mut inner);
    for (index, line) in inner.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(if index == 0 { first } else { rest });
        out.push_str(line);
    }
}

/// Running text; at the beginning of its lines nothing makes a heading or a list.
fn push_lines(out: &mut String, content: &[Inline]) {
    let mut text = String::new();
    push_inlines(&mut text, content);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = digits > 0
            && line
                .get(digits..)
                .is_some_and(|rest| rest.starts_with(['.', ')']));
        if numbered {
            out.push_str(line.get(..digits).unwrap_or_default());
            out.push('\\');
            out.push_str(line.get(digits..).unwrap_or_default());
        } else {
            if line.starts_with(['#', '-', '+', '=']) {
                out.push('\\');
            }
            out.push_str(line);
        }
    }
}

fn push_inlines(out: &mut String, content: &[Inline]) {
    for inline in content {
        match inline {
            Inline::Text(text) => out.push_str(&escaped(text)),
            Inline::Code(text) => push_marked_code(out, text),
            Inline::Strong(inner) => push_styled(out, "**", inner),
            Inline::Emphasis(inner) => push_styled(out, "_", inner),
            Inline::Strike(inner) => push_styled(out, "~~", inner),
            // An address that is shown is the one that opens.
            Inline::Link { url, content, .. } => {
                out.push_str(&escaped(&with_address(&spelled_out(content), url)));
            }
            Inline::Image { url, alt } => out.push_str(&escaped(&with_address(alt, url))),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
        }
    }
}

fn push_marked_code(out: &mut String, text: &str) {
    // A tick cannot be escaped inside of ticks.
    if text.contains(['`', '\n']) || text.trim().is_empty() {
        out.push_str(&escaped(text));
    } else {
        out.push_str(&format!("`{text}`"));
    }
}

fn push_styled(out: &mut String, mark: &str, inner: &[Inline]) {
    let mut text = String::new();
    push_inlines(&mut text, inner);
    // Marks beside white space are shown as they are.
    let words = text.trim();
    if words.is_empty() || text.contains('\n') {
        return out.push_str(&text);
    }
    let start = text.len() - text.trim_start().len();
    out.push_str(text.get(..start).unwrap_or_default());
    out.push_str(&format!("{mark}{words}{mark}"));
    out.push_str(text.get(start + words.len()..).unwrap_or_default());
}

/// Text that stays text. Addresses stay as they are: an escape would become a part of them.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (index, word) in text.split(' ').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        let is_address = word.starts_with("https://") || word.starts_with("http://");
        if is_address && !word.contains(['*', '`', '<', '>', '[', ']', '\n']) {
            out.push_str(word);
            continue;
        }
        for character in word
            .chars()
            .filter(|c| matches!(c, '\n' | '\t') || !c.is_control())
        {
            if matches!(
                character,
                '\\' | '*' | '_' | '~' | '`' | '[' | ']' | '<' | '>' | '|'
            ) {
                out.push('\\');
            }
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests;
