//! What OneBot's events need on their way in.
//!
//! Owns when it is noted how far the account has listened, that a file is told once, and who is told that a posted event is durable.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{sync::oneshot, time::Instant};
use weirgate_sdk::{AccountName, Cursor, Event, Platform};

use super::{quote, uploads::Uploads};
pub use crate::intake::{CHANNEL, GATHER};
use crate::{
    intake::{self, Source},
    qq::Shared,
};

/// Pause between two notes of how far the account has listened. After a restart what came since the last
/// note is asked for again, and the gateway's duplicate check drops what it has.
const MARK_PAUSE: Duration = Duration::from_secs(30);

/// Events that go in together, and who waits until they are durable.
pub type Parcel = intake::Parcel<oneshot::Sender<()>>;

/// The events of one account.
pub struct Listening {
    shared: Arc<Shared>,
    marked: Option<Instant>,
    /// The time of the newest message that was handed in, in seconds.
    newest: Option<i64>,
    uploads: Uploads,
}

impl Listening {
    /// Those of this account.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            marked: None,
            newest: None,
            uploads: Uploads::default(),
        }
    }
}

#[async_trait]
impl Source for Listening {
    type Mark = oneshot::Sender<()>;

    fn platform(&self) -> &Platform {
        &self.shared.platform
    }

    fn account(&self) -> &AccountName {
        &self.shared.account
    }

    async fn complete(&mut self, events: &mut [Event]) {
        self.uploads.once(events);
        quote::fill(&self.shared, events).await;
    }

    /// How far the account has listened, if it is time to note it.
    fn cursor(&mut self, events: &[Event], _: &[Self::Mark]) -> Option<Cursor> {
        let times = events.iter().filter_map(|event| match event {
            Event::Message(message) => Some(message.sent_at / 1_000),
            _ => None,
        });
        self.newest = self.newest.max(times.max());
        let now = Instant::now();
        if self.marked.is_some_and(|at| now - at < MARK_PAUSE) {
            return None;
        }
        // What was read and is not handed in yet must not count as heard.
        let newest = self.newest?;
        let (bot, _) = self.shared.seen.mark()?;
        self.marked = Some(now);
        Some(Cursor {
            bot: bot.into(),
            value: newest.to_string(),
        })
    }

    fn durable(&self, waiting: Self::Mark) {
        // Who no longer waits misses nothing.
        let _ = waiting.send(());
    }
}
