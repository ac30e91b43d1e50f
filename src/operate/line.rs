//! Lines of a bounded length over a socket.
//!
//! Owns the bound: a longer line is an error, and nothing more is read.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// The next line without its end; `None` at the end of the stream. A line over `most` bytes is an error.
pub(crate) async fn read(
    reader: &mut (impl AsyncBufRead + Unpin),
    most: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let bytes = reader.fill_buf().await?;
        if bytes.is_empty() {
            return if line.is_empty() {
                Ok(None)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(bytes.len());
        line.extend(bytes.iter().take(taken));
        reader.consume(end.map_or(taken, |end| end + 1));
        if line.len() > most {
            let text = format!("a line of more than {most} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_never_beyond_the_bound() {
        let mut reader = BufReader::with_capacity(3, &b"abcdef\n\nxyz"[..]);
        assert_eq!(read(&mut reader, 6).await.unwrap().unwrap(), b"abcdef");
        assert_eq!(read(&mut reader, 6).await.unwrap().unwrap(), b"");
        assert!(read(&mut reader, 6).await.is_err(), "cut off");
        assert!(read(&mut reader, 6).await.unwrap().is_none());
        let mut long = BufReader::with_capacity(4, &b"abcdefg\n"[..]);
        assert!(read(&mut long, 6).await.is_err());
    }
}
