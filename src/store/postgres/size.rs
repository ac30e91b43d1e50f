//! How much room the store takes on its server, for the metric.
//!
//! Owns the task that asks now and then. It asks over a reading connection, so nobody waits for it, and keeps
//! the last figure while the server is away.

use std::time::Duration;

use super::read::Readers;
use crate::telemetry::metrics::{self, Metric};

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(60);

/// Asks as long as it is polled.
pub async fn watch(readers: Readers) {
    loop {
        match readers.ask(size(&readers)).await {
            // Exact up to 8 PiB.
            Ok(bytes) => metrics::gauge(Metric::DatabaseBytes, &[], bytes as f64),
            Err(error) => tracing::debug!(%error, "the size of the database is not known"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Bytes of all tables of the schema, with their indexes.
async fn size(readers: &Readers) -> sqlx::Result<i64> {
    sqlx::query_scalar(
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
         WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
    )
    .fetch_one(&mut *readers.get().await?)
    .await
}
