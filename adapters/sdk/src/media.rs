//! Files on their way: the ability to fetch what a message refers to.
//!
//! Owns the form in which bytes are handed over, piece by piece, and what a failure means. It never opens anything
//! and never holds a whole file.

pub mod address;

use std::{future::poll_fn, pin::Pin};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;

use crate::{id::ConversationKey, message::Attachment};

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

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
