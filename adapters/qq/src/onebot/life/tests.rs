//! When silence means death.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn three_missed_heartbeats_are_the_end() {
    let start = Instant::now();
    let mut life = Life::new(start, None);
    assert_eq!(life.deadline(), start + SILENCE);
    life.announced(5 * SECOND);
    assert!(life.deadline() > start + 15 * SECOND && life.deadline() < start + 20 * SECOND);
    // Answers to pings come from the transport and prove nothing about the implementation.
    life.heard(start + 10 * SECOND);
    assert!(life.deadline() < start + 20 * SECOND);
    life.spoken(start + 10 * SECOND);
    assert!(life.deadline() > start + 25 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn without_heartbeats_pings_decide() {
    let start = Instant::now();
    let mut life = Life::new(start, None);
    life.heard(start + 60 * SECOND);
    assert_eq!(life.deadline(), start + 60 * SECOND + SILENCE);
}

#[tokio::test(start_paused = true)]
async fn a_configured_silence_holds_whatever_is_announced() {
    let start = Instant::now();
    let mut life = Life::new(start, Some(20 * SECOND));
    life.announced(SECOND);
    assert_eq!(life.deadline(), start + 20 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn absurd_intervals_are_bounded() {
    let start = Instant::now();
    let mut life = Life::new(start, None);
    life.announced(Duration::ZERO);
    assert!(life.deadline() > start + SHORTEST);
    life.announced(Duration::MAX);
    assert_eq!(life.deadline(), start + SILENCE);
}

#[test]
fn only_what_was_announced_can_be_overdue() {
    let start = Instant::now();
    let mut life = Life::new(start, None);
    assert!(!life.is_overdue(start + LONGEST));
    life.announced(Duration::from_secs(10));
    assert!(!life.is_overdue(start + Duration::from_secs(35)));
    assert!(life.is_overdue(start + Duration::from_secs(36)));
    life.heard(start + Duration::from_secs(36));
    assert!(
        life.is_overdue(start + Duration::from_secs(36)),
        "only events count"
    );
    life.spoken(start + Duration::from_secs(36));
    assert!(!life.is_overdue(start + Duration::from_secs(36)));
}
