//! A client that speaks JSON-RPC in lines, over TCP or a Unix socket.
//!
//! Owns one connection. It sends what it is told, keeps lines in the order of their arrival, and never reconnects by
//! itself. Every wait has a limit.

use std::{net::SocketAddr, path::Path, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, ReadHalf,
        WriteHalf, split,
    },
    net::{TcpStream, UnixStream},
    time::timeout,
};

/// How long an answer may take.
const WAIT: Duration = Duration::from_secs(20);

trait Both: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Both for T {}

/// One connection.
pub struct LineClient {
    reader: BufReader<ReadHalf<Box<dyn Both>>>,
    writer: WriteHalf<Box<dyn Both>>,
    half: Vec<u8>,
    /// The number of the last request.
    pub last: u64,
}

impl LineClient {
    /// Connects to an address.
    ///
    /// # Panics
    /// Nobody listens there.
    pub async fn tcp(address: SocketAddr) -> Self {
        Self::over(Box::new(TcpStream::connect(address).await.unwrap()))
    }

    /// Connects to a socket.
    ///
    /// # Errors
    /// The system's.
    pub async fn unix(path: &Path) -> std::io::Result<Self> {
        Ok(Self::over(Box::new(UnixStream::connect(path).await?)))
    }

    fn over(stream: Box<dyn Both>) -> Self {
        let (reader, writer) = split(stream);
        Self {
            reader: BufReader::new(reader),
            writer,
            half: Vec::new(),
            last: 0,
        }
    }

    /// Sends bytes as they are.
    pub async fn raw(&mut self, bytes: &[u8]) {
        // Who was cut off reads that he was.
        let _ = self.writer.write_all(bytes).await;
    }

    /// Sends a request; gives its number.
    pub async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.raw(format!("{request}\n").as_bytes()).await;
        id
    }

    /// The next line; `None` if none comes in time, or the connection ended.
    ///
    /// # Panics
    /// It is no JSON.
    pub async fn next_within(&mut self, limit: Duration) -> Option<Value> {
        let line = timeout(limit, self.line()).await.ok()??;
        Some(serde_json::from_slice(&line).unwrap())
    }

    /// The next line.
    ///
    /// # Panics
    /// None comes in time.
    pub async fn next(&mut self) -> Value {
        self.next_within(WAIT).await.expect("a line in time")
    }

    /// Asks and waits for the answer, passing over everything else: the result, or the code of the error.
    ///
    /// # Errors
    /// The code.
    ///
    /// # Panics
    /// No answer comes in time.
    pub async fn answer(&mut self, method: &str, params: Value) -> Result<Value, i64> {
        let id = self.ask(method, params).await;
        loop {
            let line = self.next().await;
            if line["id"] != id {
                continue;
            }
            return match line["error"]["code"].as_i64() {
                Some(code) => Err(code),
                None => Ok(line["result"].clone()),
            };
        }
    }

    /// Whether the other side has ended the connection, after reading what is left.
    pub async fn is_closed(&mut self) -> bool {
        loop {
            match timeout(WAIT, self.line()).await {
                Ok(Some(_)) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Safe to drop in the middle of a line.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let bytes = self.reader.fill_buf().await.ok()?;
            if bytes.is_empty() {
                return None;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(bytes.len());
            self.half.extend(bytes.iter().take(taken));
            self.reader.consume(end.map_or(taken, |end| end + 1));
            if end.is_some() {
                return Some(std::mem::take(&mut self.half));
            }
        }
    }
}
