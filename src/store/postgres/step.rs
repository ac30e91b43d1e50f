//! The statements for the steps of turns.
//!
//! Owns the table of steps. It never begins or ends a transaction; the writer does.

use sqlx::PgConnection;

use super::plan::Steps;

/// Keeps steps; one that is there is replaced.
pub async fn keep(connection: &mut PgConnection, steps: Steps<'_>) -> sqlx::Result<()> {
    if steps.turns.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO step (turn, step, content)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[])
         ON CONFLICT (turn, step) DO UPDATE SET content = excluded.content",
    )
    .bind(steps.turns)
    .bind(steps.steps)
    .bind(steps.contents)
    .execute(connection)
    .await
    .map(drop)
}

/// Removes the steps of turns.
pub async fn remove(connection: &mut PgConnection, turns: Vec<i64>) -> sqlx::Result<()> {
    if turns.is_empty() {
        return Ok(());
    }
    sqlx::query("DELETE FROM step WHERE turn = ANY($1)")
        .bind(turns)
        .execute(connection)
        .await
        .map(drop)
}
