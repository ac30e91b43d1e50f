//! What nobody answered in time.
//!
//! Owns the end of it: the row says that it expired, its buttons go, and whoever is there is told once. It is done by
//! the process that has the account, as often as the regular sweep comes by.

use std::sync::Arc;

use futures_util::future::join_all;
use weirgate_sdk::{Adapter, ConversationKey};

use super::{Act, code, retire};
use crate::{
    i18n::consent::Consent,
    inbound::sweep::Sweep,
    outbound::{compose::Addressee, post::Post},
    reason::Reason,
    store::{PendingFilter, PendingState, Settle, StoreError, StoredPending, Write, commit},
    telemetry::metrics::Queue,
};

/// Rows that one round ends.
const A_ROUND: usize = 16;

/// Ends what is due.
///
/// # Errors
/// The store's; what is left comes with the next round.
pub async fn round(sweep: &Sweep) -> Result<(), StoreError> {
    let now = sweep.clock.now();
    let due = sweep
        .store
        .pendings(PendingFilter::Due(now), A_ROUND)
        .await?;
    let mut settled = Vec::new();
    for row in &due {
        settled.extend(expire(sweep, row).await?);
    }
    // One after the other they might hold up the sweep.
    let buttons = settled
        .iter()
        .map(|(row, key, adapter)| retire(row, key, Some(&**adapter)));
    join_all(buttons).await;
    Ok(())
}

/// A row that ended, and what shows it.
type Ended<'a> = (&'a StoredPending, Arc<ConversationKey>, Arc<dyn Adapter>);

async fn expire<'a>(
    sweep: &Sweep,
    row: &'a StoredPending,
) -> Result<Option<Ended<'a>>, StoreError> {
    let pending = &row.pending;
    let key = sweep.directory.conversation(pending.conversation).await?;
    let adapter = sweep.deliverer.adapter(&key);
    let act = Act::read(pending);
    if let Some(Act::Tool(parked)) = &act {
        // Before the row ends, so that a crash in between leaves nobody without an answer.
        sweep.resumer().resume(pending, parked, None).await?;
    }
    let mut notice = notice(sweep, row, act, &key).await?;
    let now = sweep.clock.now();
    let notices = notice.as_mut().and_then(|notice| notice.row(now, now));
    let settle = Settle {
        id: pending.id,
        conversation: pending.conversation,
        hash: pending.hash.clone(),
        state: PendingState::Expired,
        answer: None,
        by: 0,
        turn: 0,
        reason: Some(Reason::PendingExpired.code()),
        at: now,
        notices: notices.into_iter().collect(),
    };
    let write = |then| Write::Settle(Box::new(settle), then);
    let Some(ids) = commit(&sweep.store, write).await? else {
        // Somebody answered in the last moment.
        return Ok(None);
    };
    sweep.traces.note(pending.id, Reason::PendingExpired, now);
    Queue::Inbound.dropped(Reason::PendingExpired, 1);
    if let (Some(id), Some(notice)) = (ids.first(), notice) {
        notice.deliver(*id, &sweep.deliverer, sweep.clock, now);
    }
    Ok(adapter.map(|adapter| (row, key, adapter)))
}

async fn notice(
    sweep: &Sweep,
    row: &StoredPending,
    act: Option<Act>,
    key: &Arc<ConversationKey>,
) -> Result<Option<Post>, StoreError> {
    // A turn that goes on says by itself what became of it.
    let Some(act) = act.filter(|act| !matches!(act, Act::Tool(_))) else {
        return Ok(None);
    };
    let language = sweep.language(row.pending.asker, None).await?;
    let text = Consent::Lapsed {
        code: code(row.pending.id),
        what: act.what(),
    };
    let rules = sweep.rules.get();
    let place = (row.pending.conversation, Arc::clone(key));
    let said = (text.render(language), language);
    let to = Addressee::default();
    Ok(Post::compose(
        &sweep.deliverer,
        &rules.composer,
        place,
        said,
        to,
    ))
}
