//! Brings the schema up to date before anything else opens the database.
//!
//! Owns the list of migrations. A database with a newer schema is refused; an existing one is copied
//! beside itself before it is changed, as `<file>.v<version>.bak`. It never goes back a version.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use sqlx::{
    ConnectOptions as _, Connection as _, SqlSafeStr as _, SqliteConnection,
    migrate::{Migration, MigrationType, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::folder::{OpenError, private};

/// The migrations: version, name, SQL. The macro of sqlx would compile SQLite a second time for the
/// build machine to do the same.
const MIGRATIONS: [(i64, &str, &str); 7] = [
    (
        1,
        "journal",
        include_str!("../../../migrations/sqlite/0001_journal.sql"),
    ),
    (
        2,
        "doubt",
        include_str!("../../../migrations/sqlite/0002_doubt.sql"),
    ),
    (
        3,
        "pending",
        include_str!("../../../migrations/sqlite/0003_pending.sql"),
    ),
    (
        4,
        "audit_and_actions",
        include_str!("../../../migrations/sqlite/0004_audit_and_actions.sql"),
    ),
    (
        5,
        "media",
        include_str!("../../../migrations/sqlite/0005_media.sql"),
    ),
    (
        6,
        "step",
        include_str!("../../../migrations/sqlite/0006_step.sql"),
    ),
    (
        11,
        "memory",
        include_str!("../../../migrations/sqlite/0011_memory.sql"),
    ),
];

/// The newest version that this program knows.
pub const KNOWN: i64 = {
    let [.., (version, ..)] = MIGRATIONS;
    version
};

/// The name of a file with an ending after all of its own.
pub fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Migrates the database at `path`, whose file exists.
pub async fn migrate(path: &Path) -> Result<(), OpenError> {
    migrate_with(path, &MIGRATIONS).await
}

async fn migrate_with(
    path: &Path,
    migrations: &[(i64, &'static str, &'static str)],
) -> Result<(), OpenError> {
    let failed = |error: &dyn std::fmt::Display| OpenError::database(path, error);
    let mut connection = connect(path).await.map_err(|error| failed(&error))?;
    let found = version(&mut connection)
        .await
        .map_err(|error| failed(&error))?;
    let known = migrations
        .iter()
        .map(|(version, ..)| *version)
        .max()
        .unwrap_or(0);
    if found > known {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    if found > 0 && found < known {
        copy(&mut connection, path, found).await?;
    }
    let migrations = migrations
        .iter()
        .map(|(version, name, sql)| {
            let sql = sql.into_sql_str();
            Migration::new(
                *version,
                Cow::Borrowed(*name),
                MigrationType::Simple,
                sql,
                false,
            )
        })
        .collect();
    let migrator = Migrator::with_migrations(migrations);
    migrator
        .run_direct(None, &mut connection, false)
        .await
        .map_err(|error| failed(&error))?;
    connection.close().await.map_err(|error| failed(&error))
}

async fn connect(path: &Path) -> sqlx::Result<SqliteConnection> {
    SqliteConnectOptions::new()
        .filename(path)
        .page_size(4096)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .connect()
        .await
}

/// The newest version that was applied; 0 for a new database.
async fn version(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let (tables,): (i64,) =
        sqlx::query_as("SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'")
            .fetch_one(&mut *connection)
            .await?;
    if tables == 0 {
        return Ok(0);
    }
    let (version,) = sqlx::query_as("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(version)
}

async fn copy(
    connection: &mut SqliteConnection,
    path: &Path,
    version: i64,
) -> Result<(), OpenError> {
    let copy = beside(path, &format!(".v{version}.bak"));
    let unfinished = beside(&copy, ".tmp");
    let failed = |error: &dyn std::fmt::Display| {
        OpenError::database(
            path,
            &format!("the copy {} failed: {error}", copy.display()),
        )
    };
    // The copy is written into an empty file that is there already, so that its mode is ours.
    private(&unfinished)
        .and_then(|file| file.set_len(0))
        .map_err(|error| failed(&error))?;
    sqlx::query("VACUUM INTO ?1")
        .bind(unfinished.to_string_lossy().into_owned())
        .execute(connection)
        .await
        .map_err(|error| failed(&error))?;
    private(&unfinished)
        .and_then(|file| file.sync_all())
        .and_then(|()| std::fs::rename(&unfinished, &copy))
        .map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests;
