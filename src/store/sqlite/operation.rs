//! The operations of the journal as SQL: T1 to T5 and what goes with them.
//!
//! Owns every statement that changes a message's state. It never begins or ends a transaction; the
//! writer does.

use rusqlite::{OptionalExtension as _, params};
use weirgate_sdk::{AccountName, Cursor, Platform};

use super::{code, outcome::Outcome, writer::Writer};
use crate::store::{
    Accept, Accepted, Begin, Effect, End, Finish, MediaChange, MemoryChange, NewReply, Receipt,
    ReceiptOutcome, TurnState, Write,
};

/// How many ids an operation can use.
pub fn ids(write: &Write) -> usize {
    match write {
        Write::Accept { messages, .. } => messages.len(),
        Write::Finish(finish, _) => {
            finish.history.len() + finish.replies.len() + finish.effects.len()
        }
        Write::End { notices, .. } => notices.len(),
        Write::Performed(performed, _) => performed.notices.len() + performed.effects.len(),
        Write::Operate(operate, _) => super::operate::MEMBERS + operate.effects.len(),
        Write::Ambient(..) => 1,
        Write::Settle(settle, _) => settle.notices.len(),
        Write::Begin(..)
        | Write::Intent { .. }
        | Write::Receipt(..)
        | Write::Amend { .. }
        | Write::Step { .. }
        | Write::Media(..)
        | Write::Meet(..)
        | Write::Compact(..)
        | Write::Memory(..)
        | Write::Erase(..) => 0,
    }
}

/// Bytes of text that an operation carries.
pub fn weight(write: &Write) -> usize {
    let replies =
        |replies: &[NewReply]| replies.iter().map(|reply| reply.body.len()).sum::<usize>();
    match write {
        Write::Accept { messages, .. } => messages.iter().map(|message| message.body.len()).sum(),
        Write::Finish(finish, _) => {
            replies(&finish.replies)
                + finish
                    .history
                    .iter()
                    .map(|row| row.parts.len())
                    .sum::<usize>()
        }
        Write::End { notices, .. } => replies(notices),
        Write::Performed(performed, _) => replies(&performed.notices),
        Write::Amend { body, .. } => body.len(),
        Write::Step { content, .. } => content.len(),
        Write::Ambient(ambient, _) => ambient.row.parts.len(),
        Write::Settle(settle, _) => replies(&settle.notices),
        Write::Compact(compact, _) => compact.summary.parts.len(),
        Write::Memory(changes, _) => changes.iter().map(MemoryChange::size).sum(),
        Write::Begin(..)
        | Write::Intent { .. }
        | Write::Receipt(..)
        | Write::Operate(..)
        | Write::Media(..)
        | Write::Meet(..)
        | Write::Erase(..) => 0,
    }
}

/// Whether the operation is whole without a transaction: it is one statement, or what precedes that
/// statement (a new name, an expired key that is given up, rows past a bound) does no harm alone.
pub fn is_single(write: &Write) -> bool {
    match write {
        Write::Accept {
            messages, cursor, ..
        } => messages.len() + usize::from(cursor.is_some()) <= 1,
        Write::Finish(finish, _) => {
            let ended = finish
                .members
                .iter()
                .filter(|member| needs_end(finish, **member))
                .count();
            !needs_turn(finish)
                && !finish.effects.iter().any(is_several)
                && finish.history.len() + finish.replies.len() + finish.effects.len() + ended <= 1
        }
        Write::End { ends, notices, .. } => ends.len() + notices.len() <= 1,
        Write::Operate(..)
        | Write::Performed(..)
        | Write::Settle(..)
        | Write::Compact(..)
        | Write::Memory(..)
        | Write::Erase(..) => false,
        Write::Media(change, _) => matches!(**change, MediaChange::Keep(_)),
        Write::Begin(..)
        | Write::Intent { .. }
        | Write::Receipt(..)
        | Write::Amend { .. }
        | Write::Step { .. }
        | Write::Meet(..)
        | Write::Ambient(..) => true,
    }
}

/// Whether an effect is more than one statement.
fn is_several(effect: &Effect) -> bool {
    matches!(effect, Effect::Audit(_) | Effect::EraseAudit { .. })
}

/// Whether a member of a turn has no outbox row that says that it has ended.
pub fn needs_end(finish: &Finish, member: i64) -> bool {
    member != finish.turn || finish.replies.is_empty()
}

/// Whether a turn's row is written: without a begin only if it has something to tell.
pub fn needs_turn(finish: &Finish) -> bool {
    finish.begun || finish.state != TurnState::Done || finish.reason.is_some()
}

impl Writer {
    /// Does one operation.
    pub(super) fn apply(&mut self, write: &Write) -> rusqlite::Result<Outcome> {
        match write {
            Write::Accept {
                platform,
                account,
                messages,
                cursor,
                ..
            } => self
                .accept(platform, account, messages, cursor.as_ref())
                .map(Outcome::Accepted),
            Write::Begin(begin, _) => self.begin(begin).map(Outcome::Attempt),
            Write::Finish(finish, _) => self.finish(finish).map(Outcome::Ids),
            Write::Intent { id, part, .. } => self.intent(*id, *part).map(|()| Outcome::Unit),
            Write::Receipt(receipt, _) => self.receipt(receipt).map(|()| Outcome::Unit),
            Write::Performed(performed, _) => self.performed(performed).map(Outcome::Ids),
            Write::End { ends, notices, .. } => self.end(ends, notices).map(Outcome::Ids),
            Write::Amend { id, body, .. } => self
                .connection
                .prepare_cached("UPDATE inbox SET body = ?2 WHERE id = ?1")?
                .execute(params![id, body])
                .map(|_| Outcome::Unit),
            Write::Meet(meeting, _) => {
                let Self {
                    names, connection, ..
                } = self;
                let conversation = names.conversation(connection, &meeting.conversation)?;
                let (person, _) = names.person(connection, &meeting.person)?;
                Ok(Outcome::Met(conversation, person))
            }
            Write::Ambient(ambient, _) => self.ambient(ambient).map(|()| Outcome::Unit),
            Write::Step {
                turn,
                step,
                content,
                ..
            } => self
                .connection
                .prepare_cached(
                    "INSERT INTO step (turn, step, content) VALUES (?1, ?2, ?3)
                     ON CONFLICT (turn, step) DO UPDATE SET content = excluded.content",
                )?
                .execute(params![turn, step, content])
                .map(|_| Outcome::Unit),
            Write::Operate(operate, _) => self.operate(operate).map(Outcome::Operated),
            Write::Media(change, _) => self.media(change).map(|()| Outcome::Unit),
            Write::Settle(settle, _) => self.settle_pending(settle).map(Outcome::Settled),
            Write::Erase(erase, _) => self.erase(erase).map(Outcome::Next),
            Write::Compact(compact, _) => self.compact(compact).map(Outcome::Whether),
            Write::Memory(changes, _) => self.change_memory(changes).map(Outcome::Ids),
        }
    }

    fn accept(
        &mut self,
        platform: &Platform,
        account: &AccountName,
        messages: &[Accept],
        cursor: Option<&Cursor>,
    ) -> rusqlite::Result<Vec<Accepted>> {
        let account = self.names.account(&self.connection, platform, account)?;
        let accepted = messages
            .iter()
            .map(|message| self.accept_one(account, message))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        if let Some(cursor) = cursor {
            self.connection
                .prepare_cached("UPDATE account SET bot = ?2, cursor = ?3 WHERE id = ?1")?
                .execute(params![account, cursor.bot.as_str(), cursor.value])?;
        }
        Ok(accepted)
    }

    fn accept_one(&mut self, account: u32, message: &Accept) -> rusqlite::Result<Accepted> {
        let conversation = self
            .names
            .conversation(&self.connection, &message.conversation)?;
        let (person, new_person) = self.names.person(&self.connection, &message.person)?;
        let id = self.ids.fresh();
        let own = Accepted {
            id,
            account,
            conversation,
            person,
            new_person,
            duplicate: false,
        };
        if self.insert_inbox(&own, message)? {
            return Ok(own);
        }
        if let Some(earlier) = self.earlier(account, message)? {
            return Ok(earlier);
        }
        self.insert_inbox(&own, message)?;
        Ok(own)
    }

    fn insert_inbox(&self, row: &Accepted, message: &Accept) -> rusqlite::Result<bool> {
        let inserted = self
            .connection
            .prepare_cached(
                "INSERT INTO inbox (id, account, event, event_until, conversation, person, at, route,
                                    priority, shown, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                 ON CONFLICT (account, event) DO NOTHING",
            )?
            .execute(params![
                row.id,
                row.account,
                message.event,
                message.event_until,
                row.conversation,
                row.person,
                message.at,
                message.route,
                message.priority,
                message.shown,
                message.body
            ])?;
        Ok(inserted > 0)
    }

    /// The row that was accepted under the same key, unless the key's time is over; then the key is free.
    fn earlier(&self, account: u32, message: &Accept) -> rusqlite::Result<Option<Accepted>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT id, event_until, conversation, person FROM inbox
                 WHERE account = ?1 AND event = ?2",
            )?
            .query_row(params![account, message.event], |row| {
                let (conversation, person) = (row.get(2)?, row.get(3)?);
                let id = row.get(0)?;
                let earlier = Accepted {
                    id,
                    account,
                    conversation,
                    person,
                    new_person: false,
                    duplicate: true,
                };
                Ok((row.get::<_, i64>(1)?, earlier))
            })
            .optional()?;
        let Some((until, earlier)) = found else {
            return Ok(None);
        };
        if until > message.at {
            return Ok(Some(earlier));
        }
        self.connection
            .prepare_cached("UPDATE inbox SET event = NULL WHERE id = ?1")?
            .execute([earlier.id])?;
        Ok(None)
    }

    /// Says 0 and writes nothing if the message has ended meanwhile, for example because it was recalled.
    fn begin(&self, begin: &Begin) -> rusqlite::Result<u32> {
        self.connection
            .prepare_cached(
                "INSERT INTO turn (id, attempt, state, started_at)
                 SELECT ?1, 1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM ended WHERE id = ?1)
                 ON CONFLICT (id) DO UPDATE SET attempt = attempt + 1, state = excluded.state,
                     reason = NULL, started_at = excluded.started_at, ended_at = NULL
                 RETURNING attempt",
            )?
            .query_row(params![begin.turn, code::RUNNING, begin.at], |row| {
                row.get(0)
            })
            .optional()
            .map(Option::unwrap_or_default)
    }

    fn finish(&mut self, finish: &Finish) -> rusqlite::Result<Vec<i64>> {
        for row in &finish.history {
            self.history(finish.scope, row)?;
        }
        let mut ids = Vec::with_capacity(finish.replies.len());
        for (index, reply) in finish.replies.iter().enumerate() {
            let id = if index == 0 {
                finish.turn
            } else {
                self.ids.fresh()
            };
            self.reply(id, reply, finish.at)?;
            ids.push(id);
        }
        let state = code::member(finish.state);
        for member in finish
            .members
            .iter()
            .filter(|member| needs_end(finish, **member))
        {
            self.ended(*member, state, finish.reason, Some(finish.turn), finish.at)?;
        }
        if needs_turn(finish) {
            self.connection
                .prepare_cached(
                    "INSERT INTO turn (id, attempt, state, reason, started_at, ended_at)
                     VALUES (?1, 1, ?2, ?3, ?4, ?4)
                     ON CONFLICT (id) DO UPDATE SET state = excluded.state,
                         reason = excluded.reason, ended_at = excluded.ended_at",
                )?
                .execute(params![
                    finish.turn,
                    code::turn(finish.state),
                    finish.reason,
                    finish.at
                ])?;
        }
        self.effects(&finish.effects, finish.at)?;
        Ok(ids)
    }

    pub(super) fn reply(&mut self, id: i64, reply: &NewReply, at: i64) -> rusqlite::Result<()> {
        self.lower_outbox_floor(id)?;
        let state = if reply.sending {
            code::SENDING
        } else {
            code::READY
        };
        self.connection
            .prepare_cached(
                "INSERT INTO outbox (id, conversation, turn, kind, state, part, attempts, process,
                                     due_at, created_at, shown, body)
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                id,
                reply.conversation,
                reply.turn,
                code::MESSAGE,
                state,
                self.process,
                reply.due_at,
                at,
                reply.shown,
                reply.body
            ])
            .map(drop)
    }

    /// A message ends without an outbox row; the first end stands.
    fn ended(
        &self,
        id: i64,
        state: i64,
        reason: Option<&str>,
        turn: Option<i64>,
        at: i64,
    ) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO ended (id, state, reason, turn, at)
                 SELECT ?1, ?2, ?3, ?4, ?5
                 WHERE EXISTS (SELECT 1 FROM inbox WHERE id = ?1)
                   AND NOT EXISTS (SELECT 1 FROM outbox WHERE id = ?1)
                 ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![id, state, reason, turn, at])
            .map(drop)
    }

    fn end(&mut self, ends: &[End], notices: &[NewReply]) -> rusqlite::Result<Vec<i64>> {
        for end in ends {
            self.ended(end.id, code::end(end.state), Some(end.reason), None, end.at)?;
        }
        let at = ends.last().map_or_else(self.now, |end| end.at);
        self.notices(notices, at)
    }

    /// New notices; gives their ids.
    pub(super) fn notices(&mut self, notices: &[NewReply], at: i64) -> rusqlite::Result<Vec<i64>> {
        let mut ids = Vec::with_capacity(notices.len());
        for notice in notices {
            let id = self.ids.fresh();
            self.reply(id, notice, at)?;
            ids.push(id);
        }
        Ok(ids)
    }

    /// An intent for a part whose earlier intent another process wrote, and to which no receipt came, is
    /// the next attempt after a crash; another part starts counting anew. A receipt for such a part
    /// counts the crash in the same way.
    fn intent(&self, id: i64, part: u32) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "UPDATE outbox SET
                     attempts = CASE WHEN part <> ?2 THEN 0
                                     WHEN state = ?3 AND process <> ?4 THEN attempts + 1
                                     ELSE attempts END,
                     state = ?3, part = ?2, process = ?4
                 WHERE id = ?1",
            )?
            .execute(params![id, part, code::SENDING, self.process])
            .map(drop)
    }

    pub(super) fn receipt(&self, receipt: &Receipt) -> rusqlite::Result<()> {
        let (id, part) = (receipt.id, receipt.part);
        let (state, reason) = match &receipt.outcome {
            ReceiptOutcome::Sent { message, last } => {
                return self.sent(id, part, message.as_deref(), *last);
            }
            ReceiptOutcome::Doubtful => {
                self.sent(id, part, None, false)?;
                return self.doubtful(id);
            }
            ReceiptOutcome::Retry { due_at, reason } => {
                return self
                    .connection
                    .prepare_cached(
                        "UPDATE outbox SET attempts = attempts + (state = 1 AND process <> ?6),
                             state = ?3, part = ?2, due_at = ?4, reason = ?5
                         WHERE id = ?1",
                    )?
                    .execute(params![id, part, code::READY, due_at, reason, self.process])
                    .map(drop);
            }
            ReceiptOutcome::Unknown { reason } => (code::UNKNOWN, *reason),
            ReceiptOutcome::Failed { reason } => (code::FAILED, *reason),
            ReceiptOutcome::Expired { reason } => (code::EXPIRED, *reason),
        };
        self.connection
            .prepare_cached(
                "UPDATE outbox SET attempts = attempts + (state = 1 AND process <> ?5),
                     state = ?3, part = ?2, reason = ?4
                 WHERE id = ?1",
            )?
            .execute(params![id, part, state, reason, self.process])
            .map(drop)
    }

    fn sent(&self, id: i64, part: u32, message: Option<&str>, last: bool) -> rusqlite::Result<()> {
        let (state, next) = if last {
            (code::SENT, part)
        } else {
            (code::READY, part.saturating_add(1))
        };
        self.connection
            .prepare_cached(
                "UPDATE outbox SET state = ?2, part = ?3, attempts = 0, reason = NULL,
                     message = CASE WHEN ?4 IS NULL THEN message
                                    ELSE coalesce(message || char(10), '') || ?4 END
                 WHERE id = ?1",
            )?
            .execute(params![id, state, next, message])
            .map(drop)
    }

    fn doubtful(&self, id: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("UPDATE outbox SET doubtful = 1 WHERE id = ?1")?
            .execute([id])
            .map(drop)
    }

    /// Everything that a turn changes besides its messages.
    pub(super) fn effects(&mut self, effects: &[Effect], at: i64) -> rusqlite::Result<()> {
        effects
            .iter()
            .try_for_each(|effect| self.effect(effect, at))
    }
}
