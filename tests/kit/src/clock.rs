//! Virtual time: what tests under a paused clock need beside [`tokio::time`].
//!
//! Owns waiting for a condition in virtual time. Under `start_paused` every wait costs no real time; the
//! helpers never sleep a thread.

use std::{future::Future, time::Duration};

use tokio::time::{Instant, sleep, timeout};

/// The pause between two looks at a condition.
const LOOK: Duration = Duration::from_millis(1);

/// Waits until `holds`, at most `limit` of virtual time; whether it came to hold.
pub async fn until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    while !holds() {
        if Instant::now() >= end {
            return false;
        }
        sleep(LOOK).await;
    }
    true
}

/// The result of `work` and how long it took in virtual time.
pub async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let result = work.await;
    (result, start.elapsed())
}

/// The result of `work`, or a panic that names what did not end within `limit` of virtual time.
pub async fn within<T>(limit: Duration, what: &str, work: impl Future<Output = T>) -> T {
    match timeout(limit, work).await {
        Ok(result) => result,
        Err(_) => panic!("{what} did not end within {limit:?}"),
    }
}
