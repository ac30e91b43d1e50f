//! The store on SQLite: one writing thread, a few reading connections, one file.
//!
//! Owns the way of an operation to the writer and back. `docs/decisions/0001-sqlite-writer.md` says why
//! writer and readers use different libraries. It never runs SQL itself.

mod audit;
pub(super) mod code;
pub mod copy;
mod deferred;
mod effect;
mod erase;
pub(super) mod export;
mod fate;
mod folder;
mod ids;
mod listing;
mod media;
mod memory;
mod migrate;
mod names;
mod open;
pub(super) mod operate;
pub(super) mod operation;
pub(super) mod outcome;
mod pending;
mod question;
mod read;
mod sweep;
mod thread;
mod writer;

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use weirgate_sdk::{AccountName, ConversationKey, Cursor, Platform, ThreadId, UserKey};

pub use super::config::{Durability, Retention};
pub use folder::OpenError;
pub use open::Options;

use self::{
    outcome::settle,
    read::Readers,
    thread::{Job, Thread},
    writer::{Shared, Writer},
};
use super::{
    AuditFilter, AuditPage, Due, FailedMessage, Fate, Held, History, HistoryScope, LastStop,
    MediaQuestion, MediaRow, NumberedRow, Page, PendingReply, Place, ReplyFilter, Shown,
    ShownThread, Store, StoreError, StoredReply, Taken, Waiting, WaitingFilter, Wanted, Write,
};

/// How long [`Store::healthy`] waits for its write.
const HEALTHY: Duration = Duration::from_secs(2);

/// The store in one SQLite file.
pub struct SqliteStore {
    way: Way,
    readers: Readers,
    shared: Arc<Shared>,
    now: fn() -> i64,
    process: i64,
    secret: [u8; 32],
    /// The accounts that were asked for: the folder's lock makes all of them this process's.
    held: Mutex<Option<HashSet<(Platform, AccountName)>>>,
}

/// The lease of everything in a file.
const LEASE: i64 = 1;

/// How operations reach the writer.
enum Way {
    /// Through a queue to its thread.
    Thread(Thread),
    /// On the caller's thread.
    Inline(Box<Mutex<Option<Writer>>>),
}

impl SqliteStore {
    /// Removes now what retention allows, as idle time would do bit by bit.
    ///
    /// # Errors
    /// The store's error.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        self.order(Job::Sweep, Writer::sweep_all).await
    }

    /// Has the writer do something beside the operations, in their order.
    async fn order<T>(
        &self,
        job: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Job,
        here: impl FnOnce(&mut Writer) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &self.way {
            Way::Thread(thread) => {
                let (sender, receiver) = oneshot::channel();
                thread
                    .jobs()
                    .send(job(sender))
                    .await
                    .map_err(|_| StoreError::Closed)?;
                receiver.await.unwrap_or(Err(StoreError::Closed))
            }
            Way::Inline(writer) => writer.lock().as_mut().map_or(Err(StoreError::Closed), here),
        }
    }

    /// Does an operation on this thread; gives it back if the store is closed. `then` runs without the
    /// lock, so it may hand in the next operation.
    fn here(writer: &Mutex<Option<Writer>>, write: Write) -> Result<(), Write> {
        let settled = match writer.lock().as_mut() {
            Some(writer) => writer.run(vec![write]),
            None => return Err(write),
        };
        settle(settled);
        Ok(())
    }
}

fn closed(write: Write) {
    settle([(write, Err(StoreError::Closed))]);
}

#[async_trait]
impl Store for SqliteStore {
    async fn write(&self, write: Write) {
        match &self.way {
            Way::Thread(thread) => {
                let sent = thread.jobs().send(Job::Write(write)).await;
                if let Err(mpsc::error::SendError(Job::Write(write))) = sent {
                    closed(write);
                }
            }
            Way::Inline(writer) => {
                if let Err(write) = Self::here(writer, write) {
                    closed(write);
                }
            }
        }
    }

    fn try_write(&self, write: Write) -> Result<(), Write> {
        match &self.way {
            Way::Thread(thread) => {
                match thread
                    .jobs()
                    .try_send(Job::Write(write))
                    .map_err(|error| error.into_inner())
                {
                    Err(Job::Write(write)) => Err(write),
                    Ok(()) | Err(_) => Ok(()),
                }
            }
            Way::Inline(writer) => Self::here(writer, write),
        }
    }

    async fn hold(&self, wanted: &[Wanted]) -> Result<Held, StoreError> {
        let first = self.held.lock().is_none();
        // What is asked for later is new here: what an earlier process left was taken up before.
        let before = if first {
            self.order(Job::LastStop, Writer::last_stop).await?
        } else {
            LastStop::First
        };
        let mut held = self.held.lock();
        let held = held.get_or_insert_default();
        let new = wanted
            .iter()
            .filter(|wanted| held.insert((wanted.platform.clone(), wanted.account.clone())));
        let taken = new.map(|wanted| Taken {
            wanted: wanted.clone(),
            lease: LEASE,
            before,
        });
        Ok(Held {
            taken: taken.collect(),
            expiring: false,
        })
    }

    fn adopt(&self, _leases: &[i64]) {}

    fn in_force(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn others(&self) -> u64 {
        0
    }

    async fn waiting(
        &self,
        after: i64,
        filter: WaitingFilter,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        let mut after = after.max(self.shared.inbox_floor.load(Ordering::Relaxed));
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
        _leases: Option<&[i64]>,
        after: i64,
        limit: usize,
    ) -> Result<Vec<PendingReply>, StoreError> {
        let mut after = after.max(self.shared.outbox_floor.load(Ordering::Relaxed));
        let mut found = Vec::new();
        while found.len() < limit {
            let left = limit - found.len();
            let (rows, next) = self
                .readers
                .ask(async {
                    let mut reader = self.readers.get().await?;
                    question::pending_replies(&mut reader, self.process, after, left).await
                })
                .await?;
            found.extend(rows);
            let Some(next) = next else { break };
            after = next;
        }
        Ok(found)
    }

    async fn deferred(&self, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.readers
            .ask(async { deferred::due(&mut *self.readers.get().await?, limit).await })
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
        filter: super::ConversationFilter,
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
        let probe = self.order(Job::Probe, Writer::probe);
        let slow = || StoreError::Database("a write took longer than 2 seconds".to_owned());
        let done = tokio::time::timeout(HEALTHY, probe).await;
        done.unwrap_or_else(|_| Err(slow()))
    }

    async fn close(&self) {
        self.readers.close().await;
        match &self.way {
            Way::Thread(thread) => thread.close().await,
            Way::Inline(writer) => {
                if let Some(writer) = writer.lock().take() {
                    writer.close();
                }
            }
        }
    }
}
