use std::time::Duration;

use crate::store::sqlite::{folder, migrate, read::wait_here};

use super::*;
use crate::store::{Begin, Effect, Finish, HistoryScope, Place, TurnState};

fn writer(folder: &tempfile::TempDir) -> Writer {
    let keep = Duration::from_hours(24);
    let options = Options {
        path: folder.path().join("weirgate.db"),
        durability: Durability::Process,
        retention: Retention {
            inbox: keep,
            outbox: keep,
            history: keep,
            audit: keep,
            media: keep,
        },
        readers: 1,
        now: || 1_800_000_000_000,
    };
    let lock = folder::prepare(&options.path).unwrap();
    wait_here(migrate::migrate(&options.path)).unwrap();
    Writer::open(&options, Arc::default(), lock).unwrap()
}

fn begin(turn: i64) -> Write {
    Write::Begin(Begin { turn, at: 1 }, Box::new(|_| {}))
}

/// The end of a turn that has nothing but effects.
fn ending(effects: Vec<Effect>) -> Write {
    let finish = Finish {
        turn: 0,
        begun: false,
        members: Vec::new(),
        state: TurnState::Done,
        reason: None,
        history: Vec::new(),
        scope: HistoryScope {
            conversation: 1,
            person: 0,
        },
        replies: Vec::new(),
        effects,
        at: 1,
    };
    Write::Finish(Arc::new(finish), Box::new(|_| {}))
}

fn large(number: i64) -> Write {
    let effect = Effect::Set {
        of: Place {
            conversation: number,
            person: 0,
        },
        key: "large".into(),
        value: Some("x".repeat(100_000)),
    };
    ending(vec![effect])
}

#[test]
fn a_full_disk_fails_everything_and_the_writer_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    let pages: i64 = writer
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let limit = |writer: &Writer, pages: i64| {
        let sql = format!("PRAGMA max_page_count = {pages}");
        writer.connection.query_row(&sql, [], |_| Ok(())).unwrap();
    };
    limit(&writer, pages + 2);
    for (_, result) in writer.run((0..5).map(large).collect()) {
        assert!(
            matches!(&result, Err(StoreError::Database(text)) if text.contains("full")),
            "{result:?}"
        );
    }
    assert!(writer.connection.is_autocommit());
    limit(&writer, 1_000_000);
    assert!(
        writer
            .run((0..5).map(large).collect())
            .iter()
            .all(|(_, result)| result.is_ok())
    );
}

#[test]
fn idle_work_comes_to_rest() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    assert!(
        writer
            .run(vec![begin(1), begin(2)])
            .iter()
            .all(|(_, result)| result.is_ok())
    );
    assert!(writer.shared.busy.load(Ordering::Relaxed) || writer.logged);
    writer.idle(|| false);
    assert!(!writer.shared.busy.load(Ordering::Relaxed));
    let before: i64 = writer
        .connection
        .query_row("PRAGMA data_version", [], |row| row.get(0))
        .unwrap();
    let changes = writer.connection.total_changes();
    writer.idle(|| false);
    assert_eq!(
        writer.connection.total_changes(),
        changes,
        "nothing is written at rest"
    );
    let after: i64 = writer
        .connection
        .query_row("PRAGMA data_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(before, after);
    writer.run(vec![begin(3)]);
    assert!(
        writer.shared.busy.load(Ordering::Relaxed),
        "there is a log again"
    );
    writer.idle(|| true);
    assert!(
        writer.shared.busy.load(Ordering::Relaxed),
        "operations go first"
    );
}

#[test]
fn only_what_is_one_statement_goes_without_a_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(&folder);
    writer
        .connection
        .execute_batch(
            "CREATE TRIGGER poison BEFORE INSERT ON setting WHEN NEW.key = 'bad'
             BEGIN SELECT RAISE(ABORT, 'poisoned'); END",
        )
        .unwrap();
    let set = |key: &'static str| Effect::Set {
        of: Place {
            conversation: 1,
            person: 0,
        },
        key: key.into(),
        value: Some(String::new()),
    };
    let both = ending(vec![set("good"), set("bad")]);
    assert!(writer.run(vec![both])[0].1.is_err());
    let count = |writer: &Writer| -> i64 {
        writer
            .connection
            .query_row("SELECT count(*) FROM setting", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(&writer), 0, "an operation is whole or nothing");
    let one = ending(vec![set("good")]);
    assert!(writer.run(vec![one])[0].1.is_ok());
    assert_eq!(count(&writer), 1);
}

/// Why no statement has a bare parameter as its limit: SQLite plans for the value, and plans anew when it is bound
/// again, even to the same one.
#[test]
fn a_limit_that_is_a_bare_parameter_is_planned_at_each_use() {
    let folder = tempfile::tempdir().unwrap();
    let writer = writer(&folder);
    let planned_again = |sql: &str| {
        let mut statement = writer.connection.prepare(sql).unwrap();
        for _ in 0..3 {
            statement
                .query_map([1], |_| Ok(()))
                .unwrap()
                .for_each(|row| row.unwrap());
        }
        statement.get_status(rusqlite::StatementStatus::RePrepare)
    };
    assert_eq!(planned_again("SELECT key FROM meta LIMIT ?1"), 3);
    assert_eq!(planned_again("SELECT key FROM meta LIMIT ?1 + 0"), 0);
}
