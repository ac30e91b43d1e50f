//! XML of office documents: read piece by piece, and text that is put into it.
//!
//! Owns the limits: no document type, no entities of one's own, so deep and no deeper. It builds no tree. Pure.

use std::borrow::Cow;

use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};

use super::package::Error;

/// How deep elements may lie in each other.
const MAX_DEPTH: usize = 256;

/// A piece of a document. Names are without their prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// An element begins.
    Open(Element),
    /// Text.
    Text(String),
    /// An element ends.
    Close(String),
}

/// The beginning of an element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Element {
    pub(super) name: String,
    /// With their prefixes.
    attributes: Vec<(String, String)>,
}

impl Element {
    /// An attribute, whatever its prefix; of several the first.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let local = |key: &str| key.rsplit(':').next().unwrap_or_default() == name;
        let found = self.attributes.iter().find(|(key, _)| local(key));
        found.map(|(_, value)| value.as_str())
    }

    /// The relation that it names: `id` with a prefix, which is another one than `id` without.
    pub(super) fn relation(&self) -> Option<&str> {
        let related = |key: &str| key.ends_with(":id") || key.ends_with(":embed");
        let found = self.attributes.iter().find(|(key, _)| related(key));
        found.map(|(_, value)| value.as_str())
    }
}

/// The pieces of a document.
pub(super) struct Pieces<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    /// The end of an element that was empty.
    close: Option<String>,
}

impl<'a> Pieces<'a> {
    /// The pieces of a text.
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            reader: Reader::from_str(text),
            depth: 0,
            close: None,
        }
    }

    /// The next piece; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, Error> {
        if let Some(name) = self.close.take() {
            return Ok(Some(Piece::Close(name)));
        }
        loop {
            let event = self.reader.read_event().map_err(|_| Error::Damaged)?;
            let piece = match event {
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(Error::TooLarge);
                    }
                    Piece::Open(element(&start)?)
                }
                Event::Empty(start) => {
                    let element = element(&start)?;
                    self.close = Some(element.name.clone());
                    Piece::Open(element)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    Piece::Close(end.local_name().as_ref().to_owned())
                }
                Event::Text(text) => Piece::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Piece::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(entity) => {
                    let sign = match entity.resolve_char_ref() {
                        Ok(Some(sign)) => sign.to_string(),
                        _ => named(&entity).ok_or(Error::Damaged)?.to_owned(),
                    };
                    Piece::Text(sign)
                }
                // A document type could bring entities that unfold without an end.
                Event::DocType(_) => return Err(Error::Damaged),
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
            };
            return Ok(Some(piece));
        }
    }

    /// The text up to the end of the element that was begun just now, whatever is in it.
    pub(super) fn text(&mut self) -> Result<String, Error> {
        let (mut text, mut open) = (String::new(), 1_usize);
        while open > 0 {
            match self.next()?.ok_or(Error::Damaged)? {
                Piece::Open(_) => open += 1,
                Piece::Close(_) => open -= 1,
                Piece::Text(more) => text.push_str(&more),
            }
        }
        Ok(text)
    }

    /// Passes everything up to the end of the element that was begun just now.
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        self.text().map(drop)
    }
}

fn element(start: &BytesStart<'_>) -> Result<Element, Error> {
    let mut element = Element {
        name: start.local_name().as_ref().to_owned(),
        attributes: Vec::new(),
    };
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|_| Error::Damaged)?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|_| Error::Damaged)?;
        let key = attribute.key.as_ref().to_owned();
        element.attributes.push((key, value.into_owned()));
    }
    Ok(element)
}

/// The entities that every document has.
fn named(name: &str) -> Option<&'static str> {
    Some(match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        _ => return None,
    })
}

/// A text that may stand in an element or an attribute; what XML cannot hold is left out.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let plain =
        |sign: char| !matches!(sign, '&' | '<' | '>' | '"' | '\u{fffe}' | '\u{ffff}') && fits(sign);
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            sign if plain(sign) => out.push(sign),
            _ => {}
        }
    }
    Cow::Owned(out)
}

fn fits(sign: char) -> bool {
    sign >= ' ' || matches!(sign, '\t' | '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<Piece>, Error> {
        let (mut pieces, mut all) = (Pieces::of(text), Vec::new());
        while let Some(piece) = pieces.next()? {
            all.push(piece);
        }
        Ok(all)
    }

    #[test]
    fn names_lose_their_prefix_and_relations_are_told_from_ids() {
        let mut pieces = Pieces::of(
            r#"<p:a id="256" r:id="rId2" w:val="0"><p:b/>x&amp;&#65;<![CDATA[<y>]]></p:a>"#,
        );
        let Some(Piece::Open(open)) = pieces.next().unwrap() else {
            panic!("no element");
        };
        assert_eq!(
            (open.name.as_str(), open.get("id"), open.relation()),
            ("a", Some("256"), Some("rId2"))
        );
        assert_eq!(pieces.text().unwrap(), "x&A<y>");
        assert_eq!(pieces.next().unwrap(), None);
    }

    #[test]
    fn what_unfolds_or_goes_deep_is_refused() {
        let bomb = r#"<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>"#;
        assert_eq!(all(bomb), Err(Error::Damaged));
        assert_eq!(all("<x>&nbsp;</x>"), Err(Error::Damaged));
        assert_eq!(all("<x><y></x>"), Err(Error::Damaged));
        assert_eq!(all(&"<x>".repeat(MAX_DEPTH + 1)), Err(Error::TooLarge));
    }

    #[test]
    fn text_is_put_in_without_ending_anything() {
        assert_eq!(escaped("a"), "a");
        assert_eq!(escaped("a<b>&\"\u{0}\u{1f}c\n"), "a&lt;b&gt;&amp;&quot;c\n");
    }
}
