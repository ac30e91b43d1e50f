//! Text that grows line by line, with marks in it.
//!
//! Owns prefixes of lines, the nesting of marks, and what keeps two marks apart that would be read as one. Control
//! characters are left out, and white space at both ends, which the platform cuts off.

use super::escape;

/// Stands between two marks that would be read as one, and in a row of back quotes in code. Nobody sees it.
const NOTHING: char = '\u{200B}';
/// The mark around code on lines of its own.
const FENCE: &str = "```";

/// Emphasis, of which each kind counts once however often it is nested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Strong,
    Emphasis,
    Strike,
}

impl Style {
    fn mark(self) -> &'static str {
        match self {
            Self::Strong => "**",
            Self::Emphasis => "*",
            Self::Strike => "~~",
        }
    }
}

/// A text in the making.
#[derive(Debug)]
pub struct Sheet {
    text: String,
    /// The present line is empty, without its prefix yet.
    fresh: bool,
    /// Nothing but prefix and marks stands in the present line, so that its next character could begin a mark.
    begins: bool,
    /// Stands in front of each line: indentation and the mark of a quotation.
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
            fresh: true,
            begins: true,
            prefix: String::new(),
            first: None,
            styles: Vec::new(),
            quoted: false,
        }
    }
}

impl Sheet {
    /// Adds text; a line break ends the line.
    pub fn text(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.end_line();
            }
            let line = visible(line);
            if !line.is_empty() {
                self.begin_line();
                escape::push(&mut self.text, &line, self.begins);
                // White space alone does not keep what follows from the beginning of the line.
                self.begins &= line.trim().is_empty();
            }
        }
    }

    /// Adds a mark as it is.
    pub fn mark(&mut self, mark: &str) {
        self.begin_line();
        // Two equal signs that belong to different marks would be one mark.
        if self.text.chars().next_back() == mark.chars().next() {
            self.text.push(NOTHING);
        }
        self.text.push_str(mark);
    }

    fn begin_line(&mut self) {
        if std::mem::take(&mut self.fresh) {
            let first = self.first.take();
            self.text.push_str(first.as_ref().unwrap_or(&self.prefix));
            self.begins = true;
        }
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        if self.fresh {
            let first = self.first.take();
            let prefix = first.as_ref().unwrap_or(&self.prefix);
            // A quotation goes on over an empty line only with the space behind its mark.
            let prefix = if self.quoted {
                prefix
            } else {
                prefix.trim_end()
            };
            self.text.push_str(prefix);
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
        if self.first.is_some() {
            // Nothing stands behind the marker.
            self.begin_line();
        }
        self.prefix.truncate(length);
    }

    /// Runs `body` in a style, whose marks hug the words.
    pub fn styled(&mut self, style: Style, body: impl FnOnce(&mut Self)) {
        if self.styles.contains(&style) {
            return body(self);
        }
        self.begin_line();
        let start = self.text.len();
        self.styles.push(style);
        body(self);
        self.styles.pop();
        let inner = self.text.split_off(start);
        let words = inner.trim_start();
        let before = inner.len() - words.len();
        let words = words.trim_end();
        let (white, _) = inner.split_at(before);
        let (_, after) = inner.split_at(before + words.len());
        self.text.push_str(white);
        if !words.is_empty() {
            let mark = style.mark();
            self.mark(mark);
            if words.chars().next() == mark.chars().next() {
                self.text.push(NOTHING);
            }
            self.text.push_str(words);
            self.text.push_str(mark);
        }
        self.text.push_str(after);
    }

    /// Runs `body` as a quotation; the platform knows none inside of another, which is marked by its lines.
    pub fn quoted(&mut self, body: impl FnOnce(&mut Self)) {
        if self.quoted {
            return self.inside("\\> ", "\\> ", body);
        }
        self.quoted = true;
        self.inside("> ", "> ", body);
        self.quoted = false;
    }

    /// Code in a line. Nothing in it is a mark but a row of as many back quotes as stand around it.
    pub fn code(&mut self, text: &str) {
        let text = visible(&text.replace('\n', " "));
        if text.is_empty() {
            return;
        }
        let rows = text.split(|c| c != '`').map(str::len);
        let quotes = "`".repeat(rows.max().unwrap_or(0) + 1);
        // Three at the beginning would be a code block.
        let (quotes, text) = if quotes.len() >= FENCE.len() {
            ("`".to_owned(), text.replace('`', "'"))
        } else {
            (quotes, text)
        };
        let space = if text.starts_with('`') || text.ends_with('`') {
            " "
        } else {
            ""
        };
        self.mark(&quotes);
        self.text.push_str(&format!("{space}{text}{space}{quotes}"));
        self.begins = false;
    }

    /// Text in fixed width on lines of its own. Of what stands in front of other lines only the mark of a quotation
    /// stays: indentation would be a part of the code.
    pub fn fixed(&mut self, language: Option<String>, text: &str) {
        if self.first.is_some() {
            self.begin_line();
            self.end_line();
        }
        let code = text.replace(FENCE, &format!("``{NOTHING}`"));
        let open = format!("{FENCE}{}", language.unwrap_or_default());
        let lines = code.split('\n').map(visible);
        let lines = [open].into_iter().chain(lines).chain([FENCE.to_owned()]);
        let prefix = if self.quoted { "> " } else { "" };
        for (index, line) in lines.enumerate() {
            if index > 0 {
                self.text.push('\n');
            }
            self.text.push_str(prefix);
            self.text.push_str(&line);
        }
        self.fresh = false;
        self.begins = false;
    }

    /// The text without white space at its ends.
    pub fn finish(self) -> String {
        self.text.trim().to_owned()
    }
}

/// A line without control characters.
fn visible(line: &str) -> String {
    line.chars()
        .filter(|c| *c == '\t' || !c.is_control())
        .collect()
}
