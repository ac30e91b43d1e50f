//! Questions that the model asked, and the messages that answer them.
//!
//! Owns when a message is an answer: in private the next thing that its person says, in a group what he says in reply to
//! the question. The answer is taken once, like any answer to a pending action, and the turn that waited goes on in place
//! of a new one. What is asked is the tool's (`tool::question`).

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::SenderKind;

use super::{
    Agent,
    command::MOST_OPEN,
    ending::Ending,
    running::RunningTurn,
    turn::{Input, Turn},
};
use crate::{
    pending::retire,
    store::{
        PendingFilter, PendingKind, PendingState, Settle, StoreError, StoredPending, Write, commit,
    },
};

/// People of whom it is remembered that they are asked nothing.
const PEOPLE: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");

/// Who is asked nothing, as this process knows: by conversation and person.
#[derive(Debug)]
pub(super) struct Inquiries(Mutex<LruCache<(i64, i64), ()>>);

impl Default for Inquiries {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(PEOPLE)))
    }
}

impl Inquiries {
    /// Somebody is asked something.
    pub(super) fn asked(&self, conversation: i64, person: i64) {
        self.0.lock().pop(&(conversation, person));
    }
}

impl Agent {
    /// The question that a message answers; of several the newest. `again`: the turn may have taken its words before.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn inquiry(
        &self,
        input: &Input,
        turn: &Turn,
        again: bool,
    ) -> Result<Option<StoredPending>, StoreError> {
        let body = turn.body();
        if body.kind != SenderKind::Person || body.due.is_some() {
            return Ok(None);
        }
        if again {
            let which = PendingFilter::AnsweredIn(input.turn);
            let taken = self.store.pendings(which, MOST_OPEN).await?;
            let question = |row: &StoredPending| row.pending.kind == PendingKind::Question;
            if let Some(row) = taken.into_iter().find(question) {
                return Ok(Some(row));
            }
        }
        let who = (input.conversation, input.person);
        // Where others write to the store as well, nothing is known without asking it.
        if !self.store.is_shared() && self.inquiries.0.lock().get(&who).is_some() {
            return Ok(None);
        }
        let mut open = self
            .desk
            .open_pendings(input.conversation, MOST_OPEN)
            .await?;
        open.retain(|row| {
            row.pending.kind == PendingKind::Question && row.pending.asker == input.person
        });
        if open.is_empty() {
            self.inquiries.0.lock().put(who, ());
            return Ok(None);
        }
        Ok(open.into_iter().rev().find(|row| match &body.reply_to {
            Some(message) => {
                let shown = row.shown_as.as_deref().unwrap_or_default();
                shown.lines().any(|id| id == message)
            }
            None => !body.group,
        }))
    }

    /// Takes what was said for the answer, and goes on with the turn that waited for it.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn take_words(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        (row, again): (StoredPending, bool),
    ) -> Result<Ending, StoreError> {
        let media = self.take_media(input, turn, running).await;
        let heard = match self.hear(input, turn, media) {
            Ok(heard) => heard,
            Err(ending) => return Ok(*ending),
        };
        if row.state == PendingState::Open {
            let settle = Settle {
                id: row.pending.id,
                conversation: input.conversation,
                hash: row.pending.hash.clone(),
                state: PendingState::Approved,
                answer: Some(heard.words.clone()),
                by: input.person,
                turn: input.turn,
                reason: None,
                at: self.clock.now(),
                notices: Vec::new(),
            };
            let settled = commit(&self.store, |then| Write::Settle(Box::new(settle), then));
            if settled.await?.is_none() {
                // Somebody pressed a button, or its time was over, in this very moment: then this is a new message.
                return self.answer(input, turn, running, again).await;
            }
            let adapter = self.deliverer.adapter(&turn.conversation);
            retire(&row, &turn.conversation, adapter.as_deref()).await;
        }
        self.resumed(input, turn, running, (row.pending.id, heard.media))
            .await
    }
}
