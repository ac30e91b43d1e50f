//! The document model of an answer and the ability to render it.
//!
//! The core parses every answer into [`Block`]s; an adapter turns them into its platform's form with
//! [`Render`]. Nothing here does IO, knows a platform, or holds markup: raw HTML of a model arrives as
//! literal [`Inline::Text`].

pub mod list;
pub mod table;

/// What the maker of an answer wrote it in. A model writes [`Format::Markdown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// Literal text; line breaks count, nothing else is markup.
    Plain,
    /// CommonMark with tables and strikethrough.
    #[default]
    Markdown,
    /// HTML, of which text, emphasis, links, lists, quotes and code are kept.
    Html,
}

/// Alignment of one table column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alignment {
    /// Not stated.
    #[default]
    None,
    /// Left.
    Left,
    /// Centre.
    Center,
    /// Right.
    Right,
}

/// One block of an answer. The core bounds the nesting, so plain recursion is safe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Running text.
    Paragraph(Vec<Inline>),
    /// A heading.
    Heading {
        /// 1 (largest) to 6.
        level: u8,
        /// The heading's text.
        content: Vec<Inline>,
    },
    /// A list. An item whose first block is itself a list has no text of its own: draw no marker for
    /// it, only those of the inner list (a list cut in two is reopened that way).
    List {
        /// Number of the first item; none is a bullet list.
        start: Option<u64>,
        /// The blocks of each item.
        items: Vec<Vec<Block>>,
    },
    /// A code block, shown as it is.
    Code {
        /// The language tag, if one was given: whatever the author wrote, never to be trusted as a name.
        language: Option<String>,
        /// The code, without the last line break.
        text: String,
    },
    /// A quotation.
    Quote(Vec<Block>),
    /// A table. A row may have fewer cells than the header.
    Table {
        /// One for each column.
        alignments: Vec<Alignment>,
        /// The header's cells.
        header: Vec<Vec<Inline>>,
        /// The cells of each row.
        rows: Vec<Vec<Vec<Inline>>>,
    },
    /// A separating line.
    Rule,
}

/// A run of text in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Literal text: escape it for the platform, interpret nothing.
    Text(String),
    /// Code in a line of text.
    Code(String),
    /// Strong emphasis.
    Strong(Vec<Inline>),
    /// Emphasis.
    Emphasis(Vec<Inline>),
    /// Struck out.
    Strike(Vec<Inline>),
    /// A link.
    Link {
        /// Where it leads, unchecked: allow only the schemes that the platform should open.
        url: String,
        /// Title, if one was given.
        title: Option<String>,
        /// The text shown.
        content: Vec<Inline>,
    },
    /// A picture that the answer points to.
    Image {
        /// Where it is, unchecked.
        url: String,
        /// Text in its place.
        alt: String,
    },
    /// A line break of the source: shown as a line break.
    SoftBreak,
    /// A line break that the author asked for.
    HardBreak,
}

/// An answer in a platform's form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// The text to send: visible text, or markup where the platform takes markup.
    pub text: String,
    /// Marks over `text` for platforms that take them apart (entities), in order of offset, properly
    /// nested. Empty elsewhere.
    pub marks: Vec<Mark>,
}

/// One mark over [`Rendered::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Start in bytes of the text, at a character boundary.
    pub offset: usize,
    /// Length in bytes of the text, never 0.
    pub length: usize,
    /// What it says.
    pub kind: MarkKind,
}

/// Kind of a [`Mark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkKind {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Struck out.
    Strike,
    /// Code in a line.
    Code,
    /// A code block.
    Pre {
        /// The language tag, if any.
        language: Option<String>,
    },
    /// A link.
    Link {
        /// Where it leads.
        url: String,
    },
    /// A quotation.
    Quote,
}

/// Turns an answer into a platform's form.
///
/// Pure: no IO, no state, no clock, the same result each time. The core calls it often while it looks
/// for the place to split an answer, so it must be cheap and must not panic, whatever the blocks hold.
pub trait Render: Send + Sync {
    /// The platform's form of these blocks.
    fn render(&self, blocks: &[Block]) -> Rendered;

    /// Whether the platform takes this as one message: length in its own unit, bytes, marks.
    fn fits(&self, rendered: &Rendered) -> bool;

    /// Whether the platform takes this as one message that is opened to read it, and then shows several. Where the
    /// operator wants very long answers so, one part may be as long as this allows; the adapter sees by its length what
    /// it is.
    fn folds(&self, _rendered: &Rendered) -> bool {
        false
    }
}

/// The text of `content` without any markup: what is left where a platform cannot nest.
#[must_use]
pub fn plain_text(content: &[Inline]) -> String {
    let mut out = String::new();
    push_plain(content, &mut out);
    out
}

fn push_plain(content: &[Inline], out: &mut String) {
    for inline in content {
        match inline {
            Inline::Text(text) | Inline::Code(text) | Inline::Image { alt: text, .. } => {
                out.push_str(text);
            }
            Inline::Strong(inner)
            | Inline::Emphasis(inner)
            | Inline::Strike(inner)
            | Inline::Link { content: inner, .. } => push_plain(inner, out),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
        }
    }
}

/// The text of `content` without markup, what links and pictures lead to behind their texts.
#[must_use]
pub fn spelled_out(content: &[Inline]) -> String {
    let mut out = String::new();
    push_spelled_out(content, &mut out);
    out
}

fn push_spelled_out(content: &[Inline], out: &mut String) {
    for inline in content {
        match inline {
            Inline::Text(text) | Inline::Code(text) => out.push_str(text),
            Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                push_spelled_out(inner, out);
            }
            Inline::Link { url, content, .. } => {
                out.push_str(&with_address(&spelled_out(content), url));
            }
            Inline::Image { url, alt } => out.push_str(&with_address(alt, url)),
            Inline::SoftBreak | Inline::HardBreak => out.push('\n'),
        }
    }
}

/// Longest name of a language, in characters.
const MAX_LANGUAGE: usize = 32;

/// The name of a code block's language, if what its author wrote can be one.
#[must_use]
pub fn language_tag(language: &str) -> Option<String> {
    let is_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
    let word = language.split_whitespace().next()?;
    let fits = word.chars().count() <= MAX_LANGUAGE && word.chars().all(is_tag);
    fits.then(|| word.to_owned())
}

/// Text and address, or one of them if the other says nothing more.
#[must_use]
pub fn with_address(text: &str, url: &str) -> String {
    let short = url.split_once("://").map_or(url, |(_, rest)| rest);
    let mail = url.strip_prefix("mailto:").unwrap_or(url);
    let same = [url, short, mail, short.trim_end_matches('/')].contains(&text);
    if text.trim().is_empty() {
        url.to_owned()
    } else if same || url.is_empty() || url.starts_with('#') {
        text.to_owned()
    } else {
        // A space on both sides keeps neighbours out of the address.
        format!("{text} ( {url} )")
    }
}
