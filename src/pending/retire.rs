//! Buttons of a question that is settled go.
//!
//! Owns how long that may take. Nothing depends on it: a press that comes all the same is told that it is too late.

use std::time::Duration;

use tokio::time::timeout;
use weirgate_sdk::{Adapter, ConversationKey};

use crate::store::StoredPending;

/// How long it may hold up what follows.
const LIMIT: Duration = Duration::from_secs(3);

/// Takes the buttons away from the message that asked, where the platform has buttons.
pub async fn retire(row: &StoredPending, key: &ConversationKey, adapter: Option<&dyn Adapter>) {
    let buttons = adapter.and_then(|adapter| adapter.buttons());
    // They stand under the last part.
    let message = row.shown_as.as_deref().and_then(|ids| ids.lines().last());
    if let (Some(buttons), Some(message)) = (buttons, message) {
        let retired = timeout(LIMIT, buttons.retire(key, &message.into())).await;
        if let Ok(Err(error)) = retired {
            tracing::debug!(%error, "the buttons of a settled question stay");
        }
    }
}
