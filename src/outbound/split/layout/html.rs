//! The layout of HTML: tags stay whole, open elements are closed and reopened.

use super::{Block, Layout, Span};
use crate::outbound::markdown::html_tags;

/// Elements inside each other that are reopened; deeper ones are left to themselves.
const MAX_SPANS: usize = 16;

/// Elements that begin a block.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "pre",
    "blockquote",
    "table",
    "tr",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
];

/// Elements that go on in the next piece.
const REOPENED: &[&str] = &[
    "b",
    "strong",
    "i",
    "em",
    "s",
    "del",
    "strike",
    "u",
    "a",
    "code",
    "pre",
    "blockquote",
    "ul",
    "ol",
];

pub(super) fn read(text: &str) -> Layout {
    let mut layout = Layout::default();
    // Index of the span, name of the element.
    let mut open: Vec<(usize, &str)> = Vec::new();
    for tag in html_tags(text) {
        layout.atoms.push(tag.start..tag.end);
        if tag.is_any(BLOCKS) {
            let at = if tag.closing { tag.end } else { tag.start };
            if layout.blocks.last().is_none_or(|block| block.start < at) && at < text.len() {
                layout.blocks.push(Block::prose(at));
            }
        }
        if !tag.is_any(REOPENED) {
            continue;
        }
        if !tag.closing {
            if open.len() < MAX_SPANS {
                let parent = open.last().map(|(index, _)| *index);
                let source = text.get(tag.start..tag.end).unwrap_or_default();
                open.push((layout.spans.len(), tag.name));
                layout.spans.push(Span {
                    // Until the closing tag is seen there is nothing to reopen.
                    content: tag.end..tag.end,
                    parent,
                    open: source.to_owned(),
                    close: format!("</{}>", tag.name),
                });
            }
        } else if let Some(at) = open.iter().rposition(|(_, name)| tag.is(name)) {
            for (index, _) in open.drain(at..) {
                if let Some(span) = layout.spans.get_mut(index) {
                    span.content.end = tag.start.max(span.content.start);
                    link_whole(&mut layout.atoms, span, tag.end);
                }
            }
        }
    }
    layout
}

/// A link stays whole: from its opening tag to behind its closing one.
fn link_whole(atoms: &mut Vec<std::ops::Range<usize>>, span: &Span, end: usize) {
    if span.close.eq_ignore_ascii_case("</a>") {
        atoms.push(span.content.start - span.open.len()..end);
    }
}
