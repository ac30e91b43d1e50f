//! The audit log in SQLite: records are put behind the head of the chain, and old ones leave a checkpoint.
//!
//! Owns the statements that change the log. What a record hashes to is in [`crate::store::audit`]. It never begins or
//! ends a transaction, except for chaining records of before there was a chain.

pub mod ask;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::writer::Writer;
use crate::store::{
    Audit,
    audit::{self, ERASED, Head, StoredAudit},
    row,
};

/// The columns of a record, as [`read`] takes them.
const COLUMNS: &str = "id, seq, writer, at, event, result, conversation, turn, operator, target, details, salt, \
                       personal, hash";

impl Writer {
    /// Writes a record behind the newest one.
    pub(super) fn audit(&mut self, audit: &Audit) -> rusqlite::Result<()> {
        let mut head = self.audit_head()?;
        let mut record = StoredAudit::new(self.ids.fresh(), self.process, audit);
        record.seal(&mut head, rand::random());
        self.connection
            .prepare_cached(
                "INSERT INTO audit (id, at, event, operator, target, conversation, turn, details, writer, seq,
                                    result, salt, personal, hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(params![
                record.id,
                record.at,
                record.event,
                record.operator,
                record.target,
                record.conversation,
                record.turn,
                record.details,
                record.writer,
                record.seq,
                record.result,
                record.salt,
                record.personal,
                record.hash
            ])?;
        set_head(&self.connection, head)?;
        self.audit_head = Some(head);
        Ok(())
    }

    /// Removes what is personal in the records of a conversation, and writes down that it is gone.
    pub(super) fn erase_audit(&mut self, conversation: i64, at: i64) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "UPDATE audit SET operator = 0, target = '', details = '', salt = NULL
                 WHERE conversation = ?1 AND salt IS NOT NULL",
            )?
            .execute([conversation])?;
        self.audit(&Audit::of_store(ERASED, conversation, "{}".to_owned(), at))
    }

    /// The newest record.
    pub(super) fn audit_head(&mut self) -> rusqlite::Result<Head> {
        match self.audit_head {
            Some(head) => Ok(head),
            None => {
                let head = head(&self.connection)?;
                self.audit_head = Some(head);
                Ok(head)
            }
        }
    }

    /// Removes up to `page` records of before `before`; tells whether no more of them can go now.
    pub(super) fn sweep_audit(&mut self, before: i64, page: u16) -> rusqlite::Result<bool> {
        let oldest = self.oldest_audits(page)?;
        let times: Vec<i64> = oldest.iter().map(|(_, at, ..)| *at).collect();
        let count = audit::removable(&times, before, page.into());
        let Some((id, _, seq, hash)) = count.checked_sub(1).and_then(|last| oldest.get(last))
        else {
            return Ok(true);
        };
        let at = (self.now)();
        self.ids.reserve(&self.connection, 1)?;
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.connection
            .prepare_cached("DELETE FROM audit WHERE id <= ?1")?
            .execute([id])?;
        self.audit(&audit::checkpoint(*seq, hash, count, at))?;
        self.connection.execute_batch("COMMIT")?;
        Ok(count < page.into())
    }

    /// Id, time, number and hash of the oldest records.
    fn oldest_audits(&self, page: u16) -> rusqlite::Result<Vec<(i64, i64, i64, String)>> {
        self.connection
            .prepare_cached("SELECT id, at, seq, hash FROM audit ORDER BY id LIMIT ?1 + 0")?
            .query_map([page], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect()
    }

    /// Says in the log which record is the newest, if it is another than the last time: who keeps these lines
    /// elsewhere can tell later that nothing was cut off.
    pub(super) fn log_audit_head(&mut self) -> rusqlite::Result<()> {
        let head = self.audit_head()?;
        if self.audit_logged != head.seq {
            self.audit_logged = head.seq;
            tracing::info!(seq = head.seq, head = %head.hash, "the newest record of the audit log");
        }
        Ok(())
    }
}

/// Chains records of before there was a chain, once.
pub fn chain_old(connection: &mut Connection) -> rusqlite::Result<()> {
    let oldest: Option<String> = connection
        .query_row("SELECT hash FROM audit ORDER BY id LIMIT 1", [], |row| {
            row.get(0)
        })
        .optional()?;
    if oldest.is_none_or(|hash| !hash.is_empty()) {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    let mut head = Head::default();
    let select = format!("SELECT {COLUMNS} FROM audit WHERE id > ?1 ORDER BY id LIMIT 1");
    let mut after = 0;
    while let Some(mut record) = transaction
        .prepare_cached(&select)?
        .query_row([after], read)
        .optional()?
    {
        after = record.id;
        record.seal(&mut head, rand::random());
        transaction
            .prepare_cached(
                "UPDATE audit SET seq = ?2, salt = ?3, personal = ?4, hash = ?5 WHERE id = ?1",
            )?
            .execute(params![
                record.id,
                record.seq,
                record.salt,
                record.personal,
                record.hash
            ])?;
    }
    set_head(&transaction, head)?;
    transaction.commit()
}

fn head(connection: &Connection) -> rusqlite::Result<Head> {
    let newest: Option<row::HeadRow> = connection
        .prepare_cached("SELECT seq, hash FROM audit_head")?
        .query_row([], |found| Ok((found.get(0)?, found.get(1)?)))
        .optional()?;
    Ok(newest.map_or_else(Head::default, row::head))
}

fn set_head(connection: &Connection, head: Head) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO audit_head (one, seq, hash) VALUES (1, ?1, ?2)
             ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        )?
        .execute(params![head.seq, head.hash.to_string()])
        .map(drop)
}

fn read(found: &Row<'_>) -> rusqlite::Result<StoredAudit> {
    Ok(row::audit((
        found.get(0)?,
        found.get(1)?,
        found.get(2)?,
        found.get(3)?,
        found.get(4)?,
        found.get(5)?,
        found.get(6)?,
        found.get(7)?,
        found.get(8)?,
        found.get(9)?,
        found.get(10)?,
        found.get(11)?,
        found.get(12)?,
        found.get(13)?,
    )))
}
