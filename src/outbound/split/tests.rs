//! Tests by what they show: the faults of other splitters, then properties over any text.

mod faults;
mod pace;
mod properties;

use std::ops::Range;

use weirgate_sdk::answer::Format;

use super::{Pace, Piece, split};

/// A unit of length.
type Unit = fn(&str) -> usize;

fn bytes(text: &str) -> usize {
    text.len()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn utf16(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Splits by the length of the source and checks what holds for every split.
fn cut(text: &str, format: Format, pace: Option<&Pace>, unit: Unit, limit: usize) -> Vec<Piece> {
    let pieces = split(text, format, pace, &|piece| unit(piece) <= limit);
    check(text, &pieces, unit, limit);
    pieces
}

fn check(text: &str, pieces: &[Piece], unit: Unit, limit: usize) {
    let mut at = 0;
    for piece in pieces {
        assert!(
            slice(text, at..piece.source.start).trim().is_empty(),
            "lost text: {pieces:?}"
        );
        assert!(
            !slice(text, piece.source.clone()).trim().is_empty(),
            "empty piece: {pieces:?}"
        );
        at = piece.source.end;
        let scalar = slice(text, piece.source.clone()).chars().count() == 1;
        let over = unit(&piece.text(text)) > limit;
        assert!(!over || (scalar && limit < 64), "over {limit}: {piece:?}");
        assert!(
            !over || (piece.prefix.is_empty() && piece.suffix.is_empty()),
            "{piece:?}"
        );
    }
    assert!(
        slice(text, at..text.len()).trim().is_empty(),
        "lost text: {pieces:?}"
    );
}

fn texts(text: &str, pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| piece.text(text)).collect()
}

/// The text of Markdown pieces at this limit of characters.
fn markdown(text: &str, limit: usize) -> Vec<String> {
    texts(text, &cut(text, Format::Markdown, None, chars, limit))
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range)
        .expect("a range of the answer at character boundaries")
}
