//! What a workbook holds, as Markdown tables: a sheet each, values as they were last reckoned.
//!
//! Owns how a cell is read: shared and own texts, numbers, truth values, faults, and numbers that are dates by their
//! format. It reckons nothing. Cells without a value take no room, wherever they are.

use super::{
    MAX_TEXT,
    dates::{Dates, Shown},
    markdown::table,
    package::{Error, Package},
    relations,
    xml::{Element, Piece, Pieces},
};

/// Most columns of a sheet that are read.
const MAX_COLUMNS: usize = 100;
/// Most sheets.
const MAX_SHEETS: usize = 200;

/// Reads the sheets of a workbook whose main part this is, or the one of this name.
pub(super) fn read(
    package: &mut Package<'_>,
    main: &str,
    wanted: &str,
) -> Result<Option<String>, Error> {
    let text = package.part(main)?.ok_or(Error::Damaged)?;
    let relations = relations::of(package, main)?;
    let (sheets, since_1904) = sheets(&text)?;
    let beside = |kind: &str| {
        let found = relations
            .values()
            .find(|relation| relation.kind == kind && !relation.outside);
        found.map(|relation| relation.target.clone())
    };
    let (shared, styles) = (beside("sharedStrings"), beside("styles"));
    let shared = match shared {
        Some(part) => strings(&package.part(&part)?.unwrap_or_default())?,
        None => Vec::new(),
    };
    let styles = match styles {
        Some(part) => package.part(&part)?.unwrap_or_default(),
        None => String::new(),
    };
    let dates = Dates::read(&styles, since_1904)?;
    let mut out = String::new();
    let mut found = false;
    for (name, id) in sheets {
        if !wanted.is_empty() && name != wanted {
            continue;
        }
        found = true;
        let relation = relations.get(&id).filter(|relation| !relation.outside);
        let Some(relation) = relation else { continue };
        let text = package.part(&relation.target)?.unwrap_or_default();
        let rows = rows(&text, &shared, &dates)?;
        out.push_str(&format!("## {name}\n\n"));
        out.push_str(&if rows.is_empty() {
            "(empty)\n".to_owned()
        } else {
            table(&rows)
        });
        out.push('\n');
        if out.len() > MAX_TEXT {
            return Err(Error::TooLarge);
        }
    }
    Ok(found.then(|| out.trim_end().to_owned()))
}

/// The sheets in order, name and relation, and whether days are counted from 1904.
fn sheets(text: &str) -> Result<(Vec<(String, String)>, bool), Error> {
    let (mut sheets, mut since_1904) = (Vec::new(), false);
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        let Piece::Open(element) = piece else {
            continue;
        };
        match element.name.as_str() {
            "workbookPr" => since_1904 = matches!(element.get("date1904"), Some("1" | "true")),
            "sheet" if sheets.len() < MAX_SHEETS => {
                let name = element.get("name").unwrap_or_default().to_owned();
                sheets.push((name, element.relation().unwrap_or_default().to_owned()));
            }
            _ => {}
        }
    }
    Ok((sheets, since_1904))
}

/// The texts that cells share.
fn strings(text: &str) -> Result<Vec<String>, Error> {
    let mut strings = Vec::new();
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        if matches!(&piece, Piece::Open(element) if element.name == "si") {
            strings.push(rich(&mut pieces, "si")?);
        }
    }
    Ok(strings)
}

/// The words of a text up to its end, without how they are to be read aloud.
fn rich(pieces: &mut Pieces<'_>, until: &str) -> Result<String, Error> {
    let mut text = String::new();
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(element) if element.name == "t" => text.push_str(&pieces.text()?),
            Piece::Open(element) if element.name == "rPh" => pieces.skip()?,
            Piece::Close(name) if name == until => return Ok(text),
            _ => {}
        }
    }
    Err(Error::Damaged)
}

/// The rows that hold something.
fn rows(text: &str, shared: &[String], dates: &Dates) -> Result<Vec<Vec<String>>, Error> {
    let (mut rows, mut row, mut size) = (Vec::new(), Vec::new(), 0);
    let mut pieces = Pieces::of(text);
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(element) if element.name == "c" => {
                let value = cell(&mut pieces, &element, shared, dates)?;
                let place = element.get("r").and_then(column).unwrap_or(row.len());
                if value.is_empty() || place >= MAX_COLUMNS {
                    continue;
                }
                size += value.len() + place.saturating_sub(row.len());
                if size > MAX_TEXT {
                    return Err(Error::TooLarge);
                }
                if row.len() <= place {
                    row.resize(place + 1, String::new());
                }
                if let Some(at) = row.get_mut(place) {
                    *at = value;
                }
            }
            Piece::Close(name) if name == "row" && !row.is_empty() => {
                rows.push(std::mem::take(&mut row));
            }
            _ => {}
        }
    }
    Ok(rows)
}

/// The value of a cell that begins just now.
fn cell(
    pieces: &mut Pieces<'_>,
    element: &Element,
    shared: &[String],
    dates: &Dates,
) -> Result<String, Error> {
    let (mut value, mut own) = (String::new(), String::new());
    while let Some(piece) = pieces.next()? {
        match piece {
            Piece::Open(inner) if inner.name == "v" => value = pieces.text()?,
            Piece::Open(inner) if inner.name == "is" => own = rich(pieces, "is")?,
            // What it is reckoned from.
            Piece::Open(inner) if inner.name == "f" => pieces.skip()?,
            Piece::Close(name) if name == "c" => break,
            _ => {}
        }
    }
    Ok(match element.get("t").unwrap_or("n") {
        "s" => {
            let at = value.trim().parse::<usize>().ok();
            at.and_then(|at| shared.get(at))
                .cloned()
                .unwrap_or_default()
        }
        "inlineStr" => own,
        "b" => if value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
        "n" => match dates.shown(element.get("s"), &value) {
            Shown::Date(date) => date,
            Shown::AsIs => value.trim().to_owned(),
        },
        _ => value,
    })
}

/// The column of an address such as `AB12`, from 0.
fn column(address: &str) -> Option<usize> {
    let mut column = 0_usize;
    for letter in address.bytes().take_while(u8::is_ascii_alphabetic) {
        let digit = usize::from(letter.to_ascii_uppercase() - b'A') + 1;
        column = column.checked_mul(26)?.checked_add(digit)?;
    }
    column.checked_sub(1)
}

/// The letters of a column, from 0.
pub(super) fn letters(mut column: usize) -> String {
    let mut letters = String::new();
    loop {
        let letter = u8::try_from(column % 26).unwrap_or(0);
        letters.insert(0, char::from(b'A' + letter));
        if column < 26 {
            return letters;
        }
        column = column / 26 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_letters() {
        for (number, name) in [
            (0, "A"),
            (25, "Z"),
            (26, "AA"),
            (51, "AZ"),
            (52, "BA"),
            (701, "ZZ"),
            (702, "AAA"),
        ] {
            assert_eq!(letters(number), name);
            assert_eq!(column(&format!("{name}12")), Some(number));
        }
        assert_eq!(column("12"), None);
        assert_eq!(column(&"Z".repeat(40)), None);
    }
}
