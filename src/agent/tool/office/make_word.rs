//! A text document made of Markdown.
//!
//! Owns what of Markdown a document shows: headings, paragraphs, bold, italic and struck words, code, lists, quotes,
//! tables, rules and links. Pictures and raw HTML are shown as their words. Pure.

use std::fmt::Write as _;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{
    parts::{self, NAMESPACES},
    xml::escaped,
};

/// Most links of a document: each is a relation.
const MAX_LINKS: usize = 2_000;
/// Deepest list in a list.
const MAX_DEPTH: usize = 8;
/// The lists of the numbering: of points, and numbered ones from here on, each with its own count.
const POINTS: usize = 1;

/// The parts of a document.
pub(super) fn parts(markdown: &str) -> Vec<(String, String)> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut making = Making::default();
    for event in Parser::new_ext(markdown, options) {
        making.take(event);
    }
    making.end_paragraph();
    let document = format!(
        "<w:document {NAMESPACES}><w:body>{}<w:sectPr><w:pgSz w:w=\"11906\" w:h=\"16838\"/><w:pgMar w:top=\"1440\" \
         w:right=\"1440\" w:bottom=\"1440\" w:left=\"1440\" w:header=\"708\" w:footer=\"708\" w:gutter=\"0\"/></w:sectPr>\
         </w:body></w:document>",
        making.body
    );
    parts::word(&document, &making.links, making.lists)
}

#[derive(Default)]
struct Making {
    body: String,
    /// The paragraph that is open: its properties and its runs.
    paragraph: Option<(String, String)>,
    bold: usize,
    italic: usize,
    struck: usize,
    code: bool,
    quote: usize,
    /// The lists that are open: the number in the numbering.
    open: Vec<usize>,
    /// Numbered lists so far.
    lists: usize,
    /// The addresses of links, in the order of their relations.
    links: Vec<String>,
    /// Whether the link that is open has a relation.
    linked: bool,
    cells: usize,
    head: bool,
    block: bool,
}

impl Making {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.block => self.block_of(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.run(&text),
            Event::Code(text) => {
                self.code = true;
                self.run(&text);
                self.code = false;
            }
            Event::SoftBreak => self.run(" "),
            Event::HardBreak => self.runs("<w:r><w:br/></w:r>"),
            Event::Rule => {
                self.end_paragraph();
                self.begin_paragraph("<w:pBdr><w:bottom w:val=\"single\" w:sz=\"6\" w:space=\"1\" w:color=\"auto\"/></w:pBdr>");
                self.end_paragraph();
            }
            Event::TaskListMarker(done) => self.run(if done { "☑ " } else { "☐ " }),
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_own(),
            Tag::Heading { level, .. } => {
                self.end_paragraph();
                let level = depth(level);
                self.begin_paragraph(&format!("<w:pStyle w:val=\"Heading{level}\"/>"));
            }
            Tag::BlockQuote(_) => {
                self.end_paragraph();
                self.quote += 1;
            }
            Tag::CodeBlock(_) => {
                self.end_paragraph();
                self.block = true;
            }
            Tag::List(first) => {
                self.end_paragraph();
                let list = if first.is_some() {
                    self.lists += 1;
                    POINTS + self.lists.min(parts::MAX_LISTS)
                } else {
                    POINTS
                };
                self.open.push(list);
            }
            Tag::Item => {
                self.end_paragraph();
                self.begin_own();
            }
            Tag::Table(columns) => {
                self.end_paragraph();
                self.cells = columns.len();
                self.body.push_str(
                    "<w:tbl><w:tblPr><w:tblStyle w:val=\"TableGrid\"/><w:tblW w:w=\"0\" w:type=\"auto\"/></w:tblPr><w:tblGrid>",
                );
                let width = 9_026 / self.cells.max(1);
                for _ in 0..self.cells {
                    let _ = write!(self.body, "<w:gridCol w:w=\"{width}\"/>");
                }
                self.body.push_str("</w:tblGrid>");
            }
            Tag::TableHead => {
                self.head = true;
                self.body.push_str("<w:tr><w:trPr><w:tblHeader/></w:trPr>");
            }
            Tag::TableRow => self.body.push_str("<w:tr>"),
            Tag::TableCell => {
                self.body
                    .push_str("<w:tc><w:tcPr><w:tcW w:w=\"0\" w:type=\"auto\"/></w:tcPr>");
                self.begin_paragraph("");
                self.bold += usize::from(self.head);
            }
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::Link { dest_url, .. } => self.begin_link(&dest_url),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item => self.end_paragraph(),
            TagEnd::BlockQuote(_) => {
                self.end_paragraph();
                self.quote = self.quote.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.block = false,
            TagEnd::List(_) => {
                self.open.pop();
            }
            TagEnd::Table => {
                // A table must not be the last of a document, and two must not touch.
                self.body.push_str("</w:tbl><w:p/>");
            }
            TagEnd::TableHead => {
                self.head = false;
                self.body.push_str("</w:tr>");
            }
            TagEnd::TableRow => self.body.push_str("</w:tr>"),
            TagEnd::TableCell => {
                self.bold -= usize::from(self.head).min(self.bold);
                self.end_paragraph();
                self.body.push_str("</w:tc>");
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            TagEnd::Link if std::mem::take(&mut self.linked) => self.runs("</w:hyperlink>"),
            _ => {}
        }
    }

    fn begin_link(&mut self, to: &str) {
        let web = ["http://", "https://", "mailto:"]
            .iter()
            .any(|start| to.starts_with(start));
        if !web || self.links.len() >= MAX_LINKS {
            return;
        }
        self.links.push(to.to_owned());
        self.linked = true;
        let relation = parts::link(self.links.len());
        self.runs(&format!("<w:hyperlink r:id=\"{relation}\">"));
    }

    /// Begins a paragraph as it is where it stands: in a list, a quote, or neither.
    fn begin_own(&mut self) {
        if self.paragraph.is_some() {
            return;
        }
        let mut form = String::new();
        if self.quote > 0 {
            form.push_str("<w:pStyle w:val=\"Quote\"/>");
        }
        if let Some(list) = self.open.last() {
            let level = (self.open.len() - 1).min(MAX_DEPTH);
            let _ = write!(
                form,
                "<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"
            );
        }
        self.begin_paragraph(&form);
    }

    fn begin_paragraph(&mut self, form: &str) {
        self.paragraph = Some((form.to_owned(), String::new()));
    }

    fn end_paragraph(&mut self) {
        let Some((form, runs)) = self.paragraph.take() else {
            return;
        };
        // An item that holds only another list has no words of its own; a rule has none at all.
        if runs.is_empty() && form.contains("numPr") {
            return;
        }
        let _ = write!(self.body, "<w:p><w:pPr>{form}</w:pPr>{runs}</w:p>");
    }

    fn runs(&mut self, runs: &str) {
        self.begin_own();
        if let Some((_, all)) = &mut self.paragraph {
            all.push_str(runs);
        }
    }

    fn run(&mut self, text: &str) {
        let mut form = String::new();
        let switches = [
            (self.code, "<w:rStyle w:val=\"Code\"/>"),
            (self.linked, "<w:rStyle w:val=\"Hyperlink\"/>"),
            (self.bold > 0, "<w:b/>"),
            (self.italic > 0, "<w:i/>"),
            (self.struck > 0, "<w:strike/>"),
        ];
        // A run has one style.
        let styled = self.code;
        for (on, switch) in switches {
            if on && !(styled && switch.contains("Hyperlink")) {
                form.push_str(switch);
            }
        }
        let run = format!(
            "<w:r><w:rPr>{form}</w:rPr><w:t xml:space=\"preserve\">{}</w:t></w:r>",
            escaped(text)
        );
        self.runs(&run);
    }

    /// A block of code: a paragraph for each line.
    fn block_of(&mut self, text: &str) {
        for line in text.lines() {
            self.begin_paragraph("<w:pStyle w:val=\"CodeBlock\"/>");
            let run = format!(
                "<w:r><w:t xml:space=\"preserve\">{}</w:t></w:r>",
                escaped(line)
            );
            self.runs(&run);
            self.end_paragraph();
        }
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
