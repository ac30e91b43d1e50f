//! The caller's end of the socket.
//!
//! Owns the connection and its time limits. It never asks twice: whether a request was carried out is not
//! known when its answer is missing.

use std::{io, path::Path, time::Duration};

use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    net::UnixStream,
    time::timeout,
};

use super::{
    ask::{Answer, Ask, LONGEST_RESPONSE, Refusal, Request, Response, VERSION},
    line, socket_path, with_short,
};

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest wait for an answer: longer than the other side lets one take.
const ANSWER: Duration = Duration::from_secs(40);

/// A connection to a running gateway.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the gateway that runs on a data folder; `None` if none listens there.
    ///
    /// # Errors
    /// Somebody listens, and the connection fails all the same: no right, or no answer in time.
    pub async fn connect(folder: &Path) -> io::Result<Option<Self>> {
        let connected = with_short(folder, |folder| {
            // Connecting over a local socket does not wait, unless very many wait already.
            std::os::unix::net::UnixStream::connect(socket_path(folder))
        });
        let stream = match connected {
            Ok(stream) => stream,
            Err(error) => {
                use io::ErrorKind::{ConnectionRefused, NotADirectory, NotFound};
                return match error.kind() {
                    // Nobody holds the socket of a gateway that was killed.
                    NotFound | ConnectionRefused | NotADirectory => Ok(None),
                    _ => Err(error),
                };
            }
        };
        stream.set_nonblocking(true)?;
        let mut client = Self {
            stream: BufReader::new(UnixStream::from_std(stream)?),
        };
        match timeout(CONNECT, client.ask(&Ask::Hello)).await {
            Ok(Ok(Ok(_))) => Ok(Some(client)),
            Ok(Ok(Err(refusal))) => Err(io::Error::other(format!("{refusal:?}"))),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The connection broke, took too long, or the other side speaks another version.
    pub async fn ask(&mut self, ask: &Ask) -> io::Result<Result<Answer, Refusal>> {
        timeout(ANSWER, self.exchange(ask))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    async fn exchange(&mut self, ask: &Ask) -> io::Result<Result<Answer, Refusal>> {
        let request = Request {
            v: VERSION,
            ask: ask.clone(),
        };
        let mut bytes = serde_json::to_vec(&request)?;
        bytes.push(b'\n');
        self.stream.get_mut().write_all(&bytes).await?;
        let Some(bytes) = line::read(&mut self.stream, LONGEST_RESPONSE).await? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let response: Response = serde_json::from_slice(&bytes)?;
        match (response.ok, response.error) {
            (Some(answer), None) => Ok(Ok(answer)),
            (None, Some(refusal)) => Ok(Err(refusal)),
            _ => Err(io::Error::other("neither an answer nor a refusal")),
        }
    }
}
