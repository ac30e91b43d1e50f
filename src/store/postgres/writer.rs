//! The one writer: groups operations into transactions, isolates the one that fails, and finds out what
//! became of a commit whose answer was lost.
//!
//! Owns the writing connection and the name caches. It takes what is there and commits at once; it never
//! waits for more to come, and never tells a caller that nothing was changed unless that is so.

use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, postgres::PgRow};

use super::{
    Options,
    connect::{Address, CONNECT, within},
    error::{Meaning, OpenError, meaning},
    names::Names,
    operate,
    plan::{Planner, ids},
    session::{Session, Taken},
    statement,
    sweep::Sweep,
};
use crate::{
    store::{
        LastStop, StoreError, Write,
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
    last_stop: Option<LastStop>,
    pub(super) now: fn() -> i64,
    pub(super) retention: Retention,
    pub(super) sweep: Sweep,
}

impl Writer {
    /// Opens the database, brings its schema up to date, and enters this start of the gateway.
    pub async fn open(options: &Options, address: Address) -> Result<(Self, [u8; 32]), OpenError> {
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
            last_stop: None,
            now: options.now,
            retention: options.retention,
            sweep: Sweep::default(),
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
        let work = transact(
            connection,
            &mut self.names,
            batch,
            (self.session.process, number, (self.now)()),
        );
        let done = tokio::time::timeout(TRANSACTION, work).await;
        let outcomes = match done {
            Ok(Ok(Some(outcomes))) => outcomes,
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
                pass(batch, Moment::After);
                metrics::journal_commit(started.elapsed(), &by_kind(batch));
                Ok(outcomes)
            }
            Err(error) if meaning(&error) == Meaning::Connection => {
                self.disconnect();
                Err(Failure::Unknown(outcomes, error.to_string()))
            }
            Err(error) => Err(self.undo(&error).await),
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
                "another process has taken over the database: nothing more is written"
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

    /// Does something that may be done again, in a transaction of its own in which no other process writes.
    pub(super) async fn own<T>(
        &mut self,
        work: impl AsyncFn(&mut PgConnection) -> sqlx::Result<T>,
    ) -> Result<T, StoreError> {
        let mut again = true;
        loop {
            let was_connected = self.connection.is_some();
            match self.own_once(&work).await {
                Err(Failure::Lost(_)) if again && was_connected => again = false,
                Ok(value) => return Ok(value),
                Err(Failure::Fenced) => return Err(StoreError::Fenced),
                Err(
                    Failure::Refused(error, _) | Failure::Lost(error) | Failure::Unknown(_, error),
                ) => return Err(StoreError::Database(error)),
            }
        }
    }

    async fn own_once<T>(
        &mut self,
        work: &impl AsyncFn(&mut PgConnection) -> sqlx::Result<T>,
    ) -> Result<T, Failure> {
        self.connect().await?;
        let process = self.session.process;
        let Some(connection) = self.connection.as_mut() else {
            return Err(Failure::Lost("not connected".to_owned()));
        };
        let done = within(TRANSACTION, async {
            connection.begin_held(process).await?;
            let value = work(&mut *connection).await?;
            execute(Some(connection), "COMMIT").await?;
            Ok(value)
        });
        match done.await {
            Ok(value) => Ok(value),
            Err(error) => Err(self.undo(&error).await),
        }
    }

    /// How the last process ended. The first call marks the store as in use.
    pub async fn last_stop(&mut self) -> Result<LastStop, StoreError> {
        if let Some(known) = self.last_stop {
            return Ok(known);
        }
        let process = self.session.process;
        let stop = self
            .own(async |connection| super::session::mark_in_use(connection, process).await)
            .await?;
        self.last_stop = Some(stop);
        Ok(stop)
    }

    /// Writes one small value.
    pub async fn probe(&mut self) -> Result<(), StoreError> {
        let now = (self.now)();
        self.own(async |connection| {
            sqlx::query("UPDATE journal SET probed_at = $1")
                .bind(now)
                .execute(connection)
                .await
                .map(drop)
        })
        .await
    }

    /// Marks the stop as clean, if the store was in use, and leaves.
    pub async fn close(mut self) {
        if self.last_stop.is_some() {
            let process = self.session.process;
            let marked = self
                .own(async |connection| super::session::mark_clean(connection, process).await)
                .await;
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

/// The statements of a group, up to the commit; `None` if this process may not write any more.
async fn transact(
    connection: &mut PgConnection,
    names: &mut Names,
    batch: &[Write],
    (process, number, now): (i64, i64, i64),
) -> sqlx::Result<Option<Vec<Outcome>>> {
    let needed: usize = batch.iter().map(ids).sum();
    let needed = i64::try_from(needed).unwrap_or(i64::MAX);
    // One message to the server instead of two; there is nothing in it but numbers.
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED;
         WITH mine AS (UPDATE process SET commits = {number} WHERE id = {process} RETURNING id)
         UPDATE journal SET last_id = last_id + {needed} FROM mine
         RETURNING last_id - {needed}, outbox_floor"
    );
    let row: Option<PgRow> = sqlx::raw_sql(AssertSqlSafe(begin))
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let (last_id, floor): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    if let [Write::Operate(operate, _)] = batch {
        let operated = operate::run(connection, operate, floor).await?;
        return Ok(Some(vec![Outcome::Operated(operated)]));
    }
    let numbers = names.numbers(&mut *connection, batch).await?;
    let plan = Planner::new(&numbers, last_id, now)
        .plan(batch)
        .ok_or_else(|| sqlx::Error::Encode("a key without a number".into()))?;
    if let Some(lowest) = plan.lowest_reply
        && lowest <= floor
    {
        // An answer is made at or under the floor: the floor goes down with it.
        sqlx::query("UPDATE journal SET outbox_floor = $1")
            .bind(lowest - 1)
            .execute(&mut *connection)
            .await?;
    }
    statement::run(connection, plan, process).await.map(Some)
}

/// Beginning a transaction in which no other process writes.
trait Held {
    async fn begin_held(&mut self, process: i64) -> sqlx::Result<()>;
}

impl Held for PgConnection {
    async fn begin_held(&mut self, process: i64) -> sqlx::Result<()> {
        execute(Some(self), "BEGIN ISOLATION LEVEL READ COMMITTED").await?;
        sqlx::query(
            "SELECT 1 FROM journal WHERE EXISTS (SELECT 1 FROM process WHERE id = $1) FOR UPDATE",
        )
        .bind(process)
        .fetch_one(self)
        .await
        .map(drop)
    }
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
