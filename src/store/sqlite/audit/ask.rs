//! What is asked of the audit log.
//!
//! Owns the statements for it, each bounded in rows. It never writes.

use sqlx::SqliteConnection;

use crate::store::{
    audit::{AuditFilter, AuditPage, Head},
    row::{self, AuditRow, HeadRow, rows_of},
};

/// Records, and the newest of all.
pub async fn page(
    reader: &mut SqliteConnection,
    filter: &AuditFilter,
    limit: usize,
) -> sqlx::Result<AuditPage> {
    // The head first: what is written meanwhile is behind it, never before it.
    let newest: Option<HeadRow> = sqlx::query_as("SELECT seq, hash FROM audit_head")
        .fetch_optional(&mut *reader)
        .await?;
    let head = newest.map_or_else(Head::default, row::head);
    let rows: Vec<AuditRow> = match filter {
        AuditFilter::After(after) => {
            sqlx::query_as(
                "SELECT id, seq, writer, at, event, result, conversation, turn, operator, target, details,
                        salt, personal, hash
                 FROM audit WHERE id > ?1 AND seq <= ?2 ORDER BY id LIMIT ?3 + 0",
            )
                .bind(after)
                .bind(head.seq)
                .bind(rows_of(limit))
                .fetch_all(reader)
                .await?
        }
        AuditFilter::Newest {
            conversation,
            person,
        } => {
            sqlx::query_as(
                "SELECT id, seq, writer, at, event, result, conversation, turn, operator, target, details,
                        salt, personal, hash
                 FROM audit
                 WHERE (?1 IS NULL OR conversation = ?1)
                   AND (?2 IS NULL OR target IN (?2, ?3)
                        OR operator = (SELECT id FROM person WHERE key = ?3)
                        OR instr(details, '\"approved_by\":\"' || ?2 || '\"') > 0)
                 ORDER BY id DESC LIMIT ?4 + 0",
            )
            .bind(conversation)
            .bind(person.as_ref().map(|person| person.id.as_str().to_owned()))
            .bind(person.as_ref().map(weirgate_sdk::UserKey::encode))
            .bind(rows_of(limit))
            .fetch_all(reader)
            .await?
        }
    };
    let rows = rows.into_iter().map(row::audit).collect();
    Ok(AuditPage { rows, head })
}
