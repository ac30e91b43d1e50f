//! The wire of `agent/list` and `agent/call`: one JSON object a line, in the words of JSON-RPC.
//!
//! Owns a connection from its opening to its end, and every bound of what the other side may send. A connection serves
//! one request; dropping it in the middle tells the other side that nobody waits for the rest. What it brings is
//! somebody else's words.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::{TcpStream, UnixStream},
};

use super::{
    config::{Endpoint, Link},
    heard::Heard,
    remote::{Failed, Task},
};
use crate::operate::line;

/// The longest line of the other side, in bytes.
const MAX_LINE: usize = 1024 * 1024;
/// All that the other side may send for one request, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The number of the one request.
const ID: u32 = 1;
/// The number of the request that brings the token.
const AUTH: u32 = 0;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection.
struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    /// Bytes that may still come.
    left: usize,
}

/// What agents there are, as the endpoint describes them.
///
/// # Errors
/// Why it does not tell.
pub(super) async fn list(endpoint: &Endpoint) -> Result<Vec<Value>, Failed> {
    let mut connection = Connection::open(endpoint).await?;
    let mut answer = connection
        .request(ID, "agent/list", json!({}), &mut Heard::default())
        .await?;
    match answer.get_mut("agents").map(Value::take) {
        Some(Value::Array(agents)) => Ok(agents),
        _ => Err(Failed::broken("its answer to agent/list names no agents")),
    }
}

/// Has an agent do something; gives what it came to.
///
/// # Errors
/// Why it came to nothing.
pub(super) async fn call(endpoint: &Endpoint, task: Task<'_>) -> Result<String, Failed> {
    let mut connection = Connection::open(endpoint).await?;
    let mut args = task.more.cloned().unwrap_or_default();
    args.insert("task".to_owned(), json!(task.text));
    let params = json!({
        "agent": task.agent,
        "action": task.action,
        "args": args,
        "stream": true,
        "session": task.session,
        "passed": task.passed,
    });
    let mut heard = Heard::default();
    let answer = connection
        .request(ID, "agent/call", params, &mut heard)
        .await?;
    Ok(heard.ended(&answer))
}

impl Connection {
    async fn open(endpoint: &Endpoint) -> Result<Self, Failed> {
        let opened = async {
            Ok::<Box<dyn Stream>, std::io::Error>(match &endpoint.link {
                Link::Unix(path) => Box::new(UnixStream::connect(path).await?),
                Link::Tcp(address) => {
                    let stream = TcpStream::connect(address).await?;
                    stream.set_nodelay(true)?;
                    Box::new(stream)
                }
                Link::Card(_) => return Err(std::io::ErrorKind::Unsupported.into()),
            })
        };
        let stream = match tokio::time::timeout(endpoint.connect_timeout, opened).await {
            Ok(opened) => opened.map_err(|error| Failed::broken(&error.to_string()))?,
            Err(_) => return Err(Failed::broken("it did not answer in time")),
        };
        let mut connection = Self {
            stream: BufReader::new(stream),
            left: MAX_BYTES,
        };
        if let Some(token) = &endpoint.token {
            let params = json!({ "token": token.expose() });
            let mut nothing = Heard::default();
            connection
                .request(AUTH, "auth", params, &mut nothing)
                .await?;
        }
        Ok(connection)
    }

    /// Asks, and reads until the answer has come.
    async fn request(
        &mut self,
        id: u32,
        method: &str,
        params: Value,
        heard: &mut Heard,
    ) -> Result<Value, Failed> {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut text = request.to_string();
        text.push('\n');
        let stream = self.stream.get_mut();
        let written = async {
            stream.write_all(text.as_bytes()).await?;
            stream.flush().await
        };
        let lost = |error: std::io::Error| Failed::broken(&error.to_string());
        written.await.map_err(lost)?;
        loop {
            let line = line::read(&mut self.stream, MAX_LINE).await.map_err(lost)?;
            let Some(line) = line else {
                return Err(Failed::broken("it closed the connection before its answer"));
            };
            self.left = self
                .left
                .checked_sub(line.len().saturating_add(1))
                .ok_or_else(|| Failed::broken("it sent too much"))?;
            let Ok(mut said) = serde_json::from_slice::<Value>(&line) else {
                return Err(Failed::broken("it sent what is no JSON"));
            };
            if said["method"] == "agent/event" && said["params"]["id"] == id {
                heard.event(&said["params"]);
                continue;
            }
            let mine = said["id"] == id;
            if let Some(error) = said.get("error").filter(|error| !error.is_null()) {
                // Without a number it could not be told which request it was; there is only one.
                if mine || said["id"].is_null() {
                    return Err(Failed::said(error["message"].as_str().unwrap_or_default()));
                }
            } else if mine && let Some(result) = said.get_mut("result") {
                return Ok(result.take());
            }
            // Anything else is for later versions.
        }
    }
}
