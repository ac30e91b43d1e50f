//! A store that fails and crashes as it is told, around the real one.
//!
//! Owns the faults, and the record of what was really committed. A crash is exact: an operation is
//! committed or not, nobody is told, and from then on nothing is written any more.

mod outcome;

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;
use weirgate::store::{
    Accepted, AuditFilter, AuditPage, ConversationFilter, Due, FailedMessage, Fate, Held, History,
    HistoryScope, MediaQuestion, MediaRow, MemoryChange, MemoryQuestion, MemoryRow, MemoryStore,
    NumberedRow, Page, PendingFilter, PendingReply, PendingStore, Place, Receipt, ReplyFilter,
    Shown, ShownThread, Store, StoreError, StoredPending, StoredReply, Waiting, WaitingFilter,
    Wanted, Write,
};
use weirgate_sdk::{AccountName, ConversationKey, Cursor, Platform, ThreadId, UserKey};

use super::dice::Dice;
use outcome::{Graveyard, refuse, unwatched, watch};

/// What was committed, over all processes.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Messages by event key: their rows.
    pub accepted: BTreeMap<String, Accepted>,
    /// Parts whose last outcome is written.
    pub receipts: HashSet<(i64, u32)>,
    /// The process that runs now, counted from 0.
    pub process: usize,
    /// The turns that ended.
    pub turns: BTreeMap<i64, Ended>,
    /// How many turns ended twice.
    pub ended_twice: Vec<i64>,
    /// Operations that were refused.
    pub refused: usize,
}

/// A turn whose end was committed.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Its messages.
    pub members: Vec<i64>,
    /// The process in which it ended.
    pub process: usize,
}

/// When to fail and when to crash.
#[derive(Debug, Default)]
pub struct Faults {
    /// Chance of a refused operation, in thousandths.
    pub refuse: u64,
    /// Operations until the crash; its operation is committed if the second is true.
    pub crash: Option<(u64, bool)>,
}

/// The store.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    ledger: Arc<Mutex<Ledger>>,
    state: Mutex<State>,
    graveyard: Graveyard,
    /// Notified at the crash.
    pub crashed: Arc<Notify>,
}

struct State {
    faults: Faults,
    dice: Dice,
    dead: bool,
    refuses_receipts: bool,
    away_until: Option<tokio::time::Instant>,
}

enum Fault {
    None,
    Refuse,
    Vanish,
    CommitAndVanish,
}

impl FaultyStore {
    pub fn new(
        inner: Arc<dyn Store>,
        ledger: Arc<Mutex<Ledger>>,
        faults: Faults,
        dice: Dice,
    ) -> Arc<Self> {
        let state = State {
            faults,
            dice,
            dead: false,
            refuses_receipts: false,
            away_until: None,
        };
        let crashed = Arc::default();
        let graveyard = Graveyard::default();
        Arc::new(Self {
            inner,
            ledger,
            state: Mutex::new(state),
            graveyard,
            crashed,
        })
    }

    /// The process is gone: nothing of it is left.
    pub fn bury(&self) {
        let dead = std::mem::take(&mut *self.graveyard.lock());
        drop(dead);
    }

    /// Whether receipts are refused from now on, and nothing else.
    pub fn refuse_receipts(&self, refuse: bool) {
        self.state.lock().refuses_receipts = refuse;
    }

    fn fault(&self, write: &Write) -> Fault {
        let state = &mut *self.state.lock();
        if state.dead {
            return Fault::Vanish;
        }
        if state.refuses_receipts && matches!(write, Write::Receipt(..)) {
            return Fault::Refuse;
        }
        if let Some((left, commit)) = &mut state.faults.crash {
            *left = left.saturating_sub(1);
            if *left == 0 {
                state.dead = true;
                self.crashed.notify_one();
                return if *commit {
                    Fault::CommitAndVanish
                } else {
                    Fault::Vanish
                };
            }
        }
        // Trouble comes in stretches: a full disk is full for a while.
        let now = tokio::time::Instant::now();
        if state.away_until.is_some_and(|until| now < until) {
            return Fault::Refuse;
        }
        if state.faults.refuse > 0 && state.dice.chance(state.faults.refuse) {
            let stretch = Duration::from_millis(state.dice.within(1, 3_000));
            state.away_until = Some(now + stretch);
            return Fault::Refuse;
        }
        Fault::None
    }

    /// The same operation, with its success written into the ledger; the answer is swallowed if `mute`.
    fn watched(&self, write: Write, mute: bool) -> Write {
        let mute = mute.then(|| Arc::clone(&self.graveyard));
        let ledger = Arc::clone(&self.ledger);
        match write {
            Write::Accept {
                platform,
                account,
                messages,
                cursor,
                then,
            } => {
                let keys: Vec<String> = messages
                    .iter()
                    .map(|message| format!("{platform}/{}", message.event))
                    .collect();
                let then = watch(then, mute, move |rows: &Vec<Accepted>| {
                    let mut ledger = ledger.lock();
                    for (key, row) in keys.into_iter().zip(rows) {
                        ledger.accepted.entry(key).or_insert(*row);
                    }
                });
                Write::Accept {
                    platform,
                    account,
                    messages,
                    cursor,
                    then,
                }
            }
            Write::Finish(finish, then) => {
                let (turn, members) = (finish.turn, finish.members.clone());
                let then = watch(then, mute, move |_: &Vec<i64>| {
                    let mut ledger = ledger.lock();
                    let process = ledger.process;
                    if ledger
                        .turns
                        .insert(turn, Ended { members, process })
                        .is_some()
                    {
                        ledger.ended_twice.push(turn);
                    }
                });
                Write::Finish(finish, then)
            }
            Write::Intent { id, part, then } => {
                let then = watch(then, mute, move |()| {
                    ledger.lock().receipts.remove(&(id, part));
                });
                Write::Intent { id, part, then }
            }
            Write::Receipt(receipt, then) => {
                let Receipt { id, part, .. } = receipt;
                let then = watch(then, mute, move |()| {
                    ledger.lock().receipts.insert((id, part));
                });
                Write::Receipt(receipt, then)
            }
            other => unwatched(other, mute),
        }
    }
}

#[async_trait]
impl PendingStore for FaultyStore {
    async fn pendings(
        &self,
        which: PendingFilter,
        limit: usize,
    ) -> Result<Vec<StoredPending>, StoreError> {
        self.inner.pendings(which, limit).await
    }
}

#[async_trait]
impl MemoryStore for FaultyStore {
    async fn remembered(
        &self,
        question: MemoryQuestion,
        limit: usize,
    ) -> Result<Vec<MemoryRow>, StoreError> {
        self.inner.remembered(question, limit).await
    }

    async fn change_memory(&self, changes: Vec<MemoryChange>) -> Result<Vec<i64>, StoreError> {
        self.inner.change_memory(changes).await
    }

    async fn memory_places(
        &self,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Place>, StoreError> {
        self.inner.memory_places(after, limit).await
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn write(&self, write: Write) {
        match self.fault(&write) {
            Fault::None => self.inner.write(self.watched(write, false)).await,
            Fault::Refuse => {
                self.ledger.lock().refused += 1;
                refuse(write);
            }
            Fault::Vanish => std::future::pending().await,
            Fault::CommitAndVanish => {
                self.inner.write(self.watched(write, true)).await;
                std::future::pending().await
            }
        }
    }

    fn try_write(&self, write: Write) -> Result<(), Write> {
        self.inner.try_write(self.watched(write, false))
    }

    async fn hold(&self, wanted: &[Wanted]) -> Result<Held, StoreError> {
        self.inner.hold(wanted).await
    }

    fn adopt(&self, leases: &[i64]) {
        self.inner.adopt(leases);
    }

    fn in_force(&self) -> bool {
        self.inner.in_force()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn others(&self) -> u64 {
        self.inner.others()
    }

    async fn waiting(
        &self,
        after: i64,
        filter: WaitingFilter,
        limit: usize,
    ) -> Result<Vec<Waiting>, StoreError> {
        self.inner.waiting(after, filter, limit).await
    }

    async fn bodies(&self, ids: &[i64]) -> Result<Vec<Option<Box<str>>>, StoreError> {
        self.inner.bodies(ids).await
    }

    async fn find_waiting(
        &self,
        conversation: &ConversationKey,
        message: &str,
    ) -> Result<Option<Waiting>, StoreError> {
        self.inner.find_waiting(conversation, message).await
    }

    async fn pending_replies(
        &self,
        leases: Option<&[i64]>,
        after: i64,
        limit: usize,
    ) -> Result<Vec<PendingReply>, StoreError> {
        self.inner.pending_replies(leases, after, limit).await
    }

    async fn conversations(
        &self,
        filter: ConversationFilter,
        limit: usize,
    ) -> Result<Vec<(i64, ConversationKey)>, StoreError> {
        self.inner.conversations(filter, limit).await
    }

    async fn conversation_number(&self, key: &ConversationKey) -> Result<Option<i64>, StoreError> {
        self.inner.conversation_number(key).await
    }

    async fn deferred(&self, limit: usize) -> Result<Vec<Due>, StoreError> {
        self.inner.deferred(limit).await
    }

    async fn put_off(
        &self,
        conversation: i64,
        subjects: &str,
        limit: usize,
    ) -> Result<Vec<Due>, StoreError> {
        self.inner.put_off(conversation, subjects, limit).await
    }

    async fn conversation(&self, id: i64) -> Result<Option<ConversationKey>, StoreError> {
        self.inner.conversation(id).await
    }

    async fn person_number(&self, key: &UserKey) -> Result<Option<i64>, StoreError> {
        self.inner.person_number(key).await
    }

    async fn person(&self, id: i64) -> Result<Option<UserKey>, StoreError> {
        self.inner.person(id).await
    }

    async fn history(
        &self,
        scope: HistoryScope,
        limit: usize,
        ambient: (usize, Duration),
    ) -> Result<Vec<History>, StoreError> {
        self.inner.history(scope, limit, ambient).await
    }

    async fn numbered_history(
        &self,
        scope: HistoryScope,
        limit: usize,
    ) -> Result<Vec<NumberedRow>, StoreError> {
        self.inner.numbered_history(scope, limit).await
    }

    async fn steps(&self, turn: i64) -> Result<Vec<String>, StoreError> {
        self.inner.steps(turn).await
    }

    async fn settings(&self, of: Place) -> Result<Vec<(String, String)>, StoreError> {
        self.inner.settings(of).await
    }

    async fn cursor(
        &self,
        platform: &Platform,
        account: &AccountName,
    ) -> Result<Option<Cursor>, StoreError> {
        self.inner.cursor(platform, account).await
    }

    async fn fate(
        &self,
        conversation: i64,
        message: Option<&str>,
        person: i64,
        before: i64,
    ) -> Result<Option<Fate>, StoreError> {
        self.inner.fate(conversation, message, person, before).await
    }

    async fn shown(
        &self,
        conversation: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Shown>, StoreError> {
        self.inner.shown(conversation, before, limit).await
    }

    async fn newest_thread(
        &self,
        conversation: &ConversationKey,
    ) -> Result<Option<ThreadId>, StoreError> {
        self.inner.newest_thread(conversation).await
    }

    async fn threads(
        &self,
        conversation: &ConversationKey,
        limit: usize,
    ) -> Result<Vec<ShownThread>, StoreError> {
        self.inner.threads(conversation, limit).await
    }

    async fn sent_lately(
        &self,
        limit: usize,
    ) -> Result<Vec<(ConversationKey, String)>, StoreError> {
        self.inner.sent_lately(limit).await
    }

    async fn replies(
        &self,
        after: i64,
        filter: ReplyFilter,
        limit: usize,
    ) -> Result<Page<StoredReply>, StoreError> {
        self.inner.replies(after, filter, limit).await
    }

    async fn failed_messages(
        &self,
        after: i64,
        limit: usize,
    ) -> Result<Page<FailedMessage>, StoreError> {
        self.inner.failed_messages(after, limit).await
    }

    async fn media(&self, question: MediaQuestion) -> Result<Vec<MediaRow>, StoreError> {
        self.inner.media(question).await
    }

    async fn audit(&self, filter: AuditFilter, limit: usize) -> Result<AuditPage, StoreError> {
        self.inner.audit(filter, limit).await
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        self.inner.secret().await
    }

    async fn healthy(&self) -> Result<(), StoreError> {
        self.inner.healthy().await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
