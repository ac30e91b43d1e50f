use super::*;
use proptest::prelude::*;

const SECOND: Tick = 1_000_000;

fn policy(rpm: u32) -> LimiterPolicy {
    LimiterPolicy {
        api_rpm_limit: rpm,
        safety_margin: 0.8,
        min_interval: Duration::from_millis(500),
        max_interval: Duration::from_secs(10),
    }
}

fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

#[test]
fn the_interval_follows_the_limit_in_requests_a_minute() {
    let interval = |rpm| ProviderLimiter::new(policy(rpm)).interval();
    assert_eq!(interval(60), seconds(1.25));
    assert_eq!(interval(600), seconds(0.5), "never below min_interval");
    assert_eq!(interval(0), Duration::ZERO, "no limit, no interval");
    assert_eq!(
        interval(3),
        seconds(25.0),
        "max_interval does not cut what is configured"
    );
}

#[test]
fn requests_are_at_least_one_interval_apart() {
    let mut limiter = ProviderLimiter::new(policy(60));
    assert!(limiter.take(0));
    assert!(!limiter.take(0));
    assert_eq!(limiter.earliest(0), 1_250_000);
    assert!(!limiter.take(1_249_999));
    assert!(limiter.take(1_250_000));
    // Time that nobody used is not saved up.
    assert!(limiter.take(90 * SECOND));
    assert!(!limiter.take(90 * SECOND));
}

#[test]
fn a_limit_of_zero_lets_everything_through() {
    let mut limiter = ProviderLimiter::new(policy(0));
    assert!((0..1_000).all(|_| limiter.take(5)));
}

#[test]
fn ten_calls_that_meet_one_freeze_cut_the_rate_once() {
    let mut limiter = ProviderLimiter::new(policy(60));
    assert!(limiter.take(0));
    for call in 0..10 {
        limiter.rate_limited(SECOND + call, Some(seconds(7.0)));
    }
    assert_eq!(limiter.interval(), Duration::from_micros(1_562_500));
    assert_eq!(limiter.earliest(SECOND), 8 * SECOND + 9);
    assert!(!limiter.take(8 * SECOND + 8));
    // A call that was under way all the time comes back refused after the freeze has ended.
    limiter.rate_limited(9 * SECOND, Some(seconds(1.0)));
    assert_eq!(limiter.interval(), Duration::from_micros(1_562_500));
    assert_eq!(limiter.earliest(9 * SECOND), 10 * SECOND);
    // The next request meets a new freeze.
    assert!(limiter.take(10 * SECOND));
    limiter.rate_limited(10 * SECOND + 5, Some(seconds(1.0)));
    assert_eq!(limiter.interval(), Duration::from_micros(1_953_125));
}

#[test]
fn a_shorter_retry_after_does_not_shorten_a_freeze() {
    let mut limiter = ProviderLimiter::new(policy(60));
    limiter.rate_limited(0, Some(seconds(900.0)));
    limiter.rate_limited(SECOND, Some(seconds(1.0)));
    limiter.succeeded(2 * SECOND);
    assert_eq!(limiter.earliest(2 * SECOND), 900 * SECOND);
}

#[test]
fn without_retry_after_the_freeze_doubles_until_a_success() {
    let mut limiter = ProviderLimiter::new(policy(0));
    let mut now = 0;
    let mut freeze = |limiter: &mut ProviderLimiter| {
        assert!(limiter.take(now));
        limiter.rate_limited(now, None);
        let pause = limiter.earliest(now) - now;
        now += pause;
        pause / SECOND
    };
    let pauses: Vec<_> = (0..6).map(|_| freeze(&mut limiter)).collect();
    assert_eq!(pauses, [1, 2, 4, 8, 10, 10]);
    let at = limiter.earliest(0);
    assert!(limiter.take(at));
    limiter.succeeded(at + 1);
    limiter.rate_limited(at + 2, None);
    assert_eq!(limiter.earliest(at + 2), at + 2 + SECOND);
}

#[test]
fn each_clean_interval_gives_back_until_the_configured_rate() {
    let mut limiter = ProviderLimiter::new(policy(60));
    assert!(limiter.take(0));
    limiter.rate_limited(0, Some(seconds(2.0)));
    let slow = limiter.interval();
    limiter.succeeded(SECOND);
    assert_eq!(
        limiter.interval(),
        slow,
        "a success of an older call proves nothing"
    );
    let mut now = 2 * SECOND;
    let mut steps = 0;
    while limiter.interval() > seconds(1.25) {
        assert!(limiter.take(now));
        let before = limiter.interval();
        limiter.succeeded(now + 1);
        limiter.succeeded(now + 2);
        assert!(limiter.interval() <= before);
        now = limiter.earliest(now);
        steps += 1;
        assert!(steps < 20, "the rate comes back");
    }
    assert!(steps >= 10, "a few steps, not at once: {steps}");
    assert_eq!(limiter.interval(), seconds(1.25));
}

#[test]
fn adaptation_stops_at_max_interval_and_comes_back_from_there() {
    let mut limiter = ProviderLimiter::new(policy(60));
    let mut now = 0;
    for _ in 0..100 {
        assert!(limiter.take(now));
        limiter.rate_limited(now, Some(Duration::ZERO));
        now = limiter.earliest(now);
    }
    assert_eq!(limiter.interval(), seconds(10.0));
    assert!(limiter.take(now));
    limiter.succeeded(now + 10 * SECOND);
    assert!(limiter.interval() < seconds(10.0));
}

#[test]
fn a_reload_keeps_the_freeze_and_the_learned_share() {
    let mut limiter = ProviderLimiter::new(policy(60));
    limiter.rate_limited(0, Some(seconds(30.0)));
    limiter.set_policy(policy(30));
    assert_eq!(limiter.interval(), seconds(3.125));
    assert_eq!(limiter.earliest(0), 30 * SECOND);
}

#[test]
fn senseless_numbers_neither_panic_nor_wrap() {
    for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let policy = LimiterPolicy {
            safety_margin: margin,
            ..policy(60)
        };
        let mut limiter = ProviderLimiter::new(policy);
        assert!(limiter.take(0));
        limiter.rate_limited(1, Some(Duration::MAX));
        assert_eq!(limiter.earliest(2), Tick::MAX);
        assert!(limiter.interval() >= seconds(0.5));
    }
}

proptest! {
    #[test]
    fn the_limit_and_every_freeze_hold_whatever_happens(
        events in prop::collection::vec((0_u8..4, 0_u64..4_000_000), 1..200),
    ) {
        let mut limiter = ProviderLimiter::new(policy(120));
        let (mut now, mut last, mut frozen) = (0, None::<Tick>, 0);
        for (event, step) in events {
            now += step;
            match event {
                0 => limiter.rate_limited(now, None),
                1 => {
                    limiter.rate_limited(now, Some(Duration::from_micros(step)));
                    frozen = frozen.max(now + step);
                }
                2 => limiter.succeeded(now),
                _ => {
                    let earliest = limiter.earliest(now);
                    let granted = limiter.take(now);
                    prop_assert_eq!(granted, earliest <= now);
                    if granted {
                        prop_assert!(now >= frozen);
                        prop_assert!(last.is_none_or(|last| now - last >= 625_000));
                        last = Some(now);
                    }
                }
            }
            prop_assert!(limiter.interval() >= Duration::from_micros(625_000));
            prop_assert!(limiter.interval() <= Duration::from_secs(10));
        }
    }
}
