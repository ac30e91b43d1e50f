//! What holds for SQLite only: the data folder, the file, the commit that fails, the inline way.

use std::{
    os::unix::{fs::PermissionsExt, process::CommandExt as _},
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use weirgate::store::{
    Begin, LastStop, Store, StoreError, WaitingFilter, Write,
    sqlite::{OpenError, Options, SqliteStore},
};

use super::{
    Bed, Engine, NOW, finish, message, reply,
    retention::{old, old_turn},
    sent,
};

fn at(path: &Path) -> Options {
    Options {
        path: path.to_owned(),
        durability: weirgate::store::config::Durability::Full,
        retention: weirgate::store::sqlite::Retention {
            inbox: Duration::from_hours(24),
            outbox: Duration::from_hours(24),
            history: Duration::from_hours(24),
            audit: Duration::from_hours(24),
            media: Duration::from_hours(24),
        },
        readers: 1,
        now: || NOW,
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The error of an open that must fail.
async fn refused(path: &Path) -> OpenError {
    SqliteStore::open(at(path)).await.map(drop).unwrap_err()
}

/// Another connection to the store's file, as a saboteur has it.
fn saboteur(bed: &Bed) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(bed.options().path).unwrap();
    connection.busy_timeout(Duration::from_secs(5)).unwrap();
    connection
}

#[tokio::test]
async fn folder_and_files_are_for_their_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/data/weirgate.db");
    let store = SqliteStore::open(at(&path)).await.unwrap();
    store.healthy().await.unwrap();
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in [
        "weirgate.db",
        "weirgate.db-wal",
        "weirgate.db-shm",
        "weirgate.lock",
    ] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
    store.close().await;
    assert!(
        !path.with_file_name("weirgate.db-wal").exists(),
        "a clean stop leaves one file"
    );
}

#[tokio::test]
async fn a_folder_has_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weirgate.db");
    let store = SqliteStore::open(at(&path)).await.unwrap();
    let error = refused(&path).await;
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(&*folder.path().to_string_lossy()), "{text}");
    assert!(
        text.contains(&format!("process {}", std::process::id())),
        "{text}"
    );
    store.close().await;
    SqliteStore::open(at(&path)).await.unwrap();
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_both_versions() {
    let bed = Bed::new(Engine::Sqlite).await;
    bed.store().close().await;
    saboteur(&bed)
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'future', 1, x'00', 1)",
            [],
        )
        .unwrap();
    let error = refused(&bed.options().path).await;
    assert!(
        matches!(error, OpenError::Newer { found: 9999, .. }),
        "{error}"
    );
}

/// Root may write anywhere, so root runs this test again as nobody.
#[test]
fn a_folder_that_cannot_be_written_is_one_clear_error() {
    const AS_NOBODY: &str = "WEIRGATE_TEST_FOLDER";
    if let Some(folder) = std::env::var_os(AS_NOBODY) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let error = runtime.block_on(refused(&Path::new(&folder).join("weirgate.db")));
        check_refusal(&error, Path::new(&folder));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o555)).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let mut test = Command::new(std::env::current_exe().unwrap());
    if std::fs::write(data.join("probe"), "").is_ok() {
        std::fs::remove_file(data.join("probe")).unwrap();
        let copy = folder.path().join("test");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        test = Command::new(copy);
        test.uid(65534).gid(65534);
    }
    let output = test
        .args([
            "a_folder_that_cannot_be_written_is_one_clear_error",
            "--nocapture",
        ])
        .current_dir("/")
        .env(AS_NOBODY, &data)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
    assert_eq!(
        std::fs::read_dir(&data).unwrap().count(),
        0,
        "nothing half written"
    );
}

fn check_refusal(error: &OpenError, folder: &Path) {
    assert!(matches!(error, OpenError::NotWritable { .. }), "{error}");
    let text = error.to_string();
    for part in [
        &*folder.to_string_lossy(),
        "uid ",
        "mode 555",
        "hint:",
        "storage.url",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[tokio::test]
async fn a_folder_that_is_a_file_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = refused(&file.join("weirgate.db")).await;
    assert!(matches!(error, OpenError::NotWritable { .. }), "{error}");
    assert!(error.to_string().contains("/file"), "{error}");
}

#[tokio::test]
async fn an_operation_that_fails_takes_no_neighbour_with_it() {
    let bed = Bed::new(Engine::Sqlite).await;
    saboteur(&bed)
        .execute_batch(
            "CREATE TRIGGER poison BEFORE INSERT ON inbox WHEN NEW.body LIKE '%poison%'
             BEGIN SELECT RAISE(ROLLBACK, 'poisoned'); END",
        )
        .unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let store = bed.store();
    for number in 0..50 {
        let told = Arc::clone(&told);
        let mut message = message(&format!("e{number}"));
        if number % 10 == 3 {
            message.body = r#"{"i":"poison"}"#.into();
        }
        // Each in a place of its own, so that names which were rolled back would show.
        message.conversation.conversation = format!("g{number}").into();
        let write = Write::Accept {
            platform: "telegram".into(),
            account: "main".into(),
            messages: vec![message],
            cursor: None,
            then: Box::new(move |result| told.lock().unwrap().push((number, result))),
        };
        store.write(write).await;
    }
    store.healthy().await.unwrap();
    let told = std::mem::take(&mut *told.lock().unwrap());
    assert!(
        told.iter().map(|(number, _)| *number).eq(0..50),
        "each is told, in order"
    );
    let waiting = bed.waiting().await;
    for (number, result) in told {
        match result {
            Ok(accepted) => {
                let row = waiting.iter().find(|row| row.id == accepted[0].id).unwrap();
                let key = store.conversation(row.conversation).await.unwrap().unwrap();
                assert_eq!(key.conversation.as_str(), format!("g{number}"));
            }
            Err(error) => {
                assert_eq!(number % 10, 3);
                assert!(matches!(&error, StoreError::Database(text) if text.contains("poisoned")));
            }
        }
    }
    assert_eq!(waiting.len(), 45);
}

#[tokio::test(start_paused = true)]
async fn inline_no_virtual_time_passes_and_then_may_write_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open_inline(at(&folder.path().join("weirgate.db"))).unwrap();
    let started = tokio::time::Instant::now();
    let timer = tokio::spawn(tokio::time::sleep(Duration::from_millis(1)));
    let (again, ids) = (Arc::clone(&store), Arc::new(Mutex::new(Vec::new())));
    let told = Arc::clone(&ids);
    let write = Write::Accept {
        platform: "telegram".into(),
        account: "main".into(),
        messages: vec![message("a"), message("b")],
        cursor: None,
        then: Box::new(move |accepted| {
            let accepted = accepted.unwrap();
            let mut turn = finish(&[accepted[0].id]);
            turn.replies = vec![reply(accepted[0].id, "x")];
            let finish = Write::Finish(
                Arc::new(turn),
                Box::new(move |ids| told.lock().unwrap().extend(ids.unwrap())),
            );
            assert!(again.try_write(finish).is_ok());
        }),
    };
    store.write(write).await;
    for _ in 0..300 {
        let waiting = store
            .waiting(0, WaitingFilter::default(), 10)
            .await
            .unwrap();
        assert_eq!(waiting.len(), 1);
    }
    assert_eq!(
        store.pending_replies(None, 0, 10).await.unwrap()[0].id,
        ids.lock().unwrap()[0]
    );
    store.healthy().await.unwrap();
    store.sweep().await.unwrap();
    let held = store.hold(&super::wanted()).await.unwrap();
    assert_eq!(held.taken[0].before, LastStop::First);
    assert_eq!(started.elapsed(), Duration::ZERO);
    assert!(!timer.is_finished());
    store.close().await;
    assert!(matches!(
        store.waiting(0, WaitingFilter::default(), 1).await,
        Err(StoreError::Closed)
    ));
    assert!(
        store
            .try_write(Write::Begin(Begin { turn: 1, at: 1 }, Box::new(|_| {})))
            .is_err()
    );
    drop(store);
    let store = SqliteStore::open_inline(at(&folder.path().join("weirgate.db"))).unwrap();
    let held = store.hold(&super::wanted()).await.unwrap();
    assert_eq!(held.taken[0].before, LastStop::Clean);
}

#[tokio::test]
async fn the_file_stops_growing() {
    let bed = Bed::new(Engine::Sqlite).await;
    let mut sizes = Vec::new();
    for round in 0..6 {
        for batch in 0..4 {
            let messages = (0..250)
                .map(|n| old(&format!("{round}.{batch}.{n}")))
                .collect();
            for row in bed.accept(messages).await {
                let mut turn = old_turn(row.id);
                turn.state = weirgate::store::TurnState::Failed;
                bed.store()
                    .write(Write::Finish(Arc::new(turn), Box::new(|_| {})))
                    .await;
                bed.receipt(row.id, 0, sent("m", true)).await;
            }
        }
        bed.sweep().await;
        sizes.push(std::fs::metadata(bed.options().path).unwrap().len());
    }
    assert_eq!(
        bed.store()
            .fate(1, Some("0.0.0"), 1, i64::MAX)
            .await
            .unwrap(),
        None
    );
    assert!(sizes[5] <= sizes[1] + sizes[1] / 4, "{sizes:?}");
}
