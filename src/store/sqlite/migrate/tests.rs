use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::store::{
    Receipt, ReceiptOutcome, Store, WaitingFilter, Write, commit,
    sqlite::{Durability, Options, Retention, SqliteStore},
};

const FIRST: (i64, &str, &str) = (1, "first", "CREATE TABLE one (a INTEGER)");
const SECOND: (i64, &str, &str) = (2, "second", "CREATE TABLE two (b INTEGER)");
const BROKEN: (i64, &str, &str) = (2, "second", "CREATE TABLE two (b INTEGER); SELECT nonsense");

async fn tables(path: &Path) -> Vec<String> {
    let mut connection = connect(path).await.unwrap();
    sqlx::query_as("SELECT name FROM sqlite_master WHERE name IN ('one', 'two') ORDER BY name")
        .fetch_all(&mut connection)
        .await
        .unwrap()
        .into_iter()
        .map(|(name,)| name)
        .collect()
}

fn database(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("weirgate.db");
    private(&path).unwrap();
    path
}

#[tokio::test]
async fn a_new_database_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    migrate_with(&path, &[FIRST, SECOND]).await.unwrap();
    migrate_with(&path, &[FIRST, SECOND]).await.unwrap();
    assert_eq!(tables(&path).await, ["one", "two"]);
    assert!(!folder.path().join("weirgate.db.v1.bak").exists());
}

#[tokio::test]
async fn an_existing_database_is_copied_before_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    migrate_with(&path, &[FIRST]).await.unwrap();
    migrate_with(&path, &[FIRST, SECOND]).await.unwrap();
    let copy = folder.path().join("weirgate.db.v1.bak");
    assert_eq!(tables(&path).await, ["one", "two"]);
    assert_eq!(tables(&copy).await, ["one"]);
    assert_eq!(
        std::fs::metadata(copy).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn a_failed_migration_changes_nothing_and_can_be_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    migrate_with(&path, &[FIRST]).await.unwrap();
    let error = migrate_with(&path, &[FIRST, BROKEN]).await.unwrap_err();
    assert!(matches!(error, OpenError::Database { .. }), "{error}");
    assert_eq!(tables(&path).await, ["one"]);
    migrate_with(&path, &[FIRST, SECOND]).await.unwrap();
    assert_eq!(tables(&path).await, ["one", "two"]);
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    migrate_with(&path, &[FIRST, SECOND]).await.unwrap();
    let error = migrate_with(&path, &[FIRST]).await.unwrap_err();
    assert!(
        matches!(
            error,
            OpenError::Newer {
                found: 2,
                known: 1,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(tables(&path).await, ["one", "two"]);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weirgate.db");
    std::fs::write(
        &path,
        "this is not a database, but a text that is long enough".repeat(100),
    )
    .unwrap();
    let error = migrate_with(&path, &[FIRST]).await.unwrap_err().to_string();
    assert!(
        error.contains("weirgate.db") && error.contains("not a database"),
        "{error}"
    );
}

/// Every file in the folder is in the list, in order, so that a fresh install is the same as every update.
#[test]
fn the_list_names_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let listed: Vec<String> = MIGRATIONS
        .iter()
        .map(|(version, name, _)| format!("{version:04}_{name}.sql"))
        .collect();
    assert_eq!(files, listed);
}

/// A file of the first version, with an answer of which the first part is sent and a message that waits.
#[tokio::test]
async fn a_file_of_the_first_version_is_brought_up_to_date_with_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(&folder);
    migrate_with(&path, &MIGRATIONS[..1]).await.unwrap();
    let mut connection = connect(&path).await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO meta (key, value) VALUES ('stop', 'clean');
         INSERT INTO account (id, platform, name) VALUES (1, 'p', 'a');
         INSERT INTO conversation (id, key) VALUES (1, 'p/a/c');
         INSERT INTO person (id, key) VALUES (1, 'p//u');
         INSERT INTO inbox VALUES (5, 1, 'e5', 0, 1, 1, 9, 32, 0, 0, '{}'),
                                  (6, 1, 'e6', 0, 1, 1, 9, 32, 0, 0, '{\"i\":\"m6\"}');
         INSERT INTO outbox VALUES (5, 1, 5, 0, 1, 1, 0, 0, 9, 9, 0, NULL, 'x1', '{}');",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();

    let day = std::time::Duration::from_secs(86_400);
    let store = SqliteStore::open(Options {
        path: path.clone(),
        durability: Durability::Process,
        retention: Retention {
            inbox: day,
            outbox: day,
            history: day,
            audit: day,
            media: day,
        },
        readers: 1,
        now: || 10,
    })
    .await
    .unwrap();
    assert!(folder.path().join("weirgate.db.v1.bak").exists());
    let waiting = store.waiting(0, WaitingFilter::default(), 9).await.unwrap();
    assert_eq!(
        waiting.iter().map(|row| row.id).collect::<Vec<_>>(),
        [6],
        "the answered one has ended"
    );
    let found = store.pending_replies(None, 0, 9).await.unwrap().remove(0);
    assert_eq!(
        (found.id, found.part, found.in_doubt, found.doubtful),
        (5, 1, true, false)
    );
    let receipt = Receipt {
        id: 5,
        part: 1,
        outcome: ReceiptOutcome::Doubtful,
        at: 10,
    };
    let store: std::sync::Arc<dyn Store> = store;
    commit(&store, |then| Write::Receipt(receipt, then))
        .await
        .unwrap();
    let found = store.pending_replies(None, 0, 9).await.unwrap().remove(0);
    assert_eq!((found.part, found.doubtful), (2, true));
    store.close().await;
}
