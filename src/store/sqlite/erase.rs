//! Deleting what is kept of a conversation, as SQL.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use rusqlite::{OptionalExtension as _, params};

use super::{code, writer::Writer};
use crate::{
    reason::Reason,
    store::{
        Erase, Forget, PendingKind, PendingState,
        erase::{NO_MESSAGE, NO_REPLY, STAY},
        row::SLICE,
    },
};

impl Writer {
    /// Takes the words out of a slice; tells where the next one begins.
    pub(super) fn erase(&self, erase: &Erase) -> rusqlite::Result<Option<i64>> {
        let last: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT id FROM inbox WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT 1 OFFSET ?3",
            )?
            .query_row(params![erase.after, erase.before, SLICE - 1], |row| {
                row.get(0)
            })
            .optional()?;
        let until = last.unwrap_or(erase.before);
        self.connection
            .prepare_cached(
                "UPDATE inbox SET body = ?4, shown = 0
                 WHERE id > ?1 AND id <= ?2 AND id < ?5 AND conversation = ?3",
            )?
            .execute(params![
                erase.after,
                until,
                erase.conversation,
                NO_MESSAGE,
                erase.before
            ])?;
        self.connection
            .prepare_cached(
                "UPDATE outbox SET body = ?4, shown = 0,
                     reason = CASE WHEN state = ?6 THEN ?8 ELSE reason END,
                     state = CASE WHEN state = ?6 THEN ?7 ELSE state END
                 WHERE id > ?1 AND id <= ?2 AND id < ?5 AND conversation = ?3 AND state NOT IN (?9, ?10)",
            )?
            .execute(params![
                erase.after,
                until,
                erase.conversation,
                NO_REPLY,
                erase.before,
                code::UNKNOWN,
                code::FAILED,
                Reason::ConversationDeleted.code(),
                code::READY,
                code::SENDING
            ])?;
        Ok(last)
    }

    /// What goes with the end of a turn.
    pub(super) fn forget(&self, forget: &Forget) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("DELETE FROM history WHERE conversation = ?1")?
            .execute([forget.conversation])?;
        if !forget.all {
            return Ok(());
        }
        self.connection
            .prepare_cached(
                "DELETE FROM setting WHERE conversation = ?1 AND substr(key, 1, 5) <> 'role:'
                     AND key NOT IN (?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                forget.conversation,
                STAY[0],
                STAY[1],
                STAY[2],
                STAY[3]
            ])?;
        // What people wanted to be told; a ban that is put off still ends.
        self.connection
            .prepare_cached(
                "UPDATE outbox SET body = ?2, state = ?3, reason = ?4
                 WHERE kind = 1 AND state < 2 AND conversation = ?1 AND substr(subject, 1, 7) = 'remind:'",
            )?
            .execute(params![
                forget.conversation,
                NO_REPLY,
                code::REPLY_DROPPED,
                Reason::ConversationDeleted.code()
            ])?;
        self.connection
            .prepare_cached(
                "UPDATE pending SET action = '', reason = CASE WHEN state = 0 THEN ?3 ELSE reason END,
                     state = CASE WHEN state = 0 THEN ?2 ELSE state END,
                     answer = CASE WHEN kind = ?4 THEN NULL ELSE answer END
                 WHERE conversation = ?1",
            )?
            .execute(params![
                forget.conversation,
                code::pending(PendingState::Withdrawn),
                Reason::ConversationDeleted.code(),
                code::pending_kind(PendingKind::Question)
            ])
            .map(drop)
    }
}
