//! Text that grows line by line, with marks over it.
//!
//! Owns prefixes of lines, the nesting of marks, and what the platform would change by itself: control characters
//! are left out, and white space at both ends is cut off, because it would move every entity.

use std::{cmp::Reverse, ops::Range};

use weirgate_sdk::answer::{Mark, MarkKind, Rendered};

/// Emphasis, of which each kind counts once however often it is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Bold,
    Italic,
    Strike,
}

impl Style {
    fn mark(self) -> MarkKind {
        match self {
            Self::Bold => MarkKind::Bold,
            Self::Italic => MarkKind::Italic,
            Self::Strike => MarkKind::Strike,
        }
    }
}

/// A text in the making.
#[derive(Debug)]
pub struct Sheet {
    text: String,
    marks: Vec<Mark>,
    /// Where code is; in order.
    code: Vec<Range<usize>>,
    /// Where links are.
    links: Vec<Range<usize>>,
    /// The present line is empty, without its prefix yet.
    fresh: bool,
    /// Stands in front of each line: indentation and the marks of nested quotations.
    prefix: String,
    /// Stands in front of the next line instead: the marker of a list item.
    first: Option<String>,
    styles: Vec<Style>,
    quoted: bool,
}

impl Default for Sheet {
    fn default() -> Self {
        Self {
            text: String::new(),
            marks: Vec::new(),
            code: Vec::new(),
            links: Vec::new(),
            fresh: true,
            prefix: String::new(),
            first: None,
            styles: Vec::new(),
            quoted: false,
        }
    }
}

impl Sheet {
    /// Adds text; a line break ends the line.
    pub fn push_text(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                '\n' => self.end_line(),
                '\t' => self.push(character),
                other if other.is_control() => {}
                other => self.push(other),
            }
        }
    }

    fn push(&mut self, character: char) {
        self.begin_line();
        self.text.push(character);
    }

    fn begin_line(&mut self) {
        if std::mem::take(&mut self.fresh) {
            match self.first.take() {
                Some(first) => self.text.push_str(&first),
                None => self.text.push_str(&self.prefix),
            }
        }
    }

    fn end_line(&mut self) {
        if self.fresh {
            let first = self.first.take();
            let prefix = first.as_ref().unwrap_or(&self.prefix);
            self.text.push_str(prefix.trim_end());
        }
        self.text.push('\n');
        self.fresh = true;
    }

    /// Runs `body` with its first line behind `first` and the others behind `rest`.
    pub fn inside(&mut self, first: &str, rest: &str, body: impl FnOnce(&mut Self)) {
        let length = self.prefix.len();
        let outer = self.first.take().unwrap_or_else(|| self.prefix.clone());
        self.first = Some(outer + first);
        self.prefix.push_str(rest);
        body(self);
        if let Some(marker) = self.first.take() {
            // Nothing stands behind it.
            self.text.push_str(marker.trim_end());
            self.fresh = false;
        }
        self.prefix.truncate(length);
    }

    /// Runs `body` in a style.
    pub fn styled(&mut self, style: Style, body: impl FnOnce(&mut Self)) {
        if self.styles.contains(&style) {
            return body(self);
        }
        self.styles.push(style);
        let range = self.range(body);
        self.styles.pop();
        for piece in self.pieces(range) {
            self.mark(piece, style.mark());
        }
    }

    /// A range without the code in it, cut so that no piece reaches over an end of a link.
    fn pieces(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let inside = |part: &&Range<usize>| part.start >= range.start;
        let code: Vec<_> = self.code.iter().filter(inside).collect();
        let links = self.links.iter().filter(inside);
        let mut cuts = vec![range.start, range.end];
        cuts.extend(code.iter().flat_map(|code| [code.start, code.end]));
        for link in links {
            // Emphasis may enclose a link, unless there is code in the link.
            if code.iter().any(|code| link.contains(&code.start)) {
                cuts.extend([link.start, link.end]);
            }
        }
        cuts.sort_unstable();
        let pairs = cuts.iter().zip(cuts.iter().skip(1));
        let pieces = pairs.map(|(start, end)| *start..*end);
        pieces
            .filter(|piece| !code.iter().any(|code| code.contains(&piece.start)))
            .collect()
    }

    /// Runs `body` as the text of a link.
    pub fn linked(&mut self, url: &str, body: impl FnOnce(&mut Self)) {
        let range = self.range(body);
        self.links.push(range.clone());
        self.mark(
            range,
            MarkKind::Link {
                url: url.to_owned(),
            },
        );
    }

    /// Runs `body` as a quotation; one inside of another is marked by its lines.
    pub fn quoted(&mut self, body: impl FnOnce(&mut Self)) {
        if self.quoted {
            return self.inside("> ", "> ", body);
        }
        self.quoted = true;
        let range = self.range(body);
        self.quoted = false;
        self.mark(range, MarkKind::Quote);
    }

    /// Code in a line.
    pub fn code(&mut self, text: &str) {
        let range = self.range(|sheet| sheet.push_text(text));
        self.code.push(range.clone());
        self.mark(range, MarkKind::Code);
    }

    /// Text in fixed width on lines of its own, without what stands in front of the others.
    pub fn fixed(&mut self, language: Option<String>, text: &str) {
        if self.first.is_some() {
            self.begin_line();
            self.end_line();
        }
        let prefix = std::mem::take(&mut self.prefix);
        let range = self.range(|sheet| sheet.push_text(text));
        self.prefix = prefix;
        self.code.push(range.clone());
        self.mark(range, MarkKind::Pre { language });
    }

    /// Where what `body` adds stands, without the prefix of its first line.
    fn range(&mut self, body: impl FnOnce(&mut Self)) -> Range<usize> {
        let fresh = self.fresh;
        let before = self.text.len();
        self.begin_line();
        let start = self.text.len();
        body(self);
        if self.text.len() == start && fresh {
            // Nothing came: the line is as it was.
            let prefix = self.text.split_off(before);
            self.first = Some(prefix);
            self.fresh = true;
            return before..before;
        }
        start..self.text.len()
    }

    fn mark(&mut self, range: Range<usize>, kind: MarkKind) {
        let Some(text) = self.text.get(range.clone()) else {
            return;
        };
        // White space at the ends of a mark is cut off by the platform; before code it means something.
        let indented = matches!(kind, MarkKind::Pre { .. } | MarkKind::Quote);
        let inner = if indented {
            text.trim_end()
        } else {
            text.trim()
        };
        let cut = if indented {
            0
        } else {
            text.len() - text.trim_start().len()
        };
        if !inner.trim().is_empty() {
            self.marks.push(Mark {
                offset: range.start + cut,
                length: inner.len(),
                kind,
            });
        }
    }

    /// The text without white space at its ends, and its marks in order.
    pub fn finish(mut self) -> Rendered {
        let cut = self.text.len() - self.text.trim_start().len();
        let text = self.text.trim().to_owned();
        for mark in &mut self.marks {
            let start = mark.offset.max(cut) - cut;
            let end = (mark.offset + mark.length).min(cut + text.len()) - cut;
            // No mark is of white space alone, so something is left of each.
            mark.offset = start;
            mark.length = end - start;
        }
        // What encloses another was put down after it.
        self.marks.reverse();
        self.marks
            .sort_by_key(|mark| (mark.offset, Reverse(mark.length)));
        Rendered {
            text,
            marks: self.marks,
        }
    }
}
