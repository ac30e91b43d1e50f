//! Deleting what is kept of a conversation, as SQL.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use sqlx::PgConnection;

use super::statement::small;
use crate::{
    reason::Reason,
    store::{
        Erase, Forget, PendingKind, PendingState,
        erase::{NO_MESSAGE, NO_REPLY, STAY},
        row::SLICE,
        sqlite::code,
    },
};

/// Takes the words out of a slice; tells where the next one begins.
pub async fn erase(connection: &mut PgConnection, erase: &Erase) -> sqlx::Result<Option<i64>> {
    let last: Option<(i64,)> = sqlx::query_as(
        "SELECT id FROM inbox WHERE id > $1 AND id < $2 ORDER BY id LIMIT 1 OFFSET $3",
    )
    .bind(erase.after)
    .bind(erase.before)
    .bind(SLICE - 1)
    .fetch_optional(&mut *connection)
    .await?;
    let last = last.map(|(id,)| id);
    let until = last.unwrap_or(erase.before);
    sqlx::query(
        "UPDATE inbox SET body = $4, shown = FALSE
         WHERE id > $1 AND id <= $2 AND id < $5 AND conversation = $3",
    )
    .bind(erase.after)
    .bind(until)
    .bind(erase.conversation)
    .bind(NO_MESSAGE)
    .bind(erase.before)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "UPDATE outbox SET body = $4, shown = FALSE,
             reason = CASE WHEN state = $6 THEN $8 ELSE reason END,
             state = CASE WHEN state = $6 THEN $7 ELSE state END
         WHERE id > $1 AND id <= $2 AND id < $5 AND conversation = $3 AND state NOT IN ($9, $10)",
    )
    .bind(erase.after)
    .bind(until)
    .bind(erase.conversation)
    .bind(NO_REPLY)
    .bind(erase.before)
    .bind(small(code::UNKNOWN))
    .bind(small(code::FAILED))
    .bind(Reason::ConversationDeleted.code())
    .bind(small(code::READY))
    .bind(small(code::SENDING))
    .execute(connection)
    .await?;
    Ok(last)
}

/// What goes with the end of a turn.
pub async fn forget(connection: &mut PgConnection, forget: Forget) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM history WHERE conversation = $1")
        .bind(forget.conversation)
        .execute(&mut *connection)
        .await?;
    if !forget.all {
        return Ok(());
    }
    sqlx::query(
        "DELETE FROM setting WHERE conversation = $1 AND NOT starts_with(key, 'role:')
             AND key <> ALL($2)",
    )
    .bind(forget.conversation)
    .bind(STAY.map(str::to_owned).to_vec())
    .execute(&mut *connection)
    .await?;
    // What people wanted to be told; a ban that is put off still ends.
    sqlx::query(
        "UPDATE outbox SET body = $2, state = $3, reason = $4
         WHERE kind = 1 AND state < 2 AND conversation = $1 AND starts_with(subject, 'remind:')",
    )
    .bind(forget.conversation)
    .bind(NO_REPLY)
    .bind(small(code::REPLY_DROPPED))
    .bind(Reason::ConversationDeleted.code())
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "UPDATE pending SET action = '', reason = CASE WHEN state = 0 THEN $3 ELSE reason END,
             state = CASE WHEN state = 0 THEN $2 ELSE state END,
             answer = CASE WHEN kind = $4 THEN NULL ELSE answer END
         WHERE conversation = $1",
    )
    .bind(forget.conversation)
    .bind(small(code::pending(PendingState::Withdrawn)))
    .bind(Reason::ConversationDeleted.code())
    .bind(small(code::pending_kind(PendingKind::Question)))
    .execute(connection)
    .await
    .map(drop)
}
