use std::time::Duration;

use super::{Counts, Tally, percentile};

fn at(_: usize) -> Option<Duration> {
    Some(Duration::from_millis(2))
}

#[test]
fn percentiles_are_values_that_were_measured() {
    let values: Vec<_> = (1..=200).map(Duration::from_millis).collect();
    let millis = |share| percentile(&values, share).as_millis();
    assert_eq!([500, 950, 990, 1_000].map(millis), [100, 190, 198, 200]);
    assert_eq!(percentile(&values[..1], 500), Duration::from_millis(1));
    assert_eq!(percentile(&values[..3], 990), Duration::from_millis(3));
    assert_eq!(percentile(&values, 0), Duration::from_millis(1));
    assert_eq!(percentile(&[], 990), Duration::ZERO);
}

#[test]
fn every_fault_is_counted() {
    let mut tally = Tally::new("r", 2, 8);
    assert_eq!(tally.reply(0, "#rx0", at), [0]);
    assert_eq!(tally.reply(0, "#rx4 and #rx2", at), [4, 2]);
    assert!(tally.reply(0, "#rx4", at).is_empty());
    assert!(tally.reply(1, "#rx6", at).is_empty());
    assert!(tally.reply(1, "please wait", at).is_empty());
    assert!(tally.reply(1, "#sx1 #rx99", at).is_empty());
    assert!(tally.reply(1, "#rx1", |_| None).is_empty());
    assert_eq!((tally.answered(), tally.complete()), (3, false));
    let (latency, counts) = tally.finish();
    let expected = Counts {
        missing: 5,
        duplicated: 1,
        out_of_order: 1,
        misrouted: 1,
        untagged: 3,
    };
    assert_eq!(counts, expected);
    assert!(!counts.faultless());
    assert!((latency.max - 2.0).abs() < f64::EPSILON);
}

#[test]
fn a_whole_run_is_faultless() {
    let mut tally = Tally::new("r", 3, 10);
    for number in 0..10 {
        assert_eq!(
            tally.reply(number % 3, &format!("#rx{number}"), at),
            [number]
        );
    }
    assert!(tally.complete());
    assert!(tally.finish().1.faultless());
}
