//! Lines of a bounded length.
//!
//! Owns the bound: a longer line is an error, and nothing more is read. Safe to drop in the middle of a line.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// Lines of a stream.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
        }
    }

    /// The next line without its end; `None` at the end of the stream. A line over `most` bytes is an error.
    pub(super) async fn next(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        loop {
            let bytes = self.reader.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            if self.line.len().saturating_add(taken) > most {
                return Err(io::ErrorKind::InvalidData.into());
            }
            self.line.extend(bytes.iter().take(taken));
            self.reader.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_never_beyond_the_bound() {
        let mut lines = Lines::new(BufReader::with_capacity(3, &b"abcdef\n\nxyz"[..]));
        assert_eq!(lines.next(6).await.unwrap().unwrap(), b"abcdef");
        assert_eq!(lines.next(6).await.unwrap().unwrap(), b"");
        assert!(
            lines.next(6).await.unwrap().is_none(),
            "half a line is none"
        );
        let mut long = Lines::new(BufReader::with_capacity(4, &b"abcdefg\n"[..]));
        assert!(long.next(6).await.is_err());
    }
}
