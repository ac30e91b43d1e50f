//! The files together never hold more than their bound, and no line is torn.

use super::*;
use proptest::prelude::*;

fn rotating(folder: &Path, max_size: u64, keep: u32) -> Rotating {
    Rotating::new(&LogFile {
        path: folder.join("logs/gateway.log"),
        max_size,
        keep,
    })
}

/// The files in order, newest first, with their texts.
fn texts(file: &Rotating) -> Vec<String> {
    let mut texts = vec![fs::read_to_string(&file.path).unwrap_or_default()];
    texts.extend((1..50).map_while(|number| fs::read_to_string(file.numbered(number)).ok()));
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_bound_holds_and_the_newest_lines_are_there(
        sizes in prop::collection::vec(1usize..60, 1..80),
        keep in 1u32..5,
        restart in 0usize..80,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut file = rotating(folder.path(), 100, keep);
        file.open().unwrap();
        let mut all = String::new();
        for (index, size) in sizes.iter().enumerate() {
            if index == restart {
                file = rotating(folder.path(), 100, keep);
                file.open().unwrap();
            }
            let line = format!("{}\n", "x".repeat(*size));
            file.write(&line).unwrap();
            all.push_str(&line);
            let found = texts(&file);
            prop_assert!(found.len() <= keep as usize);
            prop_assert!(found.iter().all(|text| text.len() <= 100), "{found:?}");
        }
        let mut kept: Vec<String> = texts(&file);
        kept.reverse();
        prop_assert!(all.ends_with(&kept.concat()));
    }
}

#[test]
fn fewer_kept_files_remove_what_an_earlier_run_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = rotating(folder.path(), 10, 5);
    file.open().unwrap();
    for _ in 0..10 {
        file.write("123456789\n").unwrap();
    }
    fs::write(folder.path().join("logs/gateway.log.txt"), "not ours").unwrap();
    let mut file = rotating(folder.path(), 10, 2);
    file.open().unwrap();
    assert_eq!(texts(&file).len(), 2);
    assert!(folder.path().join("logs/gateway.log.txt").exists());
}

#[test]
fn a_file_that_was_taken_away_or_exchanged_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = rotating(folder.path(), 100, 3);
    file.open().unwrap();
    file.write("one\n").unwrap();
    fs::remove_file(&file.path).unwrap();
    file.write("two\n").unwrap();
    assert_eq!(texts(&file)[0], "two\n");
    fs::rename(&file.path, folder.path().join("elsewhere")).unwrap();
    fs::write(&file.path, "new: ").unwrap();
    file.write("three\n").unwrap();
    assert_eq!(texts(&file)[0], "new: three\n");
}

#[test]
fn a_file_that_cannot_be_renamed_is_not_written_beyond_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = rotating(folder.path(), 10, 2);
    file.open().unwrap();
    file.write("123456789\n").unwrap();
    // A folder with something in it stands where the old file is to go.
    fs::create_dir_all(file.numbered(1).join("in the way")).unwrap();
    for _ in 0..3 {
        assert!(file.write("more\n").is_err());
        assert_eq!(fs::metadata(&file.path).unwrap().len(), 10);
    }
    fs::remove_dir_all(file.numbered(1)).unwrap();
    file.write("more\n").unwrap();
    assert_eq!(texts(&file), ["more\n", "123456789\n"]);
}

#[test]
fn a_full_disk_is_an_error_each_time_and_a_device_is_never_set_aside() {
    let mut file = Rotating::new(&LogFile {
        path: "/dev/full".into(),
        max_size: 10,
        keep: 3,
    });
    file.open().unwrap();
    for _ in 0..5 {
        let error = file.write("123456789\n").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
    assert!(Path::new("/dev/full").exists() && !Path::new("/dev/full.1").exists());
}

#[test]
fn the_log_is_for_its_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = rotating(folder.path(), 100, 3);
    file.open().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&file.path), 0o600);
    assert_eq!(mode(&folder.path().join("logs")), 0o700);
}
