//! From the address of a database to connections whose waits are all bounded.
//!
//! Owns what is set for each session, and the name of the database that may be shown: an address can hold a
//! password, so the address itself never leaves this file.

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    ConnectOptions as _, PgConnection,
    postgres::{PgConnectOptions, PgPool, PgPoolOptions},
};

use super::{OpenError, Options};
use crate::store::config::Durability;

/// How long a connection may take to be made.
pub const CONNECT: Duration = Duration::from_secs(3);
/// How long a reading statement may run, and how long it may wait for a connection.
pub const READ: Duration = Duration::from_secs(2);
/// How long a writing statement may run.
const WRITE: Duration = Duration::from_secs(10);
/// How long the writer may wait for a lock.
const LOCK: Duration = Duration::from_secs(5);
/// How long the server waits for the next statement of an open transaction. A process that was stopped in
/// the middle of one does not keep the journal's lock longer.
const IDLE: Duration = Duration::from_secs(3);

/// A statement is planned for the tables as they are now. A plan that is kept from when they were small goes through
/// all of their rows, each time, until the server happens to look at them.
const PLANS: (&str, &str) = ("plan_cache_mode", "force_custom_plan");

/// A database, and how sessions on it are set up.
#[derive(Clone)]
pub struct Address {
    options: PgConnectOptions,
    durability: Durability,
    /// Host, port and database; for messages.
    shown: String,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Address {
    /// Reads the address of a store.
    pub fn read(options: &Options) -> Result<Self, OpenError> {
        // The parser's own text may quote a part of the address.
        let mut parsed = PgConnectOptions::from_str(options.url.expose())
            .map_err(|_| OpenError::Address)?
            .disable_statement_logging()
            .options([PLANS]);
        if parsed.get_application_name().is_none() {
            parsed = parsed.application_name("weirgate");
        }
        let database = parsed.get_database().unwrap_or(parsed.get_username());
        let shown = match parsed.get_socket() {
            Some(socket) => format!("{database} at {}", socket.display()),
            None => format!("{database} at {}:{}", parsed.get_host(), parsed.get_port()),
        };
        Ok(Self {
            options: parsed,
            durability: options.durability,
            shown,
        })
    }

    /// A connection that may write.
    pub async fn writer(&self) -> sqlx::Result<PgConnection> {
        let commit = match self.durability {
            // The server's own disk, but no other server.
            Durability::Process => "local",
            Durability::Full => "on",
        };
        let options = self.options.clone().options([
            ("statement_timeout", milliseconds(WRITE).as_str()),
            ("lock_timeout", milliseconds(LOCK).as_str()),
            (
                "idle_in_transaction_session_timeout",
                milliseconds(IDLE).as_str(),
            ),
            ("synchronous_commit", commit),
        ]);
        let connect = async {
            let mut connection = options.connect().await?;
            keeps_settings(&mut connection).await?;
            Ok(connection)
        };
        within(CONNECT, connect).await
    }

    /// Up to `connections` connections that only read, opened when they are needed.
    pub fn readers(&self, connections: u32) -> PgPool {
        let options = self.options.clone().options([
            ("statement_timeout", milliseconds(READ).as_str()),
            (
                "idle_in_transaction_session_timeout",
                milliseconds(READ).as_str(),
            ),
            ("default_transaction_read_only", "on"),
        ]);
        PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(READ)
            .idle_timeout(Some(Duration::from_secs(300)))
            .max_lifetime(Some(Duration::from_secs(3600)))
            .connect_lazy_with(options)
    }
}

/// Whether the session is the one that was asked for. A pooler that gives each transaction another one leaves its
/// settings out; without them nothing here has a bounded wait, and what belongs to a session is lost.
async fn keeps_settings(connection: &mut PgConnection) -> sqlx::Result<()> {
    let (kept,): (bool,) =
        sqlx::query_as("SELECT setting = $1 FROM pg_settings WHERE name = 'lock_timeout'")
            .bind(milliseconds(LOCK))
            .fetch_one(connection)
            .await?;
    if kept {
        return Ok(());
    }
    Err(sqlx::Error::Configuration(
        "the settings of the session were left out, as a connection pooler does: connect to the server itself"
            .into(),
    ))
}

/// Waits no longer than a limit.
pub async fn within<T>(
    limit: Duration,
    work: impl Future<Output = sqlx::Result<T>>,
) -> sqlx::Result<T> {
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let text = format!("no answer within {} seconds", limit.as_secs());
        Err(sqlx::Error::Io(std::io::Error::new(
            std::io::ErrorKind::TimedOut,
            text,
        )))
    })
}

fn milliseconds(time: Duration) -> String {
    time.as_millis().to_string()
}
