//! What is put off, on a server: rows of the outbox that are no messages.
//!
//! Owns the statements that are its own. It never begins or ends a transaction; the writer does.

use sqlx::PgConnection;

use crate::store::{
    Due,
    row::{self, DueRow, rows_of},
    sqlite::code,
};

/// What was put off under these subjects is not to be done any more.
pub async fn withdraw(
    connection: &mut PgConnection,
    (conversations, subjects): (Vec<i64>, Vec<&str>),
) -> sqlx::Result<()> {
    if conversations.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "UPDATE outbox o SET state = $3
         FROM unnest($1::bigint[], $2::text[]) AS w (conversation, subject)
         WHERE o.kind = 1 AND o.state < 2 AND o.conversation = w.conversation AND o.subject = w.subject",
    )
    .bind(conversations)
    .bind(subjects)
    .bind(i16::try_from(code::REPLY_DROPPED).unwrap_or(i16::MAX))
    .execute(connection)
    .await
    .map(drop)
}

/// What is not done yet, the first that is due first, of these leases.
pub async fn due(
    reader: &mut PgConnection,
    leases: Option<&[i64]>,
    limit: usize,
) -> sqlx::Result<Vec<Due>> {
    let rows: Vec<DueRow> = sqlx::query_as(
        "SELECT id, conversation, coalesce(turn, 0), coalesce(subject, ''), due_at, body FROM outbox
         WHERE kind = 1 AND state < 2 AND ($2::bigint[] IS NULL OR lease = ANY($2))
         ORDER BY due_at, id LIMIT $1",
    )
    .bind(rows_of(limit))
    .bind(leases)
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::due).collect())
}

/// What is not done yet of a conversation, about what begins so; the first that is due first.
pub async fn about(
    reader: &mut PgConnection,
    (conversation, subjects): (i64, &str),
    limit: usize,
) -> sqlx::Result<Vec<Due>> {
    let rows: Vec<DueRow> = sqlx::query_as(
        "SELECT id, conversation, coalesce(turn, 0), coalesce(subject, ''), due_at, body FROM outbox
         WHERE kind = 1 AND state < 2 AND conversation = $1 AND starts_with(subject, $2)
         ORDER BY due_at, id LIMIT $3",
    )
    .bind(conversation)
    .bind(subjects)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::due).collect())
}
