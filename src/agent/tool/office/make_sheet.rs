//! A workbook made of rows, or of CSV.
//!
//! Owns what becomes a number and what stays a text: numbers are what JSON calls so, and in CSV what reads as one and is
//! written as one is shown (no leading zeros, no sign of a plus). Formulas are never written: a text stays a text. Pure.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    parts::{self, HEAD, RELATION},
    sheet::letters,
    xml::escaped,
};

/// Most sheets, rows and columns.
const MAX_SHEETS: usize = 50;
const MAX_ROWS: usize = 50_000;
const MAX_COLUMNS: usize = 200;
/// Longest text of a cell, in UTF-16 units, as the programs have it.
const MAX_CELL: usize = 32_767;
const MAIN: &str = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";

/// A sheet: its name and its rows.
pub(super) type Sheet = (String, Vec<Vec<Value>>);

/// The sheets of the arguments `sheets` or `csv`.
///
/// # Errors
/// What the model is told.
pub(super) fn sheets(arguments: &Map<String, Value>) -> Result<Vec<Sheet>, String> {
    let csv = arguments.get("csv").and_then(Value::as_str);
    if let Some(csv) = csv {
        return Ok(vec![("Sheet1".to_owned(), rows(csv)?)]);
    }
    let Some(given) = arguments.get("sheets").and_then(Value::as_array) else {
        return Err("Give sheets or csv for a workbook.".to_owned());
    };
    if given.is_empty() || given.len() > MAX_SHEETS {
        return Err(format!("A workbook has 1 to {MAX_SHEETS} sheets."));
    }
    let mut sheets: Vec<Sheet> = Vec::new();
    for (at, sheet) in given.iter().enumerate() {
        let wanted = sheet["name"].as_str().unwrap_or_default();
        let name = name(wanted, at, &sheets);
        let rows = sheet["rows"].as_array().into_iter().flatten();
        let rows: Vec<Vec<Value>> = rows
            .map(|row| row.as_array().cloned().unwrap_or_default())
            .collect();
        sheets.push((name, rows));
    }
    let too_large =
        |(_, rows): &Sheet| rows.len() > MAX_ROWS || rows.iter().any(|row| row.len() > MAX_COLUMNS);
    if sheets.iter().any(too_large) {
        return Err(format!(
            "A sheet has at most {MAX_ROWS} rows and {MAX_COLUMNS} columns."
        ));
    }
    Ok(sheets)
}

/// A name that the programs take, unlike those before.
fn name(wanted: &str, at: usize, before: &[Sheet]) -> String {
    let fits =
        |sign: &char| !matches!(sign, '[' | ']' | ':' | '*' | '?' | '/' | '\\') && *sign >= ' ';
    let name: String = wanted.chars().filter(fits).take(31).collect();
    let name = name.trim().trim_matches('\'').to_owned();
    let taken = |name: &str| {
        before
            .iter()
            .any(|(other, _)| other.to_lowercase() == name.to_lowercase())
    };
    if name.is_empty() || taken(&name) {
        format!("Sheet{}", at + 1)
    } else {
        name
    }
}

/// The rows of a CSV: commas, and quotes around what holds commas, quotes or lines.
fn rows(csv: &str) -> Result<Vec<Vec<Value>>, String> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut signs = csv.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '"' if quoted && signs.peek() == Some(&'"') => {
                signs.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => (quoted, was_quoted) = (true, true),
            ',' if !quoted => row.push(value(&mut cell, &mut was_quoted)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(value(&mut cell, &mut was_quoted));
                rows.push(std::mem::take(&mut row));
            }
            sign => cell.push(sign),
        }
        if rows.len() > MAX_ROWS || row.len() > MAX_COLUMNS {
            return Err(format!(
                "A sheet has at most {MAX_ROWS} rows and {MAX_COLUMNS} columns."
            ));
        }
    }
    if quoted {
        return Err("A quote of the CSV is never closed.".to_owned());
    }
    if !(cell.is_empty() && row.is_empty()) {
        row.push(value(&mut cell, &mut was_quoted));
        rows.push(row);
    }
    Ok(rows)
}

fn value(cell: &mut String, was_quoted: &mut bool) -> Value {
    let text = std::mem::take(cell);
    let quoted = std::mem::replace(was_quoted, false);
    if quoted {
        return Value::String(text);
    }
    // Numbers of accounts and the like would lose their zeros, and long ones their last digits.
    let number = text.trim().parse::<serde_json::Number>().ok();
    let number =
        number.filter(|number| number.to_string() == text.trim() && text.trim().len() <= 15);
    number.map_or(Value::String(text), Value::Number)
}

/// The parts of a workbook with these sheets.
pub(super) fn parts(sheets: &[Sheet]) -> Vec<(String, String)> {
    let mut workbook = format!("{HEAD}<workbook {MAIN} xmlns:r=\"{RELATION}\"><sheets>");
    let mut kinds = vec![
        (
            "xl/workbook.xml".to_owned(),
            "spreadsheetml.sheet.main".to_owned(),
        ),
        (
            "xl/styles.xml".to_owned(),
            "spreadsheetml.styles".to_owned(),
        ),
    ];
    let mut relations = vec![(
        "styles".to_owned(),
        "styles",
        "styles.xml".to_owned(),
        false,
    )];
    let mut own = Vec::new();
    for (at, (name, rows)) in sheets.iter().enumerate() {
        let number = at + 1;
        let _ = write!(
            workbook,
            "<sheet name=\"{}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>",
            escaped(name)
        );
        let target = format!("worksheets/sheet{number}.xml");
        kinds.push((format!("xl/{target}"), "spreadsheetml.worksheet".to_owned()));
        own.push((format!("xl/{target}"), worksheet(rows)));
        relations.push((format!("rId{number}"), "worksheet", target, false));
    }
    workbook.push_str("</sheets></workbook>");
    let mut all = vec![
        parts::kinds(&kinds),
        parts::root("xl/workbook.xml"),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            parts::relations(&relations),
        ),
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/styles.xml".to_owned(), styles()),
    ];
    all.extend(own);
    all
}

fn worksheet(rows: &[Vec<Value>]) -> String {
    // The first row stays where it is when one moves down.
    let mut text = format!(
        "{HEAD}<worksheet {MAIN}><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" \
         activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews>{}<sheetData>",
        widths(rows)
    );
    for (at, row) in rows.iter().enumerate() {
        let number = at + 1;
        let _ = write!(text, "<row r=\"{number}\">");
        for (column, value) in row.iter().enumerate() {
            let place = format!("{}{number}", letters(column));
            let style = if at == 0 { " s=\"1\"" } else { "" };
            cell(&mut text, &place, style, value);
        }
        text.push_str("</row>");
    }
    text.push_str("</sheetData></worksheet>");
    text
}

fn cell(text: &mut String, place: &str, style: &str, value: &Value) {
    let words = match value {
        Value::Null => return,
        Value::Number(number) => {
            let _ = write!(text, "<c r=\"{place}\"{style}><v>{number}</v></c>");
            return;
        }
        Value::Bool(is) => {
            let _ = write!(
                text,
                "<c r=\"{place}\"{style} t=\"b\"><v>{}</v></c>",
                u8::from(*is)
            );
            return;
        }
        Value::String(words) => words.clone(),
        other => other.to_string(),
    };
    let mut units = 0;
    let fits = |sign: &char| {
        units += sign.len_utf16();
        units <= MAX_CELL
    };
    let words: String = words.chars().take_while(fits).collect();
    let _ = write!(
        text,
        "<c r=\"{place}\"{style} t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>",
        escaped(&words)
    );
}

/// Columns as wide as what is in them, within reason.
fn widths(rows: &[Vec<Value>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return String::new();
    }
    let mut text = "<cols>".to_owned();
    for column in 0..columns {
        let wide = rows.iter().take(200).filter_map(|row| row.get(column));
        let wide = wide.map(|value| match value {
            Value::String(words) => unicode_width::UnicodeWidthStr::width(words.as_str()),
            other => other.to_string().len(),
        });
        let width = wide.max().unwrap_or(0).clamp(8, 60) + 2;
        let number = column + 1;
        let _ = write!(
            text,
            "<col min=\"{number}\" max=\"{number}\" width=\"{width}\" customWidth=\"1\"/>"
        );
    }
    text.push_str("</cols>");
    text
}

/// Two looks: plain, and bold for the head.
fn styles() -> String {
    format!(
        "{HEAD}<styleSheet {MAIN}><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/><sz \
         val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>\
         <fill><patternFill patternType=\"gray125\"/></fill></fills><borders count=\"1\"><border><left/><right/><top/><bottom/>\
         <diagonal/></border></borders><cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\"/>\
         </cellStyleXfs><cellXfs count=\"2\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\"/><xf \
         numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyFont=\"1\"/></cellXfs><cellStyles count=\"1\">\
         <cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>"
    )
}
