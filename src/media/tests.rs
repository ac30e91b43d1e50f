//! Files through a scripted source, onto a real disk and a real database.

use std::{collections::VecDeque, os::unix::fs::PermissionsExt as _, path::PathBuf};

use async_trait::async_trait;
use futures_util::stream;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::store::{
    config::Retention,
    sqlite::{self, SqliteStore},
};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";

/// What one try to fetch gives.
type Try = Result<Vec<Result<Bytes, DownloadError>>, DownloadError>;

#[derive(Default)]
struct Source {
    tries: Mutex<VecDeque<Try>>,
    asked: Mutex<Vec<String>>,
}

impl Source {
    fn gives(&self, pieces: &[&'static [u8]]) {
        let pieces = pieces.iter().map(|piece| Ok(Bytes::from_static(piece)));
        self.tries.lock().push_back(Ok(pieces.collect()));
    }

    fn fails(&self, error: DownloadError) {
        self.tries.lock().push_back(Err(error));
    }
}

#[async_trait]
impl Downloads for Source {
    async fn open(
        &self,
        _: &ConversationKey,
        file: &Attachment,
    ) -> Result<Download, DownloadError> {
        self.asked.lock().push(file.reference.clone());
        let pieces = self.tries.lock().pop_front().expect("a try")?;
        Ok(Download::of(None, stream::iter(pieces)))
    }
}

struct Rig {
    folder: TempDir,
    store: Arc<SqliteStore>,
    media: Arc<MediaStore>,
    source: Source,
}

impl Rig {
    async fn new(settings: Media) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open_inline(sqlite::Options {
            path: folder.path().join("weirgate.db"),
            durability: Durability::Full,
            retention: Retention::default(),
            readers: 1,
            now: || 1_000,
        })
        .unwrap();
        let media = open(folder.path(), &store, settings).await;
        Self {
            folder,
            store,
            media,
            source: Source::default(),
        }
    }

    async fn fetch(&self, file: &Attachment) -> Result<MediaRow, Fault> {
        let key = conversation("1");
        self.media.fetch(Some(&self.source), (1, &key), file).await
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "incoming").collect()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("media")
    }

    /// Nothing is left of what was not finished.
    fn is_tidy(&self) {
        let incoming = std::fs::read_dir(self.path().join("incoming")).unwrap();
        assert_eq!(incoming.count(), 0);
    }
}

async fn open(folder: &Path, store: &Arc<SqliteStore>, settings: Media) -> Arc<MediaStore> {
    let options = Options {
        folder,
        settings,
        retention: Duration::from_secs(3_600),
        durability: Durability::Full,
    };
    let store: Arc<dyn Store> = Arc::<SqliteStore>::clone(store);
    let clock = Clock::starting_at(1_000);
    MediaStore::open(options, store, clock).await.unwrap()
}

fn conversation(id: &str) -> ConversationKey {
    ConversationKey {
        platform: "stage".into(),
        account: "main".into(),
        conversation: id.into(),
        thread: None,
    }
}

fn attachment(kind: AttachmentKind, reference: &str) -> Attachment {
    Attachment {
        kind,
        reference: reference.to_owned(),
        name: Some("a.bin".into()),
        size: None,
        expires_at: None,
    }
}

fn small(image: u64, file: u64, max_bytes: u64) -> Media {
    Media {
        max_bytes,
        max_size: config::MaxSize { image, file },
        ..Media::default()
    }
}

#[tokio::test]
async fn a_file_is_kept_once_for_its_user_alone_and_read_back() {
    let rig = Rig::new(Media::default()).await;
    rig.source.gives(&[&PNG[..5], &PNG[5..]]);
    let file = attachment(AttachmentKind::Image, "x");
    let row = rig.fetch(&file).await.unwrap();
    assert_eq!((row.kind, &*row.mime), (AttachmentKind::Image, "image/png"));
    assert_eq!(row.size, PNG.len() as u64);
    // The second time it is there already.
    assert_eq!(rig.fetch(&file).await.unwrap(), row);
    assert_eq!(*rig.source.asked.lock(), ["x"]);
    let loaded = rig.media.load(&[(row.id.clone(), row.size)]).await;
    assert_eq!(loaded.files, [Some(Bytes::from_static(PNG))]);
    assert_eq!(rig.names(), [row.id.as_str()]);
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(rig.path()), 0o700);
    assert_eq!(mode(rig.path().join(&row.id)), 0o600);
    // Of another conversation it is another file.
    rig.source.gives(&[PNG]);
    let other = (2, &conversation("2"));
    let other = rig
        .media
        .fetch(Some(&rig.source), other, &file)
        .await
        .unwrap();
    assert_ne!(other.id, row.id);
    rig.is_tidy();
}

#[tokio::test]
async fn sizes_and_types_are_those_of_the_content() {
    let rig = Rig::new(small(20, 40, 1_000)).await;
    let mut declared = attachment(AttachmentKind::File, "declared");
    declared.size = Some(41);
    assert_eq!(rig.fetch(&declared).await, Err(Fault::TooLarge(40)));
    rig.source.gives(&[&[b'a'; 30], &[b'a'; 30]]);
    let longer = attachment(AttachmentKind::File, "longer than it said");
    assert_eq!(rig.fetch(&longer).await, Err(Fault::TooLarge(40)));
    // A picture that came as a file has the limit of pictures.
    rig.source.gives(&[PNG]);
    let picture = attachment(AttachmentKind::File, "picture");
    assert_eq!(rig.fetch(&picture).await, Err(Fault::TooLarge(20)));
    rig.source.gives(&[b"<html>no picture</html>"]);
    let page = attachment(AttachmentKind::Image, "page");
    let refused = rig.fetch(&page).await;
    assert!(
        matches!(refused, Err(Fault::TooLarge(20) | Fault::OtherType(_))),
        "{refused:?}"
    );
    rig.source.gives(&[b"<p>no</p>"]);
    let refused = rig.fetch(&attachment(AttachmentKind::Image, "other")).await;
    assert_eq!(refused, Err(Fault::OtherType("text/plain".into())));
    rig.source.gives(&[]);
    let empty = rig.fetch(&attachment(AttachmentKind::File, "empty")).await;
    assert!(matches!(empty, Err(Fault::NotGiven(_))), "{empty:?}");
    assert_eq!(rig.names(), Vec::<String>::new());
    rig.is_tidy();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_breaks_off_is_asked_once_more_and_one_that_hangs_is_left() {
    let rig = Rig::new(Media::default()).await;
    let broken = || DownloadError::Unavailable("broken".into());
    let cut = Ok(vec![Ok(Bytes::from_static(b"half")), Err(broken())]);
    rig.source.tries.lock().push_back(cut);
    rig.source.gives(&[b"whole"]);
    let row = rig
        .fetch(&attachment(AttachmentKind::File, "a"))
        .await
        .unwrap();
    assert_eq!((row.size, &*row.mime), (5, TEXT));
    rig.source.fails(broken());
    rig.source.fails(broken());
    let failed = rig.fetch(&attachment(AttachmentKind::File, "b")).await;
    assert!(matches!(failed, Err(Fault::NotGiven(_))), "{failed:?}");
    rig.source.fails(DownloadError::Gone("expired".into()));
    let gone = rig.fetch(&attachment(AttachmentKind::File, "c")).await;
    assert!(matches!(gone, Err(Fault::NotGiven(_))), "{gone:?}");
    assert_eq!(*rig.source.asked.lock(), ["a", "a", "b", "b", "c"]);
    let none = (1, &conversation("1"));
    let file = attachment(AttachmentKind::File, "d");
    let none = rig.media.fetch(None, none, &file).await;
    assert!(matches!(none, Err(Fault::NotGiven(_))), "{none:?}");
    rig.is_tidy();
}

#[tokio::test]
async fn the_oldest_files_make_room_and_nothing_is_larger_than_all() {
    let rig = Rig::new(small(100, 100, 100)).await;
    let mut rows = Vec::new();
    for reference in ["a", "b", "c"] {
        rig.source.gives(&[&[b'x'; 45]]);
        let file = attachment(AttachmentKind::File, reference);
        rows.push(rig.fetch(&file).await.unwrap());
    }
    let mut left = rig.names();
    left.sort();
    let mut expected: Vec<String> = rows[1..].iter().map(|row| row.id.clone()).collect();
    expected.sort();
    assert_eq!(left.len(), 2);
    assert!(left.contains(&rows[2].id), "the newest stays");
    let ids = rows.iter().map(|row| row.id.clone()).collect();
    assert_eq!(rig.media.rows(ids).await.unwrap().len(), 2);
    rig.media.set(small(100, 100, 40));
    rig.source.gives(&[&[b'x'; 45]]);
    let refused = rig.fetch(&attachment(AttachmentKind::File, "d")).await;
    assert_eq!(refused, Err(Fault::TooLarge(40)));
}

#[tokio::test]
async fn what_is_over_and_what_nobody_knows_goes_and_a_crash_leaves_nothing() {
    let rig = Rig::new(Media::default()).await;
    rig.source.gives(&[b"text"]);
    let row = rig
        .fetch(&attachment(AttachmentKind::File, "a"))
        .await
        .unwrap();
    // As a process leaves it that dies while it fetches, and one that dies before the row is written.
    let name = "0123456789abcdef0123456789abcdef";
    std::fs::write(rig.path().join("incoming").join(name), "half").unwrap();
    let orphan = rig.path().join(name);
    std::fs::write(&orphan, "whole").unwrap();
    let media = open(rig.folder.path(), &rig.store, Media::default()).await;
    rig.is_tidy();
    media.round(true).await.unwrap();
    assert!(orphan.exists(), "its row may be on its way");
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(3_600);
    let file = std::fs::File::options().write(true).open(&orphan).unwrap();
    file.set_modified(long_ago).unwrap();
    media.round(true).await.unwrap();
    assert!(!orphan.exists());
    assert_eq!(rig.names(), [row.id.as_str()]);
    // A row whose file is gone is fetched anew.
    std::fs::remove_file(rig.path().join(&row.id)).unwrap();
    rig.source.gives(&[b"text"]);
    let again = rig
        .fetch(&attachment(AttachmentKind::File, "a"))
        .await
        .unwrap();
    assert_ne!(again.id, row.id);
    let late = Clock::starting_at(2 * 3_600_000);
    let store: Arc<dyn Store> = Arc::<SqliteStore>::clone(&rig.store);
    let options = Options {
        folder: rig.folder.path(),
        settings: Media::default(),
        retention: Duration::from_secs(3_600),
        durability: Durability::Process,
    };
    let later = MediaStore::open(options, store, late).await.unwrap();
    assert_eq!(later.rows(vec![again.id.clone()]).await.unwrap(), []);
    later.round(false).await.unwrap();
    assert_eq!(rig.names(), Vec::<String>::new());
    let rows = rig.store.media(MediaQuestion::Files(vec![again.id]));
    assert_eq!(rows.await.unwrap(), []);
}
