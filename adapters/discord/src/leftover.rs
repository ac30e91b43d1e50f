//! What is shown of an answer that never comes: "thinking" behind a command, a message that grew.
//!
//! Owns its removal, one after the other and beside everything else. Bounded: what does not fit stays, and only that.

use parking_lot::Mutex;
use tokio::sync::mpsc;
use weirgate_sdk::MessageId;

use crate::{
    discord::Shared,
    interaction::{self, Waiting},
    stream::{self, Growing},
};

/// What waits to be taken away.
const MAX_WAITING: usize = 256;

/// What is shown without an answer.
#[derive(Debug)]
pub enum Leftover {
    /// "Thinking".
    Interaction(Waiting),
    /// The beginning of an answer.
    Preview(Growing),
}

/// To whom leftovers are given, while the account runs.
#[derive(Debug, Default)]
pub struct Leftovers(Mutex<Option<mpsc::Sender<Leftover>>>);

/// These messages have ended without an answer of their own.
pub fn end(shared: &Shared, messages: &[MessageId]) {
    let sender = shared.leftovers.0.lock().clone();
    let interactions = shared.interactions.take(messages);
    let previews = shared.live.take(messages);
    let interactions = interactions.into_iter().map(Leftover::Interaction);
    for left in interactions.chain(previews.into_iter().map(Leftover::Preview)) {
        let full = sender
            .as_ref()
            .is_none_or(|sender| sender.try_send(left).is_err());
        if full {
            tracing::debug!(account = %shared.account, "what is shown of an answer that never comes stays");
        }
    }
}

/// Takes leftovers away, for as long as the account runs.
pub async fn clear(shared: &Shared) {
    let (sender, mut waiting) = mpsc::channel(MAX_WAITING);
    *shared.leftovers.0.lock() = Some(sender);
    while let Some(left) = waiting.recv().await {
        match left {
            Leftover::Interaction(waits) => interaction::abandon(shared, waits).await,
            Leftover::Preview(growing) => stream::abandon(shared, &growing).await,
        }
    }
}
