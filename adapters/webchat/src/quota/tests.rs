use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { minute: 2, day: 5 };

#[test]
fn a_minute_and_a_day_are_counted_for_each_visitor() {
    let (mut quotas, start) = (Quotas::default(), Instant::now());
    let mut say = |visitor: &str, seconds: u64| {
        quotas.take(visitor, LIMITS, start + Duration::from_secs(seconds))
    };
    assert_eq!(say("a", 0), Ok(()));
    assert_eq!(say("a", 59), Ok(()));
    assert_eq!(say("a", 59), Err(Over::Minute));
    assert_eq!(say("b", 59), Ok(()), "another one");
    for seconds in [60, 61, 120] {
        assert_eq!(say("a", seconds), Ok(()));
    }
    assert_eq!(say("a", 300), Err(Over::Day));
    assert_eq!(say("a", 24 * 3_600 - 1), Err(Over::Day));
    assert_eq!(say("a", 24 * 3_600), Ok(()));
}

#[test]
fn visitors_are_bounded_and_the_first_are_forgotten_first() {
    let (mut quotas, start) = (Quotas::default(), Instant::now());
    for number in 0..=MAX_VISITORS {
        let now = start + Duration::from_millis(u64::try_from(number).unwrap());
        quotas.take(&number.to_string(), LIMITS, now).unwrap();
    }
    assert!(quotas.visitors.len() <= MAX_VISITORS);
    assert!(quotas.visitors.contains_key(&MAX_VISITORS.to_string()));
    assert!(!quotas.visitors.contains_key("0"));
}

proptest! {
    #[test]
    fn no_minute_lets_through_more_than_twice_the_limit(gaps in prop::collection::vec(0_u64..40, 1..60)) {
        let (mut quotas, mut now) = (Quotas::default(), Instant::now());
        let limits = Limits { minute: 3, day: 0 };
        let mut taken: Vec<Instant> = vec![];
        for gap in gaps {
            now += Duration::from_secs(gap);
            if quotas.take("a", limits, now).is_ok() {
                taken.push(now);
            }
        }
        for at in &taken {
            let within = taken.iter().filter(|it| **it >= *at && it.duration_since(*at) < MINUTE);
            prop_assert!(within.count() <= 6);
        }
    }
}
