//! Draws tables as text: aligned columns if they are narrow, else a list of named values.
//!
//! For platforms without tables. Owns the widths: wide characters count double.

use super::{Alignment, Inline, spelled_out};
use unicode_width::UnicodeWidthStr;

/// Widest table that is drawn in columns: what a phone shows in one line.
const MAX_WIDTH: usize = 40;

/// Between two columns.
const GAP: &str = " | ";

/// The lines of a table whose cells are content, each in one line.
#[must_use]
pub fn plain(
    alignments: &[Alignment],
    header: &[Vec<Inline>],
    rows: &[Vec<Vec<Inline>>],
) -> String {
    let cells = |row: &[Vec<Inline>]| -> Vec<String> {
        let cells = row.iter().map(|cell| spelled_out(cell).replace('\n', " "));
        cells.collect()
    };
    let rows: Vec<_> = rows.iter().map(|row| cells(row)).collect();
    draw(alignments, &cells(header), &rows)
}

/// The lines of a table, joined by line breaks.
#[must_use]
pub fn draw(alignments: &[Alignment], header: &[String], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    if widths.iter().sum::<usize>() + gaps <= MAX_WIDTH {
        columns(alignments, &widths, header, rows)
    } else {
        values(header, rows)
    }
}

fn columns(
    alignments: &[Alignment],
    widths: &[usize],
    header: &[String],
    rows: &[Vec<String>],
) -> String {
    let line = |cells: &[String]| {
        let padded = widths.iter().enumerate().map(|(index, width)| {
            let cell = cells.get(index).map_or("", String::as_str);
            pad(
                cell,
                *width,
                alignments.get(index).copied().unwrap_or_default(),
            )
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    let rule = widths
        .iter()
        .map(|width| "-".repeat(*width))
        .collect::<Vec<_>>()
        .join("-+-");
    let mut lines = vec![line(header), rule];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

fn pad(cell: &str, width: usize, alignment: Alignment) -> String {
    let room = width.saturating_sub(cell.width());
    let left = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => room / 2,
        Alignment::Right => room,
    };
    [&" ".repeat(left), cell, &" ".repeat(room - left)].concat()
}

/// One paragraph for each row: `header: value`, empty cells left out.
fn values(header: &[String], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return header.join(GAP);
    }
    let mut paragraphs = Vec::with_capacity(rows.len());
    for row in rows {
        let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        let lines = cells.map(
            |(index, cell)| match header.get(index).map(String::as_str) {
                None | Some("") => cell.clone(),
                Some(name) => format!("{name}: {cell}"),
            },
        );
        paragraphs.push(lines.collect::<Vec<_>>().join("\n"));
    }
    paragraphs.join("\n\n")
}
