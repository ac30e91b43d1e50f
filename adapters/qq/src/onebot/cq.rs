//! CQ strings: text with `[CQ:type,key=value]` codes between.
//!
//! Owns splitting and unescaping of what comes in. Codes are found first and each part is unescaped
//! once, so that text which merely looks like a code stays text. It never writes CQ strings: what goes
//! out is always an array of segments.

use std::borrow::Cow;

/// One part of a CQ string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text, unescaped.
    Text(Cow<'a, str>),
    /// A code with its parameters, still escaped.
    Code {
        /// The kind of segment.
        kind: &'a str,
        /// Key and escaped value, in order.
        parameters: Vec<(&'a str, &'a str)>,
    },
}

/// Splits a CQ string. What is not a whole code is text.
#[must_use]
pub fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[CQ:") {
        let Some((code, following)) = after.split_once(']') else {
            break;
        };
        push_text(&mut parts, before);
        parts.push(parse(code));
        rest = following;
    }
    push_text(&mut parts, rest);
    parts
}

/// The value of a parameter.
#[must_use]
pub fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let known = [("amp;", '&'), ("#91;", '['), ("#93;", ']'), ("#44;", ',')];
        match known
            .iter()
            .find_map(|(name, character)| Some((piece.strip_prefix(name)?, character)))
        {
            Some((rest, character)) => {
                plain.push(*character);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(piece);
            }
        }
    }
    Cow::Owned(plain)
}

fn push_text<'a>(parts: &mut Vec<Part<'a>>, text: &'a str) {
    if !text.is_empty() {
        parts.push(Part::Text(unescape(text)));
    }
}

fn parse(code: &str) -> Part<'_> {
    let mut fields = code.split(',');
    let kind = fields.next().unwrap_or_default().trim();
    let parameters = fields.filter_map(|field| field.split_once('=')).collect();
    Part::Code { kind, parameters }
}

#[cfg(test)]
mod tests;
