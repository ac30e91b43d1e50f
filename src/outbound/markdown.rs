//! Parses an answer into the blocks that adapters render.
//!
//! Owns the reading of Markdown, HTML and plain text. Never emits markup: what is not understood
//! becomes literal text. Nesting is bounded, addresses keep their underscores, line breaks survive.

mod build;
mod html;
pub(super) mod mask;
pub(super) mod url;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};
use weirgate_sdk::answer::{Alignment, Block, Format, Inline};

use build::{Builder, Open};
pub(super) use html::tags as html_tags;

/// The blocks of `text`. Never fails; empty for white space only.
#[must_use]
pub fn parse(text: &str, format: Format) -> Vec<Block> {
    match format {
        Format::Plain => plain(text),
        Format::Markdown => markdown(text),
        Format::Html => html::parse(text),
    }
}

/// What the Markdown parser understands; the splitter reads with the same eyes.
pub(super) fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH
}

fn plain(text: &str) -> Vec<Block> {
    let mut builder = Builder::new();
    for line in text.lines() {
        if line.trim().is_empty() {
            builder.flush();
            continue;
        }
        if builder.has_inlines() {
            builder.inline(Inline::SoftBreak);
        }
        builder.text(line);
    }
    builder.finish()
}

fn markdown(text: &str) -> Vec<Block> {
    let masked = mask::mask(text);
    let mut events = Parser::new_ext(&masked, options()).into_offset_iter();
    let definitions: Vec<(String, String, usize)> = events
        .reference_definitions()
        .iter()
        .map(|(label, def)| (label.to_owned(), def.dest.to_string(), def.span.start))
        .collect();
    let mut used = HashSet::new();
    let mut builder = Builder::new();
    for (event, range) in events.by_ref() {
        match event {
            Event::Start(tag) => {
                if let Tag::Link { id, .. } | Tag::Image { id, .. } = &tag
                    && !id.is_empty()
                {
                    used.insert(id.to_lowercase());
                }
                let source = masked.get(range).unwrap_or_default();
                open(&mut builder, tag, source);
            }
            Event::End(_) => builder.close(),
            Event::Text(text) => builder.text(&mask::unmask(&text)),
            Event::Html(text) | Event::InlineHtml(text) => literal(&mut builder, &text),
            Event::Code(text) => builder.inline(Inline::Code(mask::unmask(&text).into_owned())),
            Event::SoftBreak => builder.inline(Inline::SoftBreak),
            Event::HardBreak => builder.inline(Inline::HardBreak),
            Event::Rule => builder.block(Block::Rule),
            // Only with options that are off: shown as written.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                builder.text(&mask::unmask(&text));
            }
            Event::TaskListMarker(_) => {}
        }
    }
    show_unused(&mut builder, definitions, &used);
    let blocks = builder.finish();
    // Bare markers such as `#` alone show nothing; a message must show something.
    if blocks.is_empty() {
        plain(text)
    } else {
        blocks
    }
}

/// Models list their sources as link definitions that nothing refers to. Markdown hides those.
fn show_unused(
    builder: &mut Builder,
    mut definitions: Vec<(String, String, usize)>,
    used: &HashSet<String>,
) {
    definitions.retain(|(label, ..)| !used.contains(&label.to_lowercase()));
    definitions.sort_by_key(|(.., at)| *at);
    for (label, dest, _) in definitions {
        if builder.has_inlines() {
            builder.inline(Inline::SoftBreak);
        }
        builder.text(&format!(
            "[{}]: {}",
            mask::unmask(&label),
            mask::unmask(&dest)
        ));
    }
}

/// Raw HTML as text, line by line.
fn literal(builder: &mut Builder, text: &str) {
    let text = mask::unmask(text);
    let (line, broken) = match text.strip_suffix('\n') {
        Some(line) => (line, true),
        None => (&*text, false),
    };
    for (index, line) in line.split('\n').enumerate() {
        if index > 0 {
            builder.inline(Inline::SoftBreak);
        }
        builder.text(line.trim_end_matches('\r'));
    }
    if broken {
        builder.inline(Inline::SoftBreak);
    }
}

fn open(builder: &mut Builder, tag: Tag<'_>, source: &str) {
    let open = match tag {
        Tag::Heading { level, .. } => Open::Heading(level_number(level)),
        Tag::BlockQuote(_) => Open::Quote,
        Tag::CodeBlock(kind) => Open::Code(language(&kind)),
        Tag::List(start) => Open::List(start),
        Tag::Item => Open::Item,
        Tag::Table(columns) => Open::Table(columns.into_iter().map(alignment).collect()),
        Tag::TableHead => Open::Head,
        Tag::TableRow => Open::Row,
        Tag::TableCell => Open::Cell,
        Tag::Emphasis => Open::Emphasis,
        Tag::Strong => Open::Strong,
        // A single tilde is a range of numbers far more often than struck out text.
        Tag::Strikethrough if source.starts_with("~~") => Open::Strike,
        Tag::Strikethrough => Open::Literal("~"),
        Tag::Link {
            dest_url, title, ..
        } => Open::Link {
            url: mask::unmask(&dest_url).into_owned(),
            title: Some(mask::unmask(&title).into_owned()).filter(|title| !title.is_empty()),
        },
        Tag::Image { dest_url, .. } => Open::Image(mask::unmask(&dest_url).into_owned()),
        _ => Open::Paragraph,
    };
    builder.open(open);
}

fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    let CodeBlockKind::Fenced(info) = kind else {
        return None;
    };
    let info: Cow<'_, str> = mask::unmask(info);
    info.split_whitespace().next().map(str::to_owned)
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn alignment(column: pulldown_cmark::Alignment) -> Alignment {
    match column {
        pulldown_cmark::Alignment::None => Alignment::None,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}
