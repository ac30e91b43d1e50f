//! From a text to the blocks that are rendered, free of secrets.
//!
//! Owns the last look at what is shown: a text that passed the output filter may still spell a secret once
//! its markup is read (`sk\\-abc`, `sk&#45;abc`). It never renders.

use weirgate_sdk::answer::{Block, Format, Inline};

use super::markdown;
use crate::security::redact::Redactor;

/// The blocks of a text, with every secret replaced.
#[must_use]
pub fn blocks(text: &str, format: Format, redactor: &Redactor) -> Vec<Block> {
    let mut blocks = markdown::parse(text, format);
    if !redactor.is_empty() {
        blocks
            .iter_mut()
            .for_each(|block| scrub_block(block, redactor));
    }
    blocks
}

fn scrub_block(block: &mut Block, redactor: &Redactor) {
    match block {
        Block::Paragraph(content) | Block::Heading { content, .. } => scrub(content, redactor),
        Block::List { items, .. } => items
            .iter_mut()
            .flatten()
            .for_each(|block| scrub_block(block, redactor)),
        Block::Quote(blocks) => blocks
            .iter_mut()
            .for_each(|block| scrub_block(block, redactor)),
        Block::Code { language, text } => {
            scrub_text(text, redactor);
            if let Some(language) = language {
                scrub_text(language, redactor);
            }
        }
        Block::Table { header, rows, .. } => {
            let cells = header.iter_mut().chain(rows.iter_mut().flatten());
            cells.for_each(|cell| scrub(cell, redactor));
        }
        Block::Rule => {}
    }
}

fn scrub(content: &mut [Inline], redactor: &Redactor) {
    for inline in content {
        match inline {
            Inline::Text(text) | Inline::Code(text) => scrub_text(text, redactor),
            Inline::Strong(content) | Inline::Emphasis(content) | Inline::Strike(content) => {
                scrub(content, redactor);
            }
            Inline::Link {
                url,
                title,
                content,
            } => {
                scrub_text(url, redactor);
                if let Some(title) = title {
                    scrub_text(title, redactor);
                }
                scrub(content, redactor);
            }
            Inline::Image { url, alt } => {
                scrub_text(url, redactor);
                scrub_text(alt, redactor);
            }
            Inline::SoftBreak | Inline::HardBreak => {}
        }
    }
}

/// Control characters never reach a screen, so they must not hide a secret either.
fn scrub_text(text: &mut String, redactor: &Redactor) {
    let hidden = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if text.contains(hidden) {
        text.retain(|character| !hidden(character));
    }
    if let std::borrow::Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_in_markup_shows_a_secret() {
        let secret = "sk-TEST_abcdefghijklmnop";
        let (redactor, _) = Redactor::new([secret]);
        for text in [
            "key: sk\\-TEST\\_abcdefghijklmnop",
            "key: sk&#45;TEST&lowbar;abcdefghijklmnop",
            "key: sk-TEST\u{7}_abcdefghijklmnop",
            "> - | `sk-TEST_abcdefghijklmnop`",
            "[x](https://h/sk-TEST_abcdefghijklmnop)",
            "|a|\n|-|\n|sk\\-TEST\\_abcdefghijklmnop|",
            "```sk-TEST_abcdefghijklmnop\nsk-TEST_abcdefghijklmnop\n```",
        ] {
            let shown = format!("{:?}", blocks(text, Format::Markdown, &redactor));
            assert!(!shown.contains(secret), "{shown}");
            assert!(shown.contains("[REDACTED]"), "{shown}");
        }
    }

    #[test]
    fn without_secrets_nothing_is_touched() {
        let text = "a **b** `c`\n\n- d";
        let plain = markdown::parse(text, Format::Markdown);
        assert_eq!(blocks(text, Format::Markdown, &Redactor::default()), plain);
    }
}
