//! The audit log on a server: records are put behind the head of the chain, and old ones leave a checkpoint.
//!
//! Owns the statements that change the log. What a record hashes to is in [`crate::store::audit`]. While a transaction
//! of the journal is open no other process writes, so all processes write one chain, each under its own number.

pub mod ask;

use sqlx::{Connection as _, PgConnection};

use super::plan::Logged;
use crate::store::{
    Audit,
    audit::{self, ERASED, Head, StoredAudit},
    row::{self, AuditRow, HeadRow},
};

/// Rows that are chained at once of those of before there was a chain.
const PAGE: i64 = 256;

/// Writes records behind the newest one, in the name of the start `process` of the gateway.
pub async fn write(
    connection: &mut PgConnection,
    steps: Vec<Logged<'_>>,
    process: i64,
) -> sqlx::Result<()> {
    if steps.is_empty() {
        return Ok(());
    }
    let mut head = head(connection).await?.unwrap_or_default();
    let mut records = Vec::with_capacity(steps.len());
    for step in steps {
        let mut record = match step {
            Logged::Record(id, audit) => StoredAudit::new(id, process, audit),
            Logged::Erase {
                id,
                conversation,
                at,
            } => {
                insert(connection, &std::mem::take(&mut records)).await?;
                erase(connection, conversation).await?;
                let audit = Audit::of_store(ERASED, conversation, "{}".to_owned(), at);
                StoredAudit::new(id, process, &audit)
            }
        };
        record.seal(&mut head, rand::random());
        records.push(record);
    }
    insert(connection, &records).await?;
    set_head(connection, head).await
}

/// Columns of the multi-row statement.
fn numbers(records: &[StoredAudit], of: fn(&StoredAudit) -> i64) -> Vec<i64> {
    records.iter().map(of).collect()
}

fn texts(records: &[StoredAudit], of: fn(&StoredAudit) -> &str) -> Vec<&str> {
    records.iter().map(of).collect()
}

async fn insert(connection: &mut PgConnection, records: &[StoredAudit]) -> sqlx::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO audit (id, at, event, operator, target, conversation, turn, details, writer, seq, result,
                            salt, personal, hash)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bigint[],
                              $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[],
                              $13::text[], $14::text[])",
    )
    .bind(numbers(records, |record| record.id))
    .bind(numbers(records, |record| record.at))
    .bind(texts(records, |record| &record.event))
    .bind(numbers(records, |record| record.operator))
    .bind(texts(records, |record| &record.target))
    .bind(numbers(records, |record| record.conversation))
    .bind(numbers(records, |record| record.turn))
    .bind(texts(records, |record| &record.details))
    .bind(numbers(records, |record| record.writer))
    .bind(numbers(records, |record| record.seq))
    .bind(texts(records, |record| &record.result))
    .bind(texts(records, |record| record.salt.as_deref().unwrap_or_default()))
    .bind(texts(records, |record| &record.personal))
    .bind(texts(records, |record| &record.hash))
    .execute(connection)
    .await
    .map(drop)
}

/// Removes what is personal in the records of a conversation.
async fn erase(connection: &mut PgConnection, conversation: i64) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE audit SET operator = 0, target = '', details = '', salt = NULL
         WHERE conversation = $1 AND salt IS NOT NULL",
    )
    .bind(conversation)
    .execute(connection)
    .await
    .map(drop)
}

/// The newest record; `None` if there never was one.
pub async fn head(connection: &mut PgConnection) -> sqlx::Result<Option<Head>> {
    let newest: Option<HeadRow> = sqlx::query_as("SELECT seq, hash FROM audit_head")
        .fetch_optional(connection)
        .await?;
    Ok(newest.map(row::head))
}

async fn set_head(connection: &mut PgConnection, head: Head) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO audit_head (one, seq, hash) VALUES (1, $1, $2)
         ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
    )
    .bind(head.seq)
    .bind(head.hash.to_string())
    .execute(connection)
    .await
    .map(drop)
}

/// Removes up to `page` records of before `before`; tells whether no more of them can go at the time `now`.
pub async fn sweep(
    connection: &mut PgConnection,
    (before, now): (i64, i64),
    page: i64,
    process: i64,
) -> sqlx::Result<bool> {
    let oldest: Vec<(i64, i64, i64, String)> =
        sqlx::query_as("SELECT id, at, seq, hash FROM audit ORDER BY id LIMIT $1")
            .bind(page)
            .fetch_all(&mut *connection)
            .await?;
    let times: Vec<i64> = oldest.iter().map(|(_, at, ..)| *at).collect();
    let page = usize::try_from(page).unwrap_or(usize::MAX);
    let count = audit::removable(&times, before, page);
    let Some((id, _, seq, hash)) = count.checked_sub(1).and_then(|last| oldest.get(last)) else {
        return Ok(true);
    };
    sqlx::query("DELETE FROM audit WHERE id <= $1")
        .bind(id)
        .execute(&mut *connection)
        .await?;
    let (own,): (i64,) =
        sqlx::query_as("UPDATE journal SET last_id = last_id + 1 RETURNING last_id")
            .fetch_one(&mut *connection)
            .await?;
    let checkpoint = audit::checkpoint(*seq, hash, count, now);
    write(connection, vec![Logged::Record(own, &checkpoint)], process).await?;
    Ok(count < page)
}

/// Chains records of before there was a chain, once.
pub async fn chain_old(connection: &mut PgConnection) -> sqlx::Result<()> {
    if !has_old(connection).await? {
        return Ok(());
    }
    let mut transaction = connection.begin().await?;
    // Another process may be here too.
    sqlx::query("SELECT 1 FROM journal FOR UPDATE")
        .execute(&mut *transaction)
        .await?;
    if !has_old(&mut transaction).await? {
        return Ok(());
    }
    let mut head = Head::default();
    let mut after = 0;
    loop {
        let rows: Vec<AuditRow> = sqlx::query_as(
            "SELECT id, seq, writer, at, event, result, conversation, turn, operator, target, details, salt,
                    personal, hash
             FROM audit WHERE id > $1 ORDER BY id LIMIT $2",
        )
        .bind(after)
        .bind(PAGE)
        .fetch_all(&mut *transaction)
        .await?;
        let mut records: Vec<StoredAudit> = rows.into_iter().map(row::audit).collect();
        let Some(last) = records.last() else { break };
        after = last.id;
        for record in &mut records {
            record.seal(&mut head, rand::random());
        }
        sqlx::query("DELETE FROM audit WHERE id = ANY($1)")
            .bind(numbers(&records, |record| record.id))
            .execute(&mut *transaction)
            .await?;
        insert(&mut transaction, &records).await?;
    }
    set_head(&mut transaction, head).await?;
    transaction.commit().await
}

/// Whether there are records that are in no chain.
async fn has_old(connection: &mut PgConnection) -> sqlx::Result<bool> {
    let oldest: Option<(String,)> = sqlx::query_as("SELECT hash FROM audit ORDER BY id LIMIT 1")
        .fetch_optional(connection)
        .await?;
    Ok(oldest.is_some_and(|(hash,)| hash.is_empty()))
}
