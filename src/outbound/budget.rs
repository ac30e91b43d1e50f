//! Fits an answer into as many messages as the platform allows in reply.
//!
//! Owns what gives way: first the cuts that were made for pace alone, then the end of the answer, with a mark that says
//! how much is left out. Pure. It never cuts without a mark.

use weirgate_sdk::answer::Format;

use super::split::{Piece, split};

/// Room that every piece has beside the mark, in characters; with less the mark is one sign.
const ROOM: usize = 64;
/// The shortest mark.
const SHORT: &str = "…";

/// At most `most` pieces of `text`, and whether all of it is in them. `mark` says in words how many characters are left
/// out, and is at its longest for the whole text.
pub fn fit(
    text: &str,
    format: Format,
    most: usize,
    fits: &dyn Fn(&str) -> bool,
    mark: &dyn Fn(usize) -> String,
) -> (Vec<Piece>, bool) {
    // A message that may not be answered at all is for the adapter to refuse.
    let most = most.max(1);
    let pieces = split(text, format, None, fits);
    if pieces.len() <= most {
        return (pieces, true);
    }
    let longest = mark(text.chars().count());
    let words = fits(&marked(&"x".repeat(ROOM), &longest));
    let room = if words { longest.as_str() } else { SHORT };
    let mut pieces = split(text, format, None, &|piece| fits(&marked(piece, room)));
    pieces.truncate(most);
    let Some(last) = pieces.last_mut() else {
        return (pieces, true);
    };
    let left = text.get(last.source.end..).unwrap_or_default().trim();
    if left.is_empty() {
        return (pieces, true);
    }
    let told = if words {
        mark(left.chars().count())
    } else {
        SHORT.to_owned()
    };
    last.suffix = marked(&last.suffix, &told);
    (pieces, false)
}

fn marked(piece: &str, mark: &str) -> String {
    format!("{piece}\n\n{mark}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mark(left: usize) -> String {
        format!("({left} left out)")
    }

    fn up_to(limit: usize) -> impl Fn(&str) -> bool {
        move |text: &str| text.chars().count() <= limit
    }

    #[test]
    fn what_fits_is_left_alone() {
        let (pieces, whole) = fit("one two", Format::Plain, 1, &up_to(100), &mark);
        assert_eq!((pieces.len(), whole), (1, true));
        assert!(pieces.iter().all(|piece| piece.suffix.is_empty()));
        assert_eq!(
            fit(" \n", Format::Plain, 1, &up_to(100), &mark),
            (Vec::new(), true)
        );
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let text = "word ".repeat(100);
        let (pieces, whole) = fit(&text, Format::Plain, 2, &up_to(120), &mark);
        assert_eq!((pieces.len(), whole), (2, false));
        let shown: usize = pieces.iter().map(|piece| piece.source.len()).sum();
        let last = pieces.last().expect("a piece").text(&text);
        let left = text.trim().len() - pieces[1].source.end - 1;
        assert!(last.ends_with(&format!("\n\n({left} left out)")), "{last}");
        assert!(shown > 150);
    }

    #[test]
    fn a_fence_is_closed_before_the_mark() {
        let text = format!("```rust\n{}```\nend", "let x = 1;\n".repeat(60));
        let (pieces, _) = fit(&text, Format::Markdown, 2, &up_to(200), &mark);
        let last = pieces.last().expect("a piece").text(&text);
        assert!(last.contains("\n```\n\n("), "{last}");
    }

    proptest! {
        #[test]
        fn it_is_never_more_and_never_silent(
            text in "[a-z。 \n*`#|-]{0,600}", most in 1_usize..5, limit in 70_usize..200,
        ) {
            let fits = up_to(limit);
            let (pieces, whole) = fit(&text, Format::Markdown, most, &fits, &mark);
            prop_assert!(pieces.len() <= most);
            for piece in &pieces {
                prop_assert!(fits(&piece.text(&text)), "{:?}", piece.text(&text));
            }
            let end = pieces.last().map_or(0, |last| last.source.end);
            let rest = text.get(end..).unwrap_or_default();
            let all = pieces.is_empty() || rest.trim().is_empty();
            prop_assert_eq!(whole, all);
            if !whole {
                let last = pieces.last().expect("a piece").text(&text);
                prop_assert!(last.ends_with("left out)") || last.ends_with(SHORT));
            }
        }
    }
}
