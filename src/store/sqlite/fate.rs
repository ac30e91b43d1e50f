//! What became of a message, for /why: found by a platform id or as a person's newest.
//!
//! Owns the statements for it. They look at the last rows of the inbox and outbox only.

use sqlx::{FromRow, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::code;
use crate::store::Fate;

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
         WHERE id >= (SELECT min(id) FROM (SELECT id FROM inbox ORDER BY id DESC LIMIT ?3))
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
         WHERE id >= (SELECT min(id) FROM (SELECT id FROM outbox ORDER BY id DESC LIMIT ?3))
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
               SELECT id FROM inbox WHERE id < ?3 ORDER BY id DESC LIMIT ?4))
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

/// What the tables say of a message.
pub struct Found {
    /// The journal id.
    pub id: i64,
    /// Whose it was.
    pub person: i64,
    /// When it was received.
    pub at: i64,
    /// The code of its end without an outbox row.
    pub end_state: Option<i64>,
    /// The reason of that end.
    pub end_reason: Option<String>,
    /// The turn of that end.
    pub end_turn: Option<i64>,
    /// How often its turn began.
    pub attempt: Option<u32>,
    /// The code of the turn's state.
    pub turn_state: Option<i64>,
    /// The reason of the turn's end.
    pub turn_reason: Option<String>,
    /// The code of the answer's state.
    pub answer: Option<i64>,
    /// The reason of the answer's state.
    pub answer_reason: Option<String>,
}

impl<'r> FromRow<'r, SqliteRow> for Found {
    fn from_row(row: &'r SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: row.try_get(0)?,
            person: row.try_get(1)?,
            at: row.try_get(2)?,
            end_state: row.try_get(3)?,
            end_reason: row.try_get(4)?,
            end_turn: row.try_get(5)?,
            attempt: row.try_get(6)?,
            turn_state: row.try_get(7)?,
            turn_reason: row.try_get(8)?,
            answer: row.try_get(9)?,
            answer_reason: row.try_get(10)?,
        })
    }
}

async fn of(reader: &mut SqliteConnection, id: i64) -> sqlx::Result<Option<Fate>> {
    let found: Option<Found> = sqlx::query_as(
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
    Ok(found.map(Found::fate))
}

impl Found {
    /// What that comes to.
    pub fn fate(self) -> Fate {
        let failed = matches!(
            self.turn_state,
            Some(code::TURN_FAILED | code::TURN_SETTLED)
        );
        let processed = self.end_turn.is_some() || self.answer.is_some();
        let state = match self.end_state {
            Some(end) if self.end_turn.is_none() => code::end_name(end),
            _ if processed && failed => "failed",
            Some(end) => code::end_name(end),
            None if processed => "done",
            None if self.turn_state == Some(code::RUNNING) => "running",
            None => "waiting",
        };
        let taken = processed || (self.turn_state.is_some() && self.end_state.is_none());
        Fate {
            id: self.id,
            person: self.person,
            turn: taken.then_some(self.end_turn.unwrap_or(self.id)),
            received_at: self.at,
            state,
            reason: self.end_reason.or(self.turn_reason),
            // A turn that needed no begin began once.
            attempts: self.attempt.unwrap_or(u32::from(processed)),
            answer: self.answer.map(code::answer_name),
            answer_reason: self.answer_reason,
        }
    }
}
