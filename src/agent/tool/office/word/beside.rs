//! What a text document says beside its text: headers, footers, footnotes, endnotes and comments, each marked as such.
//!
//! Owns the marks, at the place in the text and before the words. Pure but for reading the parts.

use std::collections::{HashMap, HashSet};

use super::{Reading, Styles};
use crate::agent::tool::office::{
    MAX_TEXT,
    package::{Error, Package},
    relations::{self, Relations},
    xml::{Element, Piece, Pieces},
};

/// Parts by the kinds of their relations, in the order in which they are told.
const KINDS: [&str; 5] = ["header", "footer", "footnotes", "endnotes", "comments"];

/// The mark in the text where something stands beside it; `None` for other elements.
pub(super) fn mark(element: &Element) -> Option<String> {
    let id = element.get("id")?;
    Some(match element.name.as_str() {
        "footnoteReference" => format!("[^{id}]"),
        "endnoteReference" => format!("[^end{id}]"),
        "commentReference" => format!("[comment {id}]"),
        _ => return None,
    })
}

/// Adds what stands beside the text of a document with these relations.
pub(super) fn add(
    package: &mut Package<'_>,
    document: &Relations,
    (mut styles, mut numbering): (Styles, HashMap<String, bool>),
    out: &mut String,
) -> Result<(), Error> {
    for kind in KINDS {
        let of_kind = document
            .values()
            .filter(|relation| relation.kind == kind && !relation.outside);
        let mut parts: Vec<&str> = of_kind.map(|relation| relation.target.as_str()).collect();
        parts.sort_unstable();
        parts.dedup();
        // First pages and later ones often have the same.
        let mut told = HashSet::new();
        for part in parts {
            let Some(text) = package.part(part)? else {
                continue;
            };
            let relations = relations::of(package, part)?;
            let mut reading = Reading {
                pieces: Pieces::of(&text),
                relations: &relations,
                styles,
                numbering,
            };
            for entry in entries(&mut reading, kind)? {
                if !told.contains(&entry) {
                    out.push_str(&entry);
                    out.push_str("\n\n");
                    told.insert(entry);
                }
                if out.len() > MAX_TEXT {
                    return Err(Error::TooLarge);
                }
            }
            (styles, numbering) = (reading.styles, reading.numbering);
        }
    }
    Ok(())
}

/// What a part has, each with its mark.
fn entries(reading: &mut Reading<'_>, kind: &str) -> Result<Vec<String>, Error> {
    let (mut found, mut size) = (Vec::new(), 0);
    while let Some(piece) = reading.pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        let id = element.get("id").unwrap_or_default();
        let label = match (element.name.as_str(), kind) {
            ("hdr", "header") => "[header]".to_owned(),
            ("ftr", "footer") => "[footer]".to_owned(),
            ("footnote", "footnotes") => format!("[^{id}]:"),
            ("endnote", "endnotes") => format!("[^end{id}]:"),
            ("comment", "comments") => match element.get("author") {
                Some(author) if !author.trim().is_empty() => {
                    format!("[comment {id} by {}]:", author.trim())
                }
                _ => format!("[comment {id}]:"),
            },
            _ => continue,
        };
        // The lines that are drawn between text and notes are notes as well, of a type.
        let words = !matches!(element.get("type"), Some(kind) if kind != "normal");
        let mut text = String::new();
        reading.blocks(&element.name, &mut text, 0)?;
        let text = text.trim();
        if words && !text.is_empty() {
            size += text.len() + label.len();
            if size > MAX_TEXT {
                return Err(Error::TooLarge);
            }
            found.push(format!("{label} {text}"));
        }
    }
    Ok(found)
}
