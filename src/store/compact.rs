//! Making a long history short, as values.
//!
//! Owns what is replaced and by what. It never decides what is worth keeping, and never touches a database.

use super::{History, HistoryScope};

/// A history row with its number: greater ones came later.
pub type NumberedRow = (i64, History);

/// Rows of a history give way to a summary that stands in their place. Nothing happens unless all of them are there:
/// what was deleted meanwhile does not come back.
#[derive(Debug, Clone)]
pub struct Compact {
    /// The history.
    pub scope: HistoryScope,
    /// The number of the first row that goes.
    pub first: i64,
    /// The number of the last one, which is the summary's from then on.
    pub last: i64,
    /// How many they are.
    pub rows: usize,
    /// The rows before the first, which no turn reads any more, go as well.
    pub older: bool,
    /// The summary.
    pub summary: History,
}
