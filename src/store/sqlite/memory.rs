//! What is remembered over conversations, as SQL.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, params};
use sqlx::{SqliteConnection, query::QueryAs, sqlite::SqliteArguments};

use super::{SqliteStore, writer::Writer};
use crate::store::{
    MemoryChange, MemoryColumns, MemoryQuestion, MemoryRow, MemoryStore, Place, StoreError, Write,
    commit_to, row::rows_of,
};

impl Writer {
    /// Does changes; gives the numbers of the entries that were put.
    pub(super) fn change_memory(&self, changes: &[MemoryChange]) -> rusqlite::Result<Vec<i64>> {
        // What goes is not only unlinked but gone; it costs too much for the journal's own rows.
        self.connection.pragma_update(None, "secure_delete", 1)?;
        let done = self.change_memory_all(changes);
        self.connection.pragma_update(None, "secure_delete", 0)?;
        done
    }

    fn change_memory_all(&self, changes: &[MemoryChange]) -> rusqlite::Result<Vec<i64>> {
        let mut ids = Vec::new();
        for change in changes {
            match change {
                MemoryChange::Put(row) => ids.push(self.put_memory(row)?),
                MemoryChange::Recalled(row) => {
                    self.connection
                        .prepare_cached(
                            "UPDATE memory SET relevance = ?2, recalls = ?3, recalled_at = ?4, archived = ?5
                             WHERE id = ?1",
                        )?
                        .execute(params![
                            row.id,
                            row.stored_relevance(),
                            row.recalls,
                            row.recalled_at,
                            row.archived
                        ])?;
                }
                MemoryChange::Remove(gone) => {
                    let mut statement = self
                        .connection
                        .prepare_cached("DELETE FROM memory WHERE id = ?1")?;
                    for id in gone {
                        statement.execute([id])?;
                    }
                }
                MemoryChange::Clear(place) => self.clear_memory(
                    "DELETE FROM memory WHERE conversation = ?1 AND person = ?2",
                    (place.conversation, place.person),
                )?,
                MemoryChange::ClearConversation(conversation) => self.clear_memory(
                    "DELETE FROM memory WHERE from_conversation = ?1 OR conversation = ?1 AND person = ?2",
                    (*conversation, 0),
                )?,
                MemoryChange::ClearPerson(person) => self.clear_memory(
                    "DELETE FROM memory WHERE from_person = ?1 OR person = ?1 AND conversation = ?2",
                    (*person, 0),
                )?,
            }
        }
        Ok(ids)
    }

    fn clear_memory(&self, sql: &str, parameters: (i64, i64)) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare_cached(sql)?;
        statement.execute(parameters).map(drop)
    }

    fn put_memory(&self, row: &MemoryRow) -> rusqlite::Result<i64> {
        let known: Option<i64> = self
            .connection
            .prepare_cached(
                "SELECT id FROM memory WHERE CASE ?1 WHEN 0 THEN conversation = ?2 AND person = ?3 AND name = ?4
                                                     ELSE id = ?1 END",
            )?
            .query_row(
                params![row.id, row.place.conversation, row.place.person, row.name],
                |row| row.get(0),
            )
            .optional()?;
        if row.id != 0 && known.is_none() {
            // It was deleted meanwhile.
            return Ok(0);
        }
        let embedding = row.embedding.as_ref();
        self.connection
            .prepare_cached(
                "INSERT INTO memory (id, conversation, person, kind, tier, name, content, tokens, importance,
                     relevance, recalls, archived, created_at, updated_at, recalled_at, source,
                     from_conversation, from_person, from_turn, embedded_by, vector)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                         ?19, ?20, ?21)
                 ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, tier = excluded.tier,
                     content = excluded.content, tokens = excluded.tokens,
                     importance = excluded.importance, relevance = excluded.relevance,
                     recalls = excluded.recalls, archived = excluded.archived,
                     updated_at = excluded.updated_at, recalled_at = excluded.recalled_at,
                     source = excluded.source, from_conversation = excluded.from_conversation,
                     from_person = excluded.from_person, from_turn = excluded.from_turn,
                     embedded_by = excluded.embedded_by, vector = excluded.vector",
            )?
            .execute(params![
                known,
                row.place.conversation,
                row.place.person,
                row.kind.code(),
                row.tier.code(),
                row.name,
                row.content,
                row.tokens,
                row.importance,
                row.stored_relevance(),
                row.recalls,
                row.archived,
                row.created_at,
                row.updated_at,
                row.recalled_at,
                row.source.code(),
                row.from_conversation,
                row.from_person,
                row.from_turn,
                embedding.map(|embedding| &embedding.model),
                embedding.map(|embedding| &embedding.vector)
            ])?;
        Ok(known.unwrap_or_else(|| self.connection.last_insert_rowid()))
    }
}

#[async_trait]
impl MemoryStore for SqliteStore {
    async fn remembered(
        &self,
        question: MemoryQuestion,
        limit: usize,
    ) -> Result<Vec<MemoryRow>, StoreError> {
        self.readers
            .ask(async { rows(&mut *self.readers.get().await?, &question, limit).await })
            .await
    }

    async fn change_memory(&self, changes: Vec<MemoryChange>) -> Result<Vec<i64>, StoreError> {
        commit_to(self, |then| Write::Memory(changes, then)).await
    }

    async fn memory_places(
        &self,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Place>, StoreError> {
        self.readers
            .ask(async { places(&mut *self.readers.get().await?, after, limit).await })
            .await
    }
}

/// The statement for the rows of which a condition holds, in an order; `?1` and `?2` are the condition's, `?3` their
/// number.
macro_rules! select {
    ($from:literal in places, $condition:literal, $order:literal) => {
        concat!(
            "SELECT m.* FROM ",
            $from,
            " WHERE (m.conversation, m.person) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) AND ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT ?3 + 0"
        )
    };
    ($condition:literal) => {
        concat!("SELECT m.* FROM memory m WHERE ", $condition, " ORDER BY m.id DESC LIMIT ?3 + 0")
    };
}

type Question<'q> = QueryAs<'q, sqlx::Sqlite, MemoryColumns, SqliteArguments>;

async fn rows(
    reader: &mut SqliteConnection,
    question: &MemoryQuestion,
    limit: usize,
) -> sqlx::Result<Vec<MemoryRow>> {
    let asked: Question<'_> = match question {
        MemoryQuestion::Places(places) => sqlx::query_as(select!(
            "memory m" in places,
            "?2 = 0",
            "m.id DESC"
        ))
        .bind(pairs(places))
        .bind(0_i64),
        MemoryQuestion::Standing(places, since) => sqlx::query_as(select!(
            "memory m" in places,
            "m.archived = 0 AND (m.tier < 2 OR m.tier = 2 AND m.created_at >= ?2)",
            "m.tier, m.importance DESC, m.id DESC"
        ))
        .bind(pairs(places))
        .bind(*since),
        MemoryQuestion::Words(places, words) => sqlx::query_as(select!(
            "memory_index i JOIN memory m ON m.id = i.rowid" in places,
            "memory_index MATCH ?2",
            "i.rank, m.id DESC"
        ))
        .bind(pairs(places))
        .bind(any_of(words)),
        MemoryQuestion::Embedded(places, model) => sqlx::query_as(select!(
            "memory m" in places,
            "m.embedded_by = ?2 AND m.vector IS NOT NULL",
            "m.id DESC"
        ))
        .bind(pairs(places))
        .bind(model.clone()),
        MemoryQuestion::Ids(ids) => sqlx::query_as(select!(
            "m.id IN (SELECT value FROM json_each(?1)) AND ?2 = 0"
        ))
        .bind(serde_json::Value::from(ids.as_slice()).to_string())
        .bind(0_i64),
        MemoryQuestion::About(person) => sqlx::query_as(select!(
            "(m.person = ?1 AND m.conversation = 0 OR m.from_person = ?1) AND ?2 = 0"
        ))
        .bind(*person)
        .bind(0_i64),
    };
    let rows = asked.bind(rows_of(limit)).fetch_all(reader).await?;
    Ok(rows.into_iter().filter_map(MemoryColumns::row).collect())
}

/// Places as pairs in JSON.
fn pairs(places: &[Place]) -> String {
    let pairs = places
        .iter()
        .map(|place| [place.conversation, place.person]);
    serde_json::Value::from_iter(pairs.map(|pair| pair.to_vec())).to_string()
}

/// An expression of the index that finds each row with one of these words, none of which is part of its language.
fn any_of(words: &[String]) -> String {
    let quoted = words
        .iter()
        .map(|word| format!("\"{}\"", word.replace('"', "")));
    quoted.collect::<Vec<_>>().join(" OR ")
}

async fn places(
    reader: &mut SqliteConnection,
    after: Option<Place>,
    limit: usize,
) -> sqlx::Result<Vec<Place>> {
    let after = after.unwrap_or(Place {
        conversation: -1,
        person: -1,
    });
    let pairs: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT DISTINCT conversation, person FROM memory WHERE (conversation, person) > (?1, ?2)
         ORDER BY conversation, person LIMIT ?3 + 0",
    )
    .bind(after.conversation)
    .bind(after.person)
    .bind(rows_of(limit))
    .fetch_all(reader)
    .await?;
    let place = |(conversation, person)| Place {
        conversation,
        person,
    };
    Ok(pairs.into_iter().map(place).collect())
}
