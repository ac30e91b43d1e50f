//! A form with files in it, as HTTP interfaces take it (RFC 7578), written as it is read.
//!
//! Owns the form's bytes around the files. The files pass through, piece by piece.

use std::{collections::VecDeque, fmt::Write as _};

use bytes::Bytes;
use futures_util::{Stream, stream};

use super::{Content, DownloadError, OutgoingFile};

/// A form that is being made. Its boundary is random, so that no content can hold it.
#[derive(Debug)]
pub struct Form {
    boundary: String,
    /// What stands before each file.
    heads: Vec<Bytes>,
    /// What is written since the last file.
    text: String,
    /// The bytes of all files.
    files: u64,
}

/// A form that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    /// The value of the header `Content-Type`.
    pub content_type: String,
    /// Its length in bytes.
    pub length: u64,
    heads: Vec<Bytes>,
    tail: Bytes,
}

impl Form {
    /// An empty form; `random` is used for nothing else.
    #[must_use]
    pub fn new(random: u128) -> Self {
        Self {
            boundary: format!("weirgate-{random:032x}"),
            heads: Vec::new(),
            text: String::new(),
            files: 0,
        }
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, name: &str, value: &str) -> Self {
        let boundary = &self.boundary;
        // Writing into a string never fails.
        let _ = write!(
            self.text,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        self
    }

    /// Adds a file under a field's name.
    #[must_use]
    pub fn file(mut self, name: &str, file: &OutgoingFile) -> Self {
        let boundary = &self.boundary;
        let _ = write!(
            self.text,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\n\
             Content-Type: {}\r\n\r\n",
            quoted(&file.name),
            quoted(&file.mime)
        );
        self.heads.push(Bytes::from(std::mem::take(&mut self.text)));
        self.text.push_str("\r\n");
        self.files = self.files.saturating_add(file.size);
        self
    }

    /// Ends the form.
    #[must_use]
    pub fn end(self) -> Whole {
        let boundary = &self.boundary;
        let content_type = format!("multipart/form-data; boundary={boundary}");
        let tail = Bytes::from(format!("{}--{boundary}--\r\n", self.text));
        let around: usize = self.heads.iter().map(Bytes::len).sum::<usize>() + tail.len();
        let around = u64::try_from(around).unwrap_or(u64::MAX);
        Whole {
            content_type,
            length: around.saturating_add(self.files),
            heads: self.heads,
            tail,
        }
    }
}

/// What is left of a form: what stands before a file, and the file.
type Left = (VecDeque<(Option<Bytes>, Box<dyn Content>)>, Option<Bytes>);

impl Whole {
    /// The bytes of the form with those of its files, in their order, in their places.
    pub fn stream(
        self,
        contents: Vec<Box<dyn Content>>,
    ) -> impl Stream<Item = Result<Bytes, DownloadError>> + Send + 'static {
        let heads = self.heads.into_iter().map(Some);
        let left: Left = (heads.zip(contents).collect(), Some(self.tail));
        stream::try_unfold(left, |(mut files, tail)| async move {
            while let Some((head, content)) = files.front_mut() {
                if let Some(head) = head.take() {
                    return Ok(Some((head, (files, tail))));
                }
                if let Some(piece) = content.next().await? {
                    return Ok(Some((piece, (files, tail))));
                }
                files.pop_front();
            }
            Ok(tail.map(|tail| (tail, (files, None))))
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
    use crate::media::{Download, MediaKind, Source};

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
            kind: MediaKind::File,
            reference: String::new(),
            name: "a\"\r\nb.txt".into(),
            mime: "text/plain".into(),
            size: 7,
            source: Arc::new(Pieces),
        };
        let form = Form::new(7).field("chat_id", "5").file("document", &file);
        let form = form.field("x", "y").file("other", &file).end();
        let length = form.length;
        let files = [file.clone(), file];
        let contents = crate::media::open_all(&files).await.unwrap();
        let pieces: Vec<Bytes> = form.stream(contents).try_collect().await.unwrap();
        let whole = String::from_utf8(pieces.concat()).unwrap();
        assert_eq!(whole.len() as u64, length);
        let boundary = "weirgate-00000000000000000000000000000007";
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"chat_id\"\r\n\r\n5\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"document\"; \
             filename=\"a%22%0D%0Ab.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"other\"; \
             filename=\"a%22%0D%0Ab.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n--{boundary}--\r\n"
        );
        assert_eq!(whole, expected);
    }
}
