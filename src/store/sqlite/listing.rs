//! What an operator asks the store, as SQL: replies by state, and messages that failed.
//!
//! Owns the statements for it. Each page goes through a slice of a table, whatever is found there.

use sqlx::SqliteConnection;

use super::code;
use crate::store::{
    FailedMessage, Page, ReplyFilter, StoredReply,
    row::{self, FailedRow, ReplyRow, SLICE, rows_of},
};

/// Replies by state.
pub async fn replies(
    reader: &mut SqliteConnection,
    after: i64,
    filter: ReplyFilter,
    limit: usize,
) -> sqlx::Result<Page<StoredReply>> {
    let last = last_of(
        reader,
        "SELECT max(id) FROM (SELECT id FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)",
        after,
    )
    .await?;
    let rows: Vec<ReplyRow> = sqlx::query_as(
        "SELECT id, conversation, turn, state, part, attempts, reason, due_at, created_at, body
         FROM outbox WHERE id > ?1 AND id <= ?2 AND kind = 0
           AND ((?3 AND state IN (0, 1)) OR (?4 AND state IN (3, 4, 5)))
         ORDER BY id LIMIT ?5 + 0",
    )
    .bind(after)
    .bind(last)
    .bind(filter.waiting)
    .bind(filter.given_up)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let rows = rows.into_iter().map(row::reply).collect();
    Ok(row::page(rows, limit, last, |reply: &StoredReply| reply.id))
}

/// Messages whose turn failed, or of which nothing could be read.
pub async fn failed_messages(
    reader: &mut SqliteConnection,
    after: i64,
    limit: usize,
) -> sqlx::Result<Page<FailedMessage>> {
    let last = last_of(
        reader,
        "SELECT max(id) FROM (SELECT id FROM inbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)",
        after,
    )
    .await?;
    let rows: Vec<FailedRow> = sqlx::query_as(
        "SELECT i.id, i.account, i.conversation, i.person, i.at, f.at, f.reason, f.attempt, i.body
         FROM (
             SELECT id, coalesce(ended_at, started_at) AS at, reason, attempt FROM turn
             WHERE id > ?1 AND id <= ?2 AND state = ?3
             UNION ALL
             SELECT id, at, reason, 0 FROM ended
             WHERE id > ?1 AND id <= ?2 AND state = ?4 AND turn IS NULL) f
         JOIN inbox i ON i.id = f.id
         ORDER BY i.id LIMIT ?5 + 0",
    )
    .bind(after)
    .bind(last)
    .bind(code::TURN_FAILED)
    .bind(code::END_FAILED)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let rows = rows.into_iter().map(row::failed).collect();
    Ok(row::page(rows, limit, last, |message: &FailedMessage| {
        message.id
    }))
}

async fn last_of(
    reader: &mut SqliteConnection,
    sql: &'static str,
    after: i64,
) -> sqlx::Result<Option<i64>> {
    let (last,): (Option<i64>,) = sqlx::query_as(sql)
        .bind(after)
        .bind(SLICE)
        .fetch_one(reader)
        .await?;
    Ok(last)
}
