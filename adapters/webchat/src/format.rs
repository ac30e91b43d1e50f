//! Answers as HTML: the only place where text becomes markup.
//!
//! Owns the list of tags and attributes that a page ever gets. Text is always escaped, and nothing of
//! a text is interpreted, so there is no markup to sanitise afterwards: live text, history and final
//! answers all pass here. Pictures become links that say so, because fetching a picture that a model points to
//! would tell its server what was said; the page fetches one when its reader asks. It never keeps a link of
//! another scheme than http, https, mailto.

use std::fmt::Write;

use weirgate_sdk::answer::{Alignment, Block, Inline, Render, Rendered};

/// Longest answer in one part, in characters that are seen.
const MAX_VISIBLE: usize = 20_000;
/// Longest markup of one part in bytes.
const MAX_MARKUP: usize = 256 * 1024;

/// Renders answers for the page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Html;

impl Html {
    /// The longest answer in one part, in characters that are seen.
    pub const LIMIT: usize = MAX_VISIBLE;
}

impl Render for Html {
    fn render(&self, blocks: &[Block]) -> Rendered {
        Rendered {
            text: html(blocks),
            marks: vec![],
        }
    }

    fn fits(&self, rendered: &Rendered) -> bool {
        rendered.text.len() <= MAX_MARKUP && seen(&rendered.text) <= MAX_VISIBLE
    }
}

/// The markup of some blocks.
pub(crate) fn html(blocks: &[Block]) -> String {
    let mut out = String::new();
    push_blocks(blocks, &mut out);
    out
}

/// The markup of somebody's own words: one paragraph, line breaks kept.
pub(crate) fn own_words(text: &str) -> String {
    html(&[Block::Paragraph(vec![Inline::Text(text.to_owned())])])
}

fn push_blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        push_block(block, out);
    }
}

fn push_block(block: &Block, out: &mut String) {
    match block {
        Block::Paragraph(content) => wrap("p", out, |out| push_inlines(content, false, out)),
        Block::Heading { level, content } => {
            let tag = match level {
                0 | 1 => "h1",
                2 => "h2",
                3 => "h3",
                4 => "h4",
                5 => "h5",
                _ => "h6",
            };
            wrap(tag, out, |out| push_inlines(content, false, out));
        }
        Block::List { start, items } => push_list(*start, items, out),
        Block::Code { language, text } => {
            out.push_str("<pre><code");
            if let Some(name) = language.as_deref().and_then(language_name) {
                let _ = write!(out, " class=\"language-{name}\"");
            }
            out.push('>');
            push_text(text, out);
            out.push_str("</code></pre>");
        }
        Block::Quote(inner) => wrap("blockquote", out, |out| push_blocks(inner, out)),
        Block::Table {
            alignments,
            header,
            rows,
        } => push_table(alignments, header, rows, out),
        Block::Rule => out.push_str("<hr>"),
    }
}

fn wrap(tag: &str, out: &mut String, inner: impl FnOnce(&mut String)) {
    let _ = write!(out, "<{tag}>");
    inner(out);
    let _ = write!(out, "</{tag}>");
}

fn push_list(start: Option<u64>, items: &[Vec<Block>], out: &mut String) {
    match start {
        Some(1) => out.push_str("<ol>"),
        Some(number) => {
            let _ = write!(out, "<ol start=\"{number}\">");
        }
        None => out.push_str("<ul>"),
    }
    for item in items {
        match item.as_slice() {
            // A list that goes on where an earlier part ended: the outer marker was drawn there.
            blocks @ [Block::List { .. }, ..] => {
                out.push_str("<li class=\"continued\">");
                push_blocks(blocks, out);
            }
            [Block::Paragraph(content), rest @ ..] => {
                out.push_str("<li>");
                push_inlines(content, false, out);
                push_blocks(rest, out);
            }
            blocks => {
                out.push_str("<li>");
                push_blocks(blocks, out);
            }
        }
        out.push_str("</li>");
    }
    out.push_str(if start.is_some() { "</ol>" } else { "</ul>" });
}

type Cells = Vec<Vec<Inline>>;

fn push_table(alignments: &[Alignment], header: &Cells, rows: &[Cells], out: &mut String) {
    let cell = |tag: &str, column: usize, content: &[Inline], out: &mut String| {
        let class = match alignments.get(column) {
            Some(Alignment::Left) => " class=\"left\"",
            Some(Alignment::Center) => " class=\"center\"",
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::None) | None => "",
        };
        let _ = write!(out, "<{tag}{class}>");
        push_inlines(content, false, out);
        let _ = write!(out, "</{tag}>");
    };
    out.push_str("<table><thead><tr>");
    for (column, content) in header.iter().enumerate() {
        cell("th", column, content, out);
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (column, content) in row.iter().enumerate() {
            cell("td", column, content, out);
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table>");
}

/// `linked` means that a link is open: links do not nest.
fn push_inlines(content: &[Inline], linked: bool, out: &mut String) {
    for inline in content {
        match inline {
            Inline::Text(text) => {
                for (i, line) in text.split('\n').enumerate() {
                    out.push_str(if i > 0 { "<br>" } else { "" });
                    push_text(line, out);
                }
            }
            Inline::Code(text) => wrap("code", out, |out| push_text(text, out)),
            Inline::Strong(inner) => wrap("strong", out, |out| push_inlines(inner, linked, out)),
            Inline::Emphasis(inner) => wrap("em", out, |out| push_inlines(inner, linked, out)),
            Inline::Strike(inner) => wrap("del", out, |out| push_inlines(inner, linked, out)),
            Inline::Link { url, content, .. } => {
                push_link(url, linked, "", out, |linked, out| {
                    push_inlines(content, linked, out)
                });
            }
            Inline::Image { url, alt } => {
                let shown = if alt.trim().is_empty() { url } else { alt };
                let class = " class=\"picture\"";
                push_link(url, linked, class, out, |_, out| push_text(shown, out));
            }
            Inline::SoftBreak | Inline::HardBreak => out.push_str("<br>"),
        }
    }
}

/// `class` is empty or an attribute with the space before it.
fn push_link(
    url: &str,
    linked: bool,
    class: &str,
    out: &mut String,
    content: impl FnOnce(bool, &mut String),
) {
    match safe_url(url) {
        Some(url) if !linked => {
            out.push_str("<a href=\"");
            push_text(&url, out);
            out.push_str("\" target=\"_blank\" rel=\"noopener noreferrer nofollow\"");
            out.push_str(class);
            out.push('>');
            content(true, out);
            out.push_str("</a>");
        }
        _ => content(linked, out),
    }
}

/// The address without the control characters and white space that a browser would skip, if it is
/// absolute and of a scheme that is safe to open.
fn safe_url(url: &str) -> Option<String> {
    let url: String = url
        .chars()
        .filter(|c| !c.is_control() && !c.is_whitespace())
        .collect();
    let (scheme, rest) = url.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    let safe = match scheme.as_str() {
        "http" | "https" => rest.starts_with("//") && rest.len() > 2,
        "mailto" => !rest.is_empty(),
        _ => false,
    };
    (safe && url.len() <= 4_096).then_some(url)
}

/// The first word of a fence's language tag, if it can be a class name.
fn language_name(tag: &str) -> Option<String> {
    let word = tag
        .split(|c: char| c.is_whitespace() || c == ',')
        .next()?
        .to_ascii_lowercase();
    let fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '.' | '-' | '_');
    (!word.is_empty() && word.len() <= 32 && word.chars().all(fit)).then_some(word)
}

/// Escapes for text and for attribute values in double quotes; drops control characters.
fn push_text(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
}

/// How many characters of our own markup are seen.
fn seen(markup: &str) -> usize {
    let mut count = 0;
    let (mut tag, mut entity) = (false, false);
    for c in markup.chars() {
        match c {
            '<' => tag = true,
            '>' => tag = false,
            _ if tag => {}
            '&' => {
                entity = true;
                count += 1;
            }
            ';' if entity => entity = false,
            _ if entity => {}
            _ => count += 1,
        }
    }
    count
}

/// What is seen of our own markup, as text with line breaks, for programs that show no markup.
pub(crate) fn visible_text(markup: &str) -> String {
    let mut out = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some((text, tail)) = rest.split_once('<') {
        push_unescaped(text, &mut out);
        let (tag, tail) = tail.split_once('>').unwrap_or((tail, ""));
        match tag {
            "br" | "hr" | "/p" | "/li" | "/tr" | "/pre" | "/h1" | "/h2" | "/h3" | "/h4" | "/h5"
            | "/h6" => out.push('\n'),
            "/td" | "/th" => out.push('\t'),
            _ => {}
        }
        rest = tail;
    }
    push_unescaped(rest, &mut out);
    out.truncate(out.trim_end().len());
    out
}

fn push_unescaped(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('&') {
        out.push_str(before);
        let (name, tail) = tail.split_once(';').unwrap_or((tail, ""));
        out.push_str(match name {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            _ => "",
        });
        rest = tail;
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests;
