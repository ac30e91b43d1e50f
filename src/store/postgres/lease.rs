//! Which start of the gateway an account belongs to: taking what nobody has, and giving up what is empty.
//!
//! Owns the table of leases. A lease goes with its holder: it is free when the holder stopped cleanly, or when it
//! said nothing for too long. Everything here happens in one transaction, in which no other process writes.
//! `docs/decisions/0009-several-processes.md` says why that is enough.

use std::time::Duration;

use sqlx::PgConnection;

use super::{
    plan::clean,
    session::{CLEAN, IN_USE, LEASE, TAKEN_OVER},
};
use crate::store::{Held, LastStop, Taken, Wanted, sqlite::code};

/// How long a process without a connection may say nothing before it counts as dead. One that lives makes another
/// connection within a second.
pub const SILENT: Duration = Duration::from_secs(3);

/// What a process holds: the account's number, and the lease.
pub type Holding = (i64, i64);

/// Extends the life of this start, and takes what is free of the wanted accounts. Tells what is new beside what was
/// `known`: the answer to an earlier call may have been lost. `may_take` says whether another process that says
/// nothing may be taken for dead.
pub async fn hold(
    connection: &mut PgConnection,
    process: i64,
    wanted: &[Wanted],
    known: &[Holding],
    may_take: bool,
) -> sqlx::Result<(Held, Vec<Holding>)> {
    renew(connection, process).await?;
    let rows = look(connection, process, wanted).await?;
    let choice = choose(wanted, &rows, may_take);
    let mut holdings = Vec::new();
    let mut held = Held {
        taken: Vec::new(),
        expiring: choice.expiring,
    };
    let mut take = |(place, account, lease): (usize, i64, i64), before| {
        holdings.push((account, lease));
        if let Some(wanted) = wanted.get(place) {
            held.taken.push(Taken {
                wanted: wanted.clone(),
                lease,
                before,
            });
        }
    };
    for (place, account) in &choice.create {
        let (lease,): (i64,) =
            sqlx::query_as("INSERT INTO lease (account, process) VALUES ($1, $2) RETURNING id")
                .bind(account)
                .bind(process)
                .fetch_one(&mut *connection)
                .await?;
        take((*place, *account, lease), LastStop::First);
    }
    for (place, account, lease) in choice.held {
        if !known.contains(&(account, lease)) {
            take((place, account, lease), LastStop::Unclean);
        }
    }
    for found in &choice.take {
        take((found.place, found.account, found.lease), found.before);
    }
    if !choice.take.is_empty() {
        change_hands(connection, process, &choice.take).await?;
    }
    if !held.taken.is_empty() {
        forget_starts(connection, process).await?;
    }
    Ok((held, holdings))
}

async fn renew(connection: &mut PgConnection, process: i64) -> sqlx::Result<()> {
    sqlx::query(
        "UPDATE process SET state = $2, renewed_at = clock_timestamp(),
             until = clock_timestamp() + $3 * interval '1 second' WHERE id = $1",
    )
    .bind(process)
    .bind(IN_USE)
    .bind(LEASE.as_secs_f64())
    .execute(connection)
    .await
    .map(drop)
}

/// A wanted account with one of its leases, if it has any.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Which of the wanted accounts.
    place: usize,
    account: i64,
    lease: Option<(i64, Holder)>,
}

/// Who has a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// This process.
    Me,
    /// Nobody; how the last one ended.
    Nobody(LastStop),
    /// A process that said nothing for too long.
    Dead(i64),
    /// One that has no connection, and will be dead if it does not come back soon.
    Leaving,
    /// One that is at work.
    Alive,
}

/// A row as the database tells it: place, account, lease, holder, the holder's state, whether its time is over,
/// whether it has a connection, and whether it said nothing lately.
type LookRow = (
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i16>,
    bool,
    bool,
    bool,
);

/// The leases of the wanted accounts; each account gets a number.
async fn look(
    connection: &mut PgConnection,
    process: i64,
    wanted: &[Wanted],
) -> sqlx::Result<Vec<Row>> {
    let platforms: Vec<_> = wanted
        .iter()
        .map(|wanted| clean(wanted.platform.as_str()))
        .collect();
    let names: Vec<_> = wanted
        .iter()
        .map(|wanted| clean(wanted.account.as_str()))
        .collect();
    sqlx::query(
        "INSERT INTO account (platform, name)
         SELECT w.platform, w.name FROM unnest($1::text[], $2::text[]) AS w (platform, name)
         WHERE NOT EXISTS (
             SELECT 1 FROM account a WHERE a.platform = w.platform AND a.name = w.name)",
    )
    .bind(&platforms)
    .bind(&names)
    .execute(&mut *connection)
    .await?;
    let rows: Vec<LookRow> = sqlx::query_as(
        "SELECT w.place - 1, a.id, l.id, l.process, h.state,
                coalesce(h.until < clock_timestamp(), TRUE),
                EXISTS (SELECT 1 FROM pg_stat_activity s
                        WHERE s.pid = h.backend AND s.backend_start = h.backend_start),
                coalesce(h.renewed_at < clock_timestamp() - $3 * interval '1 second', TRUE)
         FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS w (platform, name, place)
         JOIN account a ON a.platform = w.platform AND a.name = w.name
         LEFT JOIN lease l ON l.account = a.id
         LEFT JOIN process h ON h.id = l.process
         ORDER BY w.place, l.id",
    )
    .bind(&platforms)
    .bind(&names)
    .bind(SILENT.as_secs_f64())
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|row| read(process, row)).collect())
}

fn read(me: i64, row: LookRow) -> Row {
    let (place, account, lease, process, state, over, connected, silent) = row;
    let holder = match (process, state) {
        (Some(process), _) if process == me => Holder::Me,
        (Some(process), Some(IN_USE)) => {
            if over || silent && !connected {
                Holder::Dead(process)
            } else if connected {
                Holder::Alive
            } else {
                Holder::Leaving
            }
        }
        (_, Some(CLEAN)) => Holder::Nobody(LastStop::Clean),
        _ => Holder::Nobody(LastStop::Unclean),
    };
    Row {
        place: usize::try_from(place).unwrap_or(usize::MAX),
        account,
        lease: lease.map(|lease| (lease, holder)),
    }
}

/// A lease that changes hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    place: usize,
    account: i64,
    lease: i64,
    /// How its holder ended, and who it was if it is to be fenced off.
    before: LastStop,
    dead: Option<i64>,
}

/// What is done about the wanted accounts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choice {
    /// What it has: place, account and lease.
    held: Vec<(usize, i64, i64)>,
    /// Accounts that get a first lease, or one for this process: place and account.
    create: Vec<(usize, i64)>,
    take: Vec<Found>,
    /// Something will be free in a moment.
    expiring: bool,
}

fn choose(wanted: &[Wanted], rows: &[Row], may_take: bool) -> Choice {
    let mut choice = Choice::default();
    for (place, wanted) in wanted.iter().enumerate() {
        let mut account = None;
        let (mut own, mut others, mut leaving) = (false, false, false);
        for row in rows.iter().filter(|row| row.place == place) {
            account = Some(row.account);
            let Some((lease, holder)) = row.lease else {
                continue;
            };
            let (before, dead) = match holder {
                Holder::Me => {
                    own = true;
                    choice.held.push((place, row.account, lease));
                    continue;
                }
                Holder::Nobody(before) => (before, None),
                Holder::Dead(process) if may_take => (LastStop::Unclean, Some(process)),
                Holder::Leaving => {
                    leaving = true;
                    continue;
                }
                Holder::Dead(_) | Holder::Alive => {
                    others = true;
                    continue;
                }
            };
            own = true;
            choice.take.push(Found {
                place,
                account: row.account,
                lease,
                before,
                dead,
            });
        }
        choice.expiring |= leaving;
        let free = !own && !leaving && (wanted.shared || !others);
        if let Some(account) = account.filter(|_| free) {
            choice.create.push((place, account));
        }
    }
    choice
}

/// Writes down who has the leases now, and fences off those who had them.
async fn change_hands(
    connection: &mut PgConnection,
    process: i64,
    found: &[Found],
) -> sqlx::Result<()> {
    let leases: Vec<i64> = found.iter().map(|found| found.lease).collect();
    let dead: Vec<i64> = found.iter().filter_map(|found| found.dead).collect();
    sqlx::query("UPDATE process SET state = $2 WHERE id = ANY($1)")
        .bind(dead)
        .bind(TAKEN_OVER)
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE lease SET process = $2, epoch = epoch + 1 WHERE id = ANY($1)")
        .bind(leases)
        .bind(process)
        .execute(connection)
        .await
        .map(drop)
}

/// Removes the rows of starts to which nothing belongs any more.
async fn forget_starts(connection: &mut PgConnection, process: i64) -> sqlx::Result<()> {
    sqlx::query(
        "DELETE FROM process p WHERE p.id <> $1
           AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.process = p.id)
           AND (p.state >= $2 OR p.renewed_at < clock_timestamp() - interval '1 hour')",
    )
    .bind(process)
    .bind(CLEAN)
    .execute(connection)
    .await
    .map(drop)
}

/// Gives every account one lease, held by a start that is over, and to it everything that is not over. For a database
/// that has been filled.
pub async fn assign_all(connection: &mut PgConnection, process: i64) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO lease (account, process) SELECT id, $1 FROM account ORDER BY id")
        .bind(process)
        .execute(&mut *connection)
        .await?;
    for statement in [
        "UPDATE inbox i SET lease = l.id FROM lease l
         WHERE l.account = i.account AND i.id > (SELECT inbox_floor FROM journal)",
        "UPDATE outbox o SET lease = l.id
         FROM (SELECT DISTINCT conversation, account FROM inbox) i
         JOIN lease l ON l.account = i.account
         WHERE i.conversation = o.conversation AND o.state IN (0, 1, 3)",
    ] {
        sqlx::query(statement).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Removes the leases of this process to which nothing belongs that is not over, but for those in `kept`; gives
/// the others.
pub async fn forget_empty(
    connection: &mut PgConnection,
    process: i64,
    kept: &[i64],
) -> sqlx::Result<Vec<i64>> {
    sqlx::query(
        "DELETE FROM lease l WHERE l.process = $1 AND l.id <> ALL($2)
           AND NOT EXISTS (
               SELECT 1 FROM inbox i
               WHERE i.id > (SELECT inbox_floor FROM journal) AND i.lease = l.id
                 AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.id = i.id)
                 AND NOT EXISTS (SELECT 1 FROM ended e WHERE e.id = i.id))
           AND NOT EXISTS (
               SELECT 1 FROM outbox o
               WHERE o.id > (SELECT outbox_floor FROM journal) AND o.lease = l.id
                 AND o.state IN ($3, $4, $5))",
    )
    .bind(process)
    .bind(kept)
    .bind(code::READY)
    .bind(code::SENDING)
    .bind(code::UNKNOWN)
    .execute(&mut *connection)
    .await?;
    let left: Vec<(i64,)> = sqlx::query_as("SELECT id FROM lease WHERE process = $1")
        .bind(process)
        .fetch_all(connection)
        .await?;
    Ok(left.into_iter().map(|(lease,)| lease).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(shared: bool) -> Vec<Wanted> {
        vec![Wanted {
            platform: "p".into(),
            account: "a".into(),
            shared,
        }]
    }

    fn rows(holders: &[Holder]) -> Vec<Row> {
        let row = |(lease, holder): (i64, &Holder)| Row {
            place: 0,
            account: 7,
            lease: Some((lease, *holder)),
        };
        (1..).zip(holders).map(row).collect()
    }

    /// What is held, what is taken, whether one is made, and whether it is worth waiting.
    fn chosen(shared: bool, rows: &[Row], may_take: bool) -> (Vec<i64>, Vec<i64>, bool, bool) {
        let choice = choose(&wanted(shared), rows, may_take);
        let held = choice.held.iter().map(|(.., lease)| *lease).collect();
        let taken = choice.take.iter().map(|found| found.lease).collect();
        (held, taken, !choice.create.is_empty(), choice.expiring)
    }

    #[test]
    fn an_account_without_a_lease_gets_one() {
        let none = Row {
            place: 0,
            account: 7,
            lease: None,
        };
        for shared in [false, true] {
            assert_eq!(chosen(shared, &[none], true), (vec![], vec![], true, false));
        }
    }

    #[test]
    fn what_nobody_has_is_taken_and_what_somebody_has_is_not() {
        let cases = [
            (Holder::Me, (vec![1], vec![], false, false)),
            (
                Holder::Nobody(LastStop::Clean),
                (vec![], vec![1], false, false),
            ),
            (Holder::Dead(3), (vec![], vec![1], false, false)),
            (Holder::Leaving, (vec![], vec![], false, true)),
            (Holder::Alive, (vec![], vec![], false, false)),
        ];
        for (holder, expected) in cases {
            assert_eq!(chosen(false, &rows(&[holder]), true), expected);
        }
    }

    #[test]
    fn a_process_that_was_late_itself_takes_nobody_for_dead() {
        let dead = rows(&[Holder::Dead(3)]);
        assert_eq!(chosen(false, &dead, false), (vec![], vec![], false, false));
        let clean = rows(&[Holder::Nobody(LastStop::Clean)]);
        assert_eq!(
            chosen(false, &clean, false),
            (vec![], vec![1], false, false)
        );
    }

    #[test]
    fn of_a_shared_account_each_has_one_and_takes_over_those_of_the_dead() {
        let alive = rows(&[Holder::Alive]);
        assert_eq!(chosen(true, &alive, true), (vec![], vec![], true, false));
        let some = rows(&[Holder::Me, Holder::Dead(3), Holder::Alive]);
        assert_eq!(chosen(true, &some, true), (vec![1], vec![2], false, false));
        let leaving = rows(&[Holder::Leaving, Holder::Alive]);
        assert_eq!(chosen(true, &leaving, true), (vec![], vec![], false, true));
    }

    #[test]
    fn what_the_database_tells_of_a_holder_is_read_as_what_it_is() {
        let holder = |process, state, over, connected, silent| {
            let row = (0, 7, Some(1), process, state, over, connected, silent);
            read(5, row).lease.unwrap().1
        };
        let in_use = Some(IN_USE);
        assert_eq!(holder(Some(5), in_use, true, false, true), Holder::Me);
        assert_eq!(
            holder(Some(4), in_use, false, true, true),
            Holder::Alive,
            "it is slow"
        );
        assert_eq!(
            holder(Some(4), in_use, false, false, false),
            Holder::Leaving
        );
        assert_eq!(holder(Some(4), in_use, false, false, true), Holder::Dead(4));
        assert_eq!(
            holder(Some(4), in_use, true, true, true),
            Holder::Dead(4),
            "it is stopped, and its connection is there"
        );
        let ended = |state| holder(Some(4), state, true, false, true);
        assert_eq!(ended(Some(CLEAN)), Holder::Nobody(LastStop::Clean));
        assert_eq!(ended(Some(TAKEN_OVER)), Holder::Nobody(LastStop::Unclean));
        assert_eq!(ended(None), Holder::Nobody(LastStop::Unclean));
    }
}
