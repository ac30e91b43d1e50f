//! The store's test suite. It is written against the trait, so that every database runs the same; the
//! only parts that know SQLite are [`Bed::open`], [`Bed::sweep`], [`Bed::rows`] and the module `sqlite`.

#![expect(clippy::unwrap_used, reason = "a test fails where its setup fails")]

mod journal;
mod memory;
mod model;
mod operate;
mod recovery;
mod retention;
mod sqlite;
mod why;

use std::{sync::Arc, time::Duration};

use weirgate::store::{
    self, Accept, Accepted, Begin, Effect, End, EndState, Finish, History, HistoryScope, NewReply,
    Receipt, ReceiptOutcome, Role, Store, StoreError, TurnState, Waiting, WaitingFilter, Write,
    sqlite::{Durability, Options, Retention, SqliteStore},
};
use weirgate_sdk::{ConversationKey, Cursor, UserKey};

/// The time in all tests of the store.
pub const NOW: i64 = 1_800_000_000_000;
/// Milliseconds of a day.
pub const DAY: i64 = 86_400_000;

/// A store in a folder of its own, that can be stopped and started.
pub struct Bed {
    folder: tempfile::TempDir,
    sqlite: Option<Arc<SqliteStore>>,
}

impl Bed {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut bed = Self {
            folder,
            sqlite: None,
        };
        bed.open().await;
        bed
    }

    pub fn options(&self) -> Options {
        Options {
            path: self.folder.path().join("weirgate.db"),
            durability: Durability::Process,
            retention: Retention {
                inbox: Duration::from_hours(24),
                outbox: Duration::from_hours(24),
                history: Duration::from_hours(30 * 24),
                audit: Duration::from_hours(90 * 24),
            },
            readers: 2,
            now: || NOW,
        }
    }

    async fn open(&mut self) {
        self.sqlite = Some(SqliteStore::open(self.options()).await.unwrap());
    }

    /// Removes what may be removed.
    pub async fn sweep(&self) {
        self.sqlite.as_ref().unwrap().sweep().await.unwrap();
    }

    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self.sqlite.as_ref().unwrap()) as Arc<dyn Store>
    }

    /// Stops without closing, and starts again.
    pub async fn crash(&mut self) {
        self.sqlite = None;
        self.open().await;
    }

    /// Closes, and starts again.
    pub async fn restart(&mut self) {
        self.sqlite.take().unwrap().close().await;
        self.open().await;
    }

    pub async fn accept(&self, messages: Vec<Accept>) -> Vec<Accepted> {
        self.accept_with(messages, None).await.unwrap()
    }

    pub async fn accept_with(
        &self,
        messages: Vec<Accept>,
        cursor: Option<Cursor>,
    ) -> Result<Vec<Accepted>, StoreError> {
        store::commit(&self.store(), |then| Write::Accept {
            platform: "telegram".into(),
            account: "main".into(),
            messages,
            cursor,
            then,
        })
        .await
    }

    pub async fn begin(&self, turn: i64) -> u32 {
        let begin = Begin { turn, at: NOW };
        store::commit(&self.store(), |then| Write::Begin(begin, then))
            .await
            .unwrap()
    }

    pub async fn finish(&self, finish: Finish) -> Result<Vec<i64>, StoreError> {
        store::commit(&self.store(), |then| Write::Finish(Arc::new(finish), then)).await
    }

    pub async fn intent(&self, id: i64, part: u32) {
        store::commit(&self.store(), |then| Write::Intent { id, part, then })
            .await
            .unwrap();
    }

    pub async fn receipt(&self, id: i64, part: u32, outcome: ReceiptOutcome) {
        let receipt = Receipt {
            id,
            part,
            outcome,
            at: NOW,
        };
        store::commit(&self.store(), |then| Write::Receipt(receipt, then))
            .await
            .unwrap();
    }

    pub async fn end(&self, ids: &[i64], state: EndState, notices: Vec<NewReply>) -> Vec<i64> {
        let ends = ids
            .iter()
            .map(|id| End {
                id: *id,
                state,
                reason: "why_not",
                at: NOW,
            })
            .collect();
        store::commit(&self.store(), |then| Write::End {
            ends,
            notices,
            then,
        })
        .await
        .unwrap()
    }

    pub async fn effects(&self, effects: Vec<Effect>) {
        let turn = Finish {
            effects,
            ..finish(&[])
        };
        self.finish(turn).await.unwrap();
    }

    /// The rows of a plain query.
    pub fn rows(&self, query: &str) -> Vec<String> {
        crate::gateway::rows(&self.options().path, query)
    }

    pub async fn waiting(&self) -> Vec<Waiting> {
        self.store()
            .waiting(0, WaitingFilter::default(), 10_000)
            .await
            .unwrap()
    }

    pub async fn waiting_ids(&self) -> Vec<i64> {
        self.waiting()
            .await
            .into_iter()
            .map(|waiting| waiting.id)
            .collect()
    }
}

pub fn conversation(name: &str) -> ConversationKey {
    ConversationKey {
        platform: "telegram".into(),
        account: "main".into(),
        conversation: name.into(),
        thread: None,
    }
}

pub fn person(name: &str) -> UserKey {
    UserKey {
        platform: "telegram".into(),
        realm: "".into(),
        id: name.into(),
    }
}

/// A message of `someone` in `g1` whose platform id is its event.
pub fn message(event: &str) -> Accept {
    Accept {
        conversation: conversation("g1"),
        person: person("someone"),
        event: event.into(),
        event_until: NOW + DAY,
        at: NOW,
        route: 3,
        priority: -2,
        shown: false,
        body: format!(r#"{{"i":"{event}","t":"hello {event}"}}"#).into(),
    }
}

/// A turn without a begin that took these messages and answers with nothing.
pub fn finish(members: &[i64]) -> Finish {
    Finish {
        turn: members.first().copied().unwrap_or_default(),
        begun: false,
        members: members.to_vec(),
        state: TurnState::Done,
        reason: None,
        history: Vec::new(),
        scope: HistoryScope {
            conversation: 1,
            person: 0,
        },
        replies: Vec::new(),
        effects: Vec::new(),
        at: NOW,
    }
}

pub fn reply(turn: i64, text: &str) -> NewReply {
    NewReply {
        conversation: 1,
        turn: Some(turn),
        sending: false,
        shown: false,
        due_at: NOW,
        body: format!(r#"{{"t":"{text}","f":"plain"}}"#).into(),
    }
}

pub fn row(role: Role, text: &str) -> History {
    History {
        role,
        turn: 0,
        at: NOW,
        parts: text.to_owned(),
    }
}

pub fn sent(message: &str, last: bool) -> ReceiptOutcome {
    ReceiptOutcome::Sent {
        message: Some(message.to_owned()),
        last,
    }
}
