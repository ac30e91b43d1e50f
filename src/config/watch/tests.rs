use std::os::unix::fs::symlink;

use weirgate_sdk::Stopper;

use super::*;

/// A watch over a file; each call is counted.
struct Watched {
    folder: tempfile::TempDir,
    calls: tokio::sync::watch::Receiver<usize>,
    _stop: Stopper,
}

impl Watched {
    async fn start(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (stop, signal) = Stopper::new();
        let (told, calls) = tokio::sync::watch::channel(0);
        let path = folder.path().join(name);
        fs::write(&path, "first").unwrap();
        tokio::spawn(watch(path, signal, async move || {
            told.send_modify(|calls| *calls += 1);
        }));
        let mut watched = Self {
            folder,
            calls,
            _stop: stop,
        };
        watched.called(1).await;
        watched
    }

    async fn called(&mut self, times: usize) {
        let called = self.calls.wait_for(|calls| *calls >= times);
        let called = tokio::time::timeout(Duration::from_secs(40), called).await;
        assert_eq!(*called.expect("in time").unwrap(), times);
    }
}

#[tokio::test]
async fn a_file_is_told_of_once_however_often_it_is_written_in_one_go() {
    let mut watched = Watched::start("file").await;
    for round in 2..5 {
        for piece in 0..5 {
            fs::write(
                watched.folder.path().join("file"),
                format!("{round} {piece}"),
            )
            .unwrap();
        }
        watched.called(round).await;
    }
}

#[tokio::test]
async fn what_happens_to_others_is_not_told() {
    let mut watched = Watched::start("file").await;
    for name in ["other", "file~", ".file.swp"] {
        fs::write(watched.folder.path().join(name), "x").unwrap();
    }
    fs::write(watched.folder.path().join("file"), "second").unwrap();
    watched.called(2).await;
}

#[test]
fn a_chain_is_every_link_and_the_file_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(root.join("real/deep")).unwrap();
    symlink("real/deep", root.join("data")).unwrap();
    symlink("data/../deep/file", root.join("name")).unwrap();
    // `data/..` is where the link leads to, one up.
    let names = chain(&root.join("name"));
    let wanted = ["data", "name", "real/deep/file"].map(|name| root.join(name));
    assert_eq!(names, BTreeSet::from(wanted));
}

#[test]
fn a_chain_of_links_in_a_circle_ends() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    symlink("b", root.join("a")).unwrap();
    symlink("a", root.join("b")).unwrap();
    assert!(chain(&root.join("a")).len() <= 3);
    assert_eq!(stamp(&root.join("a")), None);
}

#[test]
fn a_watch_that_failed_is_tried_again_however_often_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let path = root.join("not/yet/file");
    let mut watcher = Watcher::default();
    for _ in 0..20 {
        watcher.aim(&path);
        assert!(watcher.failing && watcher.watch.is_none());
    }
    for round in 0..3 {
        fs::create_dir_all(root.join("not/yet")).unwrap();
        watcher.aim(&path);
        assert!(!watcher.failing && watcher.watch.is_some(), "{round}");
        fs::remove_dir_all(root.join("not")).unwrap();
        watcher.watch = None;
        watcher.aim(&path);
        assert!(watcher.failing, "{round}");
    }
}
