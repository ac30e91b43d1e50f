//! Text files on their way out, without what must not leave.
//!
//! Owns the filter around a file: one that begins as text goes through the output filter as it is read; any other passes
//! as it is.

use async_trait::async_trait;
use bytes::Bytes;
use weirgate_sdk::{Content, Download, DownloadError};

use super::kind::{self, TEXT};
use crate::security::redact::{Filter, Redactor};

/// A file whose text is filtered. Its size is not known before it is read.
#[must_use]
pub fn cleaned(file: Download, redactor: &Redactor) -> Download {
    Download {
        size: None,
        content: Box::new(Cleaned {
            content: file.content,
            filter: redactor.filter(),
            state: State::Fresh,
            rest: Vec::new(),
        }),
    }
}

#[derive(PartialEq)]
enum State {
    Fresh,
    Text,
    Other,
    Ended,
}

struct Cleaned {
    content: Box<dyn Content>,
    filter: Filter,
    state: State,
    /// The beginning of the file while it is fresh, then that of a character whose end has not come.
    rest: Vec<u8>,
}

impl Cleaned {
    /// Decides by the beginning of the file; what of it may leave now.
    fn begin(&mut self) -> Bytes {
        let head = self.rest.get(..kind::HEAD).unwrap_or(&self.rest);
        if kind::of(head).mime == TEXT {
            self.state = State::Text;
            return self.push(&[]).into();
        }
        self.state = State::Other;
        std::mem::take(&mut self.rest).into()
    }

    /// What of a piece may leave now.
    fn push(&mut self, piece: &[u8]) -> String {
        self.rest.extend_from_slice(piece);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let rest = self.rest.split_off(whole);
        let text = std::mem::replace(&mut self.rest, rest);
        let mut out = String::new();
        self.filter.push(&String::from_utf8_lossy(&text), &mut out);
        out
    }

    /// What was held back of a text.
    fn finish(&mut self) -> String {
        let mut out = String::new();
        if std::mem::replace(&mut self.state, State::Ended) != State::Text {
            return out;
        }
        let rest = std::mem::take(&mut self.rest);
        self.filter.push(&String::from_utf8_lossy(&rest), &mut out);
        self.filter.finish(&mut out);
        out
    }
}

#[async_trait]
impl Content for Cleaned {
    async fn next(&mut self) -> Result<Option<Bytes>, DownloadError> {
        while self.state != State::Ended {
            let piece = self.content.next().await?;
            let is_over = piece.is_none();
            let piece = piece.unwrap_or_default();
            if self.state == State::Fresh {
                self.rest.extend_from_slice(&piece);
                if self.rest.len() < kind::HEAD && !is_over {
                    continue;
                }
            }
            let safe = match self.state {
                State::Fresh => self.begin(),
                State::Text => self.push(&piece).into(),
                State::Other | State::Ended => piece,
            };
            let last = if is_over {
                self.finish().into()
            } else {
                Bytes::new()
            };
            let safe = [safe, last].concat();
            if !safe.is_empty() {
                return Ok(Some(safe.into()));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(pieces: &[&[u8]], redactor: &Redactor) -> Vec<u8> {
        let pieces: Vec<_> = pieces
            .iter()
            .map(|piece| Ok(Bytes::copy_from_slice(piece)))
            .collect();
        let mut file = cleaned(Download::of(None, stream::iter(pieces)), redactor);
        let mut all = Vec::new();
        while let Some(piece) = file.content.next().await.unwrap() {
            assert!(!piece.is_empty());
            all.extend_from_slice(&piece);
        }
        all
    }

    #[tokio::test]
    async fn a_secret_is_taken_out_of_a_text_wherever_it_is_cut() {
        let redactor = Redactor::new(["sk-secret-value-1234"]).0;
        let text = "你好 sk-secret-value-1234 好".as_bytes();
        for cut in 0..=text.len() {
            let (one, other) = text.split_at(cut);
            let pieces: Vec<&[u8]> = [one, other]
                .into_iter()
                .filter(|piece| !piece.is_empty())
                .collect();
            let out = String::from_utf8(read(&pieces, &redactor).await).unwrap();
            assert!(!out.contains("secret-value"), "{cut}: {out}");
            assert!(
                out.starts_with("你好 ") && out.ends_with(" 好"),
                "{cut}: {out}"
            );
        }
    }

    #[tokio::test]
    async fn what_is_no_text_passes_as_it_is() {
        let redactor = Redactor::new(["sk-secret-value-1234"]).0;
        let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR sk-secret-value-1234 \xff\xfe";
        assert_eq!(read(&[picture], &redactor).await, picture);
    }
}
