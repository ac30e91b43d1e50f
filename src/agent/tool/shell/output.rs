//! What a command writes, as much of it as is kept: its beginning and its end.
//!
//! Owns the bound and the mark between both. Pure.

use std::collections::VecDeque;

/// What was written so far.
#[derive(Debug)]
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Most bytes of both.
    most: (usize, usize),
    /// Bytes between them that are gone.
    lost: u64,
}

impl Output {
    /// Keeps at most so many bytes.
    pub(super) fn new(most: usize) -> Self {
        let tail = most / 4;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            most: (most - tail, tail),
            lost: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.most.0.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.most.1);
        self.tail.drain(..over);
        self.lost = self
            .lost
            .saturating_add(u64::try_from(over).unwrap_or(u64::MAX));
    }

    /// All of it, with a mark where something is left out.
    pub(super) fn text(self) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let tail: Vec<u8> = self.tail.into();
        if self.lost == 0 {
            let whole = [self.head, tail].concat();
            return text(&whole);
        }
        format!(
            "{}\n[… {} bytes left out …]\n{}",
            text(&self.head),
            self.lost,
            text(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_however_the_pieces_come() {
        let all: Vec<u8> = (0..4_000_u32)
            .flat_map(|n| format!("{n}\n").into_bytes())
            .collect();
        for size in [1, 7, 100, 20_000] {
            let mut output = Output::new(400);
            all.chunks(size).for_each(|piece| output.push(piece));
            let text = output.text();
            assert!(
                text.starts_with("0\n1\n") && text.ends_with("3998\n3999\n"),
                "{text}"
            );
            let left = all.len() - 400;
            assert!(
                text.contains(&format!("[… {left} bytes left out …]")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_fits_is_kept_whole_also_a_sign_over_the_middle() {
        let mut output = Output::new(8);
        "ab好好".bytes().for_each(|byte| output.push(&[byte]));
        assert_eq!(output.text(), "ab好好");
    }
}
