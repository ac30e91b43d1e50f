//! What is remembered over conversations, as SQL.
//!
//! Owns the statements for it. It never begins or ends a transaction; the writer does.

use async_trait::async_trait;
use sqlx::{PgConnection, Postgres, postgres::PgArguments, query::QueryAs};

use super::{PostgresStore, plan::clean, statement::small};
use crate::store::{
    MemoryChange, MemoryColumns, MemoryQuestion, MemoryRow, MemoryStore, Place, StoreError, Write,
    commit_to, row::rows_of,
};

/// Does changes; gives the numbers of the entries that were put.
pub async fn change(
    connection: &mut PgConnection,
    changes: &[MemoryChange],
) -> sqlx::Result<Vec<i64>> {
    let mut ids = Vec::new();
    for change in changes {
        let query = match change {
            MemoryChange::Put(row) => {
                ids.push(put(connection, row).await?);
                continue;
            }
            MemoryChange::Recalled(row) => sqlx::query(
                "UPDATE memory SET relevance = $2, recalls = $3, recalled_at = $4, archived = $5 WHERE id = $1",
            )
            .bind(row.id)
            .bind(row.stored_relevance())
            .bind(i64::from(row.recalls))
            .bind(row.recalled_at)
            .bind(row.archived),
            MemoryChange::Remove(gone) => {
                sqlx::query("DELETE FROM memory WHERE id = ANY($1)").bind(gone.as_slice())
            }
            MemoryChange::Clear(place) => {
                sqlx::query("DELETE FROM memory WHERE conversation = $1 AND person = $2")
                    .bind(place.conversation)
                    .bind(place.person)
            }
            MemoryChange::ClearConversation(conversation) => sqlx::query(
                "DELETE FROM memory WHERE from_conversation = $1 OR conversation = $1 AND person = 0",
            )
            .bind(conversation),
            MemoryChange::ClearPerson(person) => sqlx::query(
                "DELETE FROM memory WHERE from_person = $1 OR person = $1 AND conversation = 0",
            )
            .bind(person),
        };
        query.execute(&mut *connection).await?;
    }
    Ok(ids)
}

async fn put(connection: &mut PgConnection, row: &MemoryRow) -> sqlx::Result<i64> {
    let known: Option<i64> = sqlx::query_scalar(
        "SELECT id FROM memory WHERE CASE $1 WHEN 0 THEN conversation = $2 AND person = $3 AND name = $4
                                             ELSE id = $1 END",
    )
    .bind(row.id)
    .bind(row.place.conversation)
    .bind(row.place.person)
    .bind(row.name.as_deref().map(clean))
    .fetch_optional(&mut *connection)
    .await?;
    if row.id != 0 && known.is_none() {
        // It was deleted meanwhile.
        return Ok(0);
    }
    let embedding = row.embedding.as_ref();
    sqlx::query_scalar(
        "INSERT INTO memory (id, conversation, person, kind, tier, name, content, tokens, importance, relevance,
             recalls, archived, created_at, updated_at, recalled_at, source, from_conversation, from_person,
             from_turn, embedded_by, vector)
         VALUES (coalesce($1, nextval(pg_get_serial_sequence('memory', 'id'))), $2, $3, $4, $5, $6, $7, $8, $9,
                 $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
         ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, tier = excluded.tier,
             content = excluded.content, tokens = excluded.tokens,
             importance = excluded.importance, relevance = excluded.relevance,
             recalls = excluded.recalls, archived = excluded.archived,
             updated_at = excluded.updated_at, recalled_at = excluded.recalled_at,
             source = excluded.source, from_conversation = excluded.from_conversation,
             from_person = excluded.from_person, from_turn = excluded.from_turn,
             embedded_by = excluded.embedded_by, vector = excluded.vector
         RETURNING id",
    )
    .bind(known)
    .bind(row.place.conversation)
    .bind(row.place.person)
    .bind(small(row.kind.code()))
    .bind(small(row.tier.code()))
    .bind(row.name.as_deref().map(clean))
    .bind(clean(&row.content))
    .bind(clean(&row.tokens))
    .bind(small(i64::from(row.importance)))
    .bind(row.stored_relevance())
    .bind(i64::from(row.recalls))
    .bind(row.archived)
    .bind(row.created_at)
    .bind(row.updated_at)
    .bind(row.recalled_at)
    .bind(small(row.source.code()))
    .bind(row.from_conversation)
    .bind(row.from_person)
    .bind(row.from_turn)
    .bind(embedding.map(|embedding| embedding.model.as_str()))
    .bind(embedding.map(|embedding| embedding.vector.as_str()))
    .fetch_one(connection)
    .await
}

#[async_trait]
impl MemoryStore for PostgresStore {
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

/// The statement for the rows of which a condition holds, in an order; `$1` is their number.
macro_rules! select {
    (in places, $condition:literal, $order:literal) => {
        select!(
            concat!(
                "(conversation, person) IN (SELECT * FROM unnest($2::bigint[], $3::bigint[])) AND ",
                $condition
            ),
            $order
        )
    };
    ($condition:expr, $order:literal) => {
        concat!(
            "SELECT id, conversation, person, kind::bigint, tier::bigint, name, content, tokens,
                    importance::bigint, relevance, recalls, archived, created_at, updated_at, recalled_at,
                    source::bigint, from_conversation, from_person, from_turn, embedded_by, vector
             FROM memory WHERE ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT $1"
        )
    };
}

type Question<'q> = QueryAs<'q, Postgres, MemoryColumns, PgArguments>;

async fn rows(
    reader: &mut PgConnection,
    question: &MemoryQuestion,
    limit: usize,
) -> sqlx::Result<Vec<MemoryRow>> {
    let begin = |sql: &'static str| -> Question<'_> { sqlx::query_as(sql).bind(rows_of(limit)) };
    let placed = |sql: &'static str, places: &[Place]| -> Question<'_> {
        let conversations: Vec<i64> = places.iter().map(|place| place.conversation).collect();
        let persons: Vec<i64> = places.iter().map(|place| place.person).collect();
        begin(sql).bind(conversations).bind(persons)
    };
    let asked = match question {
        MemoryQuestion::Places(places) => placed(select!(in places, "TRUE", "id DESC"), places),
        MemoryQuestion::Standing(places, since) => placed(
            select!(
                in places,
                "NOT archived AND (tier < 2 OR tier = 2 AND created_at >= $4)",
                "tier, importance DESC, id DESC"
            ),
            places,
        )
        .bind(*since),
        MemoryQuestion::Words(places, words) => placed(
            select!(
                in places,
                "words @@ (SELECT string_agg(quote_literal(word), ' | ') FROM unnest($4::text[]) word)::tsquery",
                "cardinality(ARRAY(SELECT unnest(tsvector_to_array(words))
                                   INTERSECT SELECT unnest($4::text[]))) DESC, id DESC"
            ),
            places,
        )
        .bind(words.clone()),
        MemoryQuestion::Embedded(places, model) => placed(
            select!(in places, "embedded_by = $4 AND vector IS NOT NULL", "id DESC"),
            places,
        )
        .bind(model.clone()),
        MemoryQuestion::Ids(ids) => begin(select!("id = ANY($2)", "id DESC")).bind(ids.clone()),
        MemoryQuestion::About(person) => begin(select!(
            "(person = $2 AND conversation = 0 OR from_person = $2)",
            "id DESC"
        ))
        .bind(*person),
    };
    let rows = asked.fetch_all(reader).await?;
    Ok(rows.into_iter().filter_map(MemoryColumns::row).collect())
}

async fn places(
    reader: &mut PgConnection,
    after: Option<Place>,
    limit: usize,
) -> sqlx::Result<Vec<Place>> {
    let after = after.unwrap_or(Place {
        conversation: -1,
        person: -1,
    });
    let pairs: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT DISTINCT conversation, person FROM memory WHERE (conversation, person) > ($1, $2)
         ORDER BY conversation, person LIMIT $3",
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
