//! The statements of the journal on PostgreSQL: T1 to T5 and what goes with them, many rows at once.
//!
//! Owns every statement that changes a message's state. It never begins or ends a transaction; the
//! writer does, and while one is open no other process writes.

use std::collections::HashMap;

use sqlx::PgConnection;

use super::{
    audit, deferred, erase, pending,
    plan::{
        Begins, Ends, HistoryRows, Inbox, Intents, Plan, Receipts, Replies, TurnEnds, Wave, clean,
    },
    step,
};
use crate::store::{
    Accepted,
    sqlite::{code, outcome::Outcome},
};

/// Ambient messages that a conversation keeps, about: older ones are removed now and then.
const AMBIENT_KEPT: i64 = 1000;

/// Carries out a plan for the start `process` of the gateway, and tells what each operation returns.
pub async fn run(
    connection: &mut PgConnection,
    plan: Plan<'_>,
    process: i64,
) -> sqlx::Result<Vec<Outcome>> {
    let mut outcomes = plan.outcomes;
    for wave in plan.waves {
        run_wave(connection, wave, process, &mut outcomes).await?;
    }
    history(connection, plan.history).await?;
    for conversation in plan.trims {
        trim(connection, conversation).await?;
    }
    for forget in plan.forgets {
        erase::forget(connection, forget).await?;
    }
    for asked in plan.asks {
        pending::ask(connection, asked).await?;
    }
    deferred::withdraw(connection, plan.withdrawn).await?;
    replies(connection, plan.deferred, process).await?;
    audit::write(connection, plan.audits, process).await?;
    settings(connection, plan.settings).await?;
    step::remove(connection, plan.steps_done).await?;
    for (account, cursor) in plan.cursors {
        sqlx::query("UPDATE account SET bot = $2, cursor = $3 WHERE id = $1")
            .bind(account)
            .bind(clean(cursor.bot.as_str()))
            .bind(clean(&cursor.value))
            .execute(&mut *connection)
            .await?;
    }
    Ok(outcomes)
}

async fn run_wave(
    connection: &mut PgConnection,
    wave: Wave<'_>,
    process: i64,
    outcomes: &mut [Outcome],
) -> sqlx::Result<()> {
    accept(connection, wave.inbox, outcomes).await?;
    begin(connection, wave.begins, process, outcomes).await?;
    replies(connection, wave.replies, process).await?;
    ended(connection, wave.members).await?;
    turns(connection, wave.turns, process).await?;
    ended(connection, wave.ends).await?;
    amend(connection, wave.amends).await?;
    step::keep(connection, wave.steps).await?;
    intents(connection, wave.intents, process).await?;
    receipts(connection, wave.receipts, process).await
}

async fn accept(
    connection: &mut PgConnection,
    rows: Vec<Inbox<'_>>,
    outcomes: &mut [Outcome],
) -> sqlx::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut refused = insert(connection, rows).await?;
    if refused.is_empty() {
        return Ok(());
    }
    let found = earlier(connection, &refused).await?;
    let mut over = Vec::new();
    refused.retain(|row| {
        let account = i64::from(row.row.account);
        match found.get(&(account, clean(&row.message.event).into_owned())) {
            Some((until, earlier)) if *until > row.message.at => {
                if let Some(Outcome::Accepted(accepted)) = outcomes.get_mut(row.place.0)
                    && let Some(own) = accepted.get_mut(row.place.1)
                {
                    *own = *earlier;
                }
                false
            }
            Some((_, earlier)) => {
                over.push(earlier.id);
                true
            }
            None => true,
        }
    });
    if refused.is_empty() {
        return Ok(());
    }
    // The time of these keys is over: they are free.
    sqlx::query("UPDATE inbox SET event = NULL WHERE id = ANY($1)")
        .bind(over)
        .execute(&mut *connection)
        .await?;
    insert(connection, refused).await.map(drop)
}

/// Inserts messages, and gives back those whose event is there already.
async fn insert<'a>(
    connection: &mut PgConnection,
    rows: Vec<Inbox<'a>>,
) -> sqlx::Result<Vec<Inbox<'a>>> {
    let column = |of: fn(&Inbox<'_>) -> i64| rows.iter().map(of).collect::<Vec<i64>>();
    let small = |of: fn(&Inbox<'_>) -> i16| rows.iter().map(of).collect::<Vec<i16>>();
    let events: Vec<_> = rows.iter().map(|row| clean(&row.message.event)).collect();
    let bodies: Vec<_> = rows.iter().map(|row| clean(&row.message.body)).collect();
    let shown: Vec<bool> = rows.iter().map(|row| row.message.shown).collect();
    let inserted: Vec<(i64,)> = sqlx::query_as(
        "INSERT INTO inbox (id, account, event, event_until, conversation, person, at, route,
                            priority, shown, body, lease)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
                              $6::bigint[], $7::bigint[], $8::smallint[], $9::smallint[],
                              $10::boolean[], $11::text[], $12::bigint[])
         ON CONFLICT (account, event) DO NOTHING RETURNING id",
    )
    .bind(column(|row| row.row.id))
    .bind(column(|row| i64::from(row.row.account)))
    .bind(events)
    .bind(column(|row| row.message.event_until))
    .bind(column(|row| row.row.conversation))
    .bind(column(|row| row.row.person))
    .bind(column(|row| row.message.at))
    .bind(small(|row| i16::from(row.message.route)))
    .bind(small(|row| i16::from(row.message.priority)))
    .bind(shown)
    .bind(bodies)
    .bind(column(|row| row.lease))
    .fetch_all(connection)
    .await?;
    if inserted.len() == rows.len() {
        return Ok(Vec::new());
    }
    let inserted: std::collections::HashSet<i64> = inserted.into_iter().map(|(id,)| id).collect();
    let refused = rows
        .into_iter()
        .filter(|row| !inserted.contains(&row.row.id));
    Ok(refused.collect())
}

type Earlier = HashMap<(i64, String), (i64, Accepted)>;

/// The rows that hold the keys of these messages, and until when the keys count.
async fn earlier(connection: &mut PgConnection, rows: &[Inbox<'_>]) -> sqlx::Result<Earlier> {
    let accounts: Vec<i64> = rows.iter().map(|row| i64::from(row.row.account)).collect();
    let events: Vec<_> = rows.iter().map(|row| clean(&row.message.event)).collect();
    let found: Vec<(i64, String, i64, i64, i64, i64)> = sqlx::query_as(
        "SELECT i.account, i.event, i.id, i.event_until, i.conversation, i.person
         FROM unnest($1::bigint[], $2::text[]) AS w (account, event)
         JOIN inbox i ON i.account = w.account AND i.event = w.event",
    )
    .bind(accounts)
    .bind(events)
    .fetch_all(connection)
    .await?;
    let earlier =
        found
            .into_iter()
            .filter_map(|(account, event, id, until, conversation, person)| {
                let earlier = Accepted {
                    id,
                    account: u32::try_from(account).ok()?,
                    conversation,
                    person,
                    new_person: false,
                    duplicate: true,
                };
                Some(((account, event), (until, earlier)))
            });
    Ok(earlier.collect())
}

/// A message that has ended meanwhile, for example because it was recalled, has no row and keeps a 0.
async fn begin(
    connection: &mut PgConnection,
    begins: Begins,
    process: i64,
    outcomes: &mut [Outcome],
) -> sqlx::Result<()> {
    if begins.turns.is_empty() {
        return Ok(());
    }
    let attempts: Vec<(i64, i32)> = sqlx::query_as(
        "INSERT INTO turn AS t (id, attempt, state, started_at, process)
         SELECT w.id, 1, $3, w.at, $4 FROM unnest($1::bigint[], $2::bigint[]) AS w (id, at)
         WHERE NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = w.id)
         ON CONFLICT (id) DO UPDATE SET attempt = t.attempt + 1, state = excluded.state,
             reason = NULL, started_at = excluded.started_at, ended_at = NULL,
             process = excluded.process
         RETURNING id, attempt",
    )
    .bind(begins.turns)
    .bind(begins.at)
    .bind(small(code::RUNNING))
    .bind(process)
    .fetch_all(connection)
    .await?;
    let attempts: HashMap<i64, i32> = attempts.into_iter().collect();
    for (operation, turn) in begins.operations {
        let attempt = attempts.get(&turn).copied().unwrap_or(0);
        if let Some(outcome) = outcomes.get_mut(operation) {
            *outcome = Outcome::Attempt(u32::try_from(attempt).unwrap_or(0));
        }
    }
    Ok(())
}

async fn replies(
    connection: &mut PgConnection,
    replies: Replies<'_>,
    process: i64,
) -> sqlx::Result<()> {
    if replies.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO outbox (id, conversation, turn, kind, state, part, attempts, process, due_at,
                             created_at, shown, body, subject, lease)
         SELECT w.id, w.conversation, w.turn, w.kind, w.state, 0, 0, $10, w.due_at, w.created_at, w.shown,
                w.body, w.subject,
                coalesce((SELECT i.lease FROM inbox i WHERE i.id = w.about),
                         (SELECT o.lease FROM outbox o WHERE o.id = w.about),
                         (SELECT min(l.id) FROM lease l WHERE l.process = $10), 0)
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bigint[],
                     $6::bigint[], $7::boolean[], $8::text[], $11::bigint[], $9::smallint[],
                     $12::text[])
              AS w (id, conversation, turn, state, due_at, created_at, shown, body, about, kind, subject)",
    )
    .bind(replies.ids)
    .bind(replies.conversations)
    .bind(replies.turns)
    .bind(replies.states)
    .bind(replies.due_at)
    .bind(replies.created_at)
    .bind(replies.shown)
    .bind(replies.bodies)
    .bind(replies.kinds)
    .bind(process)
    .bind(replies.about)
    .bind(replies.subjects)
    .execute(connection)
    .await
    .map(drop)
}

/// Messages end without an outbox row; the first end of each stands.
async fn ended(connection: &mut PgConnection, ends: Ends<'_>) -> sqlx::Result<()> {
    if ends.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO ended (id, state, reason, turn, at)
         SELECT w.id, w.state, w.reason, w.turn, w.at
         FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::bigint[], $5::bigint[])
              AS w (id, state, reason, turn, at)
         WHERE EXISTS (SELECT 1 FROM inbox i WHERE i.id = w.id)
           AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = w.id)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(ends.ids)
    .bind(ends.states)
    .bind(ends.reasons)
    .bind(ends.turns)
    .bind(ends.at)
    .execute(connection)
    .await
    .map(drop)
}

async fn turns(
    connection: &mut PgConnection,
    turns: TurnEnds<'_>,
    process: i64,
) -> sqlx::Result<()> {
    if turns.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO turn (id, attempt, state, reason, started_at, ended_at, process)
         SELECT w.id, 1, w.state, w.reason, w.at, w.at, $5
         FROM unnest($1::bigint[], $2::smallint[], $3::text[], $4::bigint[])
              AS w (id, state, reason, at)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, reason = excluded.reason,
             ended_at = excluded.ended_at",
    )
    .bind(turns.ids)
    .bind(turns.states)
    .bind(turns.reasons)
    .bind(turns.at)
    .bind(process)
    .execute(connection)
    .await
    .map(drop)
}

async fn amend(
    connection: &mut PgConnection,
    (ids, bodies): (Vec<i64>, Vec<std::borrow::Cow<'_, str>>),
) -> sqlx::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "UPDATE inbox i SET body = w.body
         FROM unnest($1::bigint[], $2::text[]) AS w (id, body) WHERE i.id = w.id",
    )
    .bind(ids)
    .bind(bodies)
    .execute(connection)
    .await
    .map(drop)
}

/// An intent for a part whose earlier intent another process wrote, and to which no receipt came, is
/// the next attempt after a crash; another part starts counting anew. A receipt for such a part
/// counts the crash in the same way.
async fn intents(
    connection: &mut PgConnection,
    intents: Intents,
    process: i64,
) -> sqlx::Result<()> {
    if intents.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "UPDATE outbox o SET
             attempts = CASE WHEN o.part <> w.part THEN 0
                             WHEN o.state = $3 AND o.process <> $4 THEN o.attempts + 1
                             ELSE o.attempts END,
             state = $3, part = w.part, process = $4
         FROM unnest($1::bigint[], $2::integer[]) AS w (id, part) WHERE o.id = w.id",
    )
    .bind(intents.ids)
    .bind(intents.parts)
    .bind(small(code::SENDING))
    .bind(process)
    .execute(connection)
    .await
    .map(drop)
}

async fn receipts(
    connection: &mut PgConnection,
    receipts: Receipts<'_>,
    process: i64,
) -> sqlx::Result<()> {
    if receipts.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "UPDATE outbox o SET
             attempts = CASE WHEN w.sent THEN 0
                             WHEN o.state = $9 AND o.process <> $10 THEN o.attempts + 1
                             ELSE o.attempts END,
             state = w.state, part = w.part, due_at = coalesce(w.due_at, o.due_at),
             reason = w.reason, doubtful = o.doubtful OR w.doubtful,
             message = CASE WHEN w.message IS NULL THEN o.message
                            ELSE coalesce(o.message || chr(10), '') || w.message END
         FROM unnest($1::bigint[], $2::boolean[], $3::smallint[], $4::integer[], $5::bigint[],
                     $6::text[], $7::text[], $8::boolean[])
              AS w (id, sent, state, part, due_at, reason, message, doubtful)
         WHERE o.id = w.id",
    )
    .bind(receipts.ids)
    .bind(receipts.sent)
    .bind(receipts.states)
    .bind(receipts.parts)
    .bind(receipts.due_at)
    .bind(receipts.reasons)
    .bind(receipts.messages)
    .bind(receipts.doubtful)
    .bind(small(code::SENDING))
    .bind(process)
    .execute(connection)
    .await
    .map(drop)
}

async fn history(connection: &mut PgConnection, rows: HistoryRows<'_>) -> sqlx::Result<()> {
    if rows.ids.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO history (conversation, person, id, role, turn, at, parts)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[],
                              $5::bigint[], $6::bigint[], $7::text[])",
    )
    .bind(rows.conversations)
    .bind(rows.persons)
    .bind(rows.ids)
    .bind(rows.roles)
    .bind(rows.turns)
    .bind(rows.at)
    .bind(rows.parts)
    .execute(connection)
    .await
    .map(drop)
}

async fn trim(connection: &mut PgConnection, conversation: i64) -> sqlx::Result<()> {
    sqlx::query(
        "DELETE FROM history WHERE conversation = $1 AND person = $2 AND id <= (
             SELECT id FROM history WHERE conversation = $1 AND person = $2
             ORDER BY id DESC LIMIT 1 OFFSET $3)",
    )
    .bind(conversation)
    .bind(code::AMBIENT_PERSON)
    .bind(AMBIENT_KEPT)
    .execute(connection)
    .await
    .map(drop)
}

async fn settings(
    connection: &mut PgConnection,
    settings: HashMap<(i64, i64, &str), Option<&str>>,
) -> sqlx::Result<()> {
    for ((conversation, person, key), value) in settings {
        let query = match value {
            Some(value) => sqlx::query(
                "INSERT INTO setting (conversation, person, key, value) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (conversation, person, key) DO UPDATE SET value = excluded.value",
            )
            .bind(conversation)
            .bind(person)
            .bind(key)
            .bind(clean(value)),
            None => sqlx::query(
                "DELETE FROM setting WHERE conversation = $1 AND person = $2 AND key = $3",
            )
            .bind(conversation)
            .bind(person)
            .bind(key),
        };
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// A code as a column has it.
pub fn small(code: i64) -> i16 {
    i16::try_from(code).unwrap_or(i16::MAX)
}
