//! The clock: against itself, against the database, and against providers.
//!
//! Owns the tolerances. What decides is pure.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::future::join_all;
use jiff::Timestamp;
use reqwest::header::DATE;

use crate::{clock::millis, config::Config, i18n::health::Keep};

/// How long the clock is watched.
const WATCHED: Duration = Duration::from_millis(300);
/// Milliseconds by which both clocks may drift apart meanwhile.
const JUMP: i64 = 100;
/// 2025-01-01: no gateway was written before.
const EARLIEST: i64 = 1_735_689_600_000;
/// 2100-01-01.
const LATEST: i64 = 4_102_444_800_000;
/// Seconds by which the newest message may be ahead.
const BEHIND: i64 = 60;
/// Seconds by which a provider's clock may differ, its own inaccuracy and the way included.
const DIFFERENCE: i64 = 30;
/// The longest question for the time of a provider.
const LONGEST: Duration = Duration::from_secs(8);

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}

/// The clock by itself, and against the time of the newest message.
pub(super) async fn own(newest: Option<i64>) -> Vec<Keep> {
    let (wall, monotonic) = (now(), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let (later, passed) = (now(), millis(monotonic.elapsed()));
    judge(wall, later, passed, newest)
}

/// `passed` milliseconds lie between `wall` and `later`, if nobody set the clock.
fn judge(wall: i64, later: i64, passed: i64, newest: Option<i64>) -> Vec<Keep> {
    if !(EARLIEST..LATEST).contains(&later) {
        let shown = Timestamp::from_millisecond(later);
        let now = shown.map_or_else(|_| later.to_string(), |shown| shown.to_string());
        return vec![Keep::ClockAstray { now }];
    }
    let mut found = Vec::new();
    let jump = later.saturating_sub(wall).saturating_sub(passed);
    if jump.abs() > JUMP {
        found.push(Keep::ClockJumps { millis: jump });
    }
    let behind = newest.map_or(0, |newest| newest.saturating_sub(later) / 1_000);
    if behind > BEHIND {
        found.push(Keep::ClockBehind { seconds: behind });
    }
    if found.is_empty() {
        found.push(Keep::Clock);
    }
    found
}

/// How far ours is from the clock of each provider that tells its time.
pub(super) async fn of_providers(config: &Config) -> Vec<Keep> {
    let used: BTreeMap<&str, &str> = config
        .models
        .chat
        .iter()
        .filter_map(|model| {
            let provider = config.providers.get(&model.provider)?;
            Some((model.provider.as_str(), provider.base_url.as_deref()?))
        })
        .collect();
    let asked = used.into_iter().map(async |(provider, url)| {
        let theirs = theirs(url).await?;
        let seconds = now().saturating_sub(theirs) / 1_000;
        difference(provider, seconds)
    });
    join_all(asked).await.into_iter().flatten().collect()
}

fn difference(provider: &str, seconds: i64) -> Option<Keep> {
    (seconds.abs() > DIFFERENCE).then(|| Keep::ClockDiffers {
        provider: provider.to_owned(),
        seconds,
    })
}

/// The time that a server puts on its answer, whatever the answer is. It gets no key.
async fn theirs(url: &str) -> Option<i64> {
    let client = reqwest::Client::builder()
        .timeout(LONGEST)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .ok()?;
    let response = client.get(url).send().await.ok()?;
    let date = response.headers().get(DATE)?.to_str().ok()?;
    let zoned = jiff::fmt::rfc2822::parse(date).ok()?;
    Some(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    #[test]
    fn a_clock_is_judged_by_itself_and_by_what_was_received() {
        assert_eq!(judge(NOW, NOW + 300, 300, None), [Keep::Clock]);
        assert_eq!(
            judge(NOW, NOW + 340, 300, Some(NOW + 59_000)),
            [Keep::Clock]
        );
        let millis = 3_600_000;
        let jumped = judge(NOW, NOW + millis + 300, 300, None);
        assert_eq!(jumped, [Keep::ClockJumps { millis }]);
        let behind = judge(NOW, NOW + 300, 300, Some(NOW + 3_600_300));
        assert_eq!(behind, [Keep::ClockBehind { seconds: 3_600 }]);
        let astray = judge(0, 300, 300, Some(NOW));
        assert!(
            matches!(&astray[..], [Keep::ClockAstray { now }] if now.starts_with("1970-01-01T")),
            "{astray:?}"
        );
    }

    #[test]
    fn small_differences_are_none() {
        assert_eq!(difference("main", 30), None);
        assert_eq!(difference("main", -30), None);
        assert!(difference("main", -31).is_some());
    }
}
