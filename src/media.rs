//! The media store: files that people sent, kept for a while on this machine's disk.
//!
//! Owns the way of a file from its platform to the disk and from there to whoever reads it, the limits on the way,
//! and when a file goes. A file goes straight to the disk, piece by piece; what it is, is decided by its content. It
//! never decides who may send one.

pub mod cleaned;
pub mod config;
mod folder;
mod keeper;
mod kind;
mod outgoing;
mod sweep;

use std::{
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use sha2::{Digest, Sha256};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use weirgate_sdk::{
    Attachment, AttachmentKind, ConversationKey, Download, DownloadError, Downloads,
};

pub use kind::TEXT;

use self::{config::Media, folder::Folder, kind::Found};
use crate::{
    clock::{Clock, millis},
    current::Current,
    store::{
        MediaChange, MediaQuestion, MediaRow, Store, StoreError, Write, commit, config::Durability,
    },
    telemetry::metrics,
};

/// Tries to fetch a file whose source breaks off.
const TRIES: u32 = 2;
/// The pause between two of them.
const PAUSE: Duration = Duration::from_millis(500);
/// Rows that one step of making room looks at.
const ROOM_ROWS: usize = 64;
/// Bytes of files that requests hold in memory at once, in all; further requests wait for their turn.
const IN_MEMORY: u32 = 64 << 20;

/// Why a file was not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is larger than this many bytes.
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    /// It is not what it was said to be.
    #[error("not what it was said to be, but {0}")]
    OtherType(String),
    /// Its source does not give it out.
    #[error("{0}")]
    NotGiven(String),
    /// It was not there in time.
    #[error("not there in {0:?}")]
    TooSlow(Duration),
    /// The disk or the database did not take it.
    #[error("not kept: {0}")]
    NotKept(String),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::NotKept(error.to_string())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::NotKept(error.to_string())
    }
}

/// How the media store is opened.
#[derive(Debug)]
pub struct Options<'a> {
    /// The data folder.
    pub folder: &'a Path,
    /// The section `media`.
    pub settings: Media,
    /// How long a file stays.
    pub retention: Duration,
    /// What a file survives that was kept.
    pub durability: Durability,
}

/// Files on this machine's disk.
pub struct MediaStore {
    folder: Folder,
    store: Arc<dyn Store>,
    clock: Clock,
    settings: Current<Media>,
    retention: Duration,
    /// Bytes of all files in the folder.
    bytes: AtomicU64,
    memory: Arc<Semaphore>,
}

impl std::fmt::Debug for MediaStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MediaStore")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// Bytes of files in memory; what they count for ends with this.
#[derive(Debug)]
pub struct InMemory {
    /// The files, in the order in which they were asked for; none for one that is gone.
    pub files: Vec<Option<Bytes>>,
    /// Its share of the memory that all requests have.
    pub share: Option<OwnedSemaphorePermit>,
}

impl MediaStore {
    /// Opens the store in a data folder and removes what an earlier process did not finish.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub async fn open(
        options: Options<'_>,
        store: Arc<dyn Store>,
        clock: Clock,
    ) -> io::Result<Arc<Self>> {
        let durable = options.durability == Durability::Full;
        let (folder, bytes) = Folder::open(options.folder, durable).await?;
        metrics::media_bytes(bytes);
        Ok(Arc::new(Self {
            folder,
            store,
            clock,
            settings: Current::new(options.settings),
            retention: options.retention,
            bytes: AtomicU64::new(bytes),
            memory: Arc::new(Semaphore::new(IN_MEMORY as usize)),
        }))
    }

    /// The settings, as they are now.
    #[must_use]
    pub fn settings(&self) -> Arc<Media> {
        self.settings.get()
    }

    /// Takes over reloaded settings.
    pub fn set(&self, settings: Media) {
        self.settings.set(settings);
    }

    /// Keeps the file of an attachment, from where its platform gives files out, or finds the one that was kept before.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn fetch(
        &self,
        from: Option<&dyn Downloads>,
        (number, conversation): (i64, &ConversationKey),
        attachment: &Attachment,
    ) -> Result<MediaRow, Fault> {
        let source = source(conversation, &attachment.reference);
        if let Some(row) = self.kept(&source).await? {
            metrics::media_file("reused");
            return self.claimed(row, number).await;
        }
        let fetched = self.receive(from, conversation, attachment).await;
        let kept = match fetched {
            Ok(file) => {
                let name = attachment.name.clone();
                self.register(file, number, source, name).await
            }
            Err(fault) => Err(fault),
        };
        metrics::media_file(match &kept {
            Ok(_) => "kept",
            Err(Fault::TooLarge(_)) => "too_large",
            Err(_) => "failed",
        });
        kept
    }

    /// A file that was kept before its conversation had a number belongs to it from now on.
    async fn claimed(&self, row: MediaRow, conversation: i64) -> Result<MediaRow, Fault> {
        if row.conversation != 0 {
            return Ok(row);
        }
        let row = MediaRow {
            conversation,
            ..row
        };
        let change = Box::new(MediaChange::Keep(row.clone()));
        commit(&self.store, |then| Write::Media(change, then)).await?;
        Ok(row)
    }

    /// The file that came from there, if it is still there and stays for a while.
    async fn kept(&self, source: &str) -> Result<Option<MediaRow>, StoreError> {
        let rows = self.store.media(MediaQuestion::Source(source.to_owned()));
        let row = rows.await?.into_iter().next();
        let row = row.filter(|row| row.expires_at > self.clock.now());
        Ok(match row {
            Some(row) if self.folder.has(&row.id).await => Some(row),
            _ => None,
        })
    }

    /// Fetches a file into the folder, where it has no name yet.
    async fn receive(
        &self,
        from: Option<&dyn Downloads>,
        conversation: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Received, Fault> {
        let Some(downloads) = from else {
            return Err(Fault::NotGiven("the platform gives no files out".into()));
        };
        let settings = self.settings.get();
        let most = settings.max_size.of(attachment.kind);
        if attachment.size.is_some_and(|size| size > most) {
            return Err(Fault::TooLarge(most));
        }
        let limit = settings.timeout;
        let tries = self.tries(downloads, conversation, attachment, most);
        let received = timeout(limit, tries).await;
        let received = received.unwrap_or(Err(Fault::TooSlow(limit)))?;
        let found = received.found;
        if attachment.kind == AttachmentKind::Image && found.kind != AttachmentKind::Image {
            return Err(Fault::OtherType(found.mime.to_owned()));
        }
        let most = settings.max_size.of(found.kind);
        if received.size > most {
            return Err(Fault::TooLarge(most));
        }
        Ok(received)
    }

    async fn tries(
        &self,
        downloads: &dyn Downloads,
        conversation: &ConversationKey,
        attachment: &Attachment,
        most: u64,
    ) -> Result<Received, Fault> {
        let mut tried = 1;
        loop {
            let download = downloads.open(conversation, attachment).await;
            let received = match download {
                Ok(download) => self.write(download, most).await,
                Err(error) => Err(Broken::Source(error)),
            };
            match received {
                Ok(received) => return Ok(received),
                Err(Broken::Source(DownloadError::Unavailable(_))) if tried < TRIES => {
                    tried += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                Err(Broken::Source(DownloadError::TooLarge)) => return Err(Fault::TooLarge(most)),
                Err(Broken::Source(error)) => return Err(Fault::NotGiven(error.to_string())),
                Err(Broken::Here(fault)) => return Err(fault),
            }
        }
    }

    /// Writes a download to the disk as it comes.
    async fn write(&self, mut download: Download, most: u64) -> Result<Received, Broken> {
        if download.size.is_some_and(|size| size > most) {
            return Err(Broken::Here(Fault::TooLarge(most)));
        }
        let here = |error: io::Error| Broken::Here(error.into());
        let mut file = self.folder.create().await.map_err(here)?;
        let mut size = 0_u64;
        let mut head = Vec::with_capacity(kind::HEAD);
        while let Some(piece) = download.content.next().await.map_err(Broken::Source)? {
            size = size.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            if size > most {
                return Err(Broken::Here(Fault::TooLarge(most)));
            }
            let room = kind::HEAD.saturating_sub(head.len()).min(piece.len());
            head.extend_from_slice(piece.get(..room).unwrap_or_default());
            file.write(&piece).await.map_err(here)?;
        }
        if size == 0 {
            let empty = DownloadError::Gone("it is empty".into());
            return Err(Broken::Source(empty));
        }
        let found = kind::of(&head);
        Ok(Received { file, size, found })
    }

    /// Gives a received file its name, its row and its room.
    async fn register(
        &self,
        received: Received,
        conversation: i64,
        source: String,
        name: Option<String>,
    ) -> Result<MediaRow, Fault> {
        let Received { file, size, found } = received;
        self.make_room(size).await?;
        let id = file.finish().await?;
        let now = self.clock.now();
        let row = MediaRow {
            id,
            conversation,
            source,
            kind: found.kind,
            mime: found.mime.to_owned(),
            name,
            size,
            created_at: now,
            expires_at: now.saturating_add(millis(self.retention)),
        };
        self.count(size, true);
        let change = Box::new(MediaChange::Keep(row.clone()));
        let written = commit(&self.store, |then| Write::Media(change, then)).await;
        if let Err(error) = written {
            self.remove(&row).await;
            return Err(error.into());
        }
        Ok(row)
    }

    /// Lets the files go that expire first, until there is room for one of this size.
    async fn make_room(&self, size: u64) -> Result<(), Fault> {
        let most = self.settings.get().max_bytes;
        if size > most {
            return Err(Fault::TooLarge(most));
        }
        while self.bytes.load(Ordering::Relaxed).saturating_add(size) > most {
            let oldest = MediaQuestion::Expiring {
                until: i64::MAX,
                limit: ROOM_ROWS,
            };
            let rows = self.store.media(oldest).await?;
            if rows.is_empty() {
                let full = "the store is full of files that nobody knows".to_owned();
                return Err(Fault::NotKept(full));
            }
            for row in &rows {
                if self.bytes.load(Ordering::Relaxed).saturating_add(size) <= most {
                    break;
                }
                self.forget(std::slice::from_ref(row), "evicted").await?;
            }
        }
        Ok(())
    }

    /// Removes files and their rows: the files first, so that none stays that nobody knows.
    async fn forget(&self, rows: &[MediaRow], why: &'static str) -> Result<(), StoreError> {
        for row in rows {
            self.remove(row).await;
            metrics::media_file(why);
        }
        let ids = rows.iter().map(|row| row.id.clone()).collect();
        let change = Box::new(MediaChange::Forget(ids));
        commit(&self.store, |then| Write::Media(change, then)).await
    }

    async fn remove(&self, row: &MediaRow) {
        match self.folder.remove(&row.id).await {
            Ok(true) => self.count(row.size, false),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, file = row.id, "a file cannot be removed"),
        }
    }

    fn count(&self, size: u64, more: bool) {
        let change = |bytes: u64| {
            Some(if more {
                bytes.saturating_add(size)
            } else {
                bytes.saturating_sub(size)
            })
        };
        let ordering = Ordering::Relaxed;
        let before = self.bytes.fetch_update(ordering, ordering, change);
        metrics::media_bytes(before.ok().and_then(change).unwrap_or_default());
    }

    /// The rows of these files, without those that have expired.
    ///
    /// # Errors
    /// The store's.
    pub async fn rows(&self, ids: Vec<String>) -> Result<Vec<MediaRow>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let now = self.clock.now();
        let mut rows = self.store.media(MediaQuestion::Files(ids)).await?;
        rows.retain(|row| row.expires_at > now);
        Ok(rows)
    }

    /// The first `most` bytes of a file; `None` if it is gone.
    ///
    /// # Errors
    /// The disk's.
    pub async fn head(&self, id: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.folder.read(id, most).await
    }

    /// Reads whole files, each with its size, as soon as the memory for them is free. Of more than fits at once, the
    /// last are left out.
    pub async fn load(&self, files: &[(String, u64)]) -> InMemory {
        let mut share = 0_u32;
        let mut wanted = Vec::with_capacity(files.len());
        for file in files {
            let size = u32::try_from(file.1).unwrap_or(u32::MAX);
            let fits = share.saturating_add(size) <= IN_MEMORY;
            if fits {
                share += size;
            }
            wanted.push(fits.then_some(file));
        }
        // Never closed.
        let share = Arc::clone(&self.memory)
            .acquire_many_owned(share)
            .await
            .ok();
        let mut files = Vec::with_capacity(wanted.len());
        for file in wanted {
            let read = match file {
                Some((id, size)) => self.folder.read(id, *size).await,
                None => Ok(None),
            };
            let bytes = read.unwrap_or_else(|error| {
                tracing::warn!(%error, "a file cannot be read");
                None
            });
            files.push(bytes.map(Bytes::from));
        }
        InMemory { files, share }
    }
}

/// A file that is there and has no name yet; it goes with this value.
struct Received {
    file: folder::Incoming,
    size: u64,
    found: Found,
}

/// Where a download broke.
enum Broken {
    Source(DownloadError),
    Here(Fault),
}

/// Where a file comes from, as one word: the same reference of another conversation is another file, so that each
/// conversation's can go by itself.
fn source(conversation: &ConversationKey, reference: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(conversation.encode());
    hash.update([0]);
    hash.update(reference);
    crate::hex::hex(&hash.finalize())
}

#[cfg(test)]
mod tests;
