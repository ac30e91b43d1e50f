//! Rows about files in the media store, as SQL.
//!
//! Owns the statements for them. It never begins or ends a transaction and never touches a file.

use rusqlite::params;
use sqlx::SqliteConnection;

use super::writer::Writer;
use crate::store::{
    MediaChange, MediaQuestion, MediaRow,
    media::{MediaColumns, kind_name, media_row},
    row::rows_of,
};

impl Writer {
    /// Does one change.
    pub(super) fn media(&self, change: &MediaChange) -> rusqlite::Result<()> {
        match change {
            MediaChange::Keep(row) => self
                .connection
                .prepare_cached(
                    "INSERT INTO media (id, conversation, source, kind, mime, name, size, created_at,
                                        expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id)
                     DO UPDATE SET conversation = excluded.conversation",
                )?
                .execute(params![
                    row.id,
                    row.conversation,
                    row.source,
                    kind_name(row.kind),
                    row.mime,
                    row.name,
                    i64::try_from(row.size).unwrap_or(i64::MAX),
                    row.created_at,
                    row.expires_at
                ])
                .map(drop),
            MediaChange::Forget(ids) => {
                let mut statement = self
                    .connection
                    .prepare_cached("DELETE FROM media WHERE id = ?1")?;
                ids.iter()
                    .try_for_each(|id| statement.execute([id]).map(drop))
            }
        }
    }
}

/// The rows that a question is about.
pub async fn rows(
    reader: &mut SqliteConnection,
    question: &MediaQuestion,
) -> sqlx::Result<Vec<MediaRow>> {
    let rows: Vec<MediaColumns> =
        match question {
            MediaQuestion::Files(ids) => {
                let list = serde_json::Value::from(ids.as_slice()).to_string();
                sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE id IN (SELECT value FROM json_each(?1))",
            )
            .bind(list)
            .fetch_all(reader)
            .await?
            }
            MediaQuestion::Source(source) => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE source = ?1 AND source <> '' ORDER BY created_at DESC LIMIT 1",
            )
            .bind(source)
            .fetch_all(reader)
            .await?,
            MediaQuestion::Newest {
                conversation,
                limit,
            } => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE conversation = ?1 ORDER BY created_at DESC, id LIMIT ?2 + 0",
            )
            .bind(conversation)
            .bind(rows_of(*limit))
            .fetch_all(reader)
            .await?,
            MediaQuestion::Expiring { until, limit } => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2 + 0",
            )
            .bind(until)
            .bind(rows_of(*limit))
            .fetch_all(reader)
            .await?,
        };
    Ok(rows.into_iter().map(media_row).collect())
}
