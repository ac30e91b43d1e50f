//! The one writer: groups operations into transactions, isolates the one that fails, and finds out what
//! became of a commit whose answer was lost.
//!
//! Owns the writing connection and the name caches. It takes what is there and commits at once; it never
//! waits for more to come, and never tells a caller that nothing was changed unless that is so.

mod own;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{Connection as _, PgConnection};

use super::{
    Options, audit, compact,
    connect::{Address, CONNECT, within},
    erase,
    error::{Meaning, OpenError, meaning},
    lease::Holding,
    media, memory,
    names::Names,
    operate, pending,
    plan::{Planner, ids},
    session::{self, Session, Taken},
    statement,
    sweep::Sweep,
    tenure::Tenure,
};
use crate::{
    store::{
        StoreError, Write,
        audit::Head,
        config::Retention,
        failpoint::{Moment, around},
        sqlite::outcome::{Outcome, settle},
    },
    telemetry::metrics,
};

/// How long all statements of a commit together may take.
const TRANSACTION: Duration = Duration::from_secs(20);
/// The first and the longest pause between two attempts to learn what became of a commit.
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// Why a group of operations was not committed.
enum Failure {
    /// It certainly was not; what the server said, and whether each may be tried alone.
    Refused(String, bool),
    /// It certainly was not: the connection is gone or was never there.
    Lost(String),
    /// The commit was asked for and no answer came.
    Unknown(Vec<Outcome>, String),
    /// Another process has taken over.
    Fenced,
}

/// Asked while the database is away: whether the store should give up.
pub type Meanwhile<'a> = &'a mut dyn FnMut(&str) -> bool;

/// The writing half of the store.
pub struct Writer {
    address: Address,
    connection: Option<PgConnection>,
    session: Session,
    names: Names,
    /// The number of the last commit that is known to have happened.
    commits: i64,
    away: bool,
    fenced: bool,
    /// The number of this process's last transaction among those of all.
    writes: Option<i64>,
    tenure: Arc<Tenure>,
    /// Everything that this process holds, in the order in which it was taken.
    holdings: Vec<Holding>,
    /// Of that, the lease of each account, by number; `None` for a process that only looks.
    pub(super) leases: Option<Arc<HashMap<i64, i64>>>,
    /// When the database was last known to have heard this process, and when that was too long ago.
    heard_at: Option<Instant>,
    late_at: Option<Instant>,
    pub(super) now: fn() -> i64,
    pub(super) retention: Retention,
    pub(super) sweep: Sweep,
    /// The newest record of the audit log that was logged.
    audit_logged: i64,
}

impl Writer {
    /// Opens the database, brings its schema up to date, and enters this start of the gateway.
    pub async fn open(
        options: &Options,
        address: Address,
        tenure: Arc<Tenure>,
    ) -> Result<(Self, [u8; 32]), OpenError> {
        let unreachable = |error: sqlx::Error| OpenError::Unreachable {
            address: address.to_string(),
            reason: error.to_string(),
        };
        let mut connection = address.writer().await.map_err(unreachable)?;
        let (session, secret) = Session::enter(&mut connection, &address, (options.now)()).await?;
        let writer = Self {
            address,
            connection: Some(connection),
            session,
            names: Names::default(),
            commits: 0,
            away: false,
            fenced: false,
            writes: None,
            tenure,
            holdings: Vec::new(),
            leases: None,
            heard_at: None,
            late_at: None,
            now: options.now,
            retention: options.retention,
            sweep: Sweep::default(),
            audit_logged: 0,
        };
        Ok((writer, secret))
    }

    /// The number of this start of the gateway.
    pub fn process(&self) -> i64 {
        self.session.process
    }

    /// Commits operations together, or in ever smaller groups if the server refuses one of them, and tells
    /// the callers, in order.
    pub async fn run(&mut self, batch: Vec<Write>, meanwhile: Meanwhile<'_>) {
        let mut groups = vec![batch];
        while let Some(mut batch) = groups.pop() {
            let error = match self.attempt(&batch, meanwhile).await {
                Ok(outcomes) => {
                    settle(batch.into_iter().zip(outcomes.into_iter().map(Ok)));
                    continue;
                }
                Err(Failure::Refused(error, true)) if batch.len() > 1 => {
                    tracing::warn!(error, operations = batch.len(), "a group commit failed");
                    groups.push(batch.split_off(batch.len() / 2));
                    groups.push(batch);
                    continue;
                }
                Err(Failure::Refused(error, _) | Failure::Lost(error)) => {
                    StoreError::Database(error)
                }
                // Nobody knows, and the store closes: whoever opens it next will see.
                Err(Failure::Unknown(..)) => StoreError::Closed,
                Err(Failure::Fenced) => StoreError::Fenced,
            };
            metrics::journal_failed();
            let failed = batch.into_iter().map(|write| (write, Err(error.clone())));
            settle(failed.collect::<Vec<_>>());
        }
    }

    /// Commits a group. What was certainly not committed because the connection broke is tried once more.
    async fn attempt(
        &mut self,
        batch: &[Write],
        meanwhile: Meanwhile<'_>,
    ) -> Result<Vec<Outcome>, Failure> {
        let mut again = true;
        loop {
            let was_connected = self.connection.is_some();
            match self.commit(batch).await {
                Err(Failure::Lost(error)) if again && was_connected => {
                    tracing::warn!(error, "the connection to the database broke");
                    again = false;
                }
                Err(Failure::Unknown(outcomes, error)) => {
                    tracing::warn!(
                        error,
                        "the answer to a commit was lost; asking what became of it"
                    );
                    match self.resolve(&error, meanwhile).await {
                        Some(Ok(true)) => return Ok(outcomes),
                        Some(Ok(false)) if again => again = false,
                        Some(Ok(false)) => return Err(Failure::Lost(error)),
                        Some(Err(fenced)) => return Err(fenced),
                        None => return Err(Failure::Unknown(outcomes, error)),
                    }
                }
                other => return other,
            }
        }
    }

    async fn commit(&mut self, batch: &[Write]) -> Result<Vec<Outcome>, Failure> {
        let started = Instant::now();
        self.connect().await?;
        let Some(connection) = self.connection.as_mut() else {
            return Err(Failure::Lost("not connected".to_owned()));
        };
        let number = self.commits + 1;
        let context = Context {
            process: self.session.process,
            number,
            now: (self.now)(),
            leases: self.leases.clone().unwrap_or_default(),
            own: self.tenure.adopted(),
        };
        let work = transact(connection, &mut self.names, batch, context);
        let done = tokio::time::timeout(TRANSACTION, work).await;
        let (outcomes, writes) = match done {
            Ok(Ok(Some(done))) => done,
            Ok(Ok(None)) => return Err(self.fence()),
            Ok(Err(error)) => return Err(self.undo(&error).await),
            Err(_) => {
                self.disconnect();
                return Err(Failure::Lost("a transaction took too long".to_owned()));
            }
        };
        pass(batch, Moment::Before);
        match within(TRANSACTION, execute(self.connection.as_mut(), "COMMIT")).await {
            Ok(()) => {
                self.commits = number;
                self.wrote(writes);
                self.heard(started);
                pass(batch, Moment::After);
                metrics::journal_commit(started.elapsed(), &by_kind(batch));
                Ok(outcomes)
            }
            Err(error) if meaning(&error) == Meaning::Connection => {
                self.disconnect();
                // Whether others have written meanwhile is not known either.
                self.writes = None;
                self.tenure.another_wrote();
                Err(Failure::Unknown(outcomes, error.to_string()))
            }
            Err(error) => Err(self.undo(&error).await),
        }
    }

    /// Notices that others have written since the last transaction of this process.
    fn wrote(&mut self, writes: i64) {
        let last = self.writes.replace(writes);
        if last.is_none_or(|last| last + 1 != writes) {
            self.tenure.another_wrote();
        }
    }

    /// The database has heard a word that was begun at this time.
    fn heard(&mut self, at: Instant) {
        self.heard_at = Some(Instant::now());
        if self.leases.is_some() {
            self.tenure.heard(at);
        }
    }

    /// Back to before the transaction.
    async fn undo(&mut self, error: &sqlx::Error) -> Failure {
        self.names.clear();
        let text = error.to_string();
        let meaning = meaning(error);
        if meaning == Meaning::Connection {
            self.disconnect();
            return Failure::Lost(text);
        }
        if let Err(error) = within(CONNECT, execute(self.connection.as_mut(), "ROLLBACK")).await {
            tracing::warn!(%error, "a rollback failed");
            self.disconnect();
        }
        Failure::Refused(text, meaning == Meaning::Statement)
    }

    /// Without a farewell: the server notices, and the next connection makes sure that it has.
    fn disconnect(&mut self) {
        self.names.clear();
        self.connection = None;
    }

    fn fence(&mut self) -> Failure {
        self.disconnect();
        if !self.fenced {
            tracing::error!(
                database = %self.address,
                "another process has taken over: nothing more is written"
            );
        }
        self.fenced = true;
        Failure::Fenced
    }

    /// Makes a connection if there is none, and checks that the database knows what we know.
    async fn connect(&mut self) -> Result<(), Failure> {
        if self.fenced {
            return Err(Failure::Fenced);
        }
        if self.connection.is_some() {
            return Ok(());
        }
        match self.reconnect().await? {
            number if number == self.commits => Ok(()),
            _ => Err(self.fence()),
        }
    }

    /// Makes a connection and tells the number of the last commit of this process that the database has.
    async fn reconnect(&mut self) -> Result<i64, Failure> {
        let taken = match self.address.writer().await {
            Ok(mut connection) => {
                let taken = within(TRANSACTION, self.session.resume(&mut connection)).await;
                self.connection = Some(connection);
                taken
            }
            Err(error) => Err(error),
        };
        match taken {
            Ok(Taken::Again(number)) => {
                tracing::info!(database = %self.address, "connected to the database again");
                self.away = false;
                Ok(number)
            }
            Ok(Taken::ByAnother) => Err(self.fence()),
            Err(error) => {
                self.disconnect();
                if !self.away {
                    tracing::error!(database = %self.address, %error, "the database is away");
                }
                self.away = true;
                Err(Failure::Lost(format!("the database is away: {error}")))
            }
        }
    }

    /// Whether the commit after the last known one happened; `None` if that cannot be known before the
    /// store closes.
    async fn resolve(
        &mut self,
        error: &str,
        meanwhile: Meanwhile<'_>,
    ) -> Option<Result<bool, Failure>> {
        let mut pause = PAUSE.0;
        loop {
            match self.reconnect().await {
                Ok(number) if number == self.commits => return Some(Ok(false)),
                Ok(number) if number == self.commits + 1 => {
                    self.commits = number;
                    return Some(Ok(true));
                }
                Ok(_) => return Some(Err(self.fence())),
                Err(Failure::Fenced) => return Some(Err(Failure::Fenced)),
                Err(_) => {
                    if meanwhile(error) {
                        return None;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
            }
        }
    }

    /// Says in the log which record is the newest of the audit log, if it is another than the last time: who keeps
    /// these lines elsewhere can tell later that nothing was cut off.
    pub(super) fn log_audit_head(&mut self, head: Option<Head>) {
        let head = head.unwrap_or_default();
        if self.audit_logged != head.seq {
            self.audit_logged = head.seq;
            tracing::info!(seq = head.seq, head = %head.hash, "the newest record of the audit log");
        }
    }

    /// Marks the stop as clean, if the store was in use, and leaves.
    pub async fn close(mut self) {
        if self.leases.is_some() {
            let process = self.session.process;
            let marked = self
                .own(async |connection| {
                    session::mark_clean(connection, process).await?;
                    audit::head(connection).await
                })
                .await;
            let marked = marked.map(|head| self.log_audit_head(head));
            if let Err(error) = marked {
                tracing::warn!(%error, "the store was not closed cleanly");
            }
        }
        if let Some(connection) = self.connection.take() {
            // The server notices in any case.
            let _ = within(CONNECT, connection.close()).await;
        }
    }
}

/// Under what a group is written.
struct Context {
    /// This start of the gateway.
    process: i64,
    /// The number of the commit.
    number: i64,
    /// The time, in milliseconds since 1970.
    now: i64,
    /// The lease of each account, by number.
    leases: Arc<HashMap<i64, i64>>,
    /// The leases whose rows are this process's own; `None` for a tool, which is alone.
    own: Option<Arc<[i64]>>,
}

/// The statements of a group, up to the commit, and the number of the transaction among those of all processes;
/// `None` if this process may not write any more.
async fn transact(
    connection: &mut PgConnection,
    names: &mut Names,
    batch: &[Write],
    context: Context,
) -> sqlx::Result<Option<(Vec<Outcome>, i64)>> {
    let Context {
        process,
        number,
        now,
        leases,
        own,
    } = context;
    let needed: usize = batch.iter().map(ids).sum();
    let needed = i64::try_from(needed).unwrap_or(i64::MAX);
    let Some(begun) = session::begin(&mut *connection, (process, number), needed).await? else {
        return Ok(None);
    };
    let floor = begun.outbox_floor;
    if let [write] = batch
        && let Some(outcome) =
            alone(&mut *connection, write, (process, floor), own.as_deref()).await?
    {
        return Ok(Some((vec![outcome], begun.writes)));
    }
    let mut numbers = names.numbers(&mut *connection, batch).await?;
    numbers.leases = leases;
    let plan = Planner::new(&numbers, begun.last_id, now)
        .plan(batch)
        .ok_or_else(|| sqlx::Error::Encode("a key without a number, or without a lease".into()))?;
    if let Some(lowest) = plan.lowest_reply
        && lowest <= floor
    {
        // An answer is made at or under the floor: the floor goes down with it.
        sqlx::query("UPDATE journal SET outbox_floor = $1")
            .bind(lowest - 1)
            .execute(&mut *connection)
            .await?;
    }
    let outcomes = statement::run(connection, plan, process).await?;
    Ok(Some((outcomes, begun.writes)))
}

/// Carries out an operation that is a commit by itself; `None` for any other. `floor` is that of the outbox.
async fn alone(
    connection: &mut PgConnection,
    write: &Write,
    (process, floor): (i64, i64),
    own: Option<&[i64]>,
) -> sqlx::Result<Option<Outcome>> {
    Ok(Some(match write {
        Write::Operate(operate, _) => {
            Outcome::Operated(operate::run(connection, operate, floor, own, process).await?)
        }
        Write::Settle(settle, _) => {
            Outcome::Settled(pending::settle(connection, settle, process).await?)
        }
        Write::Erase(slice, _) => Outcome::Next(erase::erase(connection, slice).await?),
        Write::Compact(rows, _) => Outcome::Whether(compact::compact(connection, rows).await?),
        Write::Memory(list, _) => Outcome::Ids(memory::change(connection, list).await?),
        Write::Media(change, _) => {
            media::change(connection, change).await?;
            Outcome::Unit
        }
        _ => return Ok(None),
    }))
}

async fn execute(connection: Option<&mut PgConnection>, sql: &'static str) -> sqlx::Result<()> {
    match connection {
        Some(connection) => sqlx::raw_sql(sql).execute(connection).await.map(drop),
        None => Err(sqlx::Error::PoolClosed),
    }
}

fn pass(batch: &[Write], moment: Moment) {
    for write in batch {
        around(write.kind(), moment);
    }
}

/// How many operations of each kind a batch has.
fn by_kind(batch: &[Write]) -> Vec<(&'static str, u64)> {
    let mut kinds: Vec<(&'static str, u64)> = Vec::with_capacity(4);
    for write in batch {
        match kinds.iter_mut().find(|(kind, _)| *kind == write.kind()) {
            Some((_, count)) => *count += 1,
            None => kinds.push((write.kind(), 1)),
        }
    }
    kinds
}
