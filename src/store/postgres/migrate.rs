//! Brings the schema up to date before anything else uses the database.
//!
//! Owns the list of migrations. A database with a newer schema is refused. Each migration is a transaction of
//! its own, so a failed one leaves the version before it. It never goes back a version.

use std::borrow::Cow;

use sqlx::{
    PgConnection, SqlSafeStr as _,
    migrate::{Migration, MigrationType, Migrator},
};

use super::{OpenError, connect::Address};

/// The migrations: version, name, SQL.
const MIGRATIONS: [(i64, &str, &str); 7] = [
    (
        1,
        "journal",
        include_str!("../../../migrations/postgres/0001_journal.sql"),
    ),
    (
        2,
        "leases",
        include_str!("../../../migrations/postgres/0002_leases.sql"),
    ),
    (
        3,
        "pending",
        include_str!("../../../migrations/postgres/0003_pending.sql"),
    ),
    (
        4,
        "audit_and_actions",
        include_str!("../../../migrations/postgres/0004_audit_and_actions.sql"),
    ),
    (
        5,
        "media",
        include_str!("../../../migrations/postgres/0005_media.sql"),
    ),
    (
        6,
        "step",
        include_str!("../../../migrations/postgres/0006_step.sql"),
    ),
    (
        11,
        "memory",
        include_str!("../../../migrations/postgres/0011_memory.sql"),
    ),
];

/// Migrates the database.
pub async fn migrate(connection: &mut PgConnection, address: &Address) -> Result<(), OpenError> {
    let failed = |reason: String| OpenError::Database {
        address: address.to_string(),
        reason,
    };
    let found = version(connection)
        .await
        .map_err(|error| failed(error.to_string()))?;
    let known = MIGRATIONS
        .iter()
        .map(|(version, ..)| *version)
        .max()
        .unwrap_or(0);
    if found > known {
        return Err(OpenError::Newer {
            address: address.to_string(),
            found,
            known,
        });
    }
    if found == known {
        return Ok(());
    }
    let migrations = MIGRATIONS
        .iter()
        .map(|(version, name, sql)| {
            let (name, sql) = (Cow::Borrowed(*name), sql.into_sql_str());
            Migration::new(*version, name, MigrationType::Simple, sql, false)
        })
        .collect();
    // Two processes that start at once wait for each other here, and a large table may take its time.
    patience(connection, PATIENCE)
        .await
        .map_err(|error| failed(error.to_string()))?;
    Migrator::with_migrations(migrations)
        .run_direct(None, connection, false)
        .await
        .map_err(|error| failed(error.to_string()))?;
    patience(connection, None)
        .await
        .map_err(|error| failed(error.to_string()))
}

/// How long a statement of a migration may run or wait.
const PATIENCE: Option<&str> = Some("10min");

/// Sets the session's time-outs, or puts them back to what they were at its start.
async fn patience(connection: &mut PgConnection, limit: Option<&str>) -> sqlx::Result<()> {
    for setting in ["lock_timeout", "statement_timeout"] {
        sqlx::query(
            "SELECT set_config($1, coalesce($2, (SELECT reset_val FROM pg_settings WHERE name = $1)),
                               FALSE)",
        )
        .bind(setting)
        .bind(limit)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// The newest version that was applied; 0 for a new database.
async fn version(connection: &mut PgConnection) -> sqlx::Result<i64> {
    let (there,): (bool,) = sqlx::query_as("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await?;
    if !there {
        return Ok(0);
    }
    let (version,) = sqlx::query_as("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(version)
}
