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
use serde::{Deserialize, Serialize};

use crate::{
    error::SendError,
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

    /// The largest file of a kind in bytes, as it is set now; [`Keeper::keep`] decides by the content.
    fn limit(&self, kind: AttachmentKind) -> u64;

    /// The kept file of a conversation; `None` if there is none of this name.
    ///
    /// # Errors
    /// [`KeepError::Away`].
    async fn find(
        &self,
        conversation: &ConversationKey,
        reference: &str,
    ) -> Result<Option<KeptFile>, KeepError>;

    /// The file that was sent into a conversation under this reference ([`OutgoingFile::reference`]); `None` if there is
    /// none, or none any more. What people handed in is never given out again.
    ///
    /// # Errors
    /// [`KeepError::Away`].
    async fn sent(
        &self,
        _conversation: &ConversationKey,
        _reference: &str,
    ) -> Result<Option<OutgoingFile>, KeepError> {
        Ok(None)
    }
}

/// As what a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A picture as a word among words.
    Sticker,
    /// A recording as somebody's voice.
    Voice,
    /// Music and other sound.
    Audio,
    /// A video.
    Video,
    /// A file to be saved, whatever is in it.
    File,
}

impl MediaKind {
    /// As what a file goes out of which nothing but its content is known.
    #[must_use]
    pub fn of_content(kind: AttachmentKind, mime: &str) -> Self {
        match kind {
            AttachmentKind::Image => Self::Image,
            // What recorders of voices write.
            AttachmentKind::Audio if matches!(mime, "audio/ogg" | "audio/opus" | "audio/amr") => {
                Self::Voice
            }
            AttachmentKind::Audio => Self::Audio,
            AttachmentKind::Video => Self::Video,
            AttachmentKind::File => Self::File,
        }
    }

    /// What it may be instead, where it cannot be this: something near to it, at last a file to be saved.
    #[must_use]
    pub fn plainer(self) -> Option<Self> {
        match self {
            Self::Sticker => Some(Self::Image),
            Self::Voice => Some(Self::Audio),
            Self::Image | Self::Audio | Self::Video => Some(Self::File),
            Self::File => None,
        }
    }

    /// Whether several of them may be one message: pictures that stand still.
    #[must_use]
    pub fn joins(self, mime: &str) -> bool {
        self == Self::Image && mime != "image/gif"
    }

    /// Its name in protocols.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Sticker => "sticker",
            Self::Voice => "voice",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::File => "file",
        }
    }
}

/// A file on its way out.
#[derive(Clone)]
pub struct OutgoingFile {
    /// As what it is shown.
    pub kind: MediaKind,
    /// What the [`Keeper`] gives it out by, to an adapter that serves files itself; worth nothing in another
    /// conversation.
    pub reference: String,
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
            .field("kind", &self.kind)
            .field("mime", &self.mime)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// A file of a past answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentFile {
    /// As what it is shown.
    pub kind: MediaKind,
    /// See [`OutgoingFile::reference`].
    pub reference: String,
    /// What it is called.
    pub name: String,
    /// Its media type.
    pub mime: String,
    /// Its size in bytes.
    pub size: u64,
}

impl From<&OutgoingFile> for SentFile {
    fn from(file: &OutgoingFile) -> Self {
        Self {
            kind: file.kind,
            reference: file.reference.clone(),
            name: file.name.clone(),
            mime: file.mime.clone(),
            size: file.size,
        }
    }
}

/// Begins to read files, all of them before the first byte of any is sent.
///
/// # Errors
/// [`SendError::Rejected`] if one of them is gone.
pub async fn open_all(files: &[OutgoingFile]) -> Result<Vec<Box<dyn Content>>, SendError> {
    let mut contents = Vec::with_capacity(files.len());
    for file in files {
        let opened = file.source.open().await;
        contents.push(opened.map_err(|error| SendError::Rejected(error.to_string()))?);
    }
    Ok(contents)
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
