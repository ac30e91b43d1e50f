//! The text of an HTML page, as a reader would take it in.
//!
//! Owns which elements are left out, which begin a line, and the entities that it knows. It builds no tree and
//! makes nothing that is shown as HTML: an odd page gives odd text, never more. Linear in the length of the page.

use std::fmt::Write as _;

/// Elements whose content is no text for readers.
pub(super) const LEFT_OUT: [&str; 8] = [
    "script", "style", "noscript", "template", "svg", "iframe", "head", "select",
];
/// Elements that begin and end a line.
pub(super) const LINES: [&str; 32] = [
    "p",
    "div",
    "br",
    "li",
    "ul",
    "ol",
    "tr",
    "table",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "section",
    "article",
    "header",
    "footer",
    "nav",
    "main",
    "aside",
    "blockquote",
    "pre",
    "dl",
    "dt",
    "dd",
    "hr",
    "form",
    "figure",
    "figcaption",
    "title",
    "option",
];

/// The text.
#[must_use]
pub(super) fn text(page: &str) -> String {
    let mut out = Out::default();
    let mut rest = page;
    let mut title = false;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push(before);
        let Some(tag) = Tag::read(tag) else {
            // A sign that is no tag.
            out.push("<");
            rest = tag.strip_prefix('<').unwrap_or_default();
            continue;
        };
        rest = tag.rest;
        if LEFT_OUT.contains(&tag.name.as_str()) && !tag.closes {
            let end = end_of(rest, &tag.name);
            if tag.name == "head" && !title {
                title = true;
                out.title(rest.get(..end).unwrap_or_default());
            }
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        if LINES.contains(&tag.name.as_str()) {
            out.line(if tag.closes { "" } else { opening(&tag.name) });
        } else if matches!(tag.name.as_str(), "td" | "th") && !tag.closes {
            out.push(" | ");
        } else if tag.name == "a" && !tag.closes {
            out.link(tag.attribute("href"));
        } else if tag.name == "a" {
            out.end_link();
        }
    }
    out.push(rest);
    out.text.trim().to_owned()
}

/// What stands at the beginning of a line.
pub(super) fn opening(name: &str) -> &'static str {
    match name {
        "h1" => "# ",
        "h2" => "## ",
        "h3" | "h4" | "h5" | "h6" => "### ",
        "li" => "- ",
        _ => "",
    }
}

/// Where the content of an element ends, behind which its closing tag stands; it is looked for whatever the case.
pub(super) fn end_of(text: &str, name: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("</")) {
        let start = from + at;
        let behind = text.get(start + 2..).unwrap_or_default();
        let found = behind
            .get(..name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if found {
            return start;
        }
        from = start + 2;
    }
    text.len()
}

/// A tag, and what stands behind it.
pub(super) struct Tag<'a> {
    pub(super) name: String,
    pub(super) closes: bool,
    inside: &'a str,
    pub(super) rest: &'a str,
}

impl<'a> Tag<'a> {
    /// Reads the tag or comment at the beginning of a text; `None` if there is none.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        if let Some(comment) = text.strip_prefix("<!--") {
            let rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
            return Some(Self::empty(rest));
        }
        let inside = text.strip_prefix('<')?;
        let closes = inside.starts_with('/');
        let named = inside.strip_prefix('/').unwrap_or(inside);
        if !named
            .starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '!' | '?'))
        {
            return None;
        }
        let end = tag_end(named)?;
        let (inside, rest) = named.split_at(end);
        let name = inside
            .split(|sign: char| !sign.is_ascii_alphanumeric())
            .next();
        Some(Self {
            name: name.unwrap_or_default().to_ascii_lowercase(),
            closes,
            inside,
            rest: rest.strip_prefix('>').unwrap_or(rest),
        })
    }

    fn empty(rest: &'a str) -> Self {
        Self {
            name: String::new(),
            closes: false,
            inside: "",
            rest,
        }
    }

    /// The value of an attribute; empty if it is not there.
    pub(super) fn attribute(&self, name: &str) -> &'a str {
        let lower = self.inside.to_ascii_lowercase();
        let Some(at) = lower.find(&format!("{name}=")) else {
            return "";
        };
        let value = self.inside.get(at + name.len() + 1..).unwrap_or_default();
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                return value
                    .get(1..)
                    .and_then(|value| value.split(quote).next())
                    .unwrap_or_default();
            }
            _ => value.find(char::is_whitespace).unwrap_or(value.len()),
        };
        value.get(..end).unwrap_or_default()
    }
}

/// Where a tag ends: a `>` in quotes does not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (None, '>') => return Some(at),
            // Only behind `=` does a quote begin a value; a stray one in a tag must not swallow the page.
            (None, '"' | '\'') if text.get(..at).is_some_and(|before| before.ends_with('=')) => {
                quote = Some(sign);
            }
            (Some(open), sign) if open == sign => quote = None,
            _ => {}
        }
    }
    // An open quote: the first `>` then.
    quote.and_then(|_| text.find('>'))
}

#[derive(Default)]
struct Out {
    text: String,
    /// The address of the link that is open.
    link: Option<String>,
}

impl Out {
    /// Adds text; white space becomes one space.
    fn push(&mut self, raw: &str) {
        let decoded = decode(raw);
        for sign in decoded.chars() {
            if !sign.is_whitespace() {
                self.text.push(sign);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Begins a line, if the last one has anything on it; no more than one empty line stands between two.
    fn line(&mut self, opening: &str) {
        while self.text.ends_with(' ') && !self.text.ends_with("- ") && !self.text.ends_with("# ") {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
            self.text.push('\n');
        }
        self.text.push_str(opening);
    }

    fn title(&mut self, head: &str) {
        let lower = head.to_ascii_lowercase();
        let Some(start) = lower.find("<title") else {
            return;
        };
        let title = head
            .get(start..)
            .and_then(|tag| Tag::read(tag).map(|tag| tag.rest));
        let title = title.unwrap_or_default();
        let end = end_of(title, "title");
        self.push(title.get(..end).unwrap_or_default());
        self.line("");
    }

    fn link(&mut self, to: &str) {
        let is_address = to.starts_with("http://") || to.starts_with("https://");
        self.link = is_address.then(|| decode(to));
    }

    fn end_link(&mut self) {
        if let Some(link) = self.link.take() {
            // Writing to a string does not fail.
            let _ = write!(self.text, " ({link})");
        }
    }
}

/// A text with its entities resolved; those that are not known stay.
pub(super) fn decode(text: &str) -> String {
    /// Longest name of an entity that is known.
    const LONGEST: usize = 10;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, entity) = rest.split_at(at);
        out.push_str(before);
        let inside = entity.strip_prefix('&').unwrap_or_default();
        let end = inside
            .char_indices()
            .take(LONGEST)
            .find(|(_, sign)| *sign == ';');
        let known =
            end.and_then(|(end, _)| Some((named(inside.get(..end)?)?, inside.get(end + 1..)?)));
        match known {
            Some((sign, behind)) => {
                out.push(sign);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

fn named(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" | "ensp" | "emsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "middot" => '·',
        "bull" => '•',
        "times" => '×',
        "yen" => '¥',
        "euro" => '€',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_becomes_what_a_reader_sees() {
        let page = r#"<!DOCTYPE html><html><HEAD><title>A &amp; B</title><style>p{}</style></HEAD><body>
            <!-- no <p>comment</p> --><script>if (a < b) alert("</p>")</script>
            <h1>Head</h1><p>One   two<br>three&nbsp;&#x4f60;&#22909;</p>
            <ul><li>first</li><li><a href="https://example.com/?a=1&amp;b=2">second</a></li></ul>
            <table><tr><td>a</td><td title="x > y">b</td></tr></table> 1 < 2 &unknown; AT&T</body></html>"#;
        let expected = "A & B\n# Head\nOne two\nthree 你好\n- first\n- second (https://example.com/?a=1&b=2)\n\
                        | a | b\n1 < 2 &unknown; AT&T";
        assert_eq!(text(page), expected);
    }

    #[test]
    fn broken_pages_give_what_they_have() {
        assert_eq!(text("<p>open <b>bold"), "open bold");
        assert_eq!(text("a<script>never closed"), "a");
        assert_eq!(text("a <!-- never closed"), "a");
        assert_eq!(text("5 <"), "5 <");
        assert_eq!(text(r#"<a href="x>y</a> z"#), "y z");
    }

    proptest! {
        #[test]
        fn nothing_panics(page in "([<>/&;\"'=!a-]|script|head|title|href|你| ){0,60}") {
            let _ = text(&page);
        }
    }
}
