//! Copies of the database: made beside a gateway that runs, checked, and put back where none does.
//!
//! Owns both. A copy is made by a reader of its own, so that the writer goes on; while it reads, the log of
//! the database grows, and a copy during which it grows too much is given up. What is put back never
//! destroys what was there.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use weirgate_sdk::Timestamp;

use super::{
    OpenError, code, folder,
    migrate::{KNOWN, beside},
    writer::{meta, set_meta},
};
use crate::store::{EndState, TurnState};

/// Bytes by which the log may grow while a copy is made.
const LOG_GROWTH: u64 = 512 << 20;
/// The longest time in which a copy is made.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// Between two looks at the log.
const LOOK: Duration = Duration::from_millis(50);
/// How long a reader waits for a lock.
const BUSY: Duration = Duration::from_secs(5);
/// Ids that are left out after a restore when it is not known which ones were used.
const SKIPPED: i64 = 1 << 32;

/// Why there is no copy, or why it was not put back.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is a file of that name.
    #[error("{0} exists already: name another file")]
    Exists(PathBuf),
    /// The database failed.
    #[error("{path}: {reason}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What it said.
        reason: String,
    },
    /// The gateway wrote more in the meantime than its log may grow.
    #[error(
        "the gateway writes so much just now that the copy was given up: try again in a calmer hour"
    )]
    Busy,
    /// Not a database of this program, or a damaged one.
    #[error("{path} is damaged, or no database of this program: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The data folder cannot be used, or the copy is of a newer version.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// A finished copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// A database that was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where the one before is kept; `None` if there was none.
    pub kept: Option<PathBuf>,
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |source| CopyError::File { path, source }
}

fn database_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> CopyError {
    let path = path.to_owned();
    move |error| CopyError::Database {
        path,
        reason: error.to_string(),
    }
}

/// The message that asks for a copy of the database in which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Its id in the journal.
    pub message: i64,
    /// Now.
    pub at: Timestamp,
}

/// Copies the database at `from` into the new file `into`, as it is at one moment, whole or not at all. A
/// gateway may run. Blocks for as long as it takes. The message that asks for it has ended in the copy, or it would be
/// answered once more by whoever puts the copy back.
///
/// # Errors
/// See [`CopyError`]; nothing is left of the copy then.
pub fn backup(from: &Path, into: &Path, asked: Option<Asked>) -> Result<Copied, CopyError> {
    if into.exists() {
        return Err(CopyError::Exists(into.to_owned()));
    }
    let source = read_only(from).map_err(database_error(from))?;
    let unfinished = beside(into, ".part");
    // An empty file is made first, so that its mode is ours.
    let file = folder::private(&unfinished).map_err(file_error(&unfinished))?;
    let made = file
        .set_len(0)
        .map_err(file_error(&unfinished))
        .and_then(|()| copy(&source, from, &unfinished))
        .and_then(|()| match asked {
            Some(asked) => end(&unfinished, asked).map_err(database_error(&unfinished)),
            None => Ok(()),
        })
        .and_then(|()| file.sync_all().map_err(file_error(&unfinished)))
        // Unlike a rename, a link never replaces a file that came in between.
        .and_then(|()| fs::hard_link(&unfinished, into).map_err(file_error(into)));
    let removed = fs::remove_file(&unfinished);
    made?;
    removed.map_err(file_error(&unfinished))?;
    sync_folder(into)?;
    let bytes = fs::metadata(into).map_err(file_error(into))?.len();
    Ok(Copied {
        path: into.to_owned(),
        bytes,
    })
}

pub(super) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

fn copy(source: &Connection, from: &Path, into: &Path) -> Result<(), CopyError> {
    let log = beside(from, "-wal");
    let size = || fs::metadata(&log).map_or(0, |log| log.len());
    let before = size();
    let too_much = |passed| passed > LONGEST || size().saturating_sub(before) > LOG_GROWTH;
    let (copied, given_up) = watched(source, too_much, || {
        source.execute("VACUUM INTO ?1", [into.to_string_lossy()])
    });
    match copied {
        Ok(_) => Ok(()),
        Err(_) if given_up => Err(CopyError::Busy),
        Err(error) => Err(database_error(into)(error)),
    }
}

/// Ends the message that asked in its copy, and its turn if that has begun.
fn end(copy: &Path, asked: Asked) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    let (message, at) = (asked.message, asked.at);
    connection.execute(
        "INSERT INTO ended (id, state, reason, turn, at) SELECT id, ?2, NULL, id, ?3 FROM inbox WHERE id = ?1",
        params![message, code::end(EndState::Done), at],
    )?;
    connection.execute(
        "UPDATE turn SET state = ?2, ended_at = ?3 WHERE id = ?1",
        params![message, code::turn(TurnState::Done), at],
    )?;
    Ok(())
}

/// Runs a statement of the connection, which is interrupted as soon as `enough` says so of the time that has
/// passed; says whether it was.
fn watched<T>(
    connection: &Connection,
    enough: impl Fn(Duration) -> bool + Send,
    statement: impl FnOnce() -> T,
) -> (T, bool) {
    let interrupt = connection.get_interrupt_handle();
    let (done, finished) = mpsc::sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let started = Instant::now();
            while finished.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if enough(started.elapsed()) {
                    interrupt.interrupt();
                    return true;
                }
            }
            false
        });
        let result = statement();
        drop(done);
        // A watcher that panicked has interrupted nothing.
        (result, watch.join().unwrap_or(false))
    })
}

/// Puts the copy `from` in the place of the database at `path`. The one before is kept beside it, under a
/// name with `stamp` in it. Blocks for as long as it takes.
///
/// # Errors
/// See [`CopyError`]: above all, a gateway runs, or the copy is damaged or of a newer version. The database
/// is what it was then.
pub fn restore(path: &Path, from: &Path, stamp: &str) -> Result<Restored, CopyError> {
    fs::metadata(from).map_err(file_error(from))?;
    let existed = path.exists();
    // Makes an empty file where there is none; the lock holds to the end.
    let _lock = folder::prepare(path)?;
    let fresh = beside(path, ".restoring");
    let prepared = take_in(from, &fresh, path);
    if let Err(error) = prepared {
        // What is left of it is written over by the next try.
        let _ = fs::remove_file(&fresh);
        if !existed {
            let _ = fs::remove_file(path);
        }
        return Err(error);
    }
    let kept = if existed {
        Some(set_aside(path, stamp)?)
    } else {
        None
    };
    fs::rename(&fresh, path).map_err(file_error(path))?;
    sync_folder(path)?;
    Ok(Restored { kept })
}

/// A checked copy of `from` beside the database at `path`, ready to take its place.
fn take_in(from: &Path, fresh: &Path, path: &Path) -> Result<(), CopyError> {
    let mut source = File::open(from).map_err(file_error(from))?;
    let mut file = folder::private(fresh).map_err(file_error(fresh))?;
    file.set_len(0).map_err(file_error(fresh))?;
    io::copy(&mut source, &mut file).map_err(file_error(fresh))?;
    drop(file);
    check(fresh, from)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(fresh, flags).map_err(database_error(fresh))?;
    spare_ids(&connection, path).map_err(database_error(fresh))?;
    drop(connection);
    let file = folder::private(fresh).map_err(file_error(fresh))?;
    file.sync_all().map_err(file_error(fresh))
}

/// Whether the file is a whole database of ours, of a version that we know.
fn check(path: &Path, shown: &Path) -> Result<(), CopyError> {
    let damaged = |reason: String| CopyError::Damaged {
        path: shown.to_owned(),
        reason,
    };
    let connection = read_only(path).map_err(|error| damaged(error.to_string()))?;
    let faults = integrity(&connection).map_err(|error| damaged(error.to_string()))?;
    if let Some(fault) = faults {
        return Err(damaged(fault));
    }
    let version = version(&connection).map_err(|error| damaged(error.to_string()))?;
    match version {
        None | Some(0) => Err(damaged("it has no journal".to_owned())),
        Some(found) if found > KNOWN => Err(OpenError::Newer {
            path: shown.to_owned(),
            found,
            known: KNOWN,
        }
        .into()),
        Some(_) => Ok(()),
    }
}

/// The first thing that is wrong with a database, if anything is.
fn integrity(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}

/// The version of the schema; `None` if it is not ours at all.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let ours: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('_sqlx_migrations', 'meta', 'inbox', 'outbox')",
        [],
        |row| row.get(0),
    )?;
    if ours < 4 {
        return Ok(None);
    }
    connection
        .query_row("SELECT max(version) FROM _sqlx_migrations", [], |row| {
            row.get(0)
        })
        .optional()
        .map(Option::flatten)
}

/// Ids that were given out after the copy was made are not given out again.
fn spare_ids(fresh: &Connection, path: &Path) -> rusqlite::Result<()> {
    let used: Option<i64> = read_only(path)
        .and_then(|before| meta(&before, "reserved"))
        .ok()
        .flatten();
    let reserved: i64 = meta(fresh, "reserved")?.unwrap_or(0);
    let reserved = match used {
        Some(used) => reserved.max(used),
        None => reserved.saturating_add(SKIPPED),
    };
    set_meta(fresh, "reserved", reserved)
}

/// Keeps the database at `path` under another name as well; it stays where it is until it is replaced, so
/// that there is never none.
fn set_aside(path: &Path, stamp: &str) -> Result<PathBuf, CopyError> {
    let kept = beside(path, &format!(".before-{stamp}"));
    // What stands in the log is moved into the file; a damaged database is kept with its log.
    let moved = Connection::open(path).and_then(|connection| {
        connection.busy_timeout(BUSY)?;
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
            row.get::<_, i64>(0)
        })
    });
    let log = beside(path, "-wal");
    fs::hard_link(path, &kept).map_err(file_error(&kept))?;
    if moved == Ok(0) {
        remove_if_there(&log)?;
    } else if log.exists() {
        let with_log = beside(&kept, "-wal");
        fs::rename(&log, &with_log).map_err(file_error(&with_log))?;
    }
    remove_if_there(&beside(path, "-shm"))?;
    sync_folder(path)?;
    Ok(kept)
}

fn remove_if_there(path: &Path) -> Result<(), CopyError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error(path)(error)),
        _ => Ok(()),
    }
}

fn sync_folder(path: &Path) -> Result<(), CopyError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(file_error(folder))
}

/// What was found in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The first thing that is wrong.
    pub fault: Option<String>,
    /// When the newest message was received, in milliseconds since 1970.
    pub newest: Option<i64>,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Looks at the database at `path` for at most `limit`. A gateway may run.
///
/// # Errors
/// It cannot be opened, is of a newer version, or the time was not enough ([`CopyError::Busy`]).
pub fn examine(path: &Path, limit: Duration) -> Result<Examined, CopyError> {
    let bytes = fs::metadata(path).map_err(file_error(path))?.len();
    let fault = |fault: String| Examined {
        fault: Some(fault),
        newest: None,
        bytes,
    };
    let connection = read_only(path).map_err(database_error(path))?;
    match version(&connection) {
        Ok(None) => return Ok(fault("no database of this program".to_owned())),
        Ok(Some(found)) if found > KNOWN => {
            return Err(OpenError::Newer {
                path: path.to_owned(),
                found,
                known: KNOWN,
            }
            .into());
        }
        Ok(Some(_)) => {}
        Err(error) => return Ok(fault(error.to_string())),
    }
    let (said, late) = watched(
        &connection,
        |passed| passed > limit,
        || -> rusqlite::Result<String> {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        },
    );
    match said {
        Ok(said) if said == "ok" => Ok(Examined {
            fault: None,
            newest: newest(&connection),
            bytes,
        }),
        Ok(said) => Ok(fault(said)),
        Err(_) if late => Err(CopyError::Busy),
        Err(error) => Ok(fault(error.to_string())),
    }
}

fn newest(connection: &Connection) -> Option<i64> {
    connection
        .query_row("SELECT at FROM inbox ORDER BY id DESC LIMIT 1", [], |row| {
            row.get(0)
        })
        .optional()
        .ok()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_given_up_as_soon_as_it_is_enough() {
        let connection = Connection::open_in_memory().unwrap();
        let count = |to: u64| {
            let sql =
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                       SELECT count(*) FROM n";
            connection.query_row(sql, [i64::try_from(to).unwrap()], |row| {
                row.get::<_, i64>(0)
            })
        };
        // It would take years.
        let (counted, given_up) = watched(&connection, |_| true, || count(1 << 50));
        assert!(counted.is_err() && given_up);
        let (counted, given_up) = watched(&connection, |_| false, || count(1000));
        assert_eq!((counted, given_up), (Ok(1000), false));
    }
}
