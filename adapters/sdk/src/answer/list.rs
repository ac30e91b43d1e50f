//! Lists as text: every item behind its marker.
//!
//! For platforms without lists of their own. Owns which marker an item has and how far its further lines are indented.

use super::Block;

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<'a> {
    /// What stands before its first line.
    pub first: String,
    /// What stands before its other lines: as wide as the marker.
    pub rest: String,
    /// Its blocks.
    pub blocks: &'a [Block],
}

/// The items of a list: numbered from `start`, or behind `bullet` and a space. One that begins with a list has no marker of
/// its own, as [`Block::List`] wants it.
pub fn items<'a>(
    start: Option<u64>,
    bullet: char,
    items: &'a [Vec<Block>],
) -> impl Iterator<Item = Item<'a>> {
    items.iter().zip(0_u64..).map(move |(blocks, index)| {
        let marker = match start {
            Some(start) => format!("{}. ", start.saturating_add(index)),
            None => format!("{bullet} "),
        };
        let rest = " ".repeat(marker.chars().count());
        let is_nested = matches!(blocks.first(), Some(Block::List { .. }));
        let first = if is_nested { rest.clone() } else { marker };
        Item {
            first,
            rest,
            blocks,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_markers_unless_they_begin_with_a_list() {
        let inner = Block::List {
            start: None,
            items: vec![vec![Block::Rule]],
        };
        let all = [vec![Block::Rule], vec![inner], Vec::new()];
        let shown = |start, bullet| {
            let of = |item: Item<'_>| (item.first, item.rest.len(), item.blocks.len());
            items(start, bullet, &all).map(of).collect::<Vec<_>>()
        };
        let numbered = [("9. ", 3, 1), ("    ", 4, 1), ("11. ", 4, 0)];
        let bulleted = [("• ", 2, 1), ("  ", 2, 1), ("• ", 2, 0)];
        let owned =
            |all: [(&str, usize, usize); 3]| all.map(|(text, a, b)| (text.to_owned(), a, b));
        assert_eq!(shown(Some(9), '•'), owned(numbered));
        assert_eq!(shown(None, '•'), owned(bulleted));
        let last = items(Some(u64::MAX), '-', &all).last();
        assert!(last.is_some_and(|item| item.first == format!("{}. ", u64::MAX)));
    }
}
