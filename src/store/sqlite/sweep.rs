//! Retention: removes finished rows that are older than they need be, a chunk at a time.
//!
//! Owns where the current pass is. A pass goes through the tables in order of ids and stops at what is
//! still young; the next one starts a minute later. It never removes a message that has not ended, an
//! answer that is not sent, or a dedupe key whose time is not over.

use std::{sync::atomic::Ordering, time::Duration};

use rusqlite::{CachedStatement, params};

use super::writer::{Writer, set_meta};

/// Rows of one transaction.
const CHUNK: u16 = 256;
/// Milliseconds between two passes.
const PAUSE: i64 = 60_000;

/// How far the current pass is.
#[derive(Debug, Default)]
pub struct Sweep {
    stage: Stage,
    after: i64,
    next_pass: i64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Rest,
    Inbox,
    Outbox,
    History,
    Audit,
    Pending,
    InboxFloor,
    OutboxFloor,
}

/// A row that is looked at.
struct Row {
    id: i64,
    finished: bool,
    until: i64,
}

impl Writer {
    /// Starts a new pass with the next step.
    pub(super) fn sweep_now(&mut self) {
        self.sweep = Sweep::default();
    }

    /// Does one chunk; tells whether there is more to do now.
    pub(super) fn sweep_step(&mut self) -> rusqlite::Result<bool> {
        let now = (self.now)();
        let before = |kept: Duration| {
            now.saturating_sub(i64::try_from(kept.as_millis()).unwrap_or(i64::MAX))
        };
        let (over, next) = match self.sweep.stage {
            Stage::Rest => (now >= self.sweep.next_pass, Stage::Inbox),
            Stage::Inbox => (self.sweep_inbox(now)?, Stage::Outbox),
            Stage::Outbox => (self.sweep_outbox(now)?, Stage::History),
            Stage::History => (
                self.sweep_history(before(self.retention.history))?,
                Stage::Audit,
            ),
            Stage::Audit => {
                let over = self.sweep_audit(before(self.retention.audit), CHUNK)?;
                self.log_audit_head()?;
                (over, Stage::Pending)
            }
            Stage::Pending => (
                self.sweep_pending(before(self.retention.inbox))?,
                Stage::InboxFloor,
            ),
            Stage::InboxFloor => (self.raise_inbox_floor()?, Stage::OutboxFloor),
            Stage::OutboxFloor => (self.raise_outbox_floor()?, Stage::Rest),
        };
        if over {
            self.sweep.stage = next;
            self.sweep.after = match next {
                Stage::InboxFloor => self.shared.inbox_floor.load(Ordering::Relaxed),
                Stage::OutboxFloor => self.shared.outbox_floor.load(Ordering::Relaxed),
                _ => 0,
            };
            if next == Stage::Rest {
                self.sweep.next_pass = now.saturating_add(PAUSE);
            }
        }
        Ok(self.sweep.stage != Stage::Rest)
    }

    fn sweep_inbox(&mut self, now: i64) -> rusqlite::Result<bool> {
        let rows = self.look(
            "SELECT id,
                    EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                        OR EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id),
                    max(at + ?2, CASE WHEN event IS NULL THEN 0 ELSE event_until END)
             FROM inbox i WHERE id > ?1 ORDER BY id LIMIT ?3 + 0",
            self.retention.inbox,
        )?;
        self.remove(
            now,
            &rows,
            &[
                "DELETE FROM inbox WHERE id = ?1",
                "DELETE FROM ended WHERE id = ?1",
                "DELETE FROM turn WHERE id = ?1",
                "DELETE FROM step WHERE turn = ?1",
            ],
        )
    }

    fn sweep_outbox(&mut self, now: i64) -> rusqlite::Result<bool> {
        let rows = self.look(
            "SELECT id, state IN (2, 4, 5, 6), created_at + ?2
             FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?3 + 0",
            self.retention.outbox,
        )?;
        // The message may stay longer than its answer, and has ended all the same.
        self.remove(now, &rows, &[
            "INSERT INTO ended (id, state, turn, at)
             SELECT o.id, 0, coalesce(o.turn, o.id), o.created_at FROM outbox o JOIN inbox i ON i.id = o.id
             WHERE o.id = ?1 ON CONFLICT (id) DO NOTHING",
            "DELETE FROM outbox WHERE id = ?1",
        ])
    }

    fn look(&self, sql: &str, kept: Duration) -> rusqlite::Result<Vec<Row>> {
        // Half of the range is longer than any clock, and leaves room to add.
        let kept = i64::try_from(kept.as_millis())
            .unwrap_or(i64::MAX)
            .min(i64::MAX / 2);
        self.connection
            .prepare_cached(sql)?
            .query_map(params![self.sweep.after, kept, CHUNK], |row| {
                Ok(Row {
                    id: row.get(0)?,
                    finished: row.get(1)?,
                    until: row.get(2)?,
                })
            })?
            .collect()
    }

    /// Removes what is over; tells whether the pass through this table is.
    fn remove(&mut self, now: i64, rows: &[Row], statements: &[&str]) -> rusqlite::Result<bool> {
        let over: Vec<i64> = rows
            .iter()
            .filter(|row| row.finished && row.until <= now)
            .map(|row| row.id)
            .collect();
        let Some(last) = rows.last() else {
            return Ok(true);
        };
        if !over.is_empty() {
            let transaction = self.connection.unchecked_transaction()?;
            let mut prepared = statements
                .iter()
                .map(|sql| self.connection.prepare_cached(sql))
                .collect::<rusqlite::Result<Vec<CachedStatement<'_>>>>()?;
            for id in &over {
                for statement in &mut prepared {
                    statement.execute([id])?;
                }
            }
            drop(prepared);
            transaction.commit()?;
        }
        self.sweep.after = last.id;
        // Ids and times grow together, so behind a young row there is nothing but young rows.
        Ok(rows.len() < usize::from(CHUNK) || (over.is_empty() && last.until > now))
    }

    fn sweep_history(&self, before: i64) -> rusqlite::Result<bool> {
        let removed = self
            .connection
            .prepare_cached(
                "DELETE FROM history WHERE (conversation, person, id) IN (
                     SELECT conversation, person, id FROM history WHERE at < ?1 ORDER BY at LIMIT ?2 + 0)",
            )?
            .execute(params![before, CHUNK])?;
        Ok(removed < usize::from(CHUNK))
    }

    /// What waits goes with the message that asked, once it is over.
    fn sweep_pending(&self, before: i64) -> rusqlite::Result<bool> {
        let removed = self
            .connection
            .prepare_cached(
                "DELETE FROM pending WHERE id IN (
                     SELECT id FROM pending WHERE state <> 0 AND expires_at < ?1 LIMIT ?2 + 0)",
            )?
            .execute(params![before, CHUNK])?;
        Ok(removed < usize::from(CHUNK))
    }

    fn raise_inbox_floor(&mut self) -> rusqlite::Result<bool> {
        let over = self.climb(
            "SELECT max(id), min(CASE WHEN NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                 AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id) THEN id END)
             FROM (SELECT id FROM inbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0) i",
        )?;
        if over {
            self.keep_floor("inbox_floor", self.sweep.after)?;
            self.shared
                .inbox_floor
                .store(self.sweep.after, Ordering::Relaxed);
        }
        Ok(over)
    }

    /// A message that waits may yet get an answer of its own id, so this floor stays under the inbox's.
    fn raise_outbox_floor(&mut self) -> rusqlite::Result<bool> {
        let over = self.climb(
            "SELECT max(id), min(CASE WHEN state IN (0, 1, 3) THEN id END)
             FROM (SELECT id, state FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)",
        )?;
        if over {
            let floor = self
                .sweep
                .after
                .min(self.shared.inbox_floor.load(Ordering::Relaxed));
            self.keep_floor("outbox_floor", floor)?;
            self.shared.outbox_floor.store(floor, Ordering::Relaxed);
        }
        Ok(over)
    }

    /// Goes up over rows that are finished; tells whether the first that is not, or the end, is reached.
    fn climb(&mut self, sql: &str) -> rusqlite::Result<bool> {
        let (last, unfinished): (Option<i64>, Option<i64>) =
            self.connection
                .prepare_cached(sql)?
                .query_row(params![self.sweep.after, i64::from(CHUNK) * 16], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
        match (last, unfinished) {
            (_, Some(unfinished)) => self.sweep.after = unfinished - 1,
            (Some(last), None) => self.sweep.after = last,
            (None, None) => {}
        }
        Ok(unfinished.is_some() || last.is_none())
    }

    fn keep_floor(&self, key: &str, floor: i64) -> rusqlite::Result<()> {
        if super::writer::meta(&self.connection, key)? == Some(floor) {
            return Ok(());
        }
        set_meta(&self.connection, key, floor)
    }

    /// An answer is made at or under the floor: the floor goes down first.
    pub(super) fn lower_outbox_floor(&mut self, id: i64) -> rusqlite::Result<()> {
        if id > self.shared.outbox_floor.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.shared.outbox_floor.store(id - 1, Ordering::Relaxed);
        if self.sweep.stage == Stage::OutboxFloor {
            self.sweep.after = self.sweep.after.min(id - 1);
        }
        set_meta(&self.connection, "outbox_floor", id - 1)
    }
}
