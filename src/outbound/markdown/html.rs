//! Reads the HTML that an answer may be declared as.
//!
//! Owns a forgiving tag scanner and the few elements that have a meaning in a chat. Everything else
//! is dropped as a tag and kept as text; scripts and styles are dropped with their content.

use weirgate_sdk::answer::{Block, Inline};

use super::build::{Builder, Open};

/// A tag or a comment in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    /// Bytes of the source: from `<`.
    pub(crate) start: usize,
    /// Bytes of the source: behind `>`.
    pub(crate) end: usize,
    /// Name as written; empty for a comment or a declaration.
    pub(crate) name: &'a str,
    /// `</name>`.
    pub(crate) closing: bool,
    /// All between the name and `>`.
    pub(crate) attributes: &'a str,
}

impl Tag<'_> {
    /// Whether the tag has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Whether the tag has one of these names.
    pub(crate) fn is_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.is(name))
    }
}

/// The tags of `text` in order. A `<` that opens no complete tag is text.
pub(crate) fn tags(text: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut from = 0;
    // Comments are looked for up to the last place where one ends, so that time stays linear.
    let last_comment_end = text.rfind("-->").unwrap_or(0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')) {
        let start = from + at;
        let rest = text.get(start..).unwrap_or_default();
        let found = if rest.starts_with("<!--") && start < last_comment_end {
            comment(rest, start)
        } else {
            tag(rest, start)
        };
        from = match found {
            Some(tag) => {
                tags.push(tag);
                tag.end
            }
            None => start + 1,
        };
    }
    tags
}

fn comment(rest: &str, start: usize) -> Option<Tag<'_>> {
    let end = start + rest.find("-->")? + 3;
    Some(Tag {
        start,
        end,
        name: "",
        closing: false,
        attributes: "",
    })
}

fn tag(rest: &str, start: usize) -> Option<Tag<'_>> {
    let body = rest.strip_prefix('<')?;
    let (body, closing) = match body.strip_prefix('/') {
        Some(body) => (body, true),
        None => (body, false),
    };
    let length = body.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (name, tail) = body.split_at_checked(length)?;
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name_is_declaration(name, tail) {
        return None;
    }
    let stop = tail.find(['<', '>'])?;
    let (attributes, tail) = tail.split_at_checked(stop)?;
    tail.starts_with('>').then_some(())?;
    let end = start + (rest.len() - tail.len()) + 1;
    Some(Tag {
        start,
        end,
        name,
        closing,
        attributes: attributes.trim_end_matches('/'),
    })
}

/// `<!DOCTYPE …>`: a tag without a name.
fn name_is_declaration(name: &str, tail: &str) -> bool {
    name.is_empty() && tail.starts_with('!')
}

/// The blocks of an HTML text.
pub(super) fn parse(text: &str) -> Vec<Block> {
    let mut reader = Reader {
        builder: Builder::new(),
        open: Vec::new(),
        pre: 0,
        hidden: None,
    };
    let mut from = 0;
    for tag in tags(text) {
        reader.text(text.get(from..tag.start).unwrap_or_default());
        reader.tag(&tag);
        from = tag.end;
    }
    reader.text(text.get(from..).unwrap_or_default());
    reader.builder.finish()
}

struct Reader<'a> {
    builder: Builder,
    /// Names of the open elements, as the builder knows them.
    open: Vec<&'a str>,
    /// Depth of preformatted text.
    pre: usize,
    /// The element whose content is dropped.
    hidden: Option<&'a str>,
}

impl<'a> Reader<'a> {
    fn text(&mut self, text: &str) {
        if self.hidden.is_some() || text.is_empty() {
            return;
        }
        let text = decode(text);
        if self.pre > 0 {
            let text = if self.builder.has_inlines() {
                &*text
            } else {
                text.trim_start_matches('\n')
            };
            return self.builder.text(text);
        }
        let mut words = text.split_whitespace().peekable();
        let at_start = !self.builder.has_inlines() && !self.builder.in_span();
        if text.starts_with(char::is_whitespace) && !at_start {
            self.builder.text(" ");
        }
        while let Some(word) = words.next() {
            self.builder.text(word);
            if words.peek().is_some() || text.ends_with(char::is_whitespace) {
                self.builder.text(" ");
            }
        }
    }

    fn tag(&mut self, tag: &Tag<'a>) {
        if let Some(name) = self.hidden {
            if tag.closing && tag.is(name) {
                self.hidden = None;
            }
        } else if tag.closing {
            self.close(tag);
        } else if tag.is_any(&["script", "style", "head", "template"]) {
            self.hidden = Some(tag.name);
        } else if tag.is("br") {
            self.builder.inline(Inline::HardBreak);
        } else if tag.is("hr") {
            self.block();
            self.builder.block(Block::Rule);
        } else if tag.is_any(&["td", "th"]) {
            self.builder.text(if self.builder.has_inlines() {
                " | "
            } else {
                ""
            });
        } else if tag.is("code") && self.pre > 0 {
            // The usual `<pre><code>`: one code block.
        } else if let Some(open) = meaning(tag) {
            if !open.is_span() {
                self.block();
            }
            if let Open::Item = open {
                self.end_item();
            }
            if let Open::Code(_) = open {
                self.pre += 1;
            }
            self.builder.open(open);
            self.open.push(tag.name);
        } else if tag.is_any(BREAKING) {
            self.block();
        }
    }

    /// Ends the running paragraph and the spans in it.
    fn block(&mut self) {
        while self.builder.in_span() && self.open.pop().is_some() {
            self.builder.close();
        }
        self.builder.flush();
    }

    /// An item ends where the next one begins, also without its closing tag.
    fn end_item(&mut self) {
        let around = |name: &&str| {
            ["li", "ul", "ol"]
                .iter()
                .any(|n| name.eq_ignore_ascii_case(n))
        };
        if let Some(at) = self.open.iter().rposition(around)
            && self
                .open
                .get(at)
                .is_some_and(|name| name.eq_ignore_ascii_case("li"))
        {
            self.close_to(at);
        }
    }

    fn close(&mut self, tag: &Tag<'a>) {
        if tag.is_any(BREAKING) {
            self.block();
        }
        if let Some(at) = self.open.iter().rposition(|name| tag.is(name)) {
            self.close_to(at);
        }
    }

    /// Closes the open elements from this one on.
    fn close_to(&mut self, at: usize) {
        while self.open.len() > at {
            if self
                .open
                .pop()
                .is_some_and(|name| name.eq_ignore_ascii_case("pre"))
            {
                self.pre = self.pre.saturating_sub(1);
            }
            self.builder.close();
        }
    }
}

/// Elements that begin and end a paragraph, without more meaning.
const BREAKING: &[&str] = &[
    "p", "div", "section", "article", "header", "footer", "main", "table", "tr", "body", "html",
    "dl", "dt", "dd", "figure", "details", "summary", "ul", "ol", "li",
];

fn meaning(tag: &Tag<'_>) -> Option<Open> {
    let name = tag.name.to_ascii_lowercase();
    Some(match name.as_str() {
        "b" | "strong" => Open::Strong,
        "i" | "em" | "cite" => Open::Emphasis,
        "s" | "del" | "strike" => Open::Strike,
        "a" => Open::Link {
            url: attribute(tag, "href").unwrap_or_default(),
            title: None,
        },
        "code" | "kbd" | "samp" | "tt" => Open::CodeSpan,
        "ul" => Open::List(None),
        "ol" => Open::List(Some(1)),
        "li" => Open::Item,
        "blockquote" => Open::Quote,
        "pre" => Open::Code(None),
        "h1" => Open::Heading(1),
        "h2" => Open::Heading(2),
        "h3" => Open::Heading(3),
        "h4" => Open::Heading(4),
        "h5" => Open::Heading(5),
        "h6" => Open::Heading(6),
        _ => return None,
    })
}

/// The value of an attribute, decoded.
fn attribute(tag: &Tag<'_>, name: &str) -> Option<String> {
    let lower = tag.attributes.to_ascii_lowercase();
    let at = lower.find(&format!("{name}="))? + name.len() + 1;
    let value = tag.attributes.get(at..)?;
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ => value.split_whitespace().next()?,
    };
    Some(decode(value))
}

/// Character references in their short and numeric forms; unknown ones stay as they are.
fn decode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after.bytes().take(32).position(|byte| byte == b';');
        let decoded = end.and_then(|end| Some((reference(after.get(..end)?)?, end)));
        rest = match decoded {
            Some((c, end)) => {
                out.push(c);
                after.get(end + 1..).unwrap_or_default()
            }
            None => {
                out.push('&');
                after
            }
        };
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| *c != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "copy" => '©',
        "bull" => '•',
        "rarr" => '→',
        _ => return None,
    })
}
