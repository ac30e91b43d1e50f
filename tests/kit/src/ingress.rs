//! The gateway's door, recording: an [`Ingress`] whose outcomes are scripted.
//!
//! Owns what an adapter handed in, in order, each event once as the gateway would journal it. It never
//! processes anything. Waits have a limit; no limit is ever slept through when the event is there.

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::watch;
use weirgate_sdk::{
    AccountName, Batch, Connection, ConversationKey, Cursor, Event, InboundMessage, Ingress,
    MessageId, NotAccepted, Outcome, Platform, Receipt, ReceiptSlot, ThreadId, ThreadSummary,
    Transcript, TranscriptEntry,
};

/// Records what an adapter hands in.
#[derive(Debug)]
pub struct RecordingIngress {
    state: Mutex<State>,
    /// Counts changes, so that waits wake.
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<Event>,
    next: usize,
    keys: HashSet<String>,
    batches: usize,
    handed_in: usize,
    duplicates: usize,
    failures: usize,
    holding: bool,
    held: Vec<(Batch, ReceiptSlot)>,
    connections: Vec<Connection>,
    cursor: Option<Cursor>,
    transcript: Vec<TranscriptEntry>,
    newest_thread: Option<ThreadId>,
}

impl RecordingIngress {
    /// Accepts everything until told otherwise.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            changed: watch::Sender::new(0),
        })
    }

    /// Does not accept the next `times` batches, as a store that cannot write.
    pub fn fail_store(&self, times: usize) {
        self.state.lock().failures = times;
    }

    /// How many of the scripted failures are still to come.
    #[must_use]
    pub fn failures_left(&self) -> usize {
        self.state.lock().failures
    }

    /// Keeps the receipts of all further batches open until [`RecordingIngress::release`].
    pub fn hold(&self) {
        self.state.lock().holding = true;
    }

    /// Resolves the receipts that are held, in order, and holds no more.
    pub fn release(&self) {
        let held = {
            let mut state = self.state.lock();
            state.holding = false;
            std::mem::take(&mut state.held)
        };
        for (batch, slot) in held {
            slot.resolve(self.take(batch));
        }
    }

    /// Sets the cursor that adapters are told.
    pub fn set_cursor(&self, cursor: Option<Cursor>) {
        self.state.lock().cursor = cursor;
    }

    /// Sets the past messages (of every conversation), oldest first, and the newest thread.
    pub fn set_transcript(&self, entries: Vec<TranscriptEntry>, newest_thread: Option<ThreadId>) {
        let mut state = self.state.lock();
        state.transcript = entries;
        state.newest_thread = newest_thread;
    }

    /// Everything that was accepted so far, without duplicates, in order.
    #[must_use]
    pub fn accepted(&self) -> Vec<Event> {
        self.state.lock().events.clone()
    }

    /// How many batches were handed in, accepted or not.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.state.lock().batches
    }

    /// Waits until `count` events were handed in, accepted or not; whether they were in time.
    pub async fn handed_in(&self, count: usize, limit: Duration) -> bool {
        self.wait(limit, |state| (state.handed_in >= count).then_some(()))
            .await
            .is_some()
    }

    /// How many events were handed in again.
    #[must_use]
    pub fn duplicates(&self) -> usize {
        self.state.lock().duplicates
    }

    /// Every state of the connection that was reported, oldest first.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        self.state.lock().connections.clone()
    }

    /// The next event that this method did not return yet; `None` if none comes in time.
    pub async fn next_event(&self, limit: Duration) -> Option<Event> {
        self.wait(limit, |state| {
            let event = state.events.get(state.next).cloned()?;
            state.next += 1;
            Some(event)
        })
        .await
    }

    /// The next message, passing over events of other kinds; `None` if none comes in time.
    pub async fn next_message(&self, limit: Duration) -> Option<InboundMessage> {
        let until = tokio::time::Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(tokio::time::Instant::now());
            if let Event::Message(message) = self.next_event(left).await? {
                return Some(*message);
            }
        }
    }

    /// Waits until the newest reported state of the connection is one that `wanted` takes.
    pub async fn connection_is(
        &self,
        limit: Duration,
        wanted: impl Fn(&Connection) -> bool,
    ) -> Option<Connection> {
        self.wait(limit, |state| {
            state
                .connections
                .last()
                .filter(|last| wanted(last))
                .cloned()
        })
        .await
    }

    /// Waits until `found` finds something in what was accepted.
    pub async fn events_hold<T>(
        &self,
        limit: Duration,
        found: impl Fn(&[Event]) -> Option<T>,
    ) -> Option<T> {
        self.wait(limit, |state| found(&state.events)).await
    }

    async fn wait<T>(
        &self,
        limit: Duration,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut changed = self.changed.subscribe();
        let wait = async {
            loop {
                if let Some(item) = found(&mut self.state.lock()) {
                    return Some(item);
                }
                changed.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, wait).await.ok().flatten()
    }

    /// Accepts or fails one batch, as the script says.
    fn take(&self, batch: Batch) -> Result<Vec<Outcome>, NotAccepted> {
        let mut state = self.state.lock();
        if state.failures > 0 {
            state.failures -= 1;
            drop(state);
            self.changed.send_modify(|count| *count += 1);
            return Err(NotAccepted::Store("scripted".into()));
        }
        let mut outcomes = Vec::with_capacity(batch.events.len());
        for event in batch.events {
            if let Event::Message(message) = &event {
                let key = format!("{}/{}", batch.account, message.dedupe.key);
                if !state.keys.insert(key) {
                    state.duplicates += 1;
                    outcomes.push(Outcome::Duplicate);
                    continue;
                }
            }
            state.events.push(event);
            outcomes.push(Outcome::Accepted(
                i64::try_from(state.events.len()).unwrap_or(i64::MAX),
            ));
        }
        if batch.cursor.is_some() {
            state.cursor = batch.cursor;
        }
        drop(state);
        self.changed.send_modify(|count| *count += 1);
        Ok(outcomes)
    }
}

#[async_trait]
impl Ingress for RecordingIngress {
    async fn accept(&self, batch: Batch) -> Receipt {
        let (slot, receipt) = Receipt::new();
        {
            let mut state = self.state.lock();
            state.batches += 1;
            state.handed_in += batch.events.len();
            if state.holding {
                state.held.push((batch, slot));
                drop(state);
                self.changed.send_modify(|count| *count += 1);
                return receipt;
            }
        }
        slot.resolve(self.take(batch));
        receipt
    }

    async fn cursor(&self, _platform: &Platform, _account: &AccountName) -> Option<Cursor> {
        self.state.lock().cursor.clone()
    }

    fn connection(&self, _platform: &Platform, _account: &AccountName, state: Connection) {
        self.state.lock().connections.push(state);
        self.changed.send_modify(|count| *count += 1);
    }

    fn transcript(&self) -> Arc<dyn Transcript> {
        let state = self.state.lock();
        Arc::new(ScriptedTranscript {
            entries: state.transcript.clone(),
            newest_thread: state.newest_thread.clone(),
            accepted: state
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Message(message) => Some(message.id.clone()),
                    _ => None,
                })
                .collect(),
        })
    }
}

#[derive(Debug)]
struct ScriptedTranscript {
    entries: Vec<TranscriptEntry>,
    newest_thread: Option<ThreadId>,
    /// What was accepted and, for all that the script says, has not ended.
    accepted: HashSet<MessageId>,
}

#[async_trait]
impl Transcript for ScriptedTranscript {
    async fn read(
        &self,
        _conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<TranscriptEntry>, String> {
        let earlier: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| before.is_none_or(|before| entry.id < before))
            .cloned()
            .collect();
        let skip = earlier.len().saturating_sub(limit.min(200));
        Ok(earlier.into_iter().skip(skip).collect())
    }

    async fn has_ended(
        &self,
        _conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<bool, String> {
        let found = self
            .entries
            .iter()
            .find(|entry| entry.message.as_ref() == Some(message));
        Ok(found.map_or(!self.accepted.contains(message), |entry| !entry.pending))
    }

    async fn newest_thread(
        &self,
        _conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, String> {
        Ok(self.newest_thread.clone())
    }

    async fn threads(
        &self,
        _conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ThreadSummary>, String> {
        let newest = self.newest_thread.iter().take(limit);
        let last = self.entries.last();
        Ok(newest
            .filter_map(|thread| {
                Some(ThreadSummary {
                    thread: thread.clone(),
                    title: format!("about {thread}"),
                    at: last?.at,
                })
            })
            .collect())
    }
}
