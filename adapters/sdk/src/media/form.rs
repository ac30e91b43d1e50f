//! A form with a file in it, as HTTP interfaces take it (RFC 7578), written as it is read.
//!
//! Owns the form's bytes around the file. The file passes through, piece by piece.

use std::fmt::Write as _;

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::{Content, DownloadError, OutgoingFile};

/// A form that is being made. Its boundary is random, so that no content can hold it.
#[derive(Debug)]
pub struct Form {
    boundary: String,
    head: String,
}

/// A form that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The value of the header `Content-Type`.
    pub content_type: String,
    /// Its length in bytes.
    pub length: u64,
    head: Bytes,
    tail: Bytes,
}

impl Form {
    /// An empty form; `random` is used for nothing else.
    #[must_use]
    pub fn new(random: u128) -> Self {
        Self {
            boundary: format!("weirgate-{random:032x}"),
            head: String::new(),
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, name: &str, value: &str) -> Self {
        let boundary = &self.boundary;
        // Writing into a string never fails.
        let _ = write!(
            self.head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        self
    }

    /// Ends the form with a file under a field's name.
    #[must_use]
    pub fn file(mut self, name: &str, file: &OutgoingFile) -> Whole {
        let boundary = &self.boundary;
        let _ = write!(
            self.head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\n\
             Content-Type: {}\r\n\r\n",
            quoted(&file.name),
            quoted(&file.mime)
        );
        let tail = Bytes::from(format!("\r\n--{boundary}--\r\n"));
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let head = Bytes::from(self.head);
        let around = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
        Whole {
            content_type,
            length: around.saturating_add(file.size),
            head,
            tail,
        }
    }
}

impl Whole {
    /// The bytes of the form with those of the file in their place.
    pub fn stream(
        self,
        content: Box<dyn Content>,
    ) -> impl Stream<Item = Result<Bytes, DownloadError>> + Send + 'static {
        let steps = (Some(self.head), Some(content), Some(self.tail));
        stream::try_unfold(steps, |(head, content, tail)| async move {
            if let Some(head) = head {
                return Ok(Some((head, (None, content, tail))));
            }
            if let Some(mut content) = content
                && let Some(piece) = content.next().await?
            {
                return Ok(Some((piece, (None, Some(content), tail))));
            }
            Ok(tail.map(|tail| (tail, (None, None, None))))
        })
    }
}

/// A text between quotation marks of a header, as browsers write it (HTML, multipart/form-data encoding).
fn quoted(text: &str) -> String {
    text.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use futures_util::TryStreamExt as _;

    use super::*;
    use crate::media::{Download, Source};

    struct Pieces;

    #[async_trait]
    impl Source for Pieces {
        async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
            let pieces = [Bytes::from_static(b"one "), Bytes::from_static(b"two")];
            let pieces = stream::iter(pieces.map(Ok));
            Ok(Download::of(None, pieces).content)
        }
    }

    #[tokio::test]
    async fn a_form_is_as_long_as_it_says_and_no_name_ends_its_line() {
        let file = OutgoingFile {
            name: "a\"\r\nb.txt".into(),
            mime: "text/plain".into(),
            size: 7,
            source: Arc::new(Pieces),
        };
        let form = Form::new(7).field("chat_id", "5").file("document", &file);
        let length = form.length;
        let content = file.source.open().await.unwrap();
        let pieces: Vec<Bytes> = form.stream(content).try_collect().await.unwrap();
        let whole = String::from_utf8(pieces.concat()).unwrap();
        assert_eq!(whole.len() as u64, length);
        let boundary = "weirgate-00000000000000000000000000000007";
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"document\"; \
             filename=\"a%22%0D%0Ab.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n--{boundary}--\r\n"
        );
        assert_eq!(whole, expected);
    }
}
