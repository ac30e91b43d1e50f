//! Pending actions as SQL: asked, answered once, read.
//!
//! Owns every statement on them but retention's. It never begins or ends a transaction; the writer does.

use async_trait::async_trait;
use rusqlite::params;
use sqlx::SqliteConnection;

use super::{SqliteStore, code, writer::Writer};
use crate::store::{
    Pending, PendingFilter, PendingState, PendingStore, Settle, StoreError, StoredPending,
    row::{self, PendingActionRow, rows_of},
};

impl Writer {
    /// Writes what is asked.
    pub(super) fn ask(&self, pending: &Pending) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO pending (id, conversation, asker, kind, answerer, four_eyes, action, hash,
                                      created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                pending.id,
                pending.conversation,
                pending.asker,
                code::pending_kind(pending.kind),
                pending.answerer.encode(),
                pending.four_eyes,
                pending.action,
                pending.hash,
                pending.created_at,
                pending.expires_at
            ])
            .map(drop)
    }

    /// Ends a row that is open, with its notices; `None` if it is not.
    pub(super) fn settle_pending(&mut self, settle: &Settle) -> rusqlite::Result<Option<Vec<i64>>> {
        let settled = self
            .connection
            .prepare_cached(
                "UPDATE pending SET state = ?4, answer = ?5, answered_by = ?6, answered_in = ?7,
                     answered_at = ?8, reason = ?9
                 WHERE id = ?1 AND conversation = ?2 AND hash = ?3
                   AND (state = 0 AND CASE ?4 WHEN ?10 THEN expires_at <= ?8
                                              WHEN ?11 THEN 1 ELSE expires_at > ?8 END
                        OR state = ?4 AND answer IS ?5 AND ?7 <> 0 AND answered_in = ?7)",
            )?
            .execute(params![
                settle.id,
                settle.conversation,
                settle.hash,
                code::pending(settle.state),
                settle.answer,
                settle.by,
                settle.turn,
                settle.at,
                settle.reason,
                code::pending(PendingState::Expired),
                code::pending(PendingState::Withdrawn)
            ])?;
        if settled == 0 {
            return Ok(None);
        }
        let notices = settle.notices.iter();
        let ids = notices.map(|notice| {
            let id = self.ids.fresh();
            self.reply(id, notice, settle.at).map(|()| id)
        });
        ids.collect::<rusqlite::Result<_>>().map(Some)
    }
}

#[async_trait]
impl PendingStore for SqliteStore {
    async fn pendings(
        &self,
        which: PendingFilter,
        limit: usize,
    ) -> Result<Vec<StoredPending>, StoreError> {
        self.readers
            .ask(async { read(&mut *self.readers.get().await?, which, limit).await })
            .await
    }
}

/// The statement for the rows of which a condition holds; its third parameter is their number.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT p.id, p.conversation, p.asker, p.kind, p.answerer, p.four_eyes, p.action, p.hash,
                    p.created_at, p.expires_at, p.state, p.answer, p.answered_by,
                    (SELECT o.message FROM outbox o WHERE o.id = p.id)
             FROM pending p WHERE ",
            $condition,
            " ORDER BY p.id LIMIT ?3 + 0"
        )
    };
}

/// Rows, oldest first.
async fn read(
    reader: &mut SqliteConnection,
    which: PendingFilter,
    limit: usize,
) -> sqlx::Result<Vec<StoredPending>> {
    let (sql, first, second) = match which {
        PendingFilter::Id(id) => (select!("p.id = ?1 AND ?2 = 0"), id, 0),
        PendingFilter::Open { conversation, at } => (
            select!("p.state = 0 AND p.expires_at > ?2 AND p.conversation = ?1"),
            conversation,
            at,
        ),
        PendingFilter::Due(at) => (
            select!("p.state = 0 AND p.expires_at <= ?1 AND ?2 = 0"),
            at,
            0,
        ),
        PendingFilter::AnsweredIn(turn) => (
            select!("p.state = ?2 AND p.answered_in = ?1"),
            turn,
            code::pending(PendingState::Approved),
        ),
    };
    let rows: Vec<PendingActionRow> = sqlx::query_as(sql)
        .bind(first)
        .bind(second)
        .bind(rows_of(limit))
        .fetch_all(reader)
        .await?;
    Ok(rows.into_iter().filter_map(row::pending_action).collect())
}
