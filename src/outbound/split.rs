//! Splits an answer into the pieces that are sent.
//!
//! Owns the cuts: blocks first, then sentences, words, grapheme clusters and at last scalars. Pieces
//! are ranges of the answer that cover it in order, with only white space between them; marks that a
//! cut makes necessary are kept apart. Whether a piece fits is asked, never computed here.

mod cuts;
mod layout;
mod marks;
mod pace;
mod search;

#[cfg(test)]
mod tests;

use std::ops::Range;

use weirgate_sdk::answer::Format;

pub use pace::{Mode, Pace};
use search::Splitter;

/// One message of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Bytes of the answer, at character boundaries; never only white space.
    pub source: Range<usize>,
    /// What the cut before it makes necessary: a fence, a table header, markers, `...`.
    pub prefix: String,
    /// What the cut behind it makes necessary: a closing fence or closing markers.
    pub suffix: String,
}

impl Piece {
    /// The text of the piece, with its marks. `answer` is the text that was split; of another text
    /// only the marks may be left.
    #[must_use]
    pub fn text(&self, answer: &str) -> String {
        let source = answer.get(self.source.clone()).unwrap_or_default();
        [&self.prefix, source, &self.suffix].concat()
    }
}

/// The pieces of `text`; none if it is white space only.
///
/// `fits` parses and renders a piece, marks included, and says whether the platform takes it. Each
/// piece fits if `fits` allows for 64 units (bytes, UTF-16 units or characters) of text or more; with
/// less a piece may be one scalar too long. With `pace` long text is also cut where the platform would
/// not demand it; blocks of code and tables never are.
///
/// `fits` is called with texts of at most a few times the size of a piece, a dozen times for each
/// piece, so the time grows with the length of the answer.
pub fn split(
    text: &str,
    format: Format,
    pace: Option<&Pace>,
    fits: &dyn Fn(&str) -> bool,
) -> Vec<Piece> {
    let pace = pace.filter(|pace| pace.applies(text));
    let start = text.len() - text.trim_start().len();
    let end = text.trim_end().len();
    if start >= end {
        return Vec::new();
    }
    Splitter::new(text, format, pace, fits).run(start)
}
