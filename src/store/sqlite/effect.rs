//! What turns change besides messages: history and settings; the audit log is in [`super::audit`].
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use rusqlite::params;

use super::{code, writer::Writer};
use crate::store::{Ambient, Compact, Effect, History, HistoryScope, Place, Role};

/// Ambient messages that a conversation keeps, about: older ones are removed now and then.
const AMBIENT_KEPT: i64 = 1000;
/// One ambient message in so many removes what is over the bound.
const AMBIENT_EVERY: i64 = 64;

impl Writer {
    /// Appends one history row to a scope.
    pub(super) fn history(&mut self, scope: HistoryScope, row: &History) -> rusqlite::Result<()> {
        let person = if row.role == Role::Ambient {
            code::AMBIENT_PERSON
        } else {
            scope.person
        };
        let id = self.ids.fresh();
        self.append(scope.conversation, person, id, row)
    }

    /// Keeps an unaddressed message.
    pub(super) fn ambient(&mut self, ambient: &Ambient) -> rusqlite::Result<()> {
        let conversation = self
            .names
            .conversation(&self.connection, &ambient.conversation)?;
        let id = self.ids.fresh();
        if id % AMBIENT_EVERY == 0 {
            self.connection
                .prepare_cached(
                    "DELETE FROM history WHERE conversation = ?1 AND person = ?2 AND id <= (
                         SELECT id FROM history WHERE conversation = ?1 AND person = ?2
                         ORDER BY id DESC LIMIT 1 OFFSET ?3)",
                )?
                .execute(params![conversation, code::AMBIENT_PERSON, AMBIENT_KEPT])?;
        }
        let row = History {
            role: Role::Ambient,
            ..ambient.row.clone()
        };
        self.append(conversation, code::AMBIENT_PERSON, id, &row)
    }

    /// Puts a summary in the place of rows, if all of them are there; says whether it did.
    pub(super) fn compact(&self, compact: &Compact) -> rusqlite::Result<bool> {
        let HistoryScope {
            conversation,
            person,
        } = compact.scope;
        let there: i64 = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM history
                 WHERE conversation = ?1 AND person = ?2 AND id BETWEEN ?3 AND ?4 AND role <> ?5",
            )?
            .query_row(
                params![
                    conversation,
                    person,
                    compact.first,
                    compact.last,
                    code::RESET
                ],
                |row| row.get(0),
            )?;
        if usize::try_from(there) != Ok(compact.rows) {
            return Ok(false);
        }
        let first = if compact.older { 0 } else { compact.first };
        self.connection
            .prepare_cached(
                "DELETE FROM history
                 WHERE conversation = ?1 AND person = ?2 AND id BETWEEN ?3 AND ?4",
            )?
            .execute(params![conversation, person, first, compact.last])?;
        self.append(conversation, person, compact.last, &compact.summary)?;
        Ok(true)
    }

    /// Does one effect.
    pub(super) fn effect(&mut self, effect: &Effect, at: i64) -> rusqlite::Result<()> {
        match effect {
            Effect::Set {
                of,
                key,
                value: Some(value),
            } => self.set(*of, key, value),
            Effect::Set {
                of,
                key,
                value: None,
            } => self
                .connection
                .prepare_cached(
                    "DELETE FROM setting WHERE conversation = ?1 AND person = ?2 AND key = ?3",
                )?
                .execute(params![of.conversation, of.person, key])
                .map(drop),
            Effect::Reset(scope) => {
                let id = self.ids.fresh();
                self.insert_history(scope.conversation, scope.person, id, code::RESET, 0, at, "")
            }
            Effect::Forget(forget) => self.forget(forget),
            Effect::Ask(pending) => self.ask(pending),
            Effect::Defer(deferred) => self.defer(deferred, at),
            Effect::Withdraw {
                conversation,
                subject,
            } => self.withdraw(*conversation, subject),
            Effect::Audit(audit) => self.audit(audit),
            Effect::StepsDone { turn } => self
                .connection
                .prepare_cached("DELETE FROM step WHERE turn = ?1")?
                .execute([turn])
                .map(drop),
            Effect::EraseAudit { conversation } => self.erase_audit(*conversation, at),
        }
    }

    fn append(
        &self,
        conversation: i64,
        person: i64,
        id: i64,
        row: &History,
    ) -> rusqlite::Result<()> {
        let role = code::role(row.role);
        self.insert_history(conversation, person, id, role, row.turn, row.at, &row.parts)
    }

    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn insert_history(
        &self,
        conversation: i64,
        person: i64,
        id: i64,
        role: i64,
        turn: i64,
        at: i64,
        parts: &str,
    ) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO history (conversation, person, id, role, turn, at, parts)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![conversation, person, id, role, turn, at, parts])
            .map(drop)
    }

    fn set(&self, of: Place, key: &str, value: &str) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO setting (conversation, person, key, value) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (conversation, person, key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![of.conversation, of.person, key, value])
            .map(drop)
    }
}
