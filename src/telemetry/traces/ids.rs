//! Ids of traces and spans, and which turns are traced. Pure.
//!
//! An id is a hash of the store's own key and of the turn, so it is the same wherever it is computed and
//! two installations do not share any.

use sha2::{Digest, Sha256};

/// Id of a trace.
pub(super) type TraceId = [u8; 16];
/// Id of a span.
pub(super) type SpanId = [u8; 8];

/// Computes ids.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    seed: [u8; 32],
    /// Turns whose hash is below are traced.
    sampled_below: u64,
}

impl Ids {
    /// Ids of the store with this key; `ratio` of the turns, from 0 to 1, are traced.
    pub(super) fn new(seed: &[u8; 32], ratio: f64) -> Self {
        let mut digest = Sha256::new();
        digest.update(seed);
        digest.update(b"traces");
        Self {
            seed: digest.finalize().into(),
            sampled_below: share(ratio),
        }
    }

    /// The trace and its root span, if the turn is traced.
    pub(super) fn of(&self, turn: &str) -> Option<(TraceId, SpanId)> {
        let mut digest = Sha256::new();
        digest.update(self.seed);
        digest.update(turn.as_bytes());
        let hash: [u8; 32] = digest.finalize().into();
        let (mut trace, mut span, mut luck) = (TraceId::default(), SpanId::default(), [0; 8]);
        trace.copy_from_slice(&hash[..16]);
        span.copy_from_slice(&hash[16..24]);
        luck.copy_from_slice(&hash[24..]);
        // An id of zeros means none.
        trace[15] |= 1;
        span[7] |= 1;
        (self.sampled_below == u64::MAX || u64::from_be_bytes(luck) < self.sampled_below)
            .then_some((trace, span))
    }
}

/// The part of all hashes that a ratio means.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the cast saturates, and a ratio needs no more precision"
)]
fn share(ratio: f64) -> u64 {
    (ratio.clamp(0.0, 1.0) * u64::MAX as f64) as u64
}

/// The id of any other span.
pub(super) fn fresh() -> SpanId {
    let mut id: SpanId = rand::random();
    id[7] |= 1;
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_one_trace_and_stores_share_none() {
        let one = Ids::new(&[1; 32], 1.0);
        assert_eq!(one.of("t1"), Ids::new(&[1; 32], 1.0).of("t1"));
        assert_ne!(one.of("t1"), one.of("t2"));
        assert_ne!(one.of("t1"), Ids::new(&[2; 32], 1.0).of("t1"));
    }

    #[test]
    fn about_the_wanted_part_is_traced_and_the_ends_are_exact() {
        let traced = |ratio| {
            let ids = Ids::new(&[7; 32], ratio);
            (0..4000)
                .filter(|turn| ids.of(&format!("t{turn}")).is_some())
                .count()
        };
        assert_eq!((traced(0.0), traced(1.0)), (0, 4000));
        assert!((800..1200).contains(&traced(0.25)), "{}", traced(0.25));
    }

    #[test]
    fn what_is_traced_at_a_low_ratio_is_at_a_higher_one() {
        let (low, high) = (Ids::new(&[7; 32], 0.1), Ids::new(&[7; 32], 0.5));
        let turns: Vec<String> = (0..500).map(|turn| format!("t{turn}")).collect();
        assert!(
            turns
                .iter()
                .all(|turn| low.of(turn).is_none() || high.of(turn) == low.of(turn))
        );
    }
}
