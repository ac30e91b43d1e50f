//! What an operator asks the store, as SQL: replies by state, and messages that failed.
//!
//! Owns the statements for it. Each page goes through a slice of a table, whatever is found there.

use sqlx::PgConnection;

use crate::store::{FailedMessage, Page, ReplyFilter, StoredReply, sqlite::code};

/// Rows that one question goes through.
const SLICE: i64 = 20_000;

type ReplyRow = (
    i64,
    i64,
    Option<i64>,
    i16,
    i32,
    i32,
    Option<String>,
    i64,
    i64,
    String,
);

/// Replies by state.
pub async fn replies(
    reader: &mut PgConnection,
    after: i64,
    filter: ReplyFilter,
    limit: usize,
) -> sqlx::Result<Page<StoredReply>> {
    let last = last_of(
        reader,
        "SELECT max(id) FROM (SELECT id FROM outbox WHERE id > $1 ORDER BY id LIMIT $2) slice",
        after,
    )
    .await?;
    let Some(last) = last else {
        return Ok(end());
    };
    let rows: Vec<ReplyRow> = sqlx::query_as(
        "SELECT id, conversation, turn, state, part, attempts, reason, due_at, created_at, body
         FROM outbox WHERE id > $1 AND id <= $2
           AND (($3 AND state IN (0, 1)) OR ($4 AND state IN (3, 4, 5)))
         ORDER BY id LIMIT $5",
    )
    .bind(after)
    .bind(last)
    .bind(filter.waiting)
    .bind(filter.given_up)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let rows = rows.into_iter().map(reply).collect();
    Ok(page(rows, limit, last, |reply: &StoredReply| reply.id))
}

fn reply(row: ReplyRow) -> StoredReply {
    let (id, conversation, turn, state, part, attempts, reason, due_at, created_at, body) = row;
    StoredReply {
        id,
        conversation,
        turn,
        state: code::answer_name(i64::from(state)),
        part: u32::try_from(part).unwrap_or_default(),
        attempts: u32::try_from(attempts).unwrap_or_default(),
        reason,
        due_at,
        created_at,
        body: body.into_boxed_str(),
    }
}

type FailedRow = (i64, i64, i64, i64, i64, i64, Option<String>, i32, String);

/// Messages whose turn failed, or of which nothing could be read.
pub async fn failed_messages(
    reader: &mut PgConnection,
    after: i64,
    limit: usize,
) -> sqlx::Result<Page<FailedMessage>> {
    let last = last_of(
        reader,
        "SELECT max(id) FROM (SELECT id FROM inbox WHERE id > $1 ORDER BY id LIMIT $2) slice",
        after,
    )
    .await?;
    let Some(last) = last else {
        return Ok(end());
    };
    let rows: Vec<FailedRow> = sqlx::query_as(
        "SELECT i.id, i.account, i.conversation, i.person, i.at, f.at, f.reason, f.attempt, i.body
         FROM (
             SELECT id, coalesce(ended_at, started_at) AS at, reason, attempt FROM turn
             WHERE id > $1 AND id <= $2 AND state = $3
             UNION ALL
             SELECT id, at, reason, 0 FROM ended
             WHERE id > $1 AND id <= $2 AND state = $4 AND turn IS NULL) f
         JOIN inbox i ON i.id = f.id
         ORDER BY i.id LIMIT $5",
    )
    .bind(after)
    .bind(last)
    .bind(code::TURN_FAILED)
    .bind(code::END_FAILED)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let rows = rows.into_iter().map(failed).collect();
    Ok(page(rows, limit, last, |message: &FailedMessage| {
        message.id
    }))
}

fn failed(row: FailedRow) -> FailedMessage {
    let (id, account, conversation, person, at, ended_at, reason, attempts, body) = row;
    FailedMessage {
        id,
        account: u32::try_from(account).unwrap_or_default(),
        conversation,
        person,
        at,
        ended_at,
        reason,
        attempts: u32::try_from(attempts).unwrap_or_default(),
        body: body.into_boxed_str(),
    }
}

fn end<T>() -> Page<T> {
    Page {
        rows: Vec::new(),
        next: None,
    }
}

async fn last_of(
    reader: &mut PgConnection,
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

/// A full page is followed from its last row, another one from the end of its slice.
fn page<T>(rows: Vec<T>, limit: usize, last: i64, id: impl Fn(&T) -> i64) -> Page<T> {
    let full = rows.len() >= limit;
    let next = rows.last().filter(|_| full).map_or(last, id);
    Page {
        rows,
        next: Some(next),
    }
}

fn rows_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
