//! What goes: files whose time is over, files that nobody knows, and those of a conversation that is deleted.
//!
//! Owns when it is looked. A file without a row is the trace of a crash between the two, or of rows that went with
//! their conversation.

use std::{collections::HashSet, sync::Arc, time::Duration};

use weirgate_sdk::Stop;

use super::{Fault, MediaStore, folder::INCOMING_AGE};
use crate::{
    store::{MediaQuestion, StoreError},
    telemetry::metrics,
};

/// Between two looks at what has expired.
const EXPIRED_EVERY: Duration = Duration::from_secs(60);
/// So many of these looks, and the folder is compared with the rows.
const COMPARE_EVERY: u32 = 60;
/// Rows or files of one step.
const CHUNK: usize = 256;
/// A file has its row by then.
const ROW_AGE: Duration = Duration::from_secs(600);

impl MediaStore {
    /// Removes what is over until `stop`.
    pub async fn sweep(self: Arc<Self>, stop: Stop) {
        let mut round = tokio::time::interval(EXPIRED_EVERY);
        round.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut rounds = 0_u32;
        loop {
            tokio::select! {
                _ = round.tick() => {}
                () = stop.stopped() => return,
            }
            let compare = rounds.is_multiple_of(COMPARE_EVERY);
            rounds = rounds.wrapping_add(1);
            if let Err(error) = self.round(compare).await {
                tracing::warn!(%error, "the media store could not be swept");
            }
        }
    }

    /// One look.
    ///
    /// # Errors
    /// The disk's or the store's.
    pub(super) async fn round(&self, compare: bool) -> Result<(), Fault> {
        loop {
            let over = MediaQuestion::Expiring {
                until: self.clock.now(),
                limit: CHUNK,
            };
            let rows = self.store.media(over).await?;
            if !rows.is_empty() {
                self.forget(&rows, "expired").await?;
            }
            if rows.len() < CHUNK {
                break;
            }
        }
        if compare {
            self.folder.clear(INCOMING_AGE).await?;
            self.remove_unknown().await?;
        }
        Ok(())
    }

    /// Removes all files of a conversation.
    ///
    /// # Errors
    /// The store's; what was removed until then is gone.
    pub async fn remove_all(&self, conversation: i64) -> Result<(), StoreError> {
        loop {
            let limit = CHUNK;
            let of = MediaQuestion::Newest {
                conversation,
                limit,
            };
            let rows = self.store.media(of).await?;
            if rows.is_empty() {
                return Ok(());
            }
            self.forget(&rows, "deleted").await?;
        }
    }

    async fn remove_unknown(&self) -> Result<(), Fault> {
        for files in self.folder.older_than(ROW_AGE).await?.chunks(CHUNK) {
            let names = files.iter().map(|(name, _)| name.clone()).collect();
            let known = self.store.media(MediaQuestion::Files(names)).await?;
            let known: HashSet<&str> = known.iter().map(|row| row.id.as_str()).collect();
            for (name, size) in files {
                if !known.contains(name.as_str()) && self.folder.remove(name).await? {
                    self.count(*size, false);
                    metrics::media_file("unknown");
                }
            }
        }
        Ok(())
    }
}
