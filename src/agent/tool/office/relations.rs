//! What a part of a document refers to: other parts, and addresses outside.
//!
//! Owns how a target is resolved. A target is a name in the package and nothing else. Pure but for reading the part.

use std::collections::HashMap;

use super::{
    package::{Error, Package},
    xml::{Piece, Pieces},
};

/// Most relations of a part.
const MAX: usize = 20_000;

/// A relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Relation {
    /// The last word of its type, such as `slide`.
    pub(super) kind: String,
    /// The name of the part, or the address.
    pub(super) target: String,
    /// It leads out of the document.
    pub(super) outside: bool,
}

/// The relations of a part, by id.
pub(super) type Relations = HashMap<String, Relation>;

/// Reads the relations of a part; none if it has none.
pub(super) fn of(package: &mut Package<'_>, part: &str) -> Result<Relations, Error> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let place = if folder.is_empty() {
        format!("_rels/{name}.rels")
    } else {
        format!("{folder}/_rels/{name}.rels")
    };
    let mut relations = Relations::new();
    let Some(text) = package.part(&place)? else {
        return Ok(relations);
    };
    let mut pieces = Pieces::of(&text);
    while let Some(piece) = pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        let (Some(id), Some(target)) = (element.get("Id"), element.get("Target")) else {
            continue;
        };
        if relations.len() >= MAX {
            return Err(Error::TooLarge);
        }
        let outside = element.get("TargetMode") == Some("External");
        let kind = element.get("Type").and_then(|kind| kind.rsplit('/').next());
        let relation = Relation {
            kind: kind.unwrap_or_default().to_owned(),
            target: if outside {
                target.to_owned()
            } else {
                joined(folder, target)
            },
            outside,
        };
        relations.insert(id.to_owned(), relation);
    }
    Ok(relations)
}

/// The name of a part as seen from a folder.
fn joined(folder: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The part that the document as a whole begins with.
pub(super) fn main_part(package: &mut Package<'_>) -> Result<Option<String>, Error> {
    let relations = of(package, "")?;
    let found = relations
        .into_values()
        .find(|relation| relation.kind == "officeDocument");
    Ok(found.map(|relation| relation.target))
}
