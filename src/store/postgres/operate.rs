//! What an operator does, as SQL: replies and failed messages are taken up again or settled.
//!
//! Owns the statements for it. Each changes a row only in the states that its action is for, so that two
//! operators cannot do the same twice. It never begins or ends a transaction; the writer does, with nothing
//! else in it.

use sqlx::{PgConnection, Row as _, postgres::PgRow};

use super::{
    plan::{Numbers, Planner, ids_of_effects},
    statement,
};
use crate::store::{
    Action, Effect, Operate, Operated, PendingReply, Waiting,
    sqlite::{code, operate::MEMBERS},
};

/// Ends after the turn's first message that are searched for its others.
const SEARCHED: i64 = 200_000;

/// Does an action, with its effects if there was something to do. `floor` is that of the outbox; `own` are the
/// leases of a process that is at work: what belongs to another one is its business. `process` is this start.
pub async fn run(
    connection: &mut PgConnection,
    operate: &Operate,
    floor: i64,
    own: Option<&[i64]>,
    process: i64,
) -> sqlx::Result<Operated> {
    if let Some(own) = own
        && let Some(lease) = lease_of(&mut *connection, operate.action).await?
        && !own.contains(&lease)
    {
        return Ok(Operated::Elsewhere);
    }
    let done = match operate.action {
        Action::RetryReply(id) => retry_reply(connection, id, operate.at, floor).await?,
        Action::DropReply { id, waiting } => drop_reply(connection, id, waiting).await?,
        Action::RetryMessage(id) => retry_message(connection, id, operate.at).await?,
        Action::DropMessage(id) => {
            if settle_message(connection, id).await? {
                Operated::Dropped
            } else {
                message_state(connection, id).await?
            }
        }
    };
    if !matches!(done, Operated::Refused(_) | Operated::Elsewhere) {
        effects(connection, &operate.effects, operate.at, process).await?;
    }
    Ok(done)
}

/// The lease that a reply or message belongs to, or would belong to when it is taken up; `None` if there is none.
async fn lease_of(connection: &mut PgConnection, action: Action) -> sqlx::Result<Option<i64>> {
    let (sql, id) = match action {
        Action::RetryReply(id) | Action::DropReply { id, .. } => (
            "SELECT coalesce((SELECT l.id FROM lease l WHERE l.id = o.lease),
                             (SELECT min(l.id) FROM lease l JOIN inbox i ON i.account = l.account
                              WHERE i.id = coalesce(o.turn, o.id)))
             FROM outbox o WHERE o.id = $1",
            id,
        ),
        Action::RetryMessage(id) | Action::DropMessage(id) => (
            "SELECT coalesce((SELECT l.id FROM lease l WHERE l.id = i.lease),
                             (SELECT min(l.id) FROM lease l WHERE l.account = i.account))
             FROM inbox i WHERE i.id = $1",
            id,
        ),
    };
    let lease: Option<(Option<i64>,)> = sqlx::query_as(sql)
        .bind(id)
        .fetch_optional(connection)
        .await?;
    Ok(lease.and_then(|(lease,)| lease))
}

/// As many new ids as are asked for; gives the one before the first.
pub async fn fresh(connection: &mut PgConnection, count: usize) -> sqlx::Result<i64> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let (before,) =
        sqlx::query_as("UPDATE journal SET last_id = last_id + $1 RETURNING last_id - $1")
            .bind(count)
            .fetch_one(connection)
            .await?;
    Ok(before)
}

async fn effects(
    connection: &mut PgConnection,
    effects: &[Effect],
    at: i64,
    process: i64,
) -> sqlx::Result<()> {
    let last_id = fresh(connection, ids_of_effects(effects)).await?;
    let numbers = Numbers::default();
    let plan = Planner::new(&numbers, last_id, at).plan_effects(effects, at);
    statement::run(connection, plan, process).await.map(drop)
}

async fn retry_reply(
    connection: &mut PgConnection,
    id: i64,
    at: i64,
    floor: i64,
) -> sqlx::Result<Operated> {
    if id <= floor {
        sqlx::query("UPDATE journal SET outbox_floor = $1")
            .bind(id - 1)
            .execute(&mut *connection)
            .await?;
    }
    let ready = sqlx::query(
        "UPDATE outbox o SET state = $2, part = CASE WHEN state = $4 THEN 0 ELSE part END,
             doubtful = CASE WHEN state = $4 THEN FALSE ELSE doubtful END,
             attempts = 0, due_at = $3, reason = NULL,
             lease = coalesce((SELECT l.id FROM lease l WHERE l.id = o.lease),
                              (SELECT min(l.id) FROM lease l JOIN inbox i ON i.account = l.account
                               WHERE i.id = coalesce(o.turn, o.id)),
                              (SELECT min(l.id) FROM lease l), 0)
         WHERE id = $1 AND kind = 0 AND state IN (3, 4, 5)
         RETURNING id, conversation, turn, part, doubtful, due_at, created_at, body",
    )
    .bind(id)
    .bind(code::READY)
    .bind(at)
    .bind(code::UNKNOWN)
    .fetch_optional(&mut *connection)
    .await?;
    match ready {
        Some(row) => pending(&row).map(Operated::Ready),
        None => reply_state(connection, id).await,
    }
}

async fn drop_reply(
    connection: &mut PgConnection,
    id: i64,
    waiting: bool,
) -> sqlx::Result<Operated> {
    let dropped = sqlx::query(
        "UPDATE outbox SET state = $2
         WHERE id = $1 AND kind = 0 AND (state IN (3, 4, 5) OR ($3 AND state IN (0, 1)))",
    )
    .bind(id)
    .bind(code::REPLY_DROPPED)
    .bind(waiting)
    .execute(&mut *connection)
    .await?;
    if dropped.rows_affected() > 0 {
        return Ok(Operated::Dropped);
    }
    reply_state(connection, id).await
}

async fn reply_state(connection: &mut PgConnection, id: i64) -> sqlx::Result<Operated> {
    let state: Option<(i16,)> =
        sqlx::query_as("SELECT state FROM outbox WHERE id = $1 AND kind = 0")
            .bind(id)
            .fetch_optional(connection)
            .await?;
    let state = state.map(|(state,)| code::answer_name(i64::from(state)));
    Ok(Operated::Refused(state))
}

async fn retry_message(connection: &mut PgConnection, id: i64, at: i64) -> sqlx::Result<Operated> {
    if !settle_message(connection, id).await? {
        return message_state(connection, id).await;
    }
    let members: Vec<(i64,)> = sqlx::query_as(
        "SELECT $1::bigint UNION ALL
         SELECT id FROM (SELECT id, turn FROM ended WHERE id > $1 ORDER BY id LIMIT $2) later
         WHERE turn = $1 ORDER BY 1 LIMIT $3",
    )
    .bind(id)
    .bind(SEARCHED)
    .bind(i64::try_from(MEMBERS).unwrap_or(i64::MAX))
    .fetch_all(&mut *connection)
    .await?;
    let before = fresh(connection, members.len()).await?;
    let members: Vec<i64> = members.into_iter().map(|(id,)| id).collect();
    accept_anew(connection, members, before, at).await
}

/// Copies of messages that are not told from new ones, but for two things: no event can be their
/// duplicate, and a conversation that is shown from the store shows the first ones only.
async fn accept_anew(
    connection: &mut PgConnection,
    members: Vec<i64>,
    before: i64,
    at: i64,
) -> sqlx::Result<Operated> {
    let rows = sqlx::query(
        "INSERT INTO inbox (id, account, event, event_until, conversation, person, at, route,
                            priority, shown, body, lease)
         SELECT $2 + w.place, i.account, NULL, $3, i.conversation, i.person, $3, i.route, i.priority,
                FALSE, i.body,
                coalesce((SELECT l.id FROM lease l WHERE l.id = i.lease),
                         (SELECT min(l.id) FROM lease l WHERE l.account = i.account), 0)
         FROM unnest($1::bigint[]) WITH ORDINALITY AS w (id, place) JOIN inbox i ON i.id = w.id
         RETURNING id, account, conversation, person, at, route, priority, body",
    )
    .bind(members)
    .bind(before)
    .bind(at)
    .fetch_all(connection)
    .await?;
    let mut accepted = rows.iter().map(waiting).collect::<sqlx::Result<Vec<_>>>()?;
    accepted.sort_by_key(|row| row.id);
    Ok(Operated::Accepted(accepted))
}

/// Takes a failed message off the list; `false` if it is not on it.
async fn settle_message(connection: &mut PgConnection, id: i64) -> sqlx::Result<bool> {
    let turns = sqlx::query(
        "UPDATE turn SET state = $2 WHERE id = $1 AND state = $3
             AND EXISTS (SELECT 1 FROM inbox WHERE id = $1)",
    )
    .bind(id)
    .bind(code::TURN_SETTLED)
    .bind(code::TURN_FAILED)
    .execute(&mut *connection)
    .await?;
    if turns.rows_affected() > 0 {
        return Ok(true);
    }
    let unreadable = sqlx::query(
        "UPDATE ended SET state = $2 WHERE id = $1 AND state = $3 AND turn IS NULL
             AND EXISTS (SELECT 1 FROM inbox WHERE id = $1)",
    )
    .bind(id)
    .bind(code::END_SETTLED)
    .bind(code::END_FAILED)
    .execute(connection)
    .await?;
    Ok(unreadable.rows_affected() > 0)
}

async fn message_state(connection: &mut PgConnection, id: i64) -> sqlx::Result<Operated> {
    let state: Option<(i32,)> = sqlx::query_as(
        "SELECT CASE
             WHEN EXISTS (SELECT 1 FROM turn WHERE id = $1 AND state = $2)
                 OR EXISTS (SELECT 1 FROM ended WHERE id = $1 AND state = $3) THEN 2
             WHEN EXISTS (SELECT 1 FROM ended WHERE id = $1)
                 OR EXISTS (SELECT 1 FROM outbox WHERE id = $1) THEN 1
             ELSE 0 END
         FROM inbox WHERE id = $1",
    )
    .bind(id)
    .bind(code::TURN_SETTLED)
    .bind(code::END_SETTLED)
    .fetch_optional(connection)
    .await?;
    Ok(Operated::Refused(state.map(|(state,)| match state {
        2 => "settled",
        1 => "done",
        _ => "waiting",
    })))
}

fn pending(row: &PgRow) -> sqlx::Result<PendingReply> {
    let body: String = row.try_get(7)?;
    Ok(PendingReply {
        id: row.try_get(0)?,
        conversation: row.try_get(1)?,
        turn: row.try_get(2)?,
        part: u32::try_from(row.try_get::<i32, _>(3)?).unwrap_or_default(),
        in_doubt: false,
        attempts: 0,
        doubtful: row.try_get(4)?,
        unknown: false,
        due_at: row.try_get(5)?,
        created_at: row.try_get(6)?,
        body: body.into_boxed_str(),
    })
}

fn waiting(row: &PgRow) -> sqlx::Result<Waiting> {
    let body: String = row.try_get(7)?;
    Ok(Waiting {
        id: row.try_get(0)?,
        account: u32::try_from(row.try_get::<i64, _>(1)?).unwrap_or_default(),
        conversation: row.try_get(2)?,
        person: row.try_get(3)?,
        at: row.try_get(4)?,
        route: u8::try_from(row.try_get::<i16, _>(5)?).unwrap_or_default(),
        priority: i8::try_from(row.try_get::<i16, _>(6)?).unwrap_or_default(),
        attempts: 0,
        body: body.into_boxed_str(),
    })
}
