//! What a text document says, as Markdown: headings, paragraphs, lists, tables, links.
//!
//! Owns what of a document counts. What was struck out by somebody and drawings are left out; a picture is named, and
//! what stands beside the text (`beside`) follows it. Pure but for reading the parts.

mod beside;

use std::collections::HashMap;

use super::{
    MAX_TEXT,
    markdown::table,
    package::{Error, Package},
    relations::{self, Relations},
    xml::{Element, Piece, Pieces},
};

/// Deepest table in a table.
const MAX_NESTED: usize = 8;

/// Reads a document whose main part this is.
pub(super) fn read(package: &mut Package<'_>, main: &str) -> Result<String, Error> {
    let text = package.part(main)?.ok_or(Error::Damaged)?;
    let relations = relations::of(package, main)?;
    let part_of = |kind: &str| {
        let found = relations
            .values()
            .find(|relation| relation.kind == kind && !relation.outside);
        found.map(|relation| relation.target.clone())
    };
    let (styles, numbering) = (part_of("styles"), part_of("numbering"));
    let styles = match styles {
        Some(part) => self::styles(&package.part(&part)?.unwrap_or_default())?,
        None => Styles::default(),
    };
    let numbering = match numbering {
        Some(part) => numbered(&package.part(&part)?.unwrap_or_default())?,
        None => HashMap::new(),
    };
    let mut reading = Reading {
        pieces: Pieces::of(&text),
        relations: &relations,
        styles,
        numbering,
    };
    let mut out = String::new();
    reading.blocks("body", &mut out, 0)?;
    let looks = (reading.styles, reading.numbering);
    beside::add(package, &relations, looks, &mut out)?;
    Ok(out.trim_end().to_owned())
}

/// What styles mean, by their ids.
#[derive(Default)]
struct Styles {
    /// The level of headings.
    headings: HashMap<String, usize>,
    /// The list to which paragraphs of the style belong.
    lists: HashMap<String, String>,
}

fn styles(text: &str) -> Result<Styles, Error> {
    let (mut found, mut style) = (Styles::default(), String::new());
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        let value = element.get("val").unwrap_or_default();
        match element.name.as_str() {
            "style" => style = element.get("styleId").unwrap_or_default().to_owned(),
            "name" => {
                let name = value.to_ascii_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(level) => level.parse().ok(),
                    None => (name == "title").then_some(1),
                };
                if let Some(level @ 1..=9) = level {
                    found.headings.insert(style.clone(), level);
                }
            }
            // Of a style whose name says it that counts.
            "outlineLvl" if !style.is_empty() => {
                if let Ok(level @ 0..=8) = value.parse::<usize>() {
                    found.headings.entry(style.clone()).or_insert(level + 1);
                }
            }
            "numId" if !matches!(value, "" | "0") => {
                found.lists.insert(style.clone(), value.to_owned());
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The lists, by id, each with whether it is numbered on its first level.
fn numbered(text: &str) -> Result<HashMap<String, bool>, Error> {
    let (mut forms, mut lists) = (HashMap::new(), HashMap::new());
    let (mut form, mut list, mut level) = (String::new(), String::new(), String::new());
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        let value = || element.get("val").unwrap_or_default().to_owned();
        match element.name.as_str() {
            "abstractNum" => form = element.get("abstractNumId").unwrap_or_default().to_owned(),
            "lvl" => level = element.get("ilvl").unwrap_or_default().to_owned(),
            "numFmt" if level == "0" => {
                forms
                    .entry(form.clone())
                    .or_insert(!matches!(value().as_str(), "bullet" | "none"));
            }
            "num" => list = element.get("numId").unwrap_or_default().to_owned(),
            "abstractNumId" => {
                lists.insert(list.clone(), value());
            }
            _ => {}
        }
    }
    let of = |(list, form): (String, String)| (list, forms.get(&form).copied().unwrap_or(false));
    Ok(lists.into_iter().map(of).collect())
}

struct Reading<'a> {
    pieces: Pieces<'a>,
    relations: &'a Relations,
    styles: Styles,
    numbering: HashMap<String, bool>,
}

/// What a paragraph is.
#[derive(Default)]
struct Form {
    heading: Option<usize>,
    /// The list, and how deep.
    list: Option<(String, usize)>,
}

impl Reading<'_> {
    /// Paragraphs and tables up to the end of the element `until`.
    fn blocks(&mut self, until: &str, out: &mut String, depth: usize) -> Result<(), Error> {
        if depth > MAX_NESTED {
            return Err(Error::TooLarge);
        }
        while let Some(piece) = self.pieces.next()? {
            if out.len() > MAX_TEXT {
                return Err(Error::TooLarge);
            }
            match piece {
                Piece::Open(element) => match element.name.as_str() {
                    "p" => self.paragraph(out)?,
                    "tbl" => {
                        let rows = self.rows(depth)?;
                        out.push_str(&table(&rows));
                        out.push('\n');
                    }
                    // What is drawn has its words twice, for old programs and for new ones.
                    "Fallback" | "sectPr" => self.pieces.skip()?,
                    _ => {}
                },
                Piece::Close(name) if name == until => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    fn rows(&mut self, depth: usize) -> Result<Vec<Vec<String>>, Error> {
        let (mut rows, mut size) = (Vec::new(), 0);
        while let Some(piece) = self.pieces.next()? {
            match piece {
                Piece::Open(element) if element.name == "tr" => rows.push(Vec::new()),
                Piece::Open(element) if element.name == "tc" => {
                    let mut text = String::new();
                    self.blocks("tc", &mut text, depth + 1)?;
                    size += text.len();
                    if size > MAX_TEXT {
                        return Err(Error::TooLarge);
                    }
                    if let Some(row) = rows.last_mut() {
                        row.push(text.trim().to_owned());
                    }
                }
                Piece::Close(name) if name == "tbl" => return Ok(rows),
                _ => {}
            }
        }
        Err(Error::Damaged)
    }

    fn paragraph(&mut self, out: &mut String) -> Result<(), Error> {
        let (mut form, mut text) = (Form::default(), String::new());
        self.inline("p", &mut form, &mut text)?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        match form {
            Form {
                heading: Some(level),
                ..
            } => {
                let marks = "#".repeat(level.min(6));
                out.push_str(&format!("{marks} {}\n\n", text.replace('\n', " ")));
            }
            Form {
                list: Some((list, level)),
                ..
            } => {
                let numbered = self.numbering.get(&list).copied().unwrap_or(false);
                let mark = if numbered { "1." } else { "-" };
                let indent = "   ".repeat(level.min(8));
                // Items of a list stand together.
                if out.ends_with("\n\n") && last_is_item(out) {
                    out.pop();
                }
                out.push_str(&format!("{indent}{mark} {}\n\n", text.replace('\n', " ")));
            }
            _ => out.push_str(&format!("{text}\n\n")),
        }
        Ok(())
    }

    /// The words up to the end of the element `until`.
    fn inline(&mut self, until: &str, form: &mut Form, text: &mut String) -> Result<(), Error> {
        let mut depth = 0_usize;
        while let Some(piece) = self.pieces.next()? {
            match piece {
                Piece::Open(element) => {
                    let open = self.begins(&element, form, text)?;
                    depth += usize::from(open && element.name == until);
                }
                Piece::Close(name) if name == until => {
                    if depth == 0 {
                        return Ok(());
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        Err(Error::Damaged)
    }

    /// Takes what begins in a paragraph; says whether its end is still to come.
    fn begins(
        &mut self,
        element: &Element,
        form: &mut Form,
        text: &mut String,
    ) -> Result<bool, Error> {
        let value = || element.get("val").unwrap_or_default();
        match element.name.as_str() {
            "t" => text.push_str(&self.pieces.text()?),
            "tab" => text.push('\t'),
            "br" | "cr" => text.push('\n'),
            "footnoteReference" | "endnoteReference" | "commentReference" => {
                text.push_str(&beside::mark(element).unwrap_or_default());
            }
            "noBreakHyphen" => text.push('-'),
            "pStyle" => {
                form.heading = self.styles.headings.get(value()).copied();
                let list = self.styles.lists.get(value()).cloned();
                // What the paragraph says itself stands behind it.
                form.list = list.map(|list| (list, 0));
            }
            "ilvl" => {
                let level = value().parse().unwrap_or(0);
                form.list.get_or_insert_default().1 = level;
            }
            "numId" if value() != "0" => form.list.get_or_insert_default().0 = value().to_owned(),
            "docPr" => {
                let name = element
                    .get("descr")
                    .filter(|words| !words.trim().is_empty());
                let name = name.map(|words| format!(": {}", words.trim()));
                text.push_str(&format!("[picture{}]", name.unwrap_or_default()));
            }
            // Its tabs are where they stand, not what stands there.
            "tabs" | "Fallback" | "delText" | "instrText" => {
                self.pieces.skip()?;
                return Ok(false);
            }
            "hyperlink" => {
                let to = element.relation().and_then(|id| self.relations.get(id));
                let to = to
                    .filter(|relation| relation.outside)
                    .map(|relation| relation.target.clone());
                let mut inner = String::new();
                self.inline("hyperlink", form, &mut inner)?;
                match to {
                    Some(to) if !inner.trim().is_empty() => {
                        text.push_str(&format!("[{inner}]({to})"))
                    }
                    _ => text.push_str(&inner),
                }
                return Ok(false);
            }
            _ => return Ok(true),
        }
        Ok(element.name != "t")
    }
}

/// Whether the last paragraph is an item of a list.
fn last_is_item(out: &str) -> bool {
    let last = out
        .trim_end()
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .trim_start();
    last.starts_with("- ") || last.starts_with("1. ")
}
