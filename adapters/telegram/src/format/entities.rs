//! Marks as the platform's entities.
//!
//! Owns the change of offsets from bytes to UTF-16 units.

use teloxide_core::types::{MessageEntity, MessageEntityKind};
use weirgate_sdk::answer::{MarkKind, Rendered};

/// The entities of a text. A mark that does not lie in the text is left out.
#[must_use]
pub fn entities(rendered: &Rendered) -> Vec<MessageEntity> {
    let mut counter = Counter {
        text: &rendered.text,
        bytes: 0,
        units: 0,
    };
    let mut entities = Vec::with_capacity(rendered.marks.len());
    for mark in &rendered.marks {
        let Some(offset) = counter.units_at(mark.offset) else {
            continue;
        };
        let end = mark.offset.saturating_add(mark.length);
        let marked = rendered.text.get(mark.offset..end);
        let length = marked.map_or(0, |marked| marked.chars().map(char::len_utf16).sum());
        if let Some(kind) = kind(&mark.kind).filter(|_| length > 0) {
            entities.push(MessageEntity::new(kind, offset, length));
        }
    }
    entities
}

/// Counts units while the offsets grow.
struct Counter<'a> {
    text: &'a str,
    bytes: usize,
    units: usize,
}

impl Counter<'_> {
    fn units_at(&mut self, offset: usize) -> Option<usize> {
        if offset < self.bytes {
            self.bytes = 0;
            self.units = 0;
        }
        let between = self.text.get(self.bytes..offset)?;
        self.units += between.chars().map(char::len_utf16).sum::<usize>();
        self.bytes = offset;
        Some(self.units)
    }
}

fn kind(kind: &MarkKind) -> Option<MessageEntityKind> {
    Some(match kind {
        MarkKind::Bold => MessageEntityKind::Bold,
        MarkKind::Italic => MessageEntityKind::Italic,
        MarkKind::Strike => MessageEntityKind::Strikethrough,
        MarkKind::Code => MessageEntityKind::Code,
        MarkKind::Pre { language } => MessageEntityKind::Pre {
            language: language.clone(),
        },
        MarkKind::Link { url } => MessageEntityKind::TextLink {
            url: url.parse().ok()?,
        },
        MarkKind::Quote => MessageEntityKind::Blockquote,
    })
}
