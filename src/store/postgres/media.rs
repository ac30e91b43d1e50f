//! Rows about files in the media store, as SQL.
//!
//! Owns the statements for them. It never begins or ends a transaction and never touches a file.

use sqlx::PgConnection;

use super::plan::clean;
use crate::store::{
    MediaChange, MediaQuestion, MediaRow,
    media::{MediaColumns, kind_name, media_row},
    row::rows_of,
};

/// Does one change.
pub async fn change(connection: &mut PgConnection, change: &MediaChange) -> sqlx::Result<()> {
    match change {
        MediaChange::Keep(row) => sqlx::query(
            "INSERT INTO media (id, conversation, source, kind, mime, name, size, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id)
                     DO UPDATE SET conversation = excluded.conversation",
        )
        .bind(&row.id)
        .bind(row.conversation)
        .bind(&row.source)
        .bind(kind_name(row.kind))
        .bind(clean(&row.mime))
        .bind(row.name.as_deref().map(clean))
        .bind(i64::try_from(row.size).unwrap_or(i64::MAX))
        .bind(row.created_at)
        .bind(row.expires_at)
        .execute(connection)
        .await
        .map(drop),
        MediaChange::Forget(ids) => sqlx::query("DELETE FROM media WHERE id = ANY($1)")
            .bind(ids.as_slice())
            .execute(connection)
            .await
            .map(drop),
    }
}

/// The rows that a question is about.
pub async fn rows(
    reader: &mut PgConnection,
    question: &MediaQuestion,
) -> sqlx::Result<Vec<MediaRow>> {
    let rows: Vec<MediaColumns> =
        match question {
            MediaQuestion::Files(ids) => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE id = ANY($1)",
            )
            .bind(ids.as_slice())
            .fetch_all(reader)
            .await?,
            MediaQuestion::Source(source) => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE source = $1 AND source <> '' ORDER BY created_at DESC LIMIT 1",
            )
            .bind(source)
            .fetch_all(reader)
            .await?,
            MediaQuestion::Newest {
                conversation,
                limit,
            } => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE conversation = $1 ORDER BY created_at DESC, id LIMIT $2",
            )
            .bind(conversation)
            .bind(rows_of(*limit))
            .fetch_all(reader)
            .await?,
            MediaQuestion::Expiring { until, limit } => sqlx::query_as(
                "SELECT id, conversation, source, kind, mime, name, size, created_at, expires_at
                 FROM media WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2",
            )
            .bind(until)
            .bind(rows_of(*limit))
            .fetch_all(reader)
            .await?,
        };
    Ok(rows.into_iter().map(media_row).collect())
}
