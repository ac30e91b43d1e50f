//! What slides say, as Markdown: title, text, tables and notes, in the order of the presentation.
//!
//! Owns which parts of a slide count. Pure but for reading the parts.

use super::{
    MAX_TEXT,
    markdown::table,
    package::{Error, Package},
    relations,
    xml::{Piece, Pieces},
};

/// Most slides.
const MAX_SLIDES: usize = 2_000;

/// Reads the slides of a presentation whose main part this is.
pub(super) fn read(package: &mut Package<'_>, main: &str) -> Result<String, Error> {
    let text = package.part(main)?.ok_or(Error::Damaged)?;
    let relations = relations::of(package, main)?;
    let (mut slides, mut pieces) = (Vec::new(), Pieces::of(&text));
    while let Some(piece) = pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        if element.name == "sldId" && slides.len() < MAX_SLIDES {
            let found = element.relation().and_then(|id| relations.get(id));
            slides.extend(found.map(|relation| relation.target.clone()));
        }
    }
    let mut out = String::new();
    for (at, slide) in slides.iter().enumerate() {
        let Some(text) = package.part(slide)? else {
            continue;
        };
        let read = shapes(&text)?;
        let title = read.title.replace('\n', " ");
        out.push_str(&format!("## {}. {}\n\n", at + 1, title.trim()));
        out.push_str(&read.text);
        let notes = relations::of(package, slide)?;
        let mut notes = notes
            .into_values()
            .filter(|relation| relation.kind == "notesSlide");
        if let Some(notes) = notes.next().filter(|notes| !notes.outside)
            && let Some(text) = package.part(&notes.target)?
        {
            let said = shapes(&text)?.text;
            if !said.trim().is_empty() {
                out.push_str(&format!("Notes: {}\n", said.trim()));
            }
        }
        out.push('\n');
        if out.len() > MAX_TEXT {
            return Err(Error::TooLarge);
        }
    }
    Ok(out.trim_end().to_owned())
}

/// What a slide says.
#[derive(Default)]
struct Said {
    title: String,
    text: String,
}

/// What stands where in a slide.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Title,
    /// The number of the slide, its date: the same on all of them.
    Frame,
    Text,
}

fn shapes(text: &str) -> Result<Said, Error> {
    let mut said = Said::default();
    let mut place = Place::Text;
    // The rows of the table that is open.
    let mut rows: Option<Vec<Vec<String>>> = None;
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(element) => match element.name.as_str() {
                "sp" => place = Place::Text,
                "ph" => {
                    place = match element.get("type") {
                        Some("title" | "ctrTitle") => Place::Title,
                        Some("sldNum" | "dt" | "ftr" | "hdr" | "sldImg") => Place::Frame,
                        _ => Place::Text,
                    };
                }
                "tbl" => rows = Some(Vec::new()),
                "tr" => rows.iter_mut().for_each(|rows| rows.push(Vec::new())),
                "tc" => {
                    let row = rows.as_mut().and_then(|rows| rows.last_mut());
                    row.into_iter().for_each(|row| row.push(String::new()));
                }
                "Fallback" => pieces.skip()?,
                "p" => {
                    let (line, level) = paragraph(&mut pieces)?;
                    let line = line.trim();
                    let row = rows.as_mut().and_then(|rows| rows.last_mut());
                    match (row.and_then(|row| row.last_mut()), place) {
                        _ if line.is_empty() => {}
                        (Some(cell), _) => {
                            cell.push_str(line);
                            cell.push('\n');
                        }
                        (None, Place::Title) => {
                            said.title.push_str(line);
                            said.title.push(' ');
                        }
                        (None, Place::Text) => {
                            let indent = "  ".repeat(level.min(8));
                            said.text.push_str(&format!("{indent}- {line}\n"));
                        }
                        (None, Place::Frame) => {}
                    }
                }
                _ => {}
            },
            Piece::Close(name) if name == "tbl" => {
                let rows = rows.take().unwrap_or_default();
                said.text.push_str(&table(&rows));
            }
            _ => {}
        }
    }
    Ok(said)
}

/// The words of a paragraph and how deep it is.
fn paragraph(pieces: &mut Pieces<'_>) -> Result<(String, usize), Error> {
    let (mut line, mut level) = (String::new(), 0);
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(element) if element.name == "t" => line.push_str(&pieces.text()?),
            Piece::Open(element) if element.name == "br" => line.push(' '),
            Piece::Open(element) if element.name == "pPr" => {
                let deep = element.get("lvl").and_then(|level| level.parse().ok());
                level = deep.unwrap_or(0);
            }
            Piece::Close(name) if name == "p" => return Ok((line, level)),
            _ => {}
        }
    }
    Err(Error::Damaged)
}
