//! Lines joined: a secret that is broken over lines is one secret.
//!
//! Owns the view of a text without its line breaks and the blanks that indent what follows, and the way back from
//! places in that view to places in the text.

/// Where a stretch of joined text comes from.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    joined: usize,
    text: usize,
}

/// The joined view of a text that comes in pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct Joined {
    stretches: Vec<Stretch>,
    /// Length of the joined text so far.
    length: usize,
    /// The text so far ends with a line break and perhaps blanks.
    indents: bool,
}

impl Joined {
    /// Hands over the stretches of a piece that begins at `from` in the text, each with its place in the joined
    /// text.
    pub(super) fn read(&mut self, piece: &str, from: usize, mut read: impl FnMut(&[u8], usize)) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let skipped =
                |byte: &u8| is_break(*byte) || (self.indents && matches!(*byte, b' ' | b'\t'));
            if bytes.get(at).is_some_and(skipped) {
                self.indents = true;
                at += 1;
                continue;
            }
            self.indents = false;
            let rest = bytes.get(at..).unwrap_or_default();
            let length = rest
                .iter()
                .position(|byte| is_break(*byte))
                .unwrap_or(rest.len());
            let goes_on = self
                .stretches
                .last()
                .is_some_and(|last| self.length - last.joined == from + at - last.text);
            if !goes_on {
                self.stretches.push(Stretch {
                    joined: self.length,
                    text: from + at,
                });
            }
            read(rest.get(..length).unwrap_or_default(), self.length);
            self.length += length;
            at += length;
        }
    }

    /// Length of the joined text so far.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// The place in the text of a byte of the joined text.
    pub(super) fn place(&self, joined: usize) -> usize {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.joined <= joined);
        match after
            .checked_sub(1)
            .and_then(|index| self.stretches.get(index))
        {
            Some(stretch) => stretch.text + joined - stretch.joined,
            None => joined,
        }
    }

    /// The place in the text behind the byte before a place in the joined text.
    pub(super) fn end(&self, joined: usize) -> usize {
        joined.checked_sub(1).map_or(0, |last| self.place(last) + 1)
    }

    /// Forgets what comes before a place in the joined text.
    pub(super) fn forget(&mut self, joined: usize) {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.joined <= joined);
        self.stretches.drain(..after.saturating_sub(1));
    }
}

/// A text as it looks in the joined view.
pub(super) fn joined(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    Joined::default().read(text, 0, |piece, _| out.extend_from_slice(piece));
    out
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
