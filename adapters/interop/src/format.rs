//! Answers as text for programs: Markdown as it was written, with nothing escaped.
//!
//! Owns how blocks look as characters. A program that gives the text to a model wants its structure; nothing here is ever
//! shown as markup. Pure.

use weirgate_sdk::answer::{
    Block, Inline, Render, Rendered, list, plain_text, table, with_address,
};

/// Longest text, in characters.
pub(crate) const LIMIT: usize = 64_000;
/// Most signs of a fence around code.
const MAX_FENCE: usize = 64;

/// Renders answers as Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked;

impl Render for Marked {
    fn render(&self, blocks: &[Block]) -> Rendered {
        Rendered {
            text: text(blocks),
            marks: Vec::new(),
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.chars().nth(LIMIT).is_none()
    }
}

/// Blocks one below the other, an empty line between them.
pub(crate) fn text(blocks: &[Block]) -> String {
    let blocks: Vec<String> = blocks.iter().map(block).collect();
    blocks.join("\n\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Paragraph(content) => inlines(content),
        Block::Heading { level, content } => {
            let marks = "#".repeat(usize::from(*level).clamp(1, 6));
            format!("{marks} {}", inlines(content))
        }
        Block::List { start, items } => {
            let item = |item: list::Item<'_>| {
                let inner: Vec<String> = item.blocks.iter().map(self::block).collect();
                behind(&inner.join("\n"), &item.first, &item.rest)
            };
            let items: Vec<String> = list::items(*start, '-', items).map(item).collect();
            items.join("\n")
        }
        Block::Code { language, text } => {
            let fence = fence(text);
            let language = language.as_deref().unwrap_or_default();
            let language: String = language.chars().filter(|sign| !sign.is_control()).collect();
            format!(
                "{fence}{}\n{}\n{fence}",
                language.replace('`', ""),
                clean(text)
            )
        }
        Block::Quote(inner) => behind(&text(inner), "> ", "> "),
        Block::Table {
            alignments,
            header,
            rows,
        } => clean(&table::plain(alignments, header, rows)),
        Block::Rule => "---".to_owned(),
    }
}

/// Each line behind something.
fn behind(text: &str, first: &str, rest: &str) -> String {
    let line = |(at, line): (usize, &str)| {
        let before = if at == 0 { first } else { rest };
        let line = format!("{before}{line}");
        line.trim_end().to_owned()
    };
    let lines: Vec<String> = text.split('\n').enumerate().map(line).collect();
    lines.join("\n")
}

/// A fence that the code does not have.
fn fence(text: &str) -> String {
    let longest = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        (ticks > 0).then_some(ticks)
    });
    let longest = longest.max().unwrap_or_default();
    "`".repeat((longest + 1).clamp(3, MAX_FENCE))
}

fn inlines(content: &[Inline]) -> String {
    let mut out = String::new();
    for inline in content {
        match inline {
            Inline::Text(text) => out.push_str(&clean(text)),
            Inline::Code(text) => around(&mut out, "`", &clean(text)),
            Inline::Strong(inner) => around(&mut out, "**", &inlines(inner)),
            Inline::Emphasis(inner) => around(&mut out, "*", &inlines(inner)),
            Inline::Strike(inner) => around(&mut out, "~~", &inlines(inner)),
            Inline::Link { url, content, .. } => {
                out.push_str(&clean(&with_address(&plain_text(content), url)));
            }
            Inline::Image { url, alt } => out.push_str(&clean(&with_address(alt, url))),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
        }
    }
    out
}

fn around(out: &mut String, mark: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    out.push_str(mark);
    out.push_str(text);
    out.push_str(mark);
}

/// Without what no text has.
fn clean(text: &str) -> String {
    let keeps = |sign: &char| matches!(sign, '\n' | '\t') || !sign.is_control();
    text.chars().filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Inline {
        Inline::Text(text.to_owned())
    }

    #[test]
    fn an_answer_keeps_its_structure() {
        let blocks = [
            Block::Heading {
                level: 2,
                content: vec![words("Head")],
            },
            Block::Paragraph(vec![
                words("a "),
                Inline::Strong(vec![words("b")]),
                Inline::SoftBreak,
                Inline::Code("c*d".into()),
                Inline::Strong(vec![]),
            ]),
            Block::List {
                start: Some(1),
                items: vec![
                    vec![Block::Paragraph(vec![words("one")])],
                    vec![Block::Quote(vec![Block::Paragraph(vec![words("two")])])],
                ],
            },
            Block::Code {
                language: Some("rust".into()),
                text: "```\nlet a;".into(),
            },
            Block::Rule,
        ];
        assert_eq!(
            text(&blocks),
            "## Head\n\na **b**\n`c*d`\n\n1. one\n2. > two\n\n````rust\n```\nlet a;\n````\n\n---"
        );
    }

    #[test]
    fn addresses_are_spelled_out_and_nothing_is_escaped() {
        let link = Inline::Link {
            url: "https://example.com".into(),
            title: None,
            content: vec![words("here")],
        };
        let paragraph = [Block::Paragraph(vec![link, words(" <b> **x** \u{7}")])];
        assert_eq!(text(&paragraph), "here ( https://example.com ) <b> **x** ");
    }
}
