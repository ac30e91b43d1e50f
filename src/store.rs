//! The store: journal, history, settings and audit behind one trait.
//!
//! Owns the operations by which the state of a message changes (the five transactions of the journal)
//! and the questions that the core asks. It never decides anything: what is dropped, answered or
//! retried is the caller's business. `docs/decisions/` says why writes are values with a continuation.

pub mod audit;
mod compact;
pub mod config;
mod deferred;
mod erase;
pub mod failpoint;
mod lease;
mod media;
pub mod memory;
mod operate;
mod pending;
mod place;
pub mod postgres;
pub mod record;
pub mod redis;
mod reply;
mod row;
pub mod sqlite;
pub mod transfer;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use weirgate_sdk::{AccountName, ConversationKey, Cursor, Platform, ThreadId, UserKey};

pub use audit::{Audit, AuditFilter, AuditPage, AuditResult};
pub use compact::{Compact, NumberedRow};
pub use deferred::{Deferred, Due, Performed};
pub use erase::{Erase, Forget};
pub use lease::{Held, Taken, Wanted};
pub use media::{MediaChange, MediaQuestion, MediaRow, SENT, kind_name};
pub use memory::{
    Embedding, MemoryChange, MemoryColumns, MemoryKind, MemoryQuestion, MemoryRow, MemorySource,
    MemoryStore, MemoryTier,
};
pub use operate::{
    Action, ConversationFilter, FailedMessage, Operate, Operated, Page, ReplyFilter, StoredReply,
};
pub use pending::{
    Answerer, Pending, PendingFilter, PendingKind, PendingState, PendingStore, Settle,
    StoredPending,
};
pub use place::Place;
pub use record::{
    Accept, Accepted, Ambient, Begin, Body, Effect, End, EndState, Fate, Finish, History,
    HistoryScope, Meeting, NewReply, PendingReply, Receipt, ReceiptOutcome, Role, Shown,
    ShownThread, TurnState, Waiting,
};
pub use reply::{Part, ReplyBody, ReplyFile};

/// Why the store did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The database refused or is away: disk full, file gone, time-out. Nothing was changed.
    #[error("the database failed: {0}")]
    Database(String),
    /// Another process holds the lease under which this was to be written.
    #[error("another process took over")]
    Fenced,
    /// The store is closed.
    #[error("the store is closed")]
    Closed,
}

/// Runs when an operation is committed or has failed, on the writer's thread: it must be short and must
/// never block or wait for the store.
pub type Then<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// One operation on the journal. Operations are committed in the order in which they are handed in,
/// many at once; each is atomic by itself.
pub enum Write {
    /// T1: messages, their dedupe keys and the adapter's cursor. One [`Accepted`] for each message.
    Accept {
        /// The platform of all messages.
        platform: Platform,
        /// The account of all messages.
        account: AccountName,
        /// The messages in order.
        messages: Vec<Accept>,
        /// Where the adapter goes on after a restart.
        cursor: Option<Cursor>,
        /// Told the outcome.
        then: Then<Vec<Accepted>>,
    },
    /// T2: a turn begins; tells the number of the attempt, from 1, or 0 if its message has ended
    /// meanwhile and nothing was written.
    Begin(Begin, Then<u32>),
    /// T3: a turn ends with all its effects; tells the ids of the new outbox rows, in order. Shared, so
    /// that a caller can hand it in again without a copy.
    Finish(Arc<Finish>, Then<Vec<i64>>),
    /// T4: a part of an answer is about to be sent.
    Intent {
        /// The outbox row.
        id: i64,
        /// The part, from 0.
        part: u32,
        /// Told the outcome.
        then: Then<()>,
    },
    /// T5: what became of a part.
    Receipt(Receipt, Then<()>),
    /// T5 of something that was put off; tells the ids of the reports' outbox rows.
    Performed(Box<Performed>, Then<Vec<i64>>),
    /// Messages end without a turn: dropped, expired, recalled, refused; with the notices about it.
    End {
        /// The messages.
        ends: Vec<End>,
        /// Notices that are to be sent.
        notices: Vec<NewReply>,
        /// Told the ids of the notices' outbox rows.
        then: Then<Vec<i64>>,
    },
    /// A waiting message was edited on the platform.
    Amend {
        /// The journal id.
        id: i64,
        /// The new body.
        body: Box<str>,
        /// Told the outcome.
        then: Then<()>,
    },
    /// Somebody of whom nothing is journaled gets a number, and so does where he is; tells those of the conversation
    /// and of the person.
    Meet(Box<Meeting>, Then<(i64, i64)>),
    /// An unaddressed message that is kept as context.
    Ambient(Box<Ambient>, Then<()>),
    /// A step of a turn in which tools are called, so that none that is not safe to repeat runs again after a
    /// crash. A step that is there is replaced; they go with [`Effect::StepsDone`].
    Step {
        /// The turn.
        turn: i64,
        /// The step, from 0.
        step: u32,
        /// What it is, as in [`History::parts`].
        content: Box<str>,
        /// Told the outcome.
        then: Then<()>,
    },
    /// An operator takes something up again or settles it; tells what became of it.
    Operate(Box<Operate>, Then<Operated>),
    /// A file of the media store is kept or goes.
    Media(Box<MediaChange>, Then<()>),
    /// A pending action ends, if it has not; tells the ids of its notices' outbox rows, or nothing if something else
    /// ended it before.
    Settle(Box<Settle>, Then<Option<Vec<i64>>>),
    /// The words of a conversation are taken out of a slice of the journal; tells where the next one begins.
    Erase(Erase, Then<Option<i64>>),
    /// What is remembered changes; tells the numbers of the entries that were put, in order.
    Memory(Vec<MemoryChange>, Then<Vec<i64>>),
    /// Rows of a history give way to a summary of them; tells whether they were all still there.
    Compact(Box<Compact>, Then<bool>),
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())
    }
}

impl Write {
    /// The operation's name in metrics and fail points.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Accept { .. } => "accept",
            Self::Begin(..) => "begin",
            Self::Finish(..) => "finish",
            Self::Intent { .. } => "intent",
            Self::Receipt(..) => "receipt",
            Self::Performed(..) => "performed",
            Self::End { .. } => "end",
            Self::Amend { .. } => "amend",
            Self::Meet(..) => "meet",
            Self::Ambient(..) => "ambient",
            Self::Step { .. } => "step",
            Self::Operate(..) => "operate",
            Self::Media(..) => "media",
            Self::Settle(..) => "settle",
            Self::Erase(..) => "erase",
            Self::Compact(..) => "compact",
            Self::Memory(..) => "memory",
        }
    }
}

/// How the process before this one ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastStop {
    /// There was none: the store is new.
    First,
    /// It drained and closed the store.
    Clean,
    /// It was killed or crashed.
    Unclean,
}

/// Which waiting messages are asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitingFilter {
    /// Only of this account (an interned id as in [`Waiting::account`]).
    pub account: Option<u32>,
    /// Only of this conversation.
    pub conversation: Option<i64>,
    /// Only of this person.
    pub person: Option<i64>,
    /// Only of these leases; else of those that this process has adopted, or of all for one that holds none.
    pub leases: Option<Arc<[i64]>>,
}

/// A database that holds the journal.
///
/// Reads see everything whose `then` has run. Every read is bounded in rows and in time.
#[async_trait]
pub trait Store: PendingStore + MemoryStore + Send + Sync {
    /// Hands in an operation. Waits only while the writer's bounded queue is full.
    async fn write(&self, write: Write);

    /// Hands in an operation from where nobody can wait. Gives it back when the queue is full or closed.
    ///
    /// # Errors
    /// The operation itself, unchanged.
    fn try_write(&self, write: Write) -> Result<(), Write>;

    /// Says that this process is alive, and takes the leases of the wanted accounts that nobody has. To be
    /// repeated every second: a process that says nothing for some seconds loses what it holds. From the first call
    /// on the store counts as in use.
    async fn hold(&self, wanted: &[Wanted]) -> Result<Held, StoreError>;

    /// What was taken with these leases is taken up: its messages are this process's own from now on.
    fn adopt(&self, leases: &[i64]);

    /// Whether no other process can have taken over what this one holds. To be asked before something happens that
    /// cannot be undone, such as a send. Costs nothing.
    fn in_force(&self) -> bool;

    /// Whether other processes may write it at the same time.
    fn is_shared(&self) -> bool;

    /// A number that changes when another process has written: what was read before may have changed. It has
    /// changed before the `then` of an operation runs that came after such a write. Costs nothing.
    fn others(&self) -> u64;

    /// Messages that were accepted and not ended, with journal ids above `after`, oldest first.
    async fn waiting(
        &self,
        after: i64,
        filter: WaitingFilter,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError>;

    /// The bodies of messages, in the order of `ids`; `None` for a message that is gone.
    async fn bodies(&self, ids: &[i64]) -> Result<Vec<Option<Box<str>>>, StoreError>;

    /// The newest waiting message of a conversation with this platform id, among the last 20,000 rows.
    async fn find_waiting(
        &self,
        conversation: &ConversationKey,
        message: &str,
    ) -> Result<Option<Waiting>, StoreError>;

    /// Answers that are not sent yet, of all leases or of these, with outbox ids above `after`, oldest first.
    /// Those that this process made itself are among them; their ids are known to the caller.
    async fn pending_replies(
        &self,
        leases: Option<&[i64]>,
        after: i64,
        limit: usize,
    ) -> Result<Vec<PendingReply>, StoreError>;

    /// What was put off and is not done, the first that is due first; of the leases that this process has adopted, or
    /// of all for one that holds none.
    async fn deferred(&self, limit: usize) -> Result<Vec<Due>, StoreError>;

    /// What was put off in a conversation and is not done, about what begins with `subjects`; the first that is due
    /// first.
    async fn put_off(
        &self,
        conversation: i64,
        subjects: &str,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError>;

    /// The key of a conversation by its number.
    async fn conversation(&self, id: i64) -> Result<Option<ConversationKey>, StoreError>;

    /// Conversations that the store has met, in the order of their numbers.
    async fn conversations(
        &self,
        filter: ConversationFilter,
        limit: usize,
    ) -> Result<Vec<(i64, ConversationKey)>, StoreError>;

    /// The number of a conversation that the store has met.
    async fn conversation_number(&self, key: &ConversationKey) -> Result<Option<i64>, StoreError>;

    /// The number of a person whom the store has met.
    async fn person_number(&self, key: &UserKey) -> Result<Option<i64>, StoreError>;

    /// The key of a person by its number.
    async fn person(&self, id: i64) -> Result<Option<UserKey>, StoreError>;

    /// The newest history rows of a scope since its last reset, oldest first: at most `limit` rows of
    /// conversation, and of ambient messages at most `ambient.0`, none older than `ambient.1`. Ambient
    /// messages belong to the conversation, whatever the scope; about the newest 1,000 are kept.
    async fn history(
        &self,
        scope: HistoryScope,
        limit: usize,
        ambient: (usize, Duration),
    ) -> Result<Vec<History>, StoreError>;

    /// The newest rows of a scope since its last reset, ambient ones not among them, oldest first, each with its number.
    async fn numbered_history(
        &self,
        scope: HistoryScope,
        limit: usize,
    ) -> Result<Vec<NumberedRow>, StoreError>;

    /// The steps that are kept of a turn, in order.
    async fn steps(&self, turn: i64) -> Result<Vec<String>, StoreError>;

    /// A person's preferences (`person`), or a conversation's settings (`conversation`).
    async fn settings(&self, of: Place) -> Result<Vec<(String, String)>, StoreError>;

    /// The stored cursor of an account.
    async fn cursor(
        &self,
        platform: &Platform,
        account: &AccountName,
    ) -> Result<Option<Cursor>, StoreError>;

    /// What became of a message: the one with this platform id (a person's, or one that the gateway
    /// sent), or the newest one of this person in the conversation before the journal id `before`.
    async fn fate(
        &self,
        conversation: i64,
        message: Option<&str>,
        person: i64,
        before: i64,
    ) -> Result<Option<Fate>, StoreError>;

    /// Where and under which platform ids the newest answers were sent, at most `limit`, oldest first.
    async fn sent_lately(&self, limit: usize)
    -> Result<Vec<(ConversationKey, String)>, StoreError>;

    /// Past messages of a conversation that is shown from the store, oldest first: those before the id
    /// `before`, which is the smallest id of the page after this one. A message and the answer of the same id
    /// are never in two pages, so there may be one row more than `limit`.
    async fn shown(
        &self,
        conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Shown>, StoreError>;

    /// The thread of a conversation in which a message was last accepted, of those that are shown from the
    /// store. The thread in `conversation` itself does not matter.
    async fn newest_thread(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, StoreError>;

    /// The threads of a conversation with messages that are shown from the store, the one that was written to
    /// last first, at most `limit` of the 500 that were begun last. The thread in `conversation` itself does
    /// not matter.
    async fn threads(
        &self,
        conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ShownThread>, StoreError>;

    /// Replies by state, with outbox ids above `after`, oldest first, at most `limit`. For an operator: it may
    /// look through all that retention has left.
    async fn replies(
        &self,
        after: i64,
        filter: ReplyFilter,
        limit: usize,
    ) -> Result<Page<StoredReply>, StoreError>;

    /// Messages that ended with a failure and that no operator has settled, with journal ids above `after`,
    /// oldest first, at most `limit`: one for each turn. Refusals are among them; the reason tells.
    async fn failed_messages(
        &self,
        after: i64,
        limit: usize,
    ) -> Result<Page<FailedMessage>, StoreError>;

    /// Rows about files in the media store.
    async fn media(&self, question: MediaQuestion) -> Result<Vec<MediaRow>, StoreError>;

    /// Records of the audit log, at most `limit`, and the newest of all.
    async fn audit(&self, filter: AuditFilter, limit: usize) -> Result<AuditPage, StoreError>;

    /// A key that stays the same as long as the store does, made at its creation.
    async fn secret(&self) -> Result<[u8; 32], StoreError>;

    /// Whether a write goes through now. Used by the readiness check; bounded to 2 seconds.
    async fn healthy(&self) -> Result<(), StoreError>;

    /// Writes what is queued, marks the stop as clean and closes. Operations after that fail.
    async fn close(&self);
}

/// Hands in an operation and waits until it is committed.
///
/// # Errors
/// The store's error.
pub async fn commit<T: Send + 'static>(
    store: &Arc<dyn Store>,
    write: impl FnOnce(Then<T>) -> Write,
) -> Result<T, StoreError> {
    commit_to(&**store, write).await
}

/// The same for a store itself.
pub(crate) async fn commit_to<S: Store + ?Sized, T: Send + 'static>(
    store: &S,
    write: impl FnOnce(Then<T>) -> Write,
) -> Result<T, StoreError> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let then: Then<T> = Box::new(move |result| {
        // The caller may have been cancelled; the operation stands all the same.
        let _ = sender.send(result);
    });
    store.write(write(then)).await;
    receiver.await.unwrap_or(Err(StoreError::Closed))
}

/// The first and the longest pause of [`patiently`].
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Asks the store, and, if `patient`, asks again for as long as the database fails.
///
/// # Errors
/// The store's.
pub async fn patiently<T, F: Future<Output = Result<T, StoreError>>>(
    patient: bool,
    ask: impl Fn() -> F,
) -> Result<T, StoreError> {
    let mut pause = PAUSE.0;
    loop {
        match ask().await {
            Err(StoreError::Database(error)) if patient => {
                tracing::warn!(error, "the store does not answer; asking again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
            other => return other,
        }
    }
}
