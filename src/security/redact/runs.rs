//! The byte ranges that secrets cover, in order, overlapping ones merged as they are found.

/// One covered range, in bytes from the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// First covered byte.
    pub(super) start: usize,
    /// First byte after it.
    pub(super) end: usize,
    /// Whether its placeholder has gone out already (streams only).
    pub(super) shown: bool,
}

/// Covered ranges in ascending order, none overlapping another. Ranges that only touch stay apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(Vec<Run>);

impl Runs {
    /// Adds an occurrence. `end` must not be smaller than that of any earlier one, which holds when
    /// they come from a scan from left to right. An empty range adds nothing.
    pub(super) fn add(&mut self, start: usize, end: usize) {
        if start >= end {
            return;
        }
        let mut merged = Run {
            start,
            end,
            shown: false,
        };
        while let Some(last) = self.0.last().filter(|last| last.end > merged.start) {
            merged.start = merged.start.min(last.start);
            merged.shown |= last.shown;
            self.0.pop();
        }
        self.0.push(merged);
    }

    /// Whether nothing is covered.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Run> {
        self.0.iter()
    }

    /// The ranges in order, to mark them as shown.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Run> {
        self.0.iter_mut()
    }

    /// Forgets all ranges that end at or before `place`.
    pub(super) fn forget(&mut self, place: usize) {
        let over = self.0.partition_point(|run| run.end <= place);
        self.0.drain(..over);
    }
}
