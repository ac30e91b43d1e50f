//! The readers: read-only connections beside the writer, each question limited in time.
//!
//! Owns the pool and the time limits. It never writes, and never keeps a transaction open between two
//! questions.

use sqlx::{PgPool, Postgres, pool::PoolConnection};

use super::connect::READ;
use crate::store::StoreError;

/// The readers; a copy shares the connections.
#[derive(Clone)]
pub struct Readers(PgPool);

impl Readers {
    /// Readers of a pool.
    pub fn new(pool: PgPool) -> Self {
        Self(pool)
    }

    /// A connection for one question.
    pub async fn get(&self) -> sqlx::Result<PoolConnection<Postgres>> {
        self.0.acquire().await
    }

    /// Waits for the answer to a question, no longer than the limit.
    pub async fn ask<T>(
        &self,
        question: impl Future<Output = sqlx::Result<T>>,
    ) -> Result<T, StoreError> {
        // Past it the statement was stopped by the server, or the server is not there.
        let answer = tokio::time::timeout(READ * 2, question).await;
        answer
            .unwrap_or(Err(sqlx::Error::PoolTimedOut))
            .map_err(|error| match error {
                sqlx::Error::PoolClosed => StoreError::Closed,
                other => StoreError::Database(other.to_string()),
            })
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.0.close().await;
    }
}
