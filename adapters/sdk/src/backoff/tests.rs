use super::*;

const LONGEST: Duration = Duration::from_secs(60);

#[test]
fn pauses_double_up_to_the_longest_and_begin_anew() {
    let mut backoff = Backoff::new(LONGEST);
    let pauses: Vec<u64> = (0..9).map(|_| backoff.pause(1.0).as_secs()).collect();
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    backoff.reset();
    assert_eq!(backoff.pause(1.0), FIRST);
}

#[test]
fn jitter_takes_at_most_half() {
    for (random, millis) in [
        (0.0, 500),
        (0.5, 750),
        (1.0, 1_000),
        (7.0, 1_000),
        (-1.0, 500),
    ] {
        let pause = Backoff::new(LONGEST).pause(random);
        assert_eq!(pause, Duration::from_millis(millis), "{random}");
    }
}

#[test]
fn a_longest_pause_under_the_first_holds_from_the_start() {
    let longest = Duration::from_millis(100);
    let mut backoff = Backoff::new(longest);
    assert!((0..5).all(|_| backoff.pause(1.0) == longest));
}
