//! Making a long history short, as SQL.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use sqlx::PgConnection;

use super::{plan::clean, statement::small};
use crate::store::{Compact, HistoryScope, sqlite::code};

/// Puts a summary in the place of rows, if all of them are there; says whether it did.
pub async fn compact(connection: &mut PgConnection, compact: &Compact) -> sqlx::Result<bool> {
    let HistoryScope {
        conversation,
        person,
    } = compact.scope;
    let there: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM history
         WHERE conversation = $1 AND person = $2 AND id BETWEEN $3 AND $4 AND role <> $5",
    )
    .bind(conversation)
    .bind(person)
    .bind(compact.first)
    .bind(compact.last)
    .bind(small(code::RESET))
    .fetch_one(&mut *connection)
    .await?;
    if usize::try_from(there) != Ok(compact.rows) {
        return Ok(false);
    }
    let first = if compact.older { 0 } else { compact.first };
    sqlx::query(
        "DELETE FROM history
         WHERE conversation = $1 AND person = $2 AND id BETWEEN $3 AND $4",
    )
    .bind(conversation)
    .bind(person)
    .bind(first)
    .bind(compact.last)
    .execute(&mut *connection)
    .await?;
    let summary = &compact.summary;
    sqlx::query(
        "INSERT INTO history (conversation, person, id, role, turn, at, parts)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(conversation)
    .bind(person)
    .bind(compact.last)
    .bind(small(code::role(summary.role)))
    .bind(summary.turn)
    .bind(summary.at)
    .bind(clean(&summary.parts))
    .execute(connection)
    .await?;
    Ok(true)
}
