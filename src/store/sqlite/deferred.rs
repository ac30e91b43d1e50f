//! What is put off, in SQLite: rows of the outbox that are no messages.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use rusqlite::params;
use sqlx::SqliteConnection;

use super::{code, writer::Writer};
use crate::store::{
    Deferred, Due, Performed,
    row::{self, DueRow, rows_of},
};

impl Writer {
    /// Something is to be done later.
    pub(super) fn defer(&mut self, deferred: &Deferred, at: i64) -> rusqlite::Result<()> {
        let id = self.ids.fresh();
        self.connection
            .prepare_cached(
                "INSERT INTO outbox (id, conversation, turn, kind, state, part, attempts, process, due_at,
                                     created_at, shown, body, subject)
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7, ?8, 0, ?9, ?10)",
            )?
            .execute(params![
                id,
                deferred.conversation,
                deferred.turn,
                code::ACTION,
                code::READY,
                self.process,
                deferred.due_at,
                at,
                deferred.body,
                deferred.subject
            ])
            .map(drop)
    }

    /// It is not to be done any more.
    pub(super) fn withdraw(&self, conversation: i64, subject: &str) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "UPDATE outbox SET state = ?3
                 WHERE kind = 1 AND state < 2 AND conversation = ?1 AND subject = ?2",
            )?
            .execute(params![conversation, subject, code::REPLY_DROPPED])
            .map(drop)
    }

    /// What became of it, with all that goes with that; gives the ids of the reports.
    pub(super) fn performed(&mut self, performed: &Performed) -> rusqlite::Result<Vec<i64>> {
        self.receipt(&performed.receipt)?;
        let at = performed.receipt.at;
        let ids = self.notices(&performed.notices, at)?;
        self.effects(&performed.effects, at)?;
        Ok(ids)
    }
}

/// What is not done yet, the first that is due first.
pub async fn due(reader: &mut SqliteConnection, limit: usize) -> sqlx::Result<Vec<Due>> {
    let rows: Vec<DueRow> = sqlx::query_as(
        "SELECT id, conversation, coalesce(turn, 0), coalesce(subject, ''), due_at, body FROM outbox
         WHERE kind = 1 AND state < 2 ORDER BY due_at, id LIMIT ?1 + 0",
    )
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::due).collect())
}

/// What is not done yet of a conversation, about what begins so; the first that is due first.
pub async fn about(
    reader: &mut SqliteConnection,
    (conversation, subjects): (i64, &str),
    limit: usize,
) -> sqlx::Result<Vec<Due>> {
    let rows: Vec<DueRow> = sqlx::query_as(
        "SELECT id, conversation, coalesce(turn, 0), coalesce(subject, ''), due_at, body FROM outbox
         WHERE kind = 1 AND state < 2 AND conversation = ?1 AND substr(subject, 1, length(?2)) = ?2
         ORDER BY due_at, id LIMIT ?3 + 0",
    )
    .bind(conversation)
    .bind(subjects)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::due).collect())
}
