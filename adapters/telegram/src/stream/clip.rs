//! The beginning of a text that is too long to be shown at once.
//!
//! Owns the cut. It stands where the limit is, not where the answer is going to be split.

use weirgate_sdk::answer::{Render, Rendered};

use crate::format::Entities;

/// As much of a text as one message holds.
#[must_use]
pub fn clip(format: &Entities, rendered: Rendered) -> Rendered {
    if format.fits(&rendered) {
        return rendered;
    }
    let cuts: Vec<usize> = rendered
        .text
        .char_indices()
        .map(|(index, _)| index)
        .collect();
    // Whatever fits, all that is shorter fits too.
    let longest = cuts.partition_point(|cut| format.fits(&beginning(&rendered, *cut)));
    let cut = longest.checked_sub(1).and_then(|last| cuts.get(last));
    beginning(&rendered, cut.copied().unwrap_or_default())
}

/// The text up to a byte, without white space at its end, and the marks that lie in it.
fn beginning(rendered: &Rendered, cut: usize) -> Rendered {
    let text = rendered.text.get(..cut).unwrap_or_default().trim_end();
    let mut marks = Vec::new();
    for mark in &rendered.marks {
        let end = (mark.offset + mark.length).min(text.len());
        if mark.offset < end {
            let mut mark = mark.clone();
            mark.length = end - mark.offset;
            marks.push(mark);
        }
    }
    Rendered {
        text: text.to_owned(),
        marks,
    }
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::answer::{Block, Inline};

    use super::*;

    #[test]
    fn the_longest_beginning_that_fits_is_shown() {
        let format = Entities::new(64);
        let content = vec![
            Inline::Strong(vec![Inline::Text("b".repeat(60))]),
            Inline::Text(" 😀😀😀".into()),
        ];
        let long = format.render(&[Block::Paragraph(content)]);
        let shown = clip(&format, long.clone());
        assert_eq!(shown.text, format!("{} 😀", "b".repeat(60)));
        assert_eq!(shown.marks, long.marks);
        let bold = vec![Inline::Strong(vec![Inline::Text("b".repeat(100))])];
        let shown = clip(&format, format.render(&[Block::Paragraph(bold)]));
        assert_eq!((shown.text.len(), shown.marks[0].length), (64, 64));
    }

    #[test]
    fn a_mark_is_cut_with_its_text() {
        let format = Entities::new(64);
        let words = std::iter::repeat_n(
            [
                Inline::Strong(vec![Inline::Text("b".into())]),
                Inline::Text("    ".into()),
            ],
            40,
        );
        let content = words.flatten().collect();
        let shown = clip(&format, format.render(&[Block::Paragraph(content)]));
        assert!(
            format.fits(&shown) && shown.text.ends_with('b'),
            "{shown:?}"
        );
        assert_eq!(shown.marks.len(), shown.text.matches('b').count());
    }
}
