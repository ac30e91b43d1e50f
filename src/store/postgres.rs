//! The store on PostgreSQL: one writing thread, a few reading connections, one server.
//!
//! Owns the way of an operation to the writer and back. `docs/decisions/0010-postgresql.md` says how commits
//! are grouped and what happens when a connection breaks. It never runs SQL itself.

mod audit;
mod compact;
mod connect;
mod deferred;
mod erase;
mod error;
mod fate;
pub(super) mod import;
mod lease;
mod listing;
mod media;
mod memory;
mod migrate;
mod names;
mod operate;
mod pending;
mod plan;
mod question;
mod read;
mod session;
mod size;
mod statement;
mod step;
mod sweep;
mod tenure;
mod thread;
mod writer;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use weirgate_sdk::{
    AccountName, ConversationKey, Cursor, Platform, ThreadId, UserKey, settings::Secret,
};

pub use super::config::{Durability, Retention};
pub use error::OpenError;

use self::{
    connect::{Address, CONNECT, within},
    read::Readers,
    tenure::Tenure,
    thread::{Job, Thread},
};
use super::{
    AuditFilter, AuditPage, ConversationFilter, Due, FailedMessage, Fate, Held, History,
    HistoryScope, MediaQuestion, MediaRow, NumberedRow, Page, PendingReply, Place, ReplyFilter,
    Shown, ShownThread, Store, StoreError, StoredReply, Waiting, WaitingFilter, Wanted, Write,
    sqlite::outcome::settle,
};

/// How long [`Store::healthy`] waits for its write.
const HEALTHY: Duration = Duration::from_secs(2);

/// How the store is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address of the database, `postgres://…`; it may hold a password.
    pub url: Secret,
    /// What a commit survives.
    pub durability: Durability,
    /// How long finished rows are kept.
    pub retention: Retention,
    /// Reading connections, at least 1.
    pub readers: u32,
    /// The time in milliseconds since 1970, for retention and the age of ambient messages.
    pub now: fn() -> i64,
}

/// The store in a PostgreSQL database, or in one schema of it.
pub struct PostgresStore {
    thread: Thread,
    readers: Readers,
    tenure: Arc<Tenure>,
    now: fn() -> i64,
    process: i64,
    secret: [u8; 32],
    /// Ends with the store.
    _size: JoinSet<()>,
}

/// Whether a database lets us in, and whether a gateway is at work on it. Changes nothing.
///
/// # Errors
/// It does not let us in.
pub async fn reach(options: &Options) -> Result<bool, OpenError> {
    let address = Address::read(options)?;
    let look = async {
        let mut connection = address.writer().await?;
        session::is_taken(&mut connection).await
    };
    let looked = within(CONNECT, look).await;
    looked.map_err(|error| OpenError::Unreachable {
        address: address.to_string(),
        reason: error.to_string(),
    })
}

impl PostgresStore {
    /// Opens the store, which others may have open too.
    ///
    /// # Errors
    /// The database cannot be reached or is not ours to open; see [`OpenError`].
    pub async fn open(options: Options) -> Result<Arc<Self>, OpenError> {
        let address = Address::read(&options)?;
        let readers = Readers::new(address.readers(options.readers));
        let now = options.now;
        let tenure = Arc::<Tenure>::default();
        let started = Thread::start(options, address, Arc::clone(&tenure)).await?;
        let (thread, (process, secret)) = started;
        let mut size = JoinSet::new();
        size.spawn(size::watch(readers.clone()));
        Ok(Arc::new(Self {
            _size: size,
            thread,
            readers,
            tenure,
            now,
            process,
            secret,
        }))
    }

    /// Opens the store for somebody who is no gateway, if no gateway is at work on it.
    ///
    /// # Errors
    /// [`OpenError::InUse`] if one is; else as [`PostgresStore::open`].
    pub async fn open_unused(options: Options) -> Result<Arc<Self>, OpenError> {
        if reach(&options).await? {
            let address = Address::read(&options)?.to_string();
            return Err(OpenError::InUse { address });
        }
        Self::open(options).await
    }

    /// Removes now what retention allows, as idle time would do bit by bit.
    ///
    /// # Errors
    /// The store's error.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        self.order(Job::Sweep).await
    }

    /// Has the writer do something beside the operations, in their order.
    async fn order<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let sent = self.thread.jobs().send(job(sender)).await;
        sent.map_err(|_| StoreError::Closed)?;
        receiver.await.unwrap_or(Err(StoreError::Closed))
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn write(&self, write: Write) {
        let sent = self.thread.jobs().send(Job::Write(write)).await;
        if let Err(mpsc::error::SendError(Job::Write(write))) = sent {
            settle([(write, Err(StoreError::Closed))]);
        }
    }

    fn try_write(&self, write: Write) -> Result<(), Write> {
        let sent = self.thread.jobs().try_send(Job::Write(write));
        match sent.map_err(mpsc::error::TrySendError::into_inner) {
            Err(Job::Write(write)) => Err(write),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    async fn hold(&self, wanted: &[Wanted]) -> Result<Held, StoreError> {
        self.order(|reply| Job::Hold(wanted.to_vec(), reply)).await
    }

    fn adopt(&self, leases: &[i64]) {
        self.tenure.adopt(leases);
    }

    fn in_force(&self) -> bool {
        self.tenure.in_force()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn others(&self) -> u64 {
        self.tenure.others()
    }

    async fn waiting(
        &self,
        mut after: i64,
        mut filter: WaitingFilter,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        filter.leases = filter.leases.or_else(|| self.tenure.adopted());
        let mut found = Vec::new();
        while found.len() < limit {
            let left = limit - found.len();
            let (rows, next) = self
                .readers
                .ask(async {
                    question::waiting(&mut *self.readers.get().await?, after, &filter, left).await
                })
                .await?;
            found.extend(rows);
            let Some(next) = next else { break };
            after = next;
        }
        Ok(found)
    }

    async fn bodies(&self, ids: &[i64]) -> Result<Vec<Option<Box<str>>>, StoreError> {
        self.readers
            .ask(async { question::bodies(&mut *self.readers.get().await?, ids).await })
            .await
    }

    async fn find_waiting(
        &self,
        conversation: &ConversationKey,
        message: &str,
    ) -> Result<Option<Waiting>, StoreError> {
        self.readers
            .ask(async {
                question::find_waiting(&mut *self.readers.get().await?, conversation, message).await
            })
            .await
    }

    async fn pending_replies(
        &self,
        leases: Option<&[i64]>,
        mut after: i64,
        limit: usize,
    ) -> Result<Vec<PendingReply>, StoreError> {
        let mut found = Vec::new();
        while found.len() < limit {
            let left = limit - found.len();
            let (rows, next) = self
                .readers
                .ask(async {
                    let mut reader = self.readers.get().await?;
                    let whose = (self.process, leases);
                    question::pending_replies(&mut reader, whose, after, left).await
                })
                .await?;
            found.extend(rows);
            let Some(next) = next else { break };
            after = next;
        }
        Ok(found)
    }

    async fn deferred(&self, limit: usize) -> Result<Vec<Due>, StoreError> {
        let leases = self.tenure.adopted();
        self.readers
            .ask(async {
                deferred::due(&mut *self.readers.get().await?, leases.as_deref(), limit).await
            })
            .await
    }

    async fn put_off(
        &self,
        conversation: i64,
        subjects: &str,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        let what = (conversation, subjects);
        self.readers
            .ask(async { deferred::about(&mut *self.readers.get().await?, what, limit).await })
            .await
    }

    async fn conversation(&self, id: i64) -> Result<Option<ConversationKey>, StoreError> {
        let key = self
            .readers
            .ask(async { question::conversation(&mut *self.readers.get().await?, id).await })
            .await?;
        Ok(key.as_deref().and_then(ConversationKey::decode))
    }

    async fn conversations(
        &self,
        filter: ConversationFilter,
        limit: usize,
    ) -> Result<Vec<(i64, ConversationKey)>, StoreError> {
        let rows = self
            .readers
            .ask(async {
                question::conversations(&mut *self.readers.get().await?, filter, limit).await
            })
            .await?;
        Ok(super::row::conversations(rows))
    }

    async fn conversation_number(&self, key: &ConversationKey) -> Result<Option<i64>, StoreError> {
        self.readers
            .ask(async {
                question::conversation_number(&mut *self.readers.get().await?, key).await
            })
            .await
    }

    async fn person_number(&self, key: &UserKey) -> Result<Option<i64>, StoreError> {
        self.readers
            .ask(async { question::person_number(&mut *self.readers.get().await?, key).await })
            .await
    }

    async fn person(&self, id: i64) -> Result<Option<UserKey>, StoreError> {
        let key = self
            .readers
            .ask(async { question::person(&mut *self.readers.get().await?, id).await })
            .await?;
        Ok(key.as_deref().and_then(UserKey::decode))
    }

    async fn history(
        &self,
        scope: HistoryScope,
        limit: usize,
        (ambient, age): (usize, Duration),
    ) -> Result<Vec<History>, StoreError> {
        let since = (self.now)().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
        self.readers
            .ask(async {
                let mut reader = self.readers.get().await?;
                question::history(&mut reader, scope, limit, ambient, since).await
            })
            .await
    }

    async fn numbered_history(
        &self,
        scope: HistoryScope,
        limit: usize,
    ) -> Result<Vec<NumberedRow>, StoreError> {
        self.readers
            .ask(async {
                let mut reader = self.readers.get().await?;
                question::numbered_history(&mut reader, scope, limit).await
            })
            .await
    }

    async fn steps(&self, turn: i64) -> Result<Vec<String>, StoreError> {
        self.readers
            .ask(async { question::steps(&mut *self.readers.get().await?, turn).await })
            .await
    }

    async fn settings(&self, of: Place) -> Result<Vec<(String, String)>, StoreError> {
        self.readers
            .ask(async { question::settings(&mut *self.readers.get().await?, of).await })
            .await
    }

    async fn cursor(
        &self,
        platform: &Platform,
        account: &AccountName,
    ) -> Result<Option<Cursor>, StoreError> {
        self.readers
            .ask(async {
                question::cursor(&mut *self.readers.get().await?, platform, account).await
            })
            .await
    }

    async fn fate(
        &self,
        conversation: i64,
        message: Option<&str>,
        person: i64,
        before: i64,
    ) -> Result<Option<Fate>, StoreError> {
        self.readers
            .ask(async {
                let mut reader = self.readers.get().await?;
                fate::fate(&mut reader, conversation, message, person, before).await
            })
            .await
    }

    async fn sent_lately(
        &self,
        limit: usize,
    ) -> Result<Vec<(ConversationKey, String)>, StoreError> {
        self.readers
            .ask(async { question::sent_lately(&mut *self.readers.get().await?, limit).await })
            .await
    }

    async fn shown(
        &self,
        conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Shown>, StoreError> {
        self.readers
            .ask(async {
                question::shown(&mut *self.readers.get().await?, conversation, before, limit).await
            })
            .await
    }

    async fn newest_thread(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, StoreError> {
        self.readers
            .ask(async {
                question::newest_thread(&mut *self.readers.get().await?, conversation).await
            })
            .await
    }

    async fn threads(
        &self,
        conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ShownThread>, StoreError> {
        self.readers
            .ask(async {
                question::threads(&mut *self.readers.get().await?, conversation, limit).await
            })
            .await
    }

    async fn replies(
        &self,
        after: i64,
        filter: ReplyFilter,
        limit: usize,
    ) -> Result<Page<StoredReply>, StoreError> {
        self.readers
            .ask(async {
                listing::replies(&mut *self.readers.get().await?, after, filter, limit).await
            })
            .await
    }

    async fn failed_messages(
        &self,
        after: i64,
        limit: usize,
    ) -> Result<Page<FailedMessage>, StoreError> {
        self.readers
            .ask(async {
                listing::failed_messages(&mut *self.readers.get().await?, after, limit).await
            })
            .await
    }

    async fn media(&self, question: MediaQuestion) -> Result<Vec<MediaRow>, StoreError> {
        self.readers
            .ask(async { media::rows(&mut *self.readers.get().await?, &question).await })
            .await
    }

    async fn audit(&self, filter: AuditFilter, limit: usize) -> Result<AuditPage, StoreError> {
        self.readers
            .ask(async { audit::ask::page(&mut *self.readers.get().await?, &filter, limit).await })
            .await
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        Ok(self.secret)
    }

    async fn healthy(&self) -> Result<(), StoreError> {
        tokio::time::timeout(HEALTHY, self.order(Job::Probe))
            .await
            .unwrap_or_else(|_| {
                Err(StoreError::Database(
                    "a write took longer than 2 seconds".to_owned(),
                ))
            })
    }

    async fn close(&self) {
        self.readers.close().await;
        self.thread.close().await;
    }
}
