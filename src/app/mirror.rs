//! What other processes set at run time: read again from the store and put in place here.
//!
//! Owns when that is looked at. It never decides what may be set; the engine reads it like a file that has changed.

use std::{sync::Arc, time::Duration};

use tokio::time::{MissedTickBehavior, interval};
use weirgate_sdk::Stop;

use super::{overlay::stored, reload::Reloader};
use crate::{
    config::overrides::Overrides,
    store::{Store, StoreError},
};

/// Between two looks.
const LOOK: Duration = Duration::from_secs(2);

/// Hands the engine what is set, when that has changed, until `stop`.
pub(super) async fn mirror(store: Arc<dyn Store>, reloader: Reloader, stop: Stop) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen = None;
    loop {
        tokio::select! {
            biased;
            () = stop.stopped() => return,
            _ = looks.tick() => {}
        }
        match look(&*store, &mut seen).await {
            Ok(Some(overrides)) => reloader.take(overrides).await,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "what others have set cannot be read"),
        }
    }
}

/// What is set, if it is what was `seen` the last time. What this process is about to store is in place already and
/// would be taken back by a single look.
async fn look(
    store: &dyn Store,
    seen: &mut Option<Overrides>,
) -> Result<Option<Overrides>, StoreError> {
    let now = stored(store).await?;
    let twice = seen.as_ref() == Some(&now);
    *seen = Some(now.clone());
    Ok(twice.then_some(now))
}
