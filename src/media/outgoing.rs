//! Files on their way out.
//!
//! Owns how they come into the store, their words without secrets, and how an adapter reads them: piece by piece, from
//! the disk.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{
    Content, ConversationKey, Download, DownloadError, MediaKind, OutgoingFile, Source,
};

use super::{Broken, Fault, MediaStore, Received, folder::Folder, source};
use crate::hex::hex;
use crate::store::{MediaChange, MediaQuestion, MediaRow, ReplyFile, SENT, Write, commit};

impl MediaStore {
    /// Keeps a file that is to be sent into a conversation, under a name that people see. It goes to the disk as it comes.
    ///
    /// # Errors
    /// Why it was not kept; [`Fault::TooLarge`] if it has more than `most` bytes.
    pub async fn put(
        &self,
        (number, key): (i64, &ConversationKey),
        name: &str,
        file: Download,
        most: u64,
    ) -> Result<ReplyFile, Fault> {
        let received: Result<Received, Broken> = self.write(file, most).await;
        let received = received.map_err(|broken| match broken {
            Broken::Here(fault) => fault,
            Broken::Source(error) => Fault::NotGiven(error.to_string()),
        })?;
        let reference = hex(&rand::random::<[u8; 16]>());
        let source = sent_source(key, &reference);
        let name = name.to_owned();
        let row = self
            .register(received, number, source, Some(name.clone()))
            .await?;
        Ok(ReplyFile {
            id: row.id,
            name,
            kind: MediaKind::of_content(row.kind, &row.mime),
            mime: row.mime,
            size: row.size,
            reference,
            words: String::new(),
            joined: false,
        })
    }

    /// A file that is kept and will not be sent after all is not kept any longer.
    ///
    /// # Errors
    /// The disk's or the store's.
    pub async fn take_back(&self, file: &ReplyFile) -> Result<(), Fault> {
        if self.folder.remove(&file.id).await? {
            self.count(file.size, false);
        }
        let change = Box::new(MediaChange::Forget(vec![file.id.clone()]));
        commit(&self.store, |then| Write::Media(change, then)).await?;
        Ok(())
    }

    /// A kept file on its way out.
    #[must_use]
    pub fn outgoing(&self, file: &ReplyFile) -> OutgoingFile {
        OutgoingFile {
            kind: file.kind,
            reference: file.reference.clone(),
            name: file.name.clone(),
            mime: file.mime.clone(),
            size: file.size,
            source: self.reader(&file.id),
        }
    }

    fn reader(&self, id: &str) -> Arc<dyn Source> {
        Arc::new(Kept {
            folder: self.folder.clone(),
            id: id.to_owned(),
        })
    }

    /// The file that was sent into a conversation under this reference, if it is still kept.
    pub(super) async fn given_out(
        &self,
        key: &ConversationKey,
        reference: &str,
    ) -> Result<Option<OutgoingFile>, Fault> {
        let row = self.kept(&sent_source(key, reference)).await?;
        Ok(row.map(|row| OutgoingFile {
            kind: MediaKind::of_content(row.kind, &row.mime),
            reference: reference.to_owned(),
            name: row.name.unwrap_or_default(),
            mime: row.mime,
            size: row.size,
            source: self.reader(&row.id),
        }))
    }

    /// The newest files that people sent into a conversation, at most `most`.
    ///
    /// # Errors
    /// The store's.
    pub async fn newest(&self, conversation: i64, most: usize) -> Result<Vec<MediaRow>, Fault> {
        let question = MediaQuestion::Newest {
            conversation,
            limit: most,
        };
        let mut rows = self.store.media(question).await?;
        let now = self.clock.now();
        rows.retain(|row| row.expires_at > now && !row.source.starts_with(SENT));
        Ok(rows)
    }

    /// Begins to read a kept file; `None` if it is gone.
    ///
    /// # Errors
    /// The disk's.
    pub async fn read(&self, row: &MediaRow) -> std::io::Result<Option<Download>> {
        let pieces = self.folder.stream(&row.id).await?;
        Ok(pieces.map(|pieces| Download {
            size: Some(row.size),
            content: Box::new(pieces),
        }))
    }
}

/// What a file is found by that was sent.
fn sent_source(key: &ConversationKey, reference: &str) -> String {
    format!("{SENT}{}", source(key, reference))
}

/// A file of the store, to be read.
struct Kept {
    folder: Folder,
    id: String,
}

#[async_trait]
impl Source for Kept {
    async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
        match self.folder.stream(&self.id).await {
            Ok(Some(content)) => Ok(Box::new(content)),
            Ok(None) => Err(DownloadError::Gone("it is not kept any more".into())),
            Err(error) => Err(DownloadError::Unavailable(error.to_string())),
        }
    }
}
