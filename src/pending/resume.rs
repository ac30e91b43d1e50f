//! A turn that waited goes on: as a message of its own in the queue of who asked.
//!
//! Owns the row that is accepted for that, once however often it is tried. What the answer was is not in it: the turn
//! reads that from the pending action. It runs nothing.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, ReplyContext, UserKey};

use super::Parked;
use crate::{
    clock::{Clock, millis},
    directory::Directory,
    inbound::{
        body,
        keying::Keying,
        queue::{Entry, Kind},
        route::Route,
    },
    schedule::{dispatch::Dispatch, lane::Lane},
    store::{Accept, Accepted, Body, Pending, Store, StoreError, Write, commit},
    telemetry::metrics::Queue,
};

/// How long an equal row is the same one; longer than any question waits.
const SAME: std::time::Duration = std::time::Duration::from_secs(60 * 86_400);
/// The lane in which people's own messages wait.
const LANE: Lane = Lane::Direct;

/// What lets turns go on.
pub struct Resumer<'a> {
    /// The journal.
    pub store: &'a Arc<dyn Store>,
    /// Keys.
    pub directory: &'a Directory,
    /// Who queues.
    pub dispatch: &'a Arc<Dispatch>,
    /// How messages are sorted into queues.
    pub keying: Keying,
    /// The clock.
    pub clock: Clock,
}

impl std::fmt::Debug for Resumer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resumer").finish_non_exhaustive()
    }
}

impl Resumer<'_> {
    /// Queues the turn that goes on. `context`: what answering needs, of the message that brought the answer.
    ///
    /// # Errors
    /// The store's; nothing is queued then.
    pub async fn resume(
        &self,
        pending: &Pending,
        parked: &Parked,
        context: Option<ReplyContext>,
    ) -> Result<(), StoreError> {
        let conversation = self.directory.conversation(pending.conversation).await?;
        let person = self.directory.person(pending.asker).await?;
        let body = Body {
            reply_context: context,
            resumes: Some(pending.id),
            ..parked.body.clone()
        };
        let event = format!("weirgate/resume/{}", pending.id);
        self.queue((&conversation, &person), event, &body, LANE)
            .await
    }

    /// Queues a message of the gateway's own making as one of a person's, by itself; once for each `event`.
    ///
    /// # Errors
    /// The store's; nothing is queued then.
    pub async fn queue(
        &self,
        (conversation, person): (&ConversationKey, &UserKey),
        event: String,
        body: &Body,
        lane: Lane,
    ) -> Result<(), StoreError> {
        let body = body::json(body);
        let at = self.clock.now();
        let message = Accept {
            conversation: conversation.clone(),
            person: person.clone(),
            event: event.into(),
            event_until: at.saturating_add(millis(SAME)),
            at,
            route: Route::Alone(lane).code(),
            priority: 0,
            shown: false,
            body: body.clone(),
        };
        let (dispatch, keying) = (Arc::clone(self.dispatch), self.keying);
        let (platform, account) = (conversation.platform.clone(), conversation.account.clone());
        commit(self.store, move |then| Write::Accept {
            platform,
            account,
            messages: vec![message],
            cursor: None,
            // On the journal's thread, so that the order of the queue is that of the journal.
            then: Box::new(move |result| {
                let new = result.iter().flatten().find(|row| !row.duplicate);
                if let Some(row) = new {
                    Queue::Inbound.received(1);
                    dispatch.push_kept(entry(row, keying, lane, body));
                }
                then(result);
            }),
        })
        .await
        .map(drop)
    }
}

fn entry(row: &Accepted, keying: Keying, lane: Lane, body: Box<str>) -> Entry {
    Entry {
        id: row.id,
        key: keying.key(row.account, row.conversation, row.person),
        account: row.account,
        conversation: row.conversation,
        person: row.person,
        kind: Kind::Message,
        lane,
        priority: 0,
        single: true,
        body: Some(body),
    }
}
