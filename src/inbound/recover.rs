//! Recovery: what an earlier process accepted and did not end is queued again.
//!
//! Owns the order of a start: unsent answers first, then waiting messages, oldest first, before
//! anything new is taken in. It drops nothing, whatever the overflow strategy.

use std::sync::Arc;

use super::{keying::Keying, queue::Entry, route::Route};
use crate::{
    agent::Agent,
    reason::Reason,
    schedule::{
        dispatch::{Dispatch, entry},
        fair::{Overflow, Policy},
    },
    store::{LastStop, Store, StoreError, Waiting, WaitingFilter},
    telemetry::metrics::Queue,
    trace::Traces,
};

/// Rows read at once.
const PAGE: usize = 1_000;

/// What was taken up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Messages.
    pub messages: usize,
    /// Control commands, which run at once.
    pub controls: usize,
}

/// Queues what waits. After an unclean stop each message is taken singly, so that one that crashes the
/// process is found.
///
/// # Errors
/// The store's; nothing has been started then.
pub async fn recover(
    store: &Arc<dyn Store>,
    dispatch: &Dispatch,
    agent: &Arc<Agent>,
    traces: &Traces,
    keying: Keying,
    policy: &Policy,
    now: i64,
) -> Result<Recovered, StoreError> {
    let unclean = store.last_stop().await? == LastStop::Unclean;
    if unclean {
        // What is held back in the store now is read later, and counts as recovered all the same.
        dispatch.single_to(i64::MAX);
    }
    dispatch.set_policy(Policy {
        overflow: Overflow::Block,
        ..policy.clone()
    });
    let mut recovered = Recovered::default();
    let mut controls: Vec<Waiting> = Vec::new();
    let mut begun: Vec<(i64, u32)> = Vec::new();
    let mut after = 0;
    loop {
        let page = store.waiting(after, WaitingFilter::default(), PAGE).await?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.id;
        for row in page {
            traces.note(row.id, Reason::Recovered, now);
            if row.attempts > 0 {
                begun.push((row.id, row.attempts));
            }
            if Route::from_code(row.route) == Route::Control {
                controls.push(row);
                continue;
            }
            recovered.messages += 1;
            let key = keying.key(row.account, row.conversation, row.person);
            if let Some(entry) = entry(row, key, unclean) {
                push(dispatch, entry);
            }
        }
    }
    if unclean {
        agent.recovered_to(after, &begun);
        dispatch.single_to(after);
    }
    dispatch.set_policy(policy.clone());
    recovered.controls = controls.len();
    for control in controls {
        let agent = Arc::clone(agent);
        tokio::spawn(async move { agent.control(control).await });
    }
    Ok(recovered)
}

fn push(dispatch: &Dispatch, entry: Entry) {
    // Under `Block` a full queue leaves the message in the store and reads it later.
    let id = entry.id;
    Queue::Inbound.received(1);
    let pushed = dispatch.push(entry);
    tracing::trace!(message = id, ?pushed, "taken up");
}
