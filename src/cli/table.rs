//! Tables for a terminal: columns of equal width, also with wide characters.
//!
//! Owns nothing but the layout. Pure.

use unicode_width::UnicodeWidthStr as _;

/// The rows under a heading, columns two spaces apart; the last column is not filled up.
pub(super) fn render(heading: &[String], rows: &[Vec<String>]) -> String {
    let all = || std::iter::once(heading).chain(rows.iter().map(Vec::as_slice));
    let widths: Vec<usize> = (0..heading.len())
        .map(|column| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        })
        .collect();
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for row in all() {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(
                ' ',
                width.saturating_sub(cell.width()) + 2,
            ));
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["1", "中文", "x"]), row(["100", "a", ""])];
        assert_eq!(
            render(&row(["ID", "NAME", "TEXT"]), &rows),
            "ID   NAME  TEXT\n1    中文  x\n100  a"
        );
    }
}
