//! The readers: read-only connections beside the writer, each question limited in time.
//!
//! Owns them and the time limits. It never writes, and never keeps a transaction open between two
//! questions, because that would stop the log from being moved into the database.

use std::{
    future::Future,
    ops::{Deref, DerefMut},
    path::Path,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::Thread,
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions as _, Connection as _, Sqlite, SqliteConnection, SqlitePool,
    pool::PoolConnection,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions},
};
use tokio::sync::{Mutex, MutexGuard};

use crate::store::StoreError;

/// How long a question may wait for a connection, and how long it may then run.
const LIMIT: Duration = Duration::from_secs(2);
/// Virtual machine steps of SQLite between two looks at the clock.
const STEPS: i32 = 10_000;

/// The readers.
pub enum Readers {
    /// Connections that are shared by the tasks of the runtime.
    Pool(SqlitePool),
    /// One connection that answers on the caller's thread, so that virtual time does not pass meanwhile.
    Inline(Mutex<Option<SqliteConnection>>),
}

/// A connection while a question has it.
pub enum Reader<'a> {
    /// Of the pool.
    Pooled(PoolConnection<Sqlite>),
    /// The only one.
    Own(tokio::sync::MappedMutexGuard<'a, SqliteConnection>),
}

impl Deref for Reader<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Own(connection) => connection,
        }
    }
}

impl DerefMut for Reader<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Pooled(connection) => connection,
            Self::Own(connection) => connection,
        }
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(LIMIT)
}

impl Readers {
    /// Up to `connections` connections, opened when they are needed.
    pub fn pool(path: &Path, connections: u32) -> Self {
        let pool = SqlitePoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(LIMIT)
            .idle_timeout(Some(Duration::from_secs(300)))
            .test_before_acquire(false)
            .connect_lazy_with(options(path));
        Self::Pool(pool)
    }

    /// One connection for answers on the caller's thread.
    pub fn inline(path: &Path) -> sqlx::Result<Self> {
        let connection = wait_here(options(path).connect())?;
        Ok(Self::Inline(Mutex::new(Some(connection))))
    }

    /// A connection for one question.
    pub async fn get(&self) -> sqlx::Result<Reader<'_>> {
        match self {
            Self::Pool(pool) => {
                let mut connection = pool.acquire().await?;
                let deadline = Instant::now() + LIMIT;
                connection
                    .lock_handle()
                    .await?
                    .set_progress_handler(STEPS, move || Instant::now() < deadline);
                Ok(Reader::Pooled(connection))
            }
            Self::Inline(connection) => {
                MutexGuard::try_map(connection.lock().await, Option::as_mut)
                    .map(Reader::Own)
                    .map_err(|_| sqlx::Error::PoolClosed)
            }
        }
    }

    /// Waits for the answer to a question: no longer than the limit, or on this very thread.
    pub async fn ask<T>(
        &self,
        question: impl Future<Output = sqlx::Result<T>>,
    ) -> Result<T, StoreError> {
        let answer = match self {
            Self::Pool(_) => {
                // Past it the statement was stopped by its own deadline, or hangs in the file system.
                tokio::time::timeout(LIMIT * 2, question)
                    .await
                    .unwrap_or(Err(sqlx::Error::PoolTimedOut))
            }
            Self::Inline(_) => wait_here(question),
        };
        answer.map_err(|error| match error {
            sqlx::Error::PoolClosed => StoreError::Closed,
            other => StoreError::Database(other.to_string()),
        })
    }

    /// Closes all connections.
    pub async fn close(&self) {
        match self {
            Self::Pool(pool) => pool.close().await,
            Self::Inline(connection) => wait_here(async {
                if let Some(connection) = connection.lock().await.take() {
                    // It only read: there is nothing that a failed close could lose.
                    let _ = connection.close().await;
                }
            }),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread, which sleeps meanwhile; the runtime around it stands still.
pub fn wait_here<T>(future: impl Future<Output = T>) -> T {
    // Without a budget of the runtime, which would never be filled up again here.
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
