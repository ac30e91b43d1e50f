//! One start of the gateway in the database: its row, its place as the only one that writes, and how it ends.
//!
//! Owns the row and the lock that keeps a second process out. The lock belongs to the writing connection: it
//! is free when that is gone. After a lost connection the row tells which commits happened.

use sqlx::PgConnection;

use super::{connect::Address, error::OpenError, migrate};
use crate::store::{LastStop, sqlite::code};

/// The first half of the number of the lock that keeps a second process out; the second is the schema's.
const LOCK: i32 = 0x5765_6972;

/// The row's state: it is or was in use.
pub const IN_USE: i16 = 1;
/// The row's state: it stopped cleanly.
pub const CLEAN: i16 = 2;

/// The server's process that serves a connection, and since when, so that another one with the same number
/// is not taken for it.
type Backend = (i32, String);

/// This start of the gateway.
#[derive(Debug)]
pub struct Session {
    /// Its number.
    pub process: i64,
    backend: Backend,
}

/// What became of a session after its connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It goes on; the number of the last commit that the database has of it.
    Again(i64),
    /// Another process has the database.
    ByAnother,
}

impl Session {
    /// Locks the database, brings its schema up to date and adds a row. Gives the store's secret too.
    pub async fn enter(
        connection: &mut PgConnection,
        address: &Address,
        now: i64,
    ) -> Result<(Self, [u8; 32]), OpenError> {
        let failed = |error: sqlx::Error| OpenError::Database {
            address: address.to_string(),
            reason: error.to_string(),
        };
        match lock(connection).await {
            Ok(()) => {}
            Err(error) if is_timeout(&error) => {
                let address = address.to_string();
                return Err(OpenError::InUse { address });
            }
            Err(error) => return Err(failed(error)),
        }
        migrate::migrate(connection, address).await?;
        let secret = secret(connection).await.map_err(failed)?;
        let backend = backend(connection).await.map_err(failed)?;
        let (process,) = sqlx::query_as("INSERT INTO process (opened_at) VALUES ($1) RETURNING id")
            .bind(now)
            .fetch_one(connection)
            .await
            .map_err(failed)?;
        Ok((Self { process, backend }, secret))
    }

    /// Goes on over another connection. The server may not have noticed yet that the old one is gone; then it
    /// is told, and what was open there is undone before this returns.
    pub async fn resume(&mut self, connection: &mut PgConnection) -> sqlx::Result<Taken> {
        sqlx::query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pid = $1 AND backend_start::text = $2 AND pid <> pg_backend_pid()",
        )
        .bind(self.backend.0)
        .bind(&self.backend.1)
        .execute(&mut *connection)
        .await?;
        match lock(connection).await {
            Ok(()) => {}
            Err(error) if is_timeout(&error) => return Ok(Taken::ByAnother),
            Err(error) => return Err(error),
        }
        let backend = backend(connection).await?;
        // The row's lock is free only when the old transaction is over.
        let commits: Option<(i64,)> =
            sqlx::query_as("SELECT commits FROM process WHERE id = $1 FOR UPDATE")
                .bind(self.process)
                .fetch_optional(connection)
                .await?;
        self.backend = backend;
        Ok(commits.map_or(Taken::ByAnother, |(number,)| Taken::Again(number)))
    }
}

/// Somebody else kept a lock for longer than the session waits.
fn is_timeout(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(refusal) if refusal.code().as_deref() == Some("55P03"))
}

/// Whether a process has the place of the only writer.
pub async fn is_taken(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let (taken,): (bool,) = sqlx::query_as(
        "SELECT EXISTS (SELECT 1 FROM pg_locks
         WHERE locktype = 'advisory' AND granted AND classid = $1::int4::oid
           AND objid = (hashtext(coalesce(current_schema(), ''))::int8 & 4294967295)::oid
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
    )
    .bind(LOCK)
    .fetch_one(connection)
    .await?;
    Ok(taken)
}

/// Waits for the place of the only writer, as long as the session's lock time-out says.
async fn lock(connection: &mut PgConnection) -> sqlx::Result<()> {
    sqlx::query("SELECT pg_advisory_lock($1, hashtext(coalesce(current_schema(), '')))")
        .bind(LOCK)
        .execute(connection)
        .await
        .map(drop)
}

async fn backend(connection: &mut PgConnection) -> sqlx::Result<Backend> {
    sqlx::query_as(
        "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    )
    .fetch_one(connection)
    .await
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

/// Marks the store as in use, and tells how the last process that used it ended.
pub async fn mark_in_use(connection: &mut PgConnection, process: i64) -> sqlx::Result<LastStop> {
    let before: Option<(i16,)> = sqlx::query_as(
        "SELECT state FROM process WHERE id <> $1 AND state > 0 ORDER BY id DESC LIMIT 1",
    )
    .bind(process)
    .fetch_optional(&mut *connection)
    .await?;
    sqlx::query("UPDATE process SET state = $2 WHERE id = $1")
        .bind(process)
        .bind(IN_USE)
        .execute(&mut *connection)
        .await?;
    // The last one stays, so that asking again tells the same.
    sqlx::query(
        "DELETE FROM process WHERE id < (
             SELECT max(id) FROM process WHERE id <> $1 AND state > 0)",
    )
    .bind(process)
    .execute(connection)
    .await?;
    Ok(match before {
        None => LastStop::First,
        Some((CLEAN,)) => LastStop::Clean,
        Some(_) => LastStop::Unclean,
    })
}

/// Marks the stop as clean. A turn that it cut short was no failed attempt.
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
