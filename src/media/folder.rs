//! The folder of the media store: files under names that nobody can guess, for this user alone.
//!
//! Owns names, modes and the order in which a file comes to be: written under a name of its own in `incoming`, then
//! renamed, so that a file is there whole or not at all. It knows no rows.

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use tokio::{
    fs::{File, OpenOptions},
    io::{AsyncReadExt as _, AsyncWriteExt as _},
};
use weirgate_sdk::{Content, DownloadError};

use crate::hex::hex;

/// The folder below the data folder.
const NAME: &str = "media";
/// The folder below it in which files come to be.
const INCOMING: &str = "incoming";
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;
/// Characters of a name: 128 random bits.
const NAME_LENGTH: usize = 32;
/// A file that is being fetched is never older; several processes may share a folder.
pub(super) const INCOMING_AGE: Duration = Duration::from_secs(2 * 3600);

/// The folder.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
    /// A loss of power must not lose a file that was kept.
    durable: bool,
}

/// A file that comes to be. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Incoming {
    file: File,
    /// Where it is until it is finished.
    path: Option<PathBuf>,
    place: PathBuf,
    name: String,
    durable: bool,
}

impl Folder {
    /// Opens the folder below a data folder and makes it if it is missing. Tells how many bytes its files have.
    pub(super) async fn open(data: &Path, durable: bool) -> io::Result<(Self, u64)> {
        let path = data.join(NAME);
        let (folder, bytes) = blocking(move || {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path.join(INCOMING))?;
            let bytes = files(&path)?.iter().map(|file| file.size).sum();
            Ok((path, bytes))
        })
        .await?;
        let folder = Self {
            path: folder,
            durable,
        };
        folder.clear(Duration::ZERO).await?;
        Ok((folder, bytes))
    }

    /// Removes what is being fetched for longer than this; at a start, all that is older than this start.
    pub(super) async fn clear(&self, older_than: Duration) -> io::Result<()> {
        let incoming = self.path.join(INCOMING);
        blocking(move || {
            for file in files(&incoming)? {
                if file.age() >= older_than {
                    gone(fs::remove_file(incoming.join(&file.name)))?;
                }
            }
            Ok(())
        })
        .await
    }

    /// A new file.
    pub(super) async fn create(&self) -> io::Result<Incoming> {
        let name = hex(&rand::random::<[u8; NAME_LENGTH / 2]>());
        let path = self.path.join(INCOMING).join(&name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .await?;
        Ok(Incoming {
            file,
            path: Some(path),
            place: self.path.clone(),
            name,
            durable: self.durable,
        })
    }

    /// Whether a file is there.
    pub(super) async fn has(&self, name: &str) -> bool {
        match self.file(name) {
            Some(path) => tokio::fs::try_exists(path).await.unwrap_or(false),
            None => false,
        }
    }

    /// The first `most` bytes of a file; `None` if it is gone.
    pub(super) async fn read(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.opened(name).await? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).await?;
        Ok(Some(bytes))
    }

    /// The bytes of a file, piece by piece; `None` if it is gone.
    pub(super) async fn stream(&self, name: &str) -> io::Result<Option<Pieces>> {
        let opened = self.opened(name).await?;
        Ok(opened.map(Pieces))
    }

    async fn opened(&self, name: &str) -> io::Result<Option<File>> {
        let Some(path) = self.file(name) else {
            return Ok(None);
        };
        match File::open(path).await {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes a file; tells whether it was there.
    pub(super) async fn remove(&self, name: &str) -> io::Result<bool> {
        match self.file(name) {
            Some(path) => gone(tokio::fs::remove_file(path).await),
            None => Ok(false),
        }
    }

    /// The names and sizes of all files that are older than this.
    pub(super) async fn older_than(&self, age: Duration) -> io::Result<Vec<(String, u64)>> {
        let path = self.path.clone();
        let all = blocking(move || files(&path)).await?;
        let old = all.into_iter().filter(|file| file.age() >= age);
        Ok(old.map(|file| (file.name, file.size)).collect())
    }

    /// Where a file is; a name that this folder never gave leads nowhere.
    fn file(&self, name: &str) -> Option<PathBuf> {
        is_name(name).then(|| self.path.join(name))
    }
}

impl Incoming {
    /// Appends bytes.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    /// Ends the file and puts it in its place; gives its name.
    pub(super) async fn finish(mut self) -> io::Result<String> {
        self.file.flush().await?;
        if self.durable {
            self.file.sync_all().await?;
        }
        if let Some(path) = self.path.as_ref() {
            tokio::fs::rename(path, self.place.join(&self.name)).await?;
            self.path = None;
        }
        if self.durable {
            File::open(&self.place).await?.sync_all().await?;
        }
        Ok(std::mem::take(&mut self.name))
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // What stays goes with the next start.
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that is being read.
pub(super) struct Pieces(File);

#[async_trait]
impl Content for Pieces {
    async fn next(&mut self) -> Result<Option<Bytes>, DownloadError> {
        let mut piece = BytesMut::with_capacity(PIECE);
        let read = self.0.read_buf(&mut piece).await;
        let read = read.map_err(|error| DownloadError::Unavailable(error.to_string()))?;
        Ok((read > 0).then(|| piece.freeze()))
    }
}

/// A file of a folder.
struct Entry {
    name: String,
    size: u64,
    changed: SystemTime,
}

impl Entry {
    fn age(&self) -> Duration {
        let now = SystemTime::now();
        now.duration_since(self.changed).unwrap_or_default()
    }
}

/// The files of a folder that have names of ours.
fn files(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
            continue;
        };
        if !is_name(&name) {
            continue;
        }
        // One that goes meanwhile is not there.
        if let Ok(data) = entry.metadata() {
            found.push(Entry {
                name,
                size: data.size(),
                changed: data.modified()?,
            });
        }
    }
    Ok(found)
}

fn is_name(name: &str) -> bool {
    name.len() == NAME_LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether something was removed, and not gone before.
fn gone(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(io::Error::other("the runtime stops")))
}
