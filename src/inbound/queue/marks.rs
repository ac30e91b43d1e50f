//! What is remembered of a waiting entry besides its place, in one byte.
//! Owns the bits. Never decides what they lead to.

/// Taken singly, and which kinds of waiting were noted already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    const SINGLE: u8 = 1;

    /// Nothing was noted yet.
    pub(crate) fn new(single: bool) -> Self {
        Self(if single { Self::SINGLE } else { 0 })
    }

    /// It never shares a turn.
    pub(crate) fn is_single(self) -> bool {
        self.0 & Self::SINGLE != 0
    }

    /// Notes a kind of waiting, from 0 to 6. False if it was noted before.
    pub(crate) fn note(&mut self, kind: u8) -> bool {
        let bit = 2_u8 << (kind % 7);
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_noted_once_and_touches_nothing_else() {
        let mut marks = Marks::new(true);
        for kind in 0..7 {
            assert!(marks.note(kind) && !marks.note(kind));
        }
        assert!(marks.is_single());
        let mut marks = Marks::new(false);
        assert!(marks.note(0) && !marks.is_single());
    }
}
