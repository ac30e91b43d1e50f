//! Pending actions as SQL: asked, answered once, read.
//!
//! Owns every statement on them but retention's. It never begins or ends a transaction; the writer does.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{
    PostgresStore, operate,
    plan::{Numbers, Planner, clean},
    statement::{self, small},
};
use crate::store::{
    End, EndState, Pending, PendingFilter, PendingState, PendingStore, Settle, StoreError,
    StoredPending,
    row::{self, PendingActionRow, rows_of},
    sqlite::{code, outcome::Outcome},
};

/// Writes what is asked.
pub async fn ask(connection: &mut PgConnection, pending: &Pending) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO pending (id, conversation, asker, kind, answerer, four_eyes, action, hash,
                              created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(pending.id)
    .bind(pending.conversation)
    .bind(pending.asker)
    .bind(small(code::pending_kind(pending.kind)))
    .bind(pending.answerer.encode())
    .bind(pending.four_eyes)
    .bind(clean(&pending.action))
    .bind(&pending.hash)
    .bind(pending.created_at)
    .bind(pending.expires_at)
    .execute(connection)
    .await
    .map(drop)
}

/// Ends a row that is open, with its notices, for the start `process` of the gateway; `None` if it is not.
pub async fn settle(
    connection: &mut PgConnection,
    settle: &Settle,
    process: i64,
) -> sqlx::Result<Option<Vec<i64>>> {
    let settled = sqlx::query(
        "UPDATE pending SET state = $4, answer = $5, answered_by = $6, answered_in = $7,
             answered_at = $8, reason = $9
         WHERE id = $1 AND conversation = $2 AND hash = $3
           AND (state = 0 AND CASE $4 WHEN $10 THEN expires_at <= $8
                                      WHEN $11 THEN TRUE ELSE expires_at > $8 END
                OR state = $4 AND answer IS NOT DISTINCT FROM $5 AND $7 <> 0 AND answered_in = $7)",
    )
    .bind(settle.id)
    .bind(settle.conversation)
    .bind(&settle.hash)
    .bind(small(code::pending(settle.state)))
    .bind(settle.answer.as_deref().map(clean))
    .bind(settle.by)
    .bind(settle.turn)
    .bind(settle.at)
    .bind(settle.reason)
    .bind(small(code::pending(PendingState::Expired)))
    .bind(small(code::pending(PendingState::Withdrawn)))
    .execute(&mut *connection)
    .await?;
    if settled.rows_affected() == 0 {
        return Ok(None);
    }
    if settle.notices.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let last_id = operate::fresh(connection, settle.notices.len()).await?;
    let numbers = Numbers::default();
    // The turn that asked has ended long ago: its row says only whose lease the notices belong to.
    let about = [End {
        id: settle.id,
        state: EndState::Done,
        reason: settle.reason.unwrap_or_default(),
        at: settle.at,
    }];
    let plan = Planner::new(&numbers, last_id, settle.at).plan_end(&about, &settle.notices);
    let outcomes = statement::run(connection, plan, process).await?;
    Ok(outcomes.into_iter().find_map(|outcome| match outcome {
        Outcome::Ids(ids) => Some(ids),
        _ => None,
    }))
}

#[async_trait]
impl PendingStore for PostgresStore {
    async fn pendings(
        &self,
        which: PendingFilter,
        limit: usize,
    ) -> Result<Vec<StoredPending>, StoreError> {
        let leases = self.tenure.adopted();
        self.readers
            .ask(async {
                read(
                    &mut *self.readers.get().await?,
                    which,
                    leases.clone(),
                    limit,
                )
                .await
            })
            .await
    }
}

/// The statement for the rows of which a condition holds; its fourth parameter is their number.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT p.id, p.conversation, p.asker, p.kind::bigint, p.answerer, p.four_eyes, p.action,
                    p.hash, p.created_at, p.expires_at, p.state::bigint, p.answer, p.answered_by,
                    (SELECT o.message FROM outbox o WHERE o.id = p.id)
             FROM pending p WHERE ",
            $condition,
            " ORDER BY p.id LIMIT $4"
        )
    };
}

/// Rows, oldest first. What is due is told to the process alone that has the account.
async fn read(
    reader: &mut PgConnection,
    which: PendingFilter,
    leases: Option<Arc<[i64]>>,
    limit: usize,
) -> sqlx::Result<Vec<StoredPending>> {
    let (sql, first, second) = match which {
        PendingFilter::Id(id) => (
            select!("p.id = $1 AND $2::bigint = 0 AND $3::bigint[] IS NULL"),
            id,
            0,
        ),
        PendingFilter::Open { conversation, at } => (
            select!(
                "p.state = 0 AND p.expires_at > $2 AND p.conversation = $1 AND $3::bigint[] IS NULL"
            ),
            conversation,
            at,
        ),
        PendingFilter::Due(at) => (
            select!(
                "p.state = 0 AND p.expires_at <= $1 AND $2::bigint = 0
                 AND ($3::bigint[] IS NULL
                      OR coalesce((SELECT i.lease FROM inbox i WHERE i.id = p.id) = ANY($3), TRUE))"
            ),
            at,
            0,
        ),
        PendingFilter::AnsweredIn(turn) => (
            select!("p.state = $2 AND p.answered_in = $1 AND $3::bigint[] IS NULL"),
            turn,
            code::pending(PendingState::Approved),
        ),
    };
    let leases = leases.filter(|_| matches!(which, PendingFilter::Due(_)));
    let rows: Vec<PendingActionRow> = sqlx::query_as(sql)
        .bind(first)
        .bind(second)
        .bind(leases.map(|leases| leases.to_vec()))
        .bind(rows_of(limit))
        .fetch_all(reader)
        .await?;
    Ok(rows.into_iter().filter_map(row::pending_action).collect())
}
