//! Markdown that is made of documents: tables, and text that must not become marks.
//!
//! Owns the form of a table. Pure.

/// Most columns of a table.
const MAX_COLUMNS: usize = 100;

/// A table of which the first row is the head.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let width = rows
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(0)
        .min(MAX_COLUMNS);
    if width == 0 {
        return String::new();
    }
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        out.push('|');
        for column in 0..width {
            let text = row.get(column).map(String::as_str).unwrap_or_default();
            out.push(' ');
            out.push_str(&cell(text));
            out.push_str(" |");
        }
        out.push('\n');
        if at == 0 {
            out.push('|');
            out.push_str(&" --- |".repeat(width));
            out.push('\n');
        }
    }
    out
}

/// A text in one cell.
fn cell(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("<br>").replace('|', "\\|")
}
