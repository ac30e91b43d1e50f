//! The readable part of an HTML page as Markdown: headings, paragraphs, lists, tables and links.
//!
//! Owns what counts as frame: menus, margins, forms. Where a page says which part is its own, that part is taken. Pure,
//! and linear in the length of the page.

use reqwest::Url;

use super::html::{LEFT_OUT, LINES, Tag, decode, end_of, opening};

/// Elements around what a page has to say.
const FRAME: [&str; 6] = ["nav", "footer", "aside", "form", "button", "dialog"];
/// What a page says is its own, the best first.
const OWN: [&str; 2] = ["main", "article"];
/// Fewer characters than that are not all that a page says.
const LEAST: usize = 200;
/// Most links.
const MAX_LINKS: usize = 2_000;

/// What of a page is worth reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) title: String,
    pub(super) text: String,
    /// Words and address of each link, in order.
    pub(super) links: Vec<(String, String)>,
}

/// Reads a page that lies at `base`.
pub(super) fn read(page: &str, base: &Url) -> Read {
    let title = title(page);
    let own = OWN.iter().filter_map(|name| part(page, name));
    for part in own.chain([page]) {
        let (text, links) = markdown(part, base);
        if text.chars().count() >= LEAST || part.len() == page.len() {
            return Read { title, text, links };
        }
    }
    Read::default()
}

fn title(page: &str) -> String {
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (_, from) = rest.split_at(at);
        let Some(tag) = Tag::read(from) else {
            rest = from.strip_prefix('<').unwrap_or_default();
            continue;
        };
        if tag.name == "title" {
            let end = end_of(tag.rest, "title");
            let words = decode(tag.rest.get(..end).unwrap_or_default());
            return words.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        rest = tag.rest;
    }
    String::new()
}

/// The content of the first element of this name, whatever lies in it.
fn part<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let (mut rest, mut start, mut depth) = (page, None, 0_usize);
    while let Some(at) = rest.find('<') {
        let (_, from) = rest.split_at(at);
        let Some(tag) = Tag::read(from) else {
            rest = from.strip_prefix('<').unwrap_or_default();
            continue;
        };
        if LEFT_OUT.contains(&tag.name.as_str()) && !tag.closes {
            let end = end_of(tag.rest, &tag.name);
            rest = tag.rest.get(end..).unwrap_or_default();
            continue;
        }
        if tag.name == name && !tag.closes {
            depth += 1;
            start.get_or_insert(tag.rest);
        } else if tag.name == name && depth > 0 {
            depth -= 1;
            if depth == 0 {
                let inside: &str = start?;
                return inside.get(..inside.len() - from.len());
            }
        }
        rest = tag.rest;
    }
    start
}

fn markdown(page: &str, base: &Url) -> (String, Vec<(String, String)>) {
    let mut out = Out::default();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push(before);
        let Some(tag) = Tag::read(from) else {
            out.push("<");
            rest = from.strip_prefix('<').unwrap_or_default();
            continue;
        };
        rest = tag.rest;
        let name = tag.name.as_str();
        if LEFT_OUT.contains(&name) && !tag.closes {
            let end = end_of(rest, name);
            rest = rest.get(end..).unwrap_or_default();
        } else if FRAME.contains(&name) {
            // An end without a beginning takes nothing back.
            out.frame = if tag.closes {
                out.frame.saturating_sub(1)
            } else {
                out.frame + 1
            };
        } else if LINES.contains(&name) {
            out.line(if tag.closes { "" } else { opening(name) }, name);
        } else if matches!(name, "td" | "th") && !tag.closes {
            out.push(" | ");
        } else if name == "a" && !tag.closes {
            out.link = base
                .join(&decode(tag.attribute("href")))
                .ok()
                .filter(is_web)
                .map(|to| (out.text.len(), to));
        } else if name == "a" {
            out.end_link();
        }
    }
    out.push(rest);
    (out.text.trim().to_owned(), out.links)
}

fn is_web(to: &Url) -> bool {
    matches!(to.scheme(), "http" | "https")
}

#[derive(Default)]
struct Out {
    text: String,
    /// How deep in the frame.
    frame: usize,
    /// Where the words of the open link begin, and where it leads.
    link: Option<(usize, Url)>,
    links: Vec<(String, String)>,
}

impl Out {
    /// Adds text; white space becomes one space.
    fn push(&mut self, raw: &str) {
        if self.frame > 0 {
            return;
        }
        for sign in decode(raw).chars() {
            if !sign.is_whitespace() {
                self.text.push(sign);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Begins a line; an empty one stands before what is a block of its own.
    fn line(&mut self, opening: &str, name: &str) {
        if self.frame > 0 {
            return;
        }
        // A link does not go on over lines.
        self.link = None;
        while self.text.ends_with(' ') && !self.text.ends_with("- ") && !self.text.ends_with("# ") {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
            self.text.push('\n');
        }
        let block = matches!(
            name,
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "pre" | "blockquote"
        );
        if block && self.text.ends_with('\n') && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
        self.text.push_str(opening);
    }

    fn end_link(&mut self) {
        let Some((start, to)) = self.link.take() else {
            return;
        };
        let words = self.text.get(start..).unwrap_or_default();
        let shown = words.trim().replace(['[', ']'], "");
        if shown.is_empty() || self.frame > 0 || self.links.len() >= MAX_LINKS {
            return;
        }
        let lead = if words.starts_with(' ') { " " } else { "" };
        let link = format!("{lead}[{shown}]({to})");
        self.text.truncate(start);
        self.text.push_str(&link);
        self.links.push((shown, to.into()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Url {
        Url::parse("https://example.com/a/page?x=1").unwrap()
    }

    #[test]
    fn what_a_page_says_is_taken_without_its_frame() {
        let long = "Water finds its way over the weir. ".repeat(8);
        let page = format!(
            "<html><head><title>A &amp; B\n</title></head><body><nav><a href='/home'>Home</a> menu</nav><main><h1>Weirs</h1>\
             <p>{long}<a href=\"../b?c=1&amp;d=2\">more [1]</a>, <a href='javascript:x()'>click</a></p><aside>advert</aside><ul><li>one\
             <li><a href=https://other.example/>two</a></ul><script>x</script></main><footer>imprint</footer></body></html>"
        );
        let read = read(&page, &base());
        assert_eq!(read.title, "A & B");
        let expected = format!(
            "# Weirs\n\n{long}[more 1](https://example.com/b?c=1&d=2), click\n\n- one\n- [two](https://other.example/)"
        );
        assert_eq!(read.text, expected);
        assert_eq!(read.links.len(), 2);
    }

    #[test]
    fn a_page_that_does_not_say_what_is_its_own_is_taken_whole() {
        let read = read("<main></main><p>one<p>two <a href='/x'>three</a>", &base());
        assert_eq!(read.text, "one\n\ntwo [three](https://example.com/x)");
        assert_eq!(read.title, "");
    }

    proptest! {
        #[test]
        fn nothing_panics(page in "([<>/&;\"'=!a-]|main|article|script|nav|title|href|你| |\\[|\\]){0,60}") {
            let _ = read(&page, &base());
        }
    }
}
