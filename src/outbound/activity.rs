//! Shows that an answer is being written, where the platform can.
//!
//! Owns the repetition. A sign of activity is cosmetic: it is left out when it would cost the answer its place, and
//! given up at the first error.

use std::{sync::Arc, time::Duration};

use tokio::task::JoinHandle;
use weirgate_sdk::{Adapter, ConversationKey, SendError};

use super::deliver::Deliverer;

/// Answers that are there at once need no sign.
const FIRST: Duration = Duration::from_millis(300);
/// So long before a sign ends it is shown again.
const MARGIN: Duration = Duration::from_millis(500);

/// A sign that is shown until this is dropped.
#[derive(Debug)]
pub struct Activity(JoinHandle<()>);

impl Activity {
    /// Begins to show it; `None` where the platform cannot. `conversation` is the conversation's number.
    #[must_use]
    pub fn begin(
        adapter: Arc<dyn Adapter>,
        deliverer: Deliverer,
        conversation: i64,
        key: ConversationKey,
    ) -> Option<Self> {
        adapter.indicates()?;
        let task = tokio::spawn(show(adapter, deliverer, conversation, key));
        Some(Self(task))
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn show(
    adapter: Arc<dyn Adapter>,
    deliverer: Deliverer,
    conversation: i64,
    key: ConversationKey,
) {
    let Some(indicates) = adapter.indicates() else {
        return;
    };
    let pause = indicates.lasts().saturating_sub(MARGIN).max(FIRST);
    tokio::time::sleep(FIRST).await;
    loop {
        if deliverer.may_preview(conversation, &key) {
            match indicates.indicate(&key).await {
                Ok(()) | Err(SendError::RateLimited { .. }) => {}
                Err(_) => return,
            }
        }
        tokio::time::sleep(pause).await;
    }
}
