//! Files on their way: the ability to fetch what a message refers to, and files that are sent.
//!
//! Owns the form in which bytes are handed over, piece by piece, and what a failure means. It never opens anything
//! and never holds a whole file.

pub mod address;
pub mod form;

use std::{fmt, future::poll_fn, pin::Pin, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;

use crate::{
    id::ConversationKey,
    message::{Attachment, AttachmentKind},
};

/// Bytes that come piece by piece.
#[async_trait]
pub trait Content: Send {
    /// The next piece, never empty; `None` at the end. After an error there is nothing more.
    ///
    /// # Errors
    /// Why the rest cannot be had.
    async fn next(&mut self) -> Result<Option<Bytes>, DownloadError>;
}

/// A file that is being fetched.
pub struct Download {
    /// Its size in bytes as its source states it: a hint, never trusted.
    pub size: Option<u64>,
    /// Its bytes.
    pub content: Box<dyn Content>,
}

impl Download {
    /// A file whose bytes come from a stream.
    pub fn of<S>(size: Option<u64>, stream: S) -> Self
    where
        S: Stream<Item = Result<Bytes, DownloadError>> + Send + Unpin + 'static,
    {
        Self {
            size,
            content: Box::new(Streamed(stream)),
        }
    }
}

struct Streamed<S>(S);

#[async_trait]
impl<S> Content for Streamed<S>
where
    S: Stream<Item = Result<Bytes, DownloadError>> + Send + Unpin,
{
    async fn next(&mut self) -> Result<Option<Bytes>, DownloadError> {
        loop {
            let piece = poll_fn(|context| Pin::new(&mut self.0).poll_next(context)).await;
            match piece.transpose()? {
                Some(piece) if piece.is_empty() => {}
                piece => return Ok(piece),
            }
        }
    }
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// Why a file cannot be had. The texts are for the operator and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// The platform does not give out files of this size.
    #[error("the file is too large")]
    TooLarge,
    /// The reference is worth nothing any more, or never was.
    #[error("the file is gone: {0}")]
    Gone(String),
    /// It lies where the adapter does not look: not on the platform's own servers, or on a private address.
    #[error("the file is not fetched: {0}")]
    Refused(String),
    /// The platform could not be reached, failed, or broke off in the middle; another try may help.
    #[error("the file cannot be fetched now: {0}")]
    Unavailable(String),
}

/// A file that the gateway keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// What an [`Attachment`] names it by. Nobody can guess it, and it is worth nothing in another conversation.
    pub reference: String,
    /// What it is, by its content.
    pub kind: AttachmentKind,
    /// The name that it was given; untrusted.
    pub name: Option<String>,
    /// Its size in bytes.
    pub size: u64,
}

/// Why a file is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeepError {
    /// It is larger than this many bytes.
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    /// It broke off, came too slowly, or is empty.
    #[error("it did not come: {0}")]
    Broken(String),
    /// The gateway cannot keep it now.
    #[error("it cannot be kept: {0}")]
    Away(String),
}

/// Keeps files that people hand to an adapter itself, which serves as their platform.
#[async_trait]
pub trait Keeper: Send + Sync {
    /// Keeps a file of a conversation. Sizes, time and room are the gateway's business.
    ///
    /// # Errors
    /// Why it is not kept.
    async fn keep(
        &self,
        conversation: &ConversationKey,
        name: Option<String>,
        file: Download,
    ) -> Result<KeptFile, KeepError>;

    /// The kept file of a conversation; `None` if there is none of this name.
    ///
    /// # Errors
    /// [`KeepError::Away`].
    async fn find(
        &self,
        conversation: &ConversationKey,
        reference: &str,
    ) -> Result<Option<KeptFile>, KeepError>;
}

/// A file on its way out.
#[derive(Clone)]
pub struct OutgoingFile {
    /// What it is called: one line without `/`, never empty.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Its size in bytes.
    pub size: u64,
    /// Where its bytes are.
    pub source: Arc<dyn Source>,
}

impl fmt::Debug for OutgoingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingFile")
            .field("mime", &self.mime)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// A file that can be read.
#[async_trait]
pub trait Source: Send + Sync {
    /// Begins to read it, from its first byte.
    ///
    /// # Errors
    /// It is gone, or the disk fails.
    async fn open(&self) -> Result<Box<dyn Content>, DownloadError>;
}

/// Fetches files that messages refer to.
#[async_trait]
pub trait Downloads: Send + Sync {
    /// Begins to fetch the file of an attachment that this adapter handed in. It only follows addresses for which
    /// the adapter vouches. The caller bounds the time and the bytes, and gives up by dropping what it gets.
    ///
    /// # Errors
    /// Why there is none.
    async fn open(
        &self,
        conversation: &ConversationKey,
        attachment: &Attachment,
    ) -> Result<Download, DownloadError>;
}
