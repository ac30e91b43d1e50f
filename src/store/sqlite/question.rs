//! What the core asks the store, as SQL.
//!
//! Owns every reading statement but those of [`super::fate`]. Each is bounded in rows; what may go through
//! much of a table does so in slices, so that no statement runs long.

use sqlx::SqliteConnection;
use weirgate_sdk::{AccountName, BotId, ConversationKey, Cursor, Platform, ThreadId, UserKey};

use super::code;
use crate::store::{
    ConversationFilter, History, HistoryScope, NumberedRow, PendingReply, Place, Shown,
    ShownThread, Waiting, WaitingFilter,
    row::{
        self, HistoryRow, NumberedColumns, PendingRow, SLICE, ShownRow, Slice, ThreadRow,
        WaitingRow, rows_of,
    },
};

/// Threads of one conversation that are compared.
const THREADS: i64 = 500;

/// Waiting messages among the next slice of the inbox.
pub async fn waiting(
    reader: &mut SqliteConnection,
    after: i64,
    filter: &WaitingFilter,
    limit: usize,
) -> sqlx::Result<Slice<Waiting>> {
    let (last,): (Option<i64>,) = sqlx::query_as(
        "SELECT max(id) FROM (SELECT id FROM inbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)",
    )
    .bind(after)
    .bind(SLICE)
    .fetch_one(&mut *reader)
    .await?;
    let Some(last) = last else {
        return Ok((Vec::new(), None));
    };
    let rows: Vec<WaitingRow> = sqlx::query_as(
        "SELECT i.id, i.account, i.conversation, i.person, i.at, i.route, i.priority,
                coalesce(t.attempt, 0), i.body
         FROM inbox i LEFT JOIN turn t ON t.id = i.id
         WHERE i.id > ?1 AND i.id <= ?2
           AND (?3 IS NULL OR i.account = ?3) AND (?4 IS NULL OR i.conversation = ?4)
           AND (?5 IS NULL OR i.person = ?5)
           AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
           AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id)
         ORDER BY i.id LIMIT ?6 + 0",
    )
    .bind(after)
    .bind(last)
    .bind(filter.account)
    .bind(filter.conversation)
    .bind(filter.person)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok((rows.into_iter().map(row::waiting).collect(), Some(last)))
}

/// Bodies in the order of `ids`.
pub async fn bodies(
    reader: &mut SqliteConnection,
    ids: &[i64],
) -> sqlx::Result<Vec<Option<Box<str>>>> {
    let list = serde_json::Value::from(ids).to_string();
    let rows: Vec<(Option<String>,)> = sqlx::query_as(
        "SELECT i.body FROM json_each(?1) wanted LEFT JOIN inbox i ON i.id = wanted.value
         ORDER BY wanted.key",
    )
    .bind(list)
    .fetch_all(reader)
    .await?;
    Ok(rows
        .into_iter()
        .map(|(body,)| body.map(String::into_boxed_str))
        .collect())
}

/// The newest waiting message with this platform id, among the last rows of the inbox.
pub async fn find_waiting(
    reader: &mut SqliteConnection,
    conversation: &ConversationKey,
    message: &str,
) -> sqlx::Result<Option<Waiting>> {
    let row: Option<WaitingRow> = sqlx::query_as(
        "SELECT i.id, i.account, i.conversation, i.person, i.at, i.route, i.priority,
                coalesce(t.attempt, 0), i.body
         FROM inbox i LEFT JOIN turn t ON t.id = i.id
         WHERE i.id >= (SELECT min(id) FROM (SELECT id FROM inbox ORDER BY id DESC LIMIT ?3 + 0))
           AND +i.conversation = (SELECT id FROM conversation WHERE key = ?1)
           AND CASE WHEN json_valid(i.body) THEN json_extract(i.body, '$.i') = ?2 END
           AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
           AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id)
         ORDER BY i.id DESC LIMIT 1",
    )
    .bind(conversation.encode())
    .bind(message)
    .bind(SLICE)
    .fetch_optional(reader)
    .await?;
    Ok(row.map(row::waiting))
}

/// Where and under which ids the newest answers were sent, oldest first.
pub async fn sent_lately(
    reader: &mut SqliteConnection,
    limit: usize,
) -> sqlx::Result<Vec<(ConversationKey, String)>> {
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT c.key, o.message
         FROM (SELECT id, conversation, message FROM outbox ORDER BY id DESC LIMIT ?1 + 0) o
         JOIN conversation c ON c.id = o.conversation
         WHERE o.message IS NOT NULL ORDER BY o.id",
    )
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(row::sent(&rows))
}

/// Answers that are not sent, among the next slice of the outbox. `process` is this start of the gateway.
pub async fn pending_replies(
    reader: &mut SqliteConnection,
    process: i64,
    after: i64,
    limit: usize,
) -> sqlx::Result<Slice<PendingReply>> {
    let (last,): (Option<i64>,) = sqlx::query_as(
        "SELECT max(id) FROM (SELECT id FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2 + 0)",
    )
    .bind(after)
    .bind(SLICE)
    .fetch_one(&mut *reader)
    .await?;
    let Some(last) = last else {
        return Ok((Vec::new(), None));
    };
    let rows: Vec<PendingRow> = sqlx::query_as(
        "SELECT id, conversation, turn, part, state, attempts, process, doubtful, due_at, created_at,
                body
         FROM outbox WHERE id > ?1 AND id <= ?2 AND kind = 0 AND state IN (0, 1, 3) ORDER BY id LIMIT ?3 + 0",
    )
    .bind(after)
    .bind(last)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let replies = rows
        .into_iter()
        .map(|row| row::pending(process, row))
        .collect();
    Ok((replies, Some(last)))
}

/// The key of a conversation.
pub async fn conversation(reader: &mut SqliteConnection, id: i64) -> sqlx::Result<Option<String>> {
    let key: Option<(String,)> = sqlx::query_as("SELECT key FROM conversation WHERE id = ?1")
        .bind(id)
        .fetch_optional(reader)
        .await?;
    Ok(key.map(|(key,)| key))
}

/// The conversations of a filter, in the order of their numbers.
pub async fn conversations(
    reader: &mut SqliteConnection,
    filter: ConversationFilter,
    limit: usize,
) -> sqlx::Result<Vec<(i64, String)>> {
    let [one, other] = filter.set.map_or([None; 2], |names| names.map(Some));
    sqlx::query_as(
        "SELECT id, key FROM conversation WHERE id > ?1 AND (?2 IS NULL OR EXISTS (
             SELECT 1 FROM setting s WHERE s.conversation = conversation.id AND s.person = 0
             AND (substr(s.key, 1, length(?2)) = ?2 OR substr(s.key, 1, length(?3)) = ?3)))
         ORDER BY id LIMIT ?4 + 0",
    )
    .bind(filter.after)
    .bind(one)
    .bind(other)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await
}

/// The number of a conversation.
pub async fn conversation_number(
    reader: &mut SqliteConnection,
    key: &ConversationKey,
) -> sqlx::Result<Option<i64>> {
    let number: Option<(i64,)> = sqlx::query_as("SELECT id FROM conversation WHERE key = ?1")
        .bind(key.encode())
        .fetch_optional(reader)
        .await?;
    Ok(number.map(|(number,)| number))
}

/// The number of a person.
pub async fn person_number(
    reader: &mut SqliteConnection,
    key: &UserKey,
) -> sqlx::Result<Option<i64>> {
    let number: Option<(i64,)> = sqlx::query_as("SELECT id FROM person WHERE key = ?1")
        .bind(key.encode())
        .fetch_optional(reader)
        .await?;
    Ok(number.map(|(number,)| number))
}

/// The key of a person.
pub async fn person(reader: &mut SqliteConnection, id: i64) -> sqlx::Result<Option<String>> {
    let key: Option<(String,)> = sqlx::query_as("SELECT key FROM person WHERE id = ?1")
        .bind(id)
        .fetch_optional(reader)
        .await?;
    Ok(key.map(|(key,)| key))
}

/// History since the last reset, oldest first. Ambient messages are the conversation's, whatever the scope.
pub async fn history(
    reader: &mut SqliteConnection,
    scope: HistoryScope,
    limit: usize,
    ambient: usize,
    ambient_since: i64,
) -> sqlx::Result<Vec<History>> {
    // One statement sees one moment: a turn that ends meanwhile is there with all its rows or none.
    let rows: Vec<HistoryRow> = sqlx::query_as(
        "WITH reset (id) AS (
             SELECT coalesce(max(id), 0) FROM history
             WHERE conversation = ?1 AND person = ?2 AND role = 3)
         SELECT role, turn, at, parts FROM (
             SELECT * FROM (
                 SELECT id, role, turn, at, parts FROM history
                 WHERE conversation = ?1 AND person = ?2 AND id > (SELECT id FROM reset)
                 ORDER BY id DESC LIMIT ?3 + 0)
             UNION ALL
             SELECT * FROM (
                 SELECT id, role, turn, at, parts FROM history
                 WHERE conversation = ?1 AND person = ?6 AND id > (SELECT id FROM reset) AND at >= ?5
                 ORDER BY id DESC LIMIT ?4 + 0))
         ORDER BY id",
    )
    .bind(scope.conversation)
    .bind(scope.person)
    .bind(rows_of(limit))
    .bind(rows_of(ambient))
    .bind(ambient_since)
    .bind(code::AMBIENT_PERSON)
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::history).collect())
}

/// The newest rows of a scope since its last reset with their numbers, oldest first.
pub async fn numbered_history(
    reader: &mut SqliteConnection,
    scope: HistoryScope,
    limit: usize,
) -> sqlx::Result<Vec<NumberedRow>> {
    let rows: Vec<NumberedColumns> = sqlx::query_as(
        "SELECT id, role, turn, at, parts FROM (
             SELECT * FROM history WHERE conversation = ?1 AND person = ?2 AND id > (
                 SELECT coalesce(max(id), 0) FROM history
                 WHERE conversation = ?1 AND person = ?2 AND role = 3)
             ORDER BY id DESC LIMIT ?3 + 0)
         ORDER BY id",
    )
    .bind(scope.conversation)
    .bind(scope.person)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(rows.into_iter().map(row::numbered).collect())
}

/// The steps that are kept of a turn.
pub async fn steps(reader: &mut SqliteConnection, turn: i64) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT content FROM step WHERE turn = ?1 ORDER BY step LIMIT 1000")
        .bind(turn)
        .fetch_all(reader)
        .await
}

/// Settings of a person or a conversation, by key.
pub async fn settings(
    reader: &mut SqliteConnection,
    of: Place,
) -> sqlx::Result<Vec<(String, String)>> {
    sqlx::query_as(
        "SELECT key, value FROM setting WHERE conversation = ?1 AND person = ?2 ORDER BY key",
    )
    .bind(of.conversation)
    .bind(of.person)
    .fetch_all(reader)
    .await
}

/// Where an account goes on.
pub async fn cursor(
    reader: &mut SqliteConnection,
    platform: &Platform,
    account: &AccountName,
) -> sqlx::Result<Option<Cursor>> {
    let row: Option<(String, String)> = sqlx::query_as(
        "SELECT bot, cursor FROM account
         WHERE platform = ?1 AND name = ?2 AND bot IS NOT NULL AND cursor IS NOT NULL",
    )
    .bind(platform.as_str())
    .bind(account.as_str())
    .fetch_optional(reader)
    .await?;
    Ok(row.map(|(bot, value)| Cursor {
        bot: BotId::from(bot),
        value,
    }))
}

/// A page of a conversation. A message and the answer with its id are never in two pages.
pub async fn shown(
    reader: &mut SqliteConnection,
    conversation: &ConversationKey,
    before: Option<i64>,
    limit: usize,
) -> sqlx::Result<Vec<Shown>> {
    let rows: Vec<ShownRow> = sqlx::query_as(
        "WITH here (id) AS (SELECT id FROM conversation WHERE key = ?1)
         SELECT * FROM (
             SELECT id, 0 AS answer, NULL AS turn, at,
                    NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                        AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id) AS pending, body
             FROM inbox i
             WHERE shown = 1 AND conversation = (SELECT id FROM here) AND id < ?2
             ORDER BY id DESC LIMIT ?3 + 0)
         UNION ALL
         SELECT * FROM (
             SELECT id, 1, turn, created_at, 0, body FROM outbox
             WHERE shown = 1 AND conversation = (SELECT id FROM here) AND id < ?2
             ORDER BY id DESC LIMIT ?3 + 0)
         ORDER BY id DESC, answer DESC LIMIT ?3 + 0",
    )
    .bind(conversation.encode())
    .bind(before.unwrap_or(i64::MAX))
    .bind(rows_of(limit).saturating_add(1))
    .fetch_all(reader)
    .await?;
    Ok(row::shown(rows, limit))
}

/// The thread in which a message was accepted last; a thread without messages comes last, by its age.
pub async fn newest_thread(
    reader: &mut SqliteConnection,
    conversation: &ConversationKey,
) -> sqlx::Result<Option<ThreadId>> {
    let (from, to) = row::thread_keys(conversation);
    let row: Option<(String,)> = sqlx::query_as(
        "SELECT key FROM (
             SELECT id, key FROM conversation WHERE key > ?1 AND key < ?2 ORDER BY id DESC LIMIT ?3 + 0) c
         ORDER BY coalesce((SELECT max(i.id) FROM inbox i WHERE i.shown = 1 AND i.conversation = c.id), 0)
                  DESC, c.id DESC
         LIMIT 1",
    )
    .bind(from)
    .bind(to)
    .bind(THREADS)
    .fetch_optional(reader)
    .await?;
    Ok(row
        .and_then(|(key,)| ConversationKey::decode(&key))
        .and_then(|key| key.thread))
}

/// The threads with messages that are shown, the one that was written to last first.
pub async fn threads(
    reader: &mut SqliteConnection,
    conversation: &ConversationKey,
    limit: usize,
) -> sqlx::Result<Vec<ShownThread>> {
    let (from, to) = row::thread_keys(conversation);
    let rows: Vec<ThreadRow> = sqlx::query_as(
        "SELECT c.key, first.body, last.at FROM (
             SELECT id, key,
                    (SELECT min(i.id) FROM inbox i WHERE i.shown = 1 AND i.conversation = k.id) AS first,
                    (SELECT max(i.id) FROM inbox i WHERE i.shown = 1 AND i.conversation = k.id) AS last
             FROM (SELECT id, key FROM conversation WHERE key > ?1 AND key < ?2
                   ORDER BY id DESC LIMIT ?3 + 0) k) c
         JOIN inbox first ON first.id = c.first
         JOIN inbox last ON last.id = c.last
         ORDER BY c.last DESC LIMIT ?4 + 0",
    )
    .bind(from)
    .bind(to)
    .bind(THREADS)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    Ok(row::threads(rows))
}
