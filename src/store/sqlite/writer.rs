//! The one writer: groups operations into commits and isolates the one that fails.
//!
//! Owns the writing connection, the counter of ids, the name caches and the lock of the data folder.
//! It takes what is there and commits at once; it never waits for more to come.

use std::{
    fs::File,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Instant,
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params, types::FromSql};

use super::{
    Durability, Options, Retention, audit, ids::Ids, names::Names, outcome::Outcome, sweep::Sweep,
};
use crate::{
    store::{
        LastStop, StoreError, Write,
        audit::Head,
        failpoint::{Moment, around},
    },
    telemetry::metrics,
};

/// Pages of the log after which a commit also moves them into the database (1 MB). Everybody waits for that
/// commit: with four times as many pages it is rarer and takes four times as long, and one in a hundred
/// commands then waits 20 ms for it.
const CHECKPOINT_PAGES: i64 = 250;
/// Bytes to which the log file is cut when it starts over.
const LOG_BYTES: i64 = 16 << 20;
/// Kibibytes of the page cache.
const CACHE_KIB: i64 = 8 << 10;
/// Prepared statements that are kept; there are fewer.
const STATEMENTS: usize = 64;
/// Chunks that one idle visit removes at most.
const IDLE_CHUNKS: usize = 64;

/// What the writer tells the rest of the store.
#[derive(Debug, Default)]
pub struct Shared {
    /// Every message up to this journal id has ended.
    pub inbox_floor: AtomicI64,
    /// Every answer up to this outbox id, and every one that can still be made there, is sent or given up.
    pub outbox_floor: AtomicI64,
    /// Something is left for idle time.
    pub busy: AtomicBool,
}

/// What became of an operation, to be told to its caller.
pub type Settled = (Write, Result<Outcome, StoreError>);

/// The writing half of the store.
pub struct Writer {
    pub(super) connection: Connection,
    pub(super) names: Names,
    pub(super) ids: Ids,
    pub(super) process: i64,
    pub(super) now: fn() -> i64,
    pub(super) retention: Retention,
    pub(super) shared: Arc<Shared>,
    pub(super) sweep: Sweep,
    /// The newest record of the audit log, once it is known.
    pub(super) audit_head: Option<Head>,
    /// The number of the one that was logged last.
    pub(super) audit_logged: i64,
    opened_at: i64,
    logged: bool,
    last_stop: Option<LastStop>,
    lock: File,
}

impl Writer {
    /// Opens the migrated database.
    pub fn open(options: &Options, shared: Arc<Shared>, lock: File) -> rusqlite::Result<Self> {
        let mut connection = connect(&options.path, options.durability)?;
        audit::chain_old(&mut connection)?;
        shared.inbox_floor.store(
            meta(&connection, "inbox_floor")?.unwrap_or(0),
            Ordering::Relaxed,
        );
        shared.outbox_floor.store(
            meta(&connection, "outbox_floor")?.unwrap_or(0),
            Ordering::Relaxed,
        );
        let process = meta(&connection, "process")?.unwrap_or(0_i64) + 1;
        set_meta(&connection, "process", process)?;
        let ids = Ids::load(&connection)?;
        Ok(Self {
            connection,
            names: Names::default(),
            ids,
            process,
            now: options.now,
            retention: options.retention,
            shared,
            sweep: Sweep::default(),
            audit_head: None,
            audit_logged: 0,
            opened_at: (options.now)(),
            logged: true,
            last_stop: None,
            lock,
        })
    }

    /// The key that was made when the store was new.
    pub fn secret(&self) -> rusqlite::Result<[u8; 32]> {
        let fresh: [u8; 32] = rand::random();
        self.connection.execute(
            "INSERT OR IGNORE INTO meta (key, value) VALUES ('secret', ?1)",
            [fresh],
        )?;
        self.connection
            .query_row("SELECT value FROM meta WHERE key = 'secret'", [], |row| {
                row.get(0)
            })
    }

    /// Commits operations together, or each by itself if that fails.
    pub fn run(&mut self, mut batch: Vec<Write>) -> Vec<Settled> {
        self.set_logged();
        let started = Instant::now();
        match self.commit(&batch) {
            Ok(outcomes) => {
                metrics::journal_commit(started.elapsed(), &by_kind(&batch));
                batch
                    .into_iter()
                    .zip(outcomes.into_iter().map(Ok))
                    .collect()
            }
            Err(error) if batch.len() == 1 => {
                metrics::journal_failed();
                batch
                    .drain(..)
                    .map(|write| (write, Err(failed(&error))))
                    .collect()
            }
            Err(error) => {
                tracing::warn!(%error, operations = batch.len(), "a group commit failed; one by one");
                batch
                    .into_iter()
                    .flat_map(|write| self.run(vec![write]))
                    .collect()
            }
        }
    }

    fn commit(&mut self, batch: &[Write]) -> rusqlite::Result<Vec<Outcome>> {
        let needed = batch.iter().map(super::operation::ids).sum();
        self.ids.reserve(&self.connection, needed)?;
        let single = matches!(batch, [write] if super::operation::is_single(write));
        let result = if single {
            self.apply_all(batch)
        } else {
            self.transaction(batch)
        };
        match &result {
            Ok(_) => pass(batch, Moment::After),
            Err(_) => self.undo(),
        }
        result
    }

    fn transaction(&mut self, batch: &[Write]) -> rusqlite::Result<Vec<Outcome>> {
        self.connection
            .prepare_cached("BEGIN IMMEDIATE")?
            .execute([])?;
        let outcomes = self.apply_all(batch)?;
        pass(batch, Moment::Before);
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(outcomes)
    }

    fn apply_all(&mut self, batch: &[Write]) -> rusqlite::Result<Vec<Outcome>> {
        if let [write] = batch
            && self.connection.is_autocommit()
        {
            around(write.kind(), Moment::Before);
        }
        batch.iter().map(|write| self.apply(write)).collect()
    }

    /// Back to before the transaction. Some errors of SQLite have rolled back already.
    pub(super) fn undo(&mut self) {
        self.names.clear();
        self.audit_head = None;
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a rollback failed");
        }
    }

    /// How the last process ended. The first call marks the store as in use.
    pub fn last_stop(&mut self) -> Result<LastStop, StoreError> {
        if let Some(known) = self.last_stop {
            return Ok(known);
        }
        let stop = self.mark_in_use().map_err(|error| failed(&error))?;
        self.last_stop = Some(stop);
        Ok(stop)
    }

    fn mark_in_use(&self) -> rusqlite::Result<LastStop> {
        let before: Option<String> = meta(&self.connection, "stop")?;
        set_meta(&self.connection, "stop", "running")?;
        Ok(match before.as_deref() {
            None => LastStop::First,
            Some("clean") => LastStop::Clean,
            Some(_) => LastStop::Unclean,
        })
    }

    /// Writes one small row.
    pub fn probe(&mut self) -> Result<(), StoreError> {
        self.set_logged();
        set_meta(&self.connection, "probe", (self.now)()).map_err(|error| failed(&error))
    }

    /// The number of this start of the process.
    pub fn process(&self) -> i64 {
        self.process
    }

    /// Does a whole pass at once.
    pub fn sweep_all(&mut self) -> Result<(), StoreError> {
        self.set_logged();
        self.sweep_now();
        loop {
            match self.sweep_step() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => {
                    self.undo();
                    return Err(failed(&error));
                }
            }
        }
    }

    /// Uses idle time: removes what is over, then moves the log into the database. Stops early when
    /// `wanted` says that operations wait, but always removes one chunk, so that load cannot starve it.
    pub fn idle(&mut self, wanted: impl Fn() -> bool) {
        let changes = self.connection.total_changes();
        let mut more = true;
        for _ in 0..IDLE_CHUNKS {
            more = self.sweep_step().unwrap_or_else(|error| {
                tracing::warn!(%error, "removing old rows failed");
                self.undo();
                false
            });
            if !more || wanted() {
                break;
            }
        }
        self.logged |= self.connection.total_changes() != changes;
        if !more && self.logged && !wanted() {
            self.logged = self.checkpoint("PASSIVE").is_err();
        }
        self.shared
            .busy
            .store(more || self.logged, Ordering::Relaxed);
    }

    fn set_logged(&mut self) {
        if !self.logged {
            self.logged = true;
            self.shared.busy.store(true, Ordering::Relaxed);
        }
    }

    fn checkpoint(&self, how: &str) -> rusqlite::Result<()> {
        self.connection
            .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))
    }

    /// Marks the stop as clean, if the store was in use, and leaves one file behind.
    pub fn close(mut self) {
        let marked = self
            .log_audit_head()
            .and_then(|()| self.ids.save(&self.connection))
            .and_then(|()| match self.last_stop {
                Some(_) => self
                    .forgive_turns()
                    .and_then(|()| set_meta(&self.connection, "stop", "clean")),
                None => Ok(()),
            });
        if let Err(error) = marked.and_then(|()| self.checkpoint("TRUNCATE")) {
            tracing::warn!(%error, "the store was not closed cleanly");
        }
        let Self {
            connection, lock, ..
        } = self;
        drop(connection);
        // A program that is just being started has a copy of the handle, and would keep the lock a moment longer.
        // Without this it ends with the handles.
        let _ = lock.unlock();
    }
}

impl Writer {
    /// A turn that a clean stop cut short was no failed attempt.
    fn forgive_turns(&self) -> rusqlite::Result<()> {
        self.connection
            .execute(
                "UPDATE turn SET attempt = attempt - 1
                 WHERE id > ?1 AND state = ?2 AND attempt > 0 AND started_at >= ?3",
                params![
                    self.shared.inbox_floor.load(Ordering::Relaxed),
                    super::code::RUNNING,
                    self.opened_at
                ],
            )
            .map(drop)
    }
}

fn connect(path: &Path, durability: Durability) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Full => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(connection)
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

/// The error that callers see.
pub fn failed(error: &rusqlite::Error) -> StoreError {
    StoreError::Database(error.to_string())
}

/// A value that the store keeps about itself.
pub fn meta<T: FromSql>(connection: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()
}

/// Sets a value that the store keeps about itself.
pub fn set_meta(
    connection: &Connection,
    key: &str,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO meta (key, value) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute(params![key, value])
        .map(drop)
}

#[cfg(test)]
mod tests;
