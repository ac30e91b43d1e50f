//! One start of the gateway in the database: its row, how long it counts as alive, and how it ends.
//!
//! Owns the row and the condition under which its process may write. After a lost connection the row tells which
//! commits happened. What belongs to a start is in [`super::lease`].

use std::time::Duration;

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{audit, connect::Address, error::OpenError, migrate};
use crate::store::sqlite::code;

/// How long a start counts as alive after it said so, by the database's clock.
pub const LEASE: Duration = Duration::from_secs(6);

/// The row's state: it is or was in use.
pub const IN_USE: i16 = 1;
/// The row's state: it stopped cleanly.
pub const CLEAN: i16 = 2;
/// The row's state: another start has taken over what was its own.
pub const TAKEN_OVER: i16 = 3;

/// The start `h` of the gateway is at work, as far as the server knows: it said so lately, and its writing
/// connection is there.
macro_rules! at_work {
    () => {
        "(h.state = 1 AND h.until > clock_timestamp() AND EXISTS (
             SELECT 1 FROM pg_stat_activity s
             WHERE s.pid = h.backend AND s.backend_start = h.backend_start))"
    };
}

/// The condition under which the start of the gateway in a row of `process` may write: it is in use and nobody has
/// taken over; or it only looked, and no gateway is at work.
macro_rules! may_write {
    () => {
        concat!(
            "(state = 1 OR state = 0 AND NOT EXISTS (SELECT 1 FROM process h WHERE ",
            at_work!(),
            "))"
        )
    };
}

/// This start of the gateway.
#[derive(Debug)]
pub struct Session {
    /// Its number.
    pub process: i64,
}

/// What became of a session after its connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It goes on; the number of the last commit that the database has of it.
    Again(i64),
    /// Another process has taken over.
    ByAnother,
}

impl Session {
    /// Brings the schema up to date and adds a row. Gives the store's secret too.
    pub async fn enter(
        connection: &mut PgConnection,
        address: &Address,
        now: i64,
    ) -> Result<(Self, [u8; 32]), OpenError> {
        let failed = |error: sqlx::Error| OpenError::Database {
            address: address.to_string(),
            reason: error.to_string(),
        };
        migrate::migrate(connection, address).await?;
        let secret = secret(connection).await.map_err(failed)?;
        audit::chain_old(connection).await.map_err(failed)?;
        let (process,) = sqlx::query_as(
            "INSERT INTO process (opened_at, backend, backend_start)
             SELECT $1, pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()
             RETURNING id",
        )
        .bind(now)
        .fetch_one(connection)
        .await
        .map_err(failed)?;
        Ok((Self { process }, secret))
    }

    /// Goes on over another connection. The server may not have noticed yet that the old one is gone; then it
    /// is told, and what was open there is undone before this returns.
    pub async fn resume(&self, connection: &mut PgConnection) -> sqlx::Result<Taken> {
        sqlx::query(
            "SELECT pg_terminate_backend(s.pid)
             FROM process p JOIN pg_stat_activity s
               ON s.pid = p.backend AND s.backend_start = p.backend_start
             WHERE p.id = $1 AND s.pid <> pg_backend_pid()",
        )
        .bind(self.process)
        .execute(&mut *connection)
        .await?;
        // The row's lock is free only when the old transaction is over.
        let commits: Option<(i64,)> = sqlx::query_as(
            "UPDATE process p SET backend = s.pid, backend_start = s.backend_start
             FROM pg_stat_activity s
             WHERE s.pid = pg_backend_pid() AND p.id = $1 AND p.state <= $2 RETURNING p.commits",
        )
        .bind(self.process)
        .bind(IN_USE)
        .fetch_optional(connection)
        .await?;
        Ok(commits.map_or(Taken::ByAnother, |(number,)| Taken::Again(number)))
    }
}

/// What a transaction begins with.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// The number before the first of the new ids.
    pub last_id: i64,
    /// The floor of the outbox.
    pub outbox_floor: i64,
    /// The number of this transaction among those of all processes.
    pub writes: i64,
}

/// Begins the transaction of a commit: takes the lock of the journal, and then looks whether this process may
/// write, with what others have committed before the lock was free. `None` if it may not: another one has taken
/// over, or, for a process that only looked, a gateway is at work.
pub async fn begin(
    connection: &mut PgConnection,
    (process, commit): (i64, i64),
    ids: i64,
) -> sqlx::Result<Option<Begun>> {
    // One message to the server instead of three; there is nothing in it but numbers. Each statement sees
    // what was committed when it begins.
    let lease = LEASE.as_secs();
    let begin = format!(
        concat!(
            "BEGIN ISOLATION LEVEL READ COMMITTED;
             UPDATE journal SET last_id = last_id + {ids}, writes = writes + 1
             RETURNING last_id - {ids}, outbox_floor, writes;
             UPDATE process SET commits = {commit}, renewed_at = clock_timestamp(),
                 until = clock_timestamp() + interval '{lease} seconds'
             WHERE id = {process} AND ",
            may_write!(),
            " RETURNING id, 0::bigint, 0::bigint"
        ),
        ids = ids,
        commit = commit,
        lease = lease,
        process = process,
    );
    let rows: Vec<PgRow> = sqlx::raw_sql(sqlx::AssertSqlSafe(begin))
        .fetch_all(connection)
        .await?;
    let [journal, _own] = rows.as_slice() else {
        return Ok(None);
    };
    Ok(Some(Begun {
        last_id: journal.try_get(0)?,
        outbox_floor: journal.try_get(1)?,
        writes: journal.try_get(2)?,
    }))
}

/// Who may do something beside the commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A process that may write.
    Writer,
    /// Any that nobody has taken over, so that it can become a writer.
    Anybody,
}

/// Begins a transaction in which no other process writes; says whether this one may.
pub async fn begin_held(
    connection: &mut PgConnection,
    process: i64,
    who: Who,
) -> sqlx::Result<bool> {
    sqlx::raw_sql(
        "BEGIN ISOLATION LEVEL READ COMMITTED;
         SELECT 1 FROM journal FOR UPDATE",
    )
    .execute(&mut *connection)
    .await?;
    // A statement of its own, which sees what was committed while the lock was waited for.
    let sql = match who {
        Who::Writer => concat!("SELECT id FROM process WHERE id = $1 AND ", may_write!()),
        Who::Anybody => "SELECT id FROM process WHERE id = $1 AND state <= 1",
    };
    let own: Option<(i64,)> = sqlx::query_as(sql)
        .bind(process)
        .fetch_optional(connection)
        .await?;
    Ok(own.is_some())
}

/// Whether a gateway is at work here.
pub async fn is_taken(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let (there,): (bool,) = sqlx::query_as("SELECT to_regclass('lease') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !there {
        return Ok(false);
    }
    let sql = concat!(
        "SELECT EXISTS (SELECT 1 FROM process h WHERE ",
        at_work!(),
        ")"
    );
    let (taken,) = sqlx::query_as(sql).fetch_one(connection).await?;
    Ok(taken)
}

/// The key that was made when the store was new.
async fn secret(connection: &mut PgConnection) -> sqlx::Result<[u8; 32]> {
    let fresh: [u8; 32] = rand::random();
    sqlx::query("INSERT INTO journal (secret) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(fresh.as_slice())
        .execute(&mut *connection)
        .await?;
    let (secret,): (Vec<u8>,) = sqlx::query_as("SELECT secret FROM journal")
        .fetch_one(connection)
        .await?;
    secret
        .try_into()
        .map_err(|_| sqlx::Error::Decode("the store's secret has another length".into()))
}

/// Marks the stop as clean, which gives all leases back. A turn that it cut short was no failed attempt.
pub async fn mark_clean(connection: &mut PgConnection, process: i64) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE turn SET attempt = attempt - 1
         WHERE id > (SELECT inbox_floor FROM journal) AND state = $2 AND attempt > 0 AND process = $1",
    )
    .bind(process)
    .bind(i16::try_from(code::RUNNING).unwrap_or_default())
    .execute(&mut *connection)
    .await?;
    sqlx::query("UPDATE process SET state = $2 WHERE id = $1")
        .bind(process)
        .bind(CLEAN)
        .execute(connection)
        .await
        .map(drop)
}
