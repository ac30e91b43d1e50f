//! What an operator does, as SQL: replies and failed messages are taken up again or settled.
//!
//! Owns the statements for it. Each changes a row only in the states that its action is for, so that two
//! operators cannot do the same twice. It never begins or ends a transaction; the writer does.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{code, writer::Writer};
use crate::store::{Action, Operate, Operated, PendingReply, Waiting};

/// Messages of one turn that are accepted anew at most.
pub const MEMBERS: usize = 1_000;
/// Ends after the turn's first message that are searched for its others: a few milliseconds.
const SEARCHED: i64 = 200_000;

impl Writer {
    /// Does an action, with its effects if there was something to do.
    pub(super) fn operate(&mut self, operate: &Operate) -> rusqlite::Result<Operated> {
        let done = match operate.action {
            Action::RetryReply(id) => self.retry_reply(id, operate.at)?,
            Action::DropReply { id, waiting } => self.drop_reply(id, waiting)?,
            Action::RetryMessage(id) => self.retry_message(id, operate.at)?,
            Action::DropMessage(id) => self.drop_message(id)?,
        };
        if !matches!(done, Operated::Refused(_)) {
            self.effects(&operate.effects, operate.at)?;
        }
        Ok(done)
    }

    fn retry_reply(&mut self, id: i64, at: i64) -> rusqlite::Result<Operated> {
        self.lower_outbox_floor(id)?;
        let ready = self
            .connection
            .prepare_cached(
                "UPDATE outbox SET state = ?2, part = CASE WHEN state = ?4 THEN 0 ELSE part END,
                     doubtful = CASE WHEN state = ?4 THEN 0 ELSE doubtful END,
                     attempts = 0, due_at = ?3, reason = NULL
                 WHERE id = ?1 AND kind = 0 AND state IN (3, 4, 5)
                 RETURNING id, conversation, turn, part, doubtful, due_at, created_at, body",
            )?
            .query_row(params![id, code::READY, at, code::UNKNOWN], pending)
            .optional()?;
        match ready {
            Some(reply) => Ok(Operated::Ready(reply)),
            None => self.reply_state(id).map(Operated::Refused),
        }
    }

    fn drop_reply(&self, id: i64, waiting: bool) -> rusqlite::Result<Operated> {
        let dropped = self
            .connection
            .prepare_cached(
                "UPDATE outbox SET state = ?2
                 WHERE id = ?1 AND kind = 0 AND (state IN (3, 4, 5) OR (?3 AND state IN (0, 1)))",
            )?
            .execute(params![id, code::REPLY_DROPPED, waiting])?;
        if dropped > 0 {
            return Ok(Operated::Dropped);
        }
        self.reply_state(id).map(Operated::Refused)
    }

    fn reply_state(&self, id: i64) -> rusqlite::Result<Option<&'static str>> {
        self.connection
            .prepare_cached("SELECT state FROM outbox WHERE id = ?1 AND kind = 0")?
            .query_row([id], |row| row.get(0).map(code::answer_name))
            .optional()
    }

    fn retry_message(&mut self, id: i64, at: i64) -> rusqlite::Result<Operated> {
        if !self.settle_message(id)? {
            return self.message_state(id).map(Operated::Refused);
        }
        let members: Vec<i64> = self
            .connection
            .prepare_cached(
                "SELECT ?1 UNION ALL
                 SELECT id FROM (SELECT id, turn FROM ended WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)
                 WHERE turn = ?1 ORDER BY 1 LIMIT ?3 + 0",
            )?
            .query_map(
                params![id, SEARCHED, i64::try_from(MEMBERS).unwrap_or(i64::MAX)],
                |row| row.get(0),
            )?
            .collect::<rusqlite::Result<_>>()?;
        let mut accepted = Vec::with_capacity(members.len());
        for member in members {
            accepted.extend(self.accept_anew(member, at)?);
        }
        Ok(Operated::Accepted(accepted))
    }

    /// A copy of a message that is not told from a new one, but for two things: no event can be its
    /// duplicate, and a conversation that is shown from the store shows the first one only.
    fn accept_anew(&mut self, id: i64, at: i64) -> rusqlite::Result<Option<Waiting>> {
        let fresh = self.ids.fresh();
        self.connection
            .prepare_cached(
                "INSERT INTO inbox (id, account, event, event_until, conversation, person, at, route,
                                    priority, shown, body)
                 SELECT ?2, account, NULL, ?3, conversation, person, ?3, route, priority, 0, body
                 FROM inbox WHERE id = ?1
                 RETURNING id, account, conversation, person, at, route, priority, body",
            )?
            .query_row(params![id, fresh, at], waiting)
            .optional()
    }

    fn drop_message(&self, id: i64) -> rusqlite::Result<Operated> {
        if self.settle_message(id)? {
            return Ok(Operated::Dropped);
        }
        self.message_state(id).map(Operated::Refused)
    }

    /// Takes a failed message off the list; `false` if it is not on it.
    fn settle_message(&self, id: i64) -> rusqlite::Result<bool> {
        let turns = self
            .connection
            .prepare_cached(
                "UPDATE turn SET state = ?2 WHERE id = ?1 AND state = ?3
                     AND EXISTS (SELECT 1 FROM inbox WHERE id = ?1)",
            )?
            .execute(params![id, code::TURN_SETTLED, code::TURN_FAILED])?;
        if turns > 0 {
            return Ok(true);
        }
        let unreadable = self
            .connection
            .prepare_cached(
                "UPDATE ended SET state = ?2 WHERE id = ?1 AND state = ?3 AND turn IS NULL
                     AND EXISTS (SELECT 1 FROM inbox WHERE id = ?1)",
            )?
            .execute(params![id, code::END_SETTLED, code::END_FAILED])?;
        Ok(unreadable > 0)
    }

    fn message_state(&self, id: i64) -> rusqlite::Result<Option<&'static str>> {
        self.connection
            .prepare_cached(
                "SELECT CASE
                     WHEN EXISTS (SELECT 1 FROM turn WHERE id = ?1 AND state = ?2)
                         OR EXISTS (SELECT 1 FROM ended WHERE id = ?1 AND state = ?3) THEN 2
                     WHEN EXISTS (SELECT 1 FROM ended WHERE id = ?1)
                         OR EXISTS (SELECT 1 FROM outbox WHERE id = ?1) THEN 1
                     ELSE 0 END
                 FROM inbox WHERE id = ?1",
            )?
            .query_row(params![id, code::TURN_SETTLED, code::END_SETTLED], |row| {
                row.get::<_, i64>(0).map(|state| match state {
                    2 => "settled",
                    1 => "done",
                    _ => "waiting",
                })
            })
            .optional()
    }
}

fn pending(row: &Row<'_>) -> rusqlite::Result<PendingReply> {
    Ok(PendingReply {
        id: row.get(0)?,
        conversation: row.get(1)?,
        turn: row.get(2)?,
        part: row.get(3)?,
        in_doubt: false,
        attempts: 0,
        doubtful: row.get(4)?,
        unknown: false,
        due_at: row.get(5)?,
        created_at: row.get(6)?,
        body: row.get(7)?,
    })
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<Waiting> {
    Ok(Waiting {
        id: row.get(0)?,
        account: row.get(1)?,
        conversation: row.get(2)?,
        person: row.get(3)?,
        at: row.get(4)?,
        route: row.get(5)?,
        priority: row.get(6)?,
        attempts: 0,
        body: row.get(7)?,
    })
}
