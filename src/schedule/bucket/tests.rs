use super::*;
use proptest::prelude::*;

const SECOND: Tick = 1_000_000;
const HOUR: Tick = 3_600 * SECOND;

fn rate(per_second: f64, burst: u32) -> Rate {
    Rate { per_second, burst }
}

#[test]
fn a_new_bucket_gives_its_burst_at_once_and_then_one_token_each_interval() {
    let rate = rate(3.0, 5);
    let mut bucket = Gcra::default();
    for _ in 0..5 {
        assert!(bucket.take(rate, 1, 7));
    }
    assert!(!bucket.take(rate, 1, 7));
    assert_eq!(bucket.ready_at(rate, 1, 7), 7 + 333_334);
    assert_eq!(bucket.ready_at(rate, 3, 7), 7 + SECOND + 1);
    assert!(!bucket.take(rate, 1, 7 + 333_333));
    assert!(bucket.take(rate, 1, 7 + 333_334));
}

#[test]
fn asking_takes_nothing() {
    let rate = rate(1.0, 2);
    let bucket = Gcra::default();
    for _ in 0..10 {
        assert_eq!(bucket.ready_at(rate, 2, 5), 5);
    }
    assert_eq!(bucket, Gcra::default());
}

#[test]
fn a_batch_above_the_burst_needs_a_full_bucket_and_is_paid_back_exactly() {
    let rate = rate(1.0, 2);
    let mut bucket = Gcra::default();
    assert!(bucket.take(rate, 1, 0));
    assert_eq!(bucket.ready_at(rate, 7, 0), SECOND);
    assert!(!bucket.take(rate, 7, SECOND - 1));
    assert!(bucket.take(rate, 7, SECOND));
    // Seven taken from two leaves five owed: the next token is there after six seconds.
    assert_eq!(bucket.ready_at(rate, 1, SECOND), 7 * SECOND);
    assert_eq!(bucket.full_at(rate), 8 * SECOND);
}

#[test]
fn behind_others_a_token_comes_as_if_they_had_taken_theirs() {
    for (per_second, burst, taken) in [(3.0, 1, 1), (3.0, 5, 2), (0.7, 4, 4), (25.0, 1, 0)] {
        let rate = rate(per_second, burst);
        let mut bucket = Gcra::default();
        for _ in 0..taken {
            assert!(bucket.take(rate, 1, 9));
        }
        let (start, mut now) = (bucket, 9);
        for ahead in 0..20 {
            now = bucket.ready_at(rate, 1, now);
            // Each who takes comes at a whole tick, less than one after his token.
            let told = start.ready_behind(rate, ahead, 9);
            let late = now.checked_sub(told);
            assert!(
                late <= Tick::try_from(ahead).ok(),
                "{rate:?} {ahead} {told} {now}"
            );
            assert!(late.is_some(), "{rate:?} {ahead} {told} {now}");
            assert!(bucket.take(rate, 1, now));
        }
    }
    assert_eq!(Gcra::default().ready_behind(Rate::UNLIMITED, 1_000, 9), 9);
}

#[test]
fn rate_zero_is_no_limit() {
    let mut bucket = Gcra::default();
    for rate in [
        Rate::UNLIMITED,
        rate(-1.0, 3),
        rate(f64::NAN, 3),
        rate(f64::INFINITY, 3),
    ] {
        assert!(bucket.take(rate, 1_000_000, 9));
        assert_eq!(bucket.ready_at(rate, u32::MAX, 9), 9);
        assert_eq!(bucket.full_at(rate), 0);
    }
    assert_eq!(bucket, Gcra::default());
}

#[test]
fn a_rate_of_almost_nothing_never_wraps() {
    let rate = rate(1e-300, 1);
    let mut bucket = Gcra::default();
    assert!(bucket.take(rate, u32::MAX, 1));
    assert!(!bucket.take(rate, 1, 1_000 * HOUR));
}

#[test]
fn there_is_no_drift_over_ten_hours() {
    for per_second in [1.0, 3.0, 0.7, 25.0, 7.3] {
        let rate = rate(per_second, 4);
        let mut bucket = Gcra::default();
        let (mut now, mut taken) = (0, 0_u64);
        while now <= 10 * HOUR {
            assert!(bucket.take(rate, 1, now));
            taken += 1;
            now = bucket.ready_at(rate, 1, now);
        }
        let allowed = 4.0 + per_second * 36_000.0;
        assert!(
            taken as f64 <= allowed + 1e-6,
            "{taken} of {allowed} at {per_second}"
        );
        assert!(
            taken as f64 > allowed - 1.001,
            "{taken} of {allowed} at {per_second}"
        );
    }
}

#[test]
fn a_late_caller_loses_no_tokens_that_fit_into_the_bucket() {
    let rate = rate(2.0, 3);
    let mut bucket = Gcra::default();
    let mut taken = 0;
    // Once a second there are always two tokens, however late within the burst one asks.
    for second in 0..600 {
        let now = second * SECOND + (second % 7) * 50_000;
        while bucket.take(rate, 1, now) {
            taken += 1;
        }
    }
    assert!((1_199..=1_203).contains(&taken), "{taken}");
}

#[test]
fn a_clock_that_steps_back_gives_nothing_away_and_locks_nobody_out() {
    let rate = rate(1.0, 2);
    let mut bucket = Gcra::default();
    assert!(bucket.take(rate, 2, 100 * SECOND));
    assert!(!bucket.take(rate, 1, 40 * SECOND));
    assert!(!bucket.take(rate, 1, 100 * SECOND + 999_999));
    assert!(bucket.take(rate, 1, 101 * SECOND));
}

proptest! {
    #[test]
    fn no_window_lets_through_more_than_burst_and_rate(
        millis in 1_u64..5_000,
        burst in 1_u32..8,
        steps in prop::collection::vec((0_u64..3_000_000, 1_u32..10), 1..120),
    ) {
        // One token each `millis`: the bound can then be checked in whole numbers.
        let rate = rate(1_000.0 / millis as f64, burst);
        let mut bucket = Gcra::default();
        let mut now = 0;
        let mut takes: Vec<(Tick, u64)> = Vec::new();
        for (step, tokens) in steps {
            now += step;
            let ready = bucket.ready_at(rate, tokens, now);
            let before = bucket;
            prop_assert_eq!(bucket.take(rate, tokens, now), ready <= now);
            if ready > now {
                prop_assert_eq!(bucket, before);
                continue;
            }
            takes.push((now, u64::from(tokens)));
            let mut sum = 0;
            let mut largest = u64::from(burst);
            for &(at, tokens) in takes.iter().rev() {
                sum += tokens;
                largest = largest.max(tokens);
                prop_assert!(sum * millis * 1_000 <= largest * millis * 1_000 + (now - at));
            }
        }
    }

    #[test]
    fn ready_at_is_the_first_moment(
        per_second in 0.01_f64..5_000.0,
        burst in 1_u32..6,
        takes in prop::collection::vec((0_u64..2_000_000, 1_u32..8), 1..30),
        tokens in 1_u32..8,
    ) {
        let rate = rate(per_second, burst);
        let mut bucket = Gcra::default();
        let mut now = 0;
        for (step, tokens) in takes {
            now += step;
            let _taken = bucket.take(rate, tokens, now);
        }
        let ready = bucket.ready_at(rate, tokens, now);
        prop_assert!(ready == now || !bucket.clone().take(rate, tokens, ready - 1));
        prop_assert!(bucket.take(rate, tokens, ready));
    }
}
