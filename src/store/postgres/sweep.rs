//! Retention: removes finished rows that are older than they need be, a chunk at a time.
//!
//! Owns where the current pass is. A pass goes through the tables in order of ids and stops at what is
//! still young; the next one starts a minute later. It never removes a message that has not ended, an
//! answer that is not sent, or a dedupe key whose time is not over.

use std::time::Duration;

use sqlx::PgConnection;

use super::{audit, writer::Writer};
use crate::store::{StoreError, sqlite::code};

/// Rows of one transaction.
const CHUNK: i64 = 256;
/// Rows over which a floor rises in one transaction.
const CLIMB: i64 = 16 * CHUNK;
/// Milliseconds between two passes.
const PAUSE: i64 = 60_000;
/// Chunks that one idle visit removes at most.
const IDLE_CHUNKS: usize = 64;

/// How far the current pass is.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sweep {
    stage: Stage,
    after: i64,
    next_pass: i64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stage {
    #[default]
    Rest,
    Inbox,
    Outbox,
    History,
    Audit,
    Pending,
    InboxFloor,
    OutboxFloor,
    Leases,
}

impl Stage {
    fn next(self) -> Self {
        match self {
            Self::Rest => Self::Inbox,
            Self::Inbox => Self::Outbox,
            Self::Outbox => Self::History,
            Self::History => Self::Audit,
            Self::Audit => Self::Pending,
            Self::Pending => Self::InboxFloor,
            Self::InboxFloor => Self::OutboxFloor,
            Self::OutboxFloor => Self::Leases,
            Self::Leases => Self::Rest,
        }
    }
}

/// What one chunk came to: whether the stage is over, and where it goes on if not.
type Step = (bool, i64);

impl Writer {
    /// Does a whole pass at once.
    pub async fn sweep_all(&mut self) -> Result<(), StoreError> {
        self.sweep = Sweep::default();
        while self.sweep_step().await? {}
        Ok(())
    }

    /// Uses idle time; tells whether there is more to do. Stops early when `wanted` says that operations
    /// wait, but always removes one chunk, so that load cannot starve it.
    pub async fn idle(&mut self, wanted: impl Fn() -> bool) -> bool {
        for _ in 0..IDLE_CHUNKS {
            match self.sweep_step().await {
                Ok(true) if !wanted() => {}
                Ok(more) => return more,
                Err(error) => {
                    tracing::warn!(%error, "removing old rows failed");
                    return false;
                }
            }
        }
        true
    }

    /// Does one chunk; tells whether there is more to do now.
    async fn sweep_step(&mut self) -> Result<bool, StoreError> {
        let now = (self.now)();
        let Sweep { stage, after, .. } = self.sweep;
        let kept = self.retention;
        let (over, next) = match stage {
            Stage::Rest => (now >= self.sweep.next_pass, 0),
            Stage::Inbox => {
                let kept = millis(kept.inbox);
                self.own(async |connection| inbox(connection, after, kept, now).await)
                    .await?
            }
            Stage::Outbox => {
                let kept = millis(kept.outbox);
                self.own(async |connection| outbox(connection, after, kept, now).await)
                    .await?
            }
            Stage::History => {
                let before = now.saturating_sub(millis(kept.history));
                self.own(async |connection| history(connection, before).await)
                    .await?
            }
            Stage::Audit => {
                let before = now.saturating_sub(millis(kept.audit));
                let process = self.process();
                let (over, head) = self
                    .own(async |connection| {
                        let over = audit::sweep(connection, (before, now), CHUNK, process).await?;
                        Ok((over, audit::head(connection).await?))
                    })
                    .await?;
                self.log_audit_head(head);
                (over, 0)
            }
            Stage::Pending => {
                let before = now.saturating_sub(millis(kept.inbox));
                self.own(async |connection| pending(connection, before).await)
                    .await?
            }
            Stage::InboxFloor => {
                self.own(async |connection| inbox_floor(connection).await)
                    .await?
            }
            Stage::OutboxFloor => {
                self.own(async |connection| outbox_floor(connection).await)
                    .await?
            }
            Stage::Leases => {
                self.forget_empty_leases().await?;
                (true, 0)
            }
        };
        self.sweep.after = next;
        if over {
            self.sweep.stage = stage.next();
            self.sweep.after = 0;
            if self.sweep.stage == Stage::Rest {
                self.sweep.next_pass = now.saturating_add(PAUSE);
            }
        }
        Ok(self.sweep.stage != Stage::Rest)
    }
}

/// Half of the range is longer than any clock, and leaves room to add.
fn millis(kept: Duration) -> i64 {
    i64::try_from(kept.as_millis())
        .unwrap_or(i64::MAX)
        .min(i64::MAX / 2)
}

/// A row that is looked at: its id, whether it is finished, and until when it is kept.
type Row = (i64, bool, i64);

/// Which of these rows may go, and what that says of the stage.
fn over(rows: &[Row], after: i64, now: i64) -> (Vec<i64>, Step) {
    let over: Vec<i64> = rows
        .iter()
        .filter(|(_, finished, until)| *finished && *until <= now)
        .map(|(id, ..)| *id)
        .collect();
    let Some((last, _, until)) = rows.last() else {
        return (over, (true, after));
    };
    let full = i64::try_from(rows.len()).is_ok_and(|count| count >= CHUNK);
    // Ids and times grow together, so behind a young row there is nothing but young rows.
    let end = !full || (over.is_empty() && *until > now);
    (over, (end, *last))
}

async fn inbox(
    connection: &mut PgConnection,
    after: i64,
    kept: i64,
    now: i64,
) -> sqlx::Result<Step> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT i.id,
                EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                    OR EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id),
                greatest(i.at + $2, CASE WHEN i.event IS NULL THEN 0 ELSE i.event_until END)
         FROM inbox i WHERE i.id > $1 ORDER BY i.id LIMIT $3",
    )
    .bind(after)
    .bind(kept)
    .bind(CHUNK)
    .fetch_all(&mut *connection)
    .await?;
    let (over, step) = over(&rows, after, now);
    for statement in [
        "DELETE FROM inbox WHERE id = ANY($1)",
        "DELETE FROM ended WHERE id = ANY($1)",
        "DELETE FROM turn WHERE id = ANY($1)",
        "DELETE FROM step WHERE turn = ANY($1)",
    ] {
        delete(connection, statement, &over).await?;
    }
    Ok(step)
}

async fn outbox(
    connection: &mut PgConnection,
    after: i64,
    kept: i64,
    now: i64,
) -> sqlx::Result<Step> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT id, state IN (2, 4, 5, 6), created_at + $2
         FROM outbox WHERE id > $1 ORDER BY id LIMIT $3",
    )
    .bind(after)
    .bind(kept)
    .bind(CHUNK)
    .fetch_all(&mut *connection)
    .await?;
    let (over, step) = over(&rows, after, now);
    for statement in [
        // The message may stay longer than its answer, and has ended all the same.
        "INSERT INTO ended (id, state, turn, at)
         SELECT o.id, 0, coalesce(o.turn, o.id), o.created_at
         FROM outbox o JOIN inbox i ON i.id = o.id
         WHERE o.id = ANY($1) ON CONFLICT (id) DO NOTHING",
        "DELETE FROM outbox WHERE id = ANY($1)",
    ] {
        delete(connection, statement, &over).await?;
    }
    Ok(step)
}

async fn delete(
    connection: &mut PgConnection,
    statement: &'static str,
    ids: &[i64],
) -> sqlx::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    sqlx::query(statement)
        .bind(ids)
        .execute(connection)
        .await
        .map(drop)
}

async fn history(connection: &mut PgConnection, before: i64) -> sqlx::Result<Step> {
    let removed = sqlx::query(
        "DELETE FROM history WHERE (conversation, person, id) IN (
             SELECT conversation, person, id FROM history WHERE at < $1 ORDER BY at LIMIT $2)",
    )
    .bind(before)
    .bind(CHUNK)
    .execute(connection)
    .await?
    .rows_affected();
    Ok((removed < CHUNK.unsigned_abs(), 0))
}

/// What waits goes with the message that asked, once it is over.
async fn pending(connection: &mut PgConnection, before: i64) -> sqlx::Result<Step> {
    let removed = sqlx::query(
        "DELETE FROM pending WHERE id IN (
             SELECT id FROM pending WHERE state <> 0 AND expires_at < $1 LIMIT $2)",
    )
    .bind(before)
    .bind(CHUNK)
    .execute(connection)
    .await?
    .rows_affected();
    Ok((removed < CHUNK.unsigned_abs(), 0))
}

/// Where a floor can rise to from `from`, and whether the first unfinished row, or the end, is there.
fn risen(from: i64, last: Option<i64>, unfinished: Option<i64>) -> (i64, bool) {
    match (last, unfinished) {
        (_, Some(unfinished)) => (unfinished - 1, true),
        (Some(last), None) => (last, false),
        (None, None) => (from, true),
    }
}

async fn inbox_floor(connection: &mut PgConnection) -> sqlx::Result<Step> {
    let (floor, last, unfinished): (i64, Option<i64>, Option<i64>) = sqlx::query_as(
        "WITH floor (id) AS (SELECT inbox_floor FROM journal)
         SELECT (SELECT id FROM floor), max(i.id),
                min(CASE WHEN NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                     AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id) THEN i.id END)
         FROM (SELECT id FROM inbox WHERE id > (SELECT id FROM floor) ORDER BY id LIMIT $1) i",
    )
    .bind(CLIMB)
    .fetch_one(&mut *connection)
    .await?;
    let (risen, over) = risen(floor, last, unfinished);
    if risen != floor {
        sqlx::query("UPDATE journal SET inbox_floor = $1")
            .bind(risen)
            .execute(connection)
            .await?;
    }
    Ok((over, 0))
}

/// A message that waits may yet get an answer of its own id, so this floor stays under the inbox's.
async fn outbox_floor(connection: &mut PgConnection) -> sqlx::Result<Step> {
    let (floor, roof, last, unfinished): (i64, i64, Option<i64>, Option<i64>) = sqlx::query_as(
        "WITH floor (id, roof) AS (SELECT outbox_floor, inbox_floor FROM journal)
         SELECT (SELECT id FROM floor), (SELECT roof FROM floor), max(o.id),
                min(CASE WHEN o.state IN ($2, $3, $4) THEN o.id END)
         FROM (SELECT id, state FROM outbox WHERE id > (SELECT id FROM floor)
               ORDER BY id LIMIT $1) o",
    )
    .bind(CLIMB)
    .bind(code::READY)
    .bind(code::SENDING)
    .bind(code::UNKNOWN)
    .fetch_one(&mut *connection)
    .await?;
    let (risen, over) = risen(floor, last, unfinished);
    let risen = risen.min(roof);
    if risen > floor {
        sqlx::query("UPDATE journal SET outbox_floor = $1")
            .bind(risen)
            .execute(connection)
            .await?;
    }
    Ok((over || risen == roof, 0))
}
