//! What became of a message, for /why: found by a platform id or as a person's newest.
//!
//! Owns the statements for it. They look at the last rows of the inbox and outbox only.

use sqlx::SqliteConnection;

use crate::store::{
    Fate,
    row::{self, FateRow},
};

/// Newest rows of a table that are searched.
const SEARCHED: i64 = 20_000;

/// The message, and all that is known of it.
pub async fn fate(
    reader: &mut SqliteConnection,
    conversation: i64,
    message: Option<&str>,
    person: i64,
    before: i64,
) -> sqlx::Result<Option<Fate>> {
    let id = match message {
        Some(message) => match received(reader, conversation, message).await? {
            Some(id) => Some(id),
            None => answered(reader, conversation, message).await?,
        },
        None => newest(reader, conversation, person, before).await?,
    };
    match id {
        Some(id) => of(reader, id).await,
        None => Ok(None),
    }
}

async fn received(
    reader: &mut SqliteConnection,
    conversation: i64,
    message: &str,
) -> sqlx::Result<Option<i64>> {
    let row: Option<(i64,)> = sqlx::query_as(
        "SELECT id FROM inbox
         WHERE id >= (SELECT min(id) FROM (SELECT id FROM inbox ORDER BY id DESC LIMIT ?3 + 0))
           AND +conversation = ?1
           AND CASE WHEN json_valid(body) THEN json_extract(body, '$.i') = ?2 END
         ORDER BY id DESC LIMIT 1",
    )
    .bind(conversation)
    .bind(message)
    .bind(SEARCHED)
    .fetch_optional(reader)
    .await?;
    Ok(row.map(|(id,)| id))
}

/// The first message of the turn that sent this one.
async fn answered(
    reader: &mut SqliteConnection,
    conversation: i64,
    message: &str,
) -> sqlx::Result<Option<i64>> {
    let row: Option<(Option<i64>,)> = sqlx::query_as(
        "SELECT turn FROM outbox
         WHERE id >= (SELECT min(id) FROM (SELECT id FROM outbox ORDER BY id DESC LIMIT ?3 + 0))
           AND +conversation = ?1 AND message IS NOT NULL
           AND instr(char(10) || message || char(10), char(10) || ?2 || char(10)) > 0
         ORDER BY id DESC LIMIT 1",
    )
    .bind(conversation)
    .bind(message)
    .bind(SEARCHED)
    .fetch_optional(reader)
    .await?;
    Ok(row.and_then(|(turn,)| turn))
}

async fn newest(
    reader: &mut SqliteConnection,
    conversation: i64,
    person: i64,
    before: i64,
) -> sqlx::Result<Option<i64>> {
    let row: Option<(i64,)> = sqlx::query_as(
        "SELECT id FROM inbox
         WHERE id < ?3 AND +conversation = ?1 AND person = ?2
           AND id >= (SELECT min(id) FROM (
               SELECT id FROM inbox WHERE id < ?3 ORDER BY id DESC LIMIT ?4 + 0))
         ORDER BY id DESC LIMIT 1",
    )
    .bind(conversation)
    .bind(person)
    .bind(before)
    .bind(SEARCHED)
    .fetch_optional(reader)
    .await?;
    Ok(row.map(|(id,)| id))
}

async fn of(reader: &mut SqliteConnection, id: i64) -> sqlx::Result<Option<Fate>> {
    let row: Option<FateRow> = sqlx::query_as(
        "SELECT i.id, i.person, i.at, e.state, e.reason, e.turn, t.attempt, t.state, t.reason,
                o.state, o.reason
         FROM inbox i
         LEFT JOIN ended e ON e.id = i.id
         LEFT JOIN turn t ON t.id = coalesce(e.turn, i.id)
         LEFT JOIN outbox o ON o.id = coalesce(e.turn, i.id)
         WHERE i.id = ?1",
    )
    .bind(id)
    .fetch_optional(reader)
    .await?;
    Ok(row.map(row::fate))
}
