use std::time::UNIX_EPOCH;

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn the_defaults_are_those_of_the_policy() {
    let recovery = Recovery::default();
    let retries = [
        ErrorClass::RateLimit,
        ErrorClass::Timeout,
        ErrorClass::Network,
        ErrorClass::Api,
        ErrorClass::Security,
        ErrorClass::Internal,
    ]
    .map(|class| recovery.retries(class));
    assert_eq!(retries, [5, 3, 3, 2, 0, 1]);
    assert_eq!(recovery.max_backoff, Duration::from_secs(60));
}

#[test]
fn delays_grow_up_to_the_limit() {
    let recovery = Recovery::default();
    let longest = |n| recovery.delay(n, 1.0, None);
    assert_eq!(longest(1), Duration::from_millis(1500));
    assert_eq!(longest(2), Duration::from_millis(2250));
    assert_eq!(longest(u32::MAX), Duration::from_secs(60));
    assert_eq!(
        recovery.delay(5, 0.0, None),
        Duration::ZERO,
        "full jitter begins at nothing"
    );
    assert_eq!(recovery.delay(2, 0.5, None), Duration::from_millis(1125));
}

#[test]
fn the_providers_wish_counts_only_if_it_is_longer() {
    let recovery = Recovery::default();
    let wish = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(recovery.delay(1, 1.0, wish(1)), Duration::from_millis(1500));
    assert_eq!(recovery.delay(1, 1.0, wish(300)), Duration::from_secs(300));
}

proptest! {
    #[test]
    fn a_delay_stays_between_its_bounds(
        n: u32, random: f64, multiplier: f64, most in 0_u64..600,
        wish in proptest::option::of(0_u64..2000),
    ) {
        let max_backoff = Duration::from_secs(most);
        let policy =
            Recovery { backoff_multiplier: multiplier, max_backoff, ..Recovery::default() };
        let wish = wish.map(Duration::from_secs);
        let delay = policy.delay(n, random, wish);
        let floor = wish.unwrap_or_default();
        prop_assert!(delay >= floor && delay <= floor.max(max_backoff));
    }

    #[test]
    fn no_header_and_no_message_panics(text in ".{0,40}") {
        let _ = retry_after_header(&text, UNIX_EPOCH);
        let _ = retry_after_millis(&text);
        let _ = retry_after_in_body(&json!({"error": {"message": format!("try again in {text}")}}));
    }
}

#[test]
fn headers_give_seconds_fractions_and_dates() {
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777); // Sun, 06 Nov 1994 08:49:37 GMT
    let read = |value| retry_after_header(value, now);
    assert_eq!(read("7"), Some(Duration::from_secs(7)));
    assert_eq!(read(" 1.5 "), Some(Duration::from_millis(1500)));
    assert_eq!(
        read("Sun, 06 Nov 1994 08:50:07 GMT"),
        Some(Duration::from_secs(30))
    );
    assert_eq!(
        read("Sun, 06 Nov 1994 08:49:07 GMT"),
        Some(Duration::ZERO),
        "a date gone by"
    );
    assert_eq!(read("999999999999999999999"), Some(MAX_RETRY_AFTER));
    for nonsense in ["", "soon", "-3", "NaN", "inf", "1.2.3", "."] {
        assert_eq!(read(nonsense), None, "{nonsense:?}");
    }
    assert_eq!(retry_after_millis("250"), Some(Duration::from_millis(250)));
}

#[test]
fn bodies_give_fields_details_and_words() {
    let message = |text: &str| json!({"error": {"message": text}});
    let cases = [
        (json!({"retry_after": 1.25}), Some(1250)),
        (json!({"error": {"retry_after": "3"}}), Some(3000)),
        (json!({"error": {"retry_after_ms": 40}}), Some(40)),
        (
            json!({"error": {"details": [{"a": 1}, {"retryDelay": "34s"}]}}),
            Some(34_000),
        ),
        (
            message("Limit reached. Please try again in 20ms. Thanks"),
            Some(20),
        ),
        (message("Please try again in 6m0.5s."), Some(360_500)),
        (message("retry after 12 seconds"), Some(12_000)),
        (message("Please retry in 2 minutes."), Some(120_000)),
        (message("try again in a while"), None),
        (json!({"error": "slow down"}), None),
        (json!({"retry_after": -1}), None),
        (json!([1]), None),
    ];
    for (body, millis) in cases {
        assert_eq!(
            retry_after_in_body(&body),
            millis.map(Duration::from_millis),
            "{body}"
        );
    }
}
