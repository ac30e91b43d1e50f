//! The store's test suite. It is written against the trait, and every database runs the same: each test takes
//! the [`Engine`] that it runs on, and `suite!` lists the tests of a module once. What holds for one database
//! only is in the modules `sqlite` and `postgres`.

#![expect(clippy::unwrap_used, reason = "a test fails where its setup fails")]

mod audit;
mod compact;
mod encrypted;
mod journal;
mod leases;
mod media;
mod memory;
mod model;
mod operate;
mod pending;
mod plans;
mod postgres;
mod put_off;
mod recovery;
mod remembered;
mod retention;
mod sqlite;
mod why;

use std::{sync::Arc, time::Duration};

use weirgate::store::{
    self, Accept, Accepted, Begin, Effect, End, EndState, Finish, History, HistoryScope, LastStop,
    NewReply, Receipt, ReceiptOutcome, Role, Store, StoreError, TurnState, Waiting, WaitingFilter,
    Wanted, Write,
    config::{Durability, Retention},
    postgres::{Options as ServerOptions, PostgresStore},
    sqlite::{Options, SqliteStore},
};
use weirgate_sdk::{ConversationKey, Cursor, UserKey, settings::Secret};

pub use crate::engine::Engine;
use crate::postgres::Schema;

/// The time in all tests of the store.
pub const NOW: i64 = 1_800_000_000_000;
/// Milliseconds of a day.
pub const DAY: i64 = 86_400_000;

/// A store of its own, that can be stopped and started.
pub struct Bed {
    place: Place,
    opened: Option<Opened>,
    /// How the process before this one ended.
    before: LastStop,
}

enum Place {
    Folder(tempfile::TempDir),
    Schema(Schema),
}

#[derive(Clone)]
enum Opened {
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

/// How long rows are kept in all tests of the store.
const RETENTION: Retention = Retention {
    inbox: Duration::from_hours(24),
    outbox: Duration::from_hours(24),
    history: Duration::from_hours(30 * 24),
    audit: Duration::from_hours(90 * 24),
    media: Duration::from_hours(90 * 24),
};

impl Bed {
    pub async fn new(on: Engine) -> Self {
        let place = match on.schema().await {
            None => Place::Folder(tempfile::tempdir().unwrap()),
            Some(schema) => Place::Schema(schema),
        };
        let mut bed = Self {
            place,
            opened: None,
            before: LastStop::First,
        };
        bed.start().await;
        bed
    }

    /// How a store in a file is opened.
    pub fn options(&self) -> Options {
        let Place::Folder(folder) = &self.place else {
            panic!("it is no file");
        };
        Options {
            path: folder.path().join("weirgate.db"),
            durability: Durability::Process,
            retention: RETENTION,
            readers: 2,
            now: || NOW,
        }
    }

    /// The schema of a store on a server.
    pub fn schema(&self) -> &Schema {
        match &self.place {
            Place::Schema(schema) => schema,
            Place::Folder(_) => panic!("it is no server"),
        }
    }

    /// Opens the store and holds its accounts, as a gateway does.
    async fn start(&mut self) {
        self.open().await;
        self.before = hold(&self.store()).await;
    }

    /// Opens the store, as somebody does who only looks.
    async fn open(&mut self) {
        self.opened = Some(match &self.place {
            Place::Folder(_) => Opened::Sqlite(SqliteStore::open(self.options()).await.unwrap()),
            Place::Schema(schema) => {
                let options = server_options(schema.url());
                Opened::Postgres(PostgresStore::open(options).await.unwrap())
            }
        });
    }

    /// Removes what may be removed.
    pub async fn sweep(&self) {
        match self.opened.as_ref().unwrap() {
            Opened::Sqlite(store) => store.sweep().await.unwrap(),
            Opened::Postgres(store) => store.sweep().await.unwrap(),
        }
    }

    pub fn store(&self) -> Arc<dyn Store> {
        match self.opened.clone().unwrap() {
            Opened::Sqlite(store) => store,
            Opened::Postgres(store) => store,
        }
    }

    /// Stops without closing, and starts again.
    pub async fn crash(&mut self) {
        self.opened = None;
        self.age().await;
        self.start().await;
    }

    /// Stops without closing; then somebody looks.
    pub async fn crash_and_look(&mut self) {
        self.opened = None;
        self.age().await;
        self.open().await;
    }

    /// On a server, what a process said last was long ago.
    pub async fn age(&self) {
        if let Place::Schema(schema) = &self.place {
            schema
                .execute("UPDATE process SET until = '-infinity', renewed_at = '-infinity'")
                .await;
        }
    }

    /// Closes, and starts again.
    pub async fn restart(&mut self) {
        self.store().close().await;
        self.opened = None;
        self.start().await;
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
    pub async fn rows(&self, query: &str) -> Vec<String> {
        match &self.place {
            Place::Folder(_) => crate::gateway::rows(&self.options().path, query),
            Place::Schema(schema) => {
                let columns = "replace(trim('()' FROM rows::text), ',', '|')";
                let query = format!("SELECT {columns} FROM ({query}) AS rows");
                schema.texts(&query).await
            }
        }
    }

    /// Runs a statement behind the store's back.
    pub async fn execute(&self, sql: &str) {
        match &self.place {
            Place::Folder(_) => crate::gateway::execute(&self.options().path, sql),
            Place::Schema(schema) => schema.execute(sql).await,
        }
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

/// The accounts in the tests of the store.
pub fn wanted() -> Vec<Wanted> {
    let account = |account: &str, shared| Wanted {
        platform: "telegram".into(),
        account: account.into(),
        shared,
    };
    vec![account("main", false), account("second", false)]
}

/// Takes the accounts, which nobody else has, and tells how the one ended that had the first of them.
pub async fn hold(store: &Arc<dyn Store>) -> LastStop {
    let held = store.hold(&wanted()).await.unwrap();
    assert_eq!(held.taken.len(), 2, "{held:?}");
    let leases: Vec<i64> = held.taken.iter().map(|taken| taken.lease).collect();
    store.adopt(&leases);
    held.taken[0].before
}

/// How a store on a server is opened.
pub fn server_options(url: String) -> ServerOptions {
    ServerOptions {
        url: Secret::new(url),
        durability: Durability::Process,
        retention: RETENTION,
        readers: 2,
        now: || NOW,
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
