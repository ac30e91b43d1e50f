//! Files of the gateway's own, on their way out.
//!
//! Owns how they come into the store and how an adapter reads them: piece by piece, from the disk.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{Content, DownloadError, OutgoingFile, Source};

use super::{Fault, MediaStore, Received, kind};
use crate::store::{MediaRow, ReplyFile};

impl MediaStore {
    /// Keeps bytes of the gateway's own, under a name that people see.
    ///
    /// # Errors
    /// Why they were not kept.
    pub async fn put(
        &self,
        conversation: i64,
        name: &str,
        bytes: &[u8],
    ) -> Result<MediaRow, Fault> {
        let mut file = self.folder.create().await?;
        file.write(bytes).await?;
        let head = bytes.get(..bytes.len().min(kind::HEAD));
        let received = Received {
            file,
            size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            found: kind::of(head.unwrap_or_default()),
        };
        let name = Some(name.to_owned());
        self.register(received, conversation, String::new(), name)
            .await
    }

    /// A kept file on its way out.
    #[must_use]
    pub fn outgoing(self: &Arc<Self>, file: &ReplyFile) -> OutgoingFile {
        OutgoingFile {
            name: file.name.clone(),
            mime: file.mime.clone(),
            size: file.size,
            source: Arc::new(Kept {
                store: Arc::clone(self),
                id: file.id.clone(),
            }),
        }
    }
}

/// A file of the store, to be read.
struct Kept {
    store: Arc<MediaStore>,
    id: String,
}

#[async_trait]
impl Source for Kept {
    async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
        let opened = self.store.folder.stream(&self.id).await;
        match opened {
            Ok(Some(content)) => Ok(Box::new(content)),
            Ok(None) => Err(DownloadError::Gone("it is not kept any more".into())),
            Err(error) => Err(DownloadError::Unavailable(error.to_string())),
        }
    }
}
