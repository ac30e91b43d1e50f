//! How a server is reached: its program is started, or its address asked.
//!
//! Owns the transport of a connection and what a program complains. A program has a group of its own and ends with
//! everything that it started, as soon as the connection is dropped.

use std::{path::Path, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rmcp::{
    RoleClient, ServiceExt as _,
    service::RunningService,
    transport::{
        StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use weirgate_sdk::{settings::Secret, text::line as one_line};

use super::{
    config::{Link, Server},
    handler::Client,
    http::Web,
    line::Line,
};
use crate::agent::tool::family::{self, Family};

/// How much of what a program complains is kept, in bytes: the end says why.
const MAX_COMPLAINT: usize = 2 * 1024;
/// How much of it is told, in characters.
const MAX_TOLD: usize = 300;
/// How many of its lines are told.
const TOLD_LINES: usize = 3;

/// How long what it wrote last may be on its way.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// The end of what a program complains.
#[derive(Debug, Clone, Default)]
struct Complaint(Arc<Mutex<Vec<u8>>>);

/// A connection that is ready.
pub(super) struct Connection {
    /// The client's end.
    pub(super) service: RunningService<RoleClient, Client>,
    complaint: Complaint,
    /// The program, if the server is one: it ends with the connection.
    _family: Option<Family>,
}

/// Reaches a server and greets it.
///
/// # Errors
/// Why it cannot be used.
pub(super) async fn connect(server: &Server, line: &Arc<Line>) -> Result<Connection, String> {
    let client = Client(Arc::clone(line));
    match &server.link {
        Link::Program { command, env } => {
            let (mut family, complaint) = start(command, env, &line.folder)?;
            let pipes = family.0.stdout.take().zip(family.0.stdin.take());
            let pipes = pipes.ok_or("the program has no pipes")?;
            match client.serve(pipes).await {
                Ok(service) => Ok(Connection {
                    service,
                    complaint,
                    _family: Some(family),
                }),
                Err(error) => Err(complaint.behind(&error.to_string()).await),
            }
        }
        Link::Http { url, headers } => {
            let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            let web = Web::new(headers)?;
            let transport = StreamableHttpClientTransport::with_client(web, config);
            let served = client.serve(transport).await;
            Ok(Connection {
                service: served.map_err(|error| one_line(&error.to_string(), MAX_TOLD))?,
                complaint: Complaint::default(),
                _family: None,
            })
        }
    }
}

fn start(
    command: &[String],
    env: &[(String, Secret)],
    folder: &Path,
) -> Result<(Family, Complaint), String> {
    let (name, arguments) = command.split_first().ok_or("there is no command")?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let not_started = |error| format!("{name}: {error}");
    let mut command = family::command(name, folder).map_err(not_started)?;
    command.args(arguments);
    command.envs(env.iter().map(|(name, value)| (name, value.expose())));
    let child = command.spawn();
    let mut child = child.map_err(not_started)?;
    let complaint = Complaint::default();
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(listen(stderr, complaint.clone()));
    }
    Ok((Family(child), complaint))
}

/// Keeps the end of what a program complains, until it ends.
async fn listen(mut from: impl AsyncRead + Unpin, complaint: Complaint) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let mut kept = complaint.0.lock();
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let over = kept.len().saturating_sub(MAX_COMPLAINT);
        kept.drain(..over);
    }
}

impl Connection {
    /// Waits for the end of the connection, and says why it ended.
    pub(super) async fn ended(self) -> String {
        match self.service.waiting().await {
            Ok(reason) => tracing::debug!(?reason, "a connection to a server ended"),
            Err(error) => tracing::warn!(%error, "a connection to a server ended by a fault"),
        }
        self.complaint.behind("the connection ended").await
    }
}

impl Complaint {
    /// What happened, and what the program says about it.
    async fn behind(&self, what: &str) -> String {
        // What it wrote last is on its way.
        tokio::time::sleep(LAST_WORDS).await;
        let complaint = String::from_utf8_lossy(&self.0.lock()).into_owned();
        let said = |line: &&str| !line.trim().is_empty();
        let lines: Vec<&str> = complaint.lines().filter(said).collect();
        let last = lines.get(lines.len().saturating_sub(TOLD_LINES)..);
        match last.unwrap_or_default() {
            [] => one_line(what, MAX_TOLD),
            last => one_line(&format!("{what}; it said: {}", last.join(" / ")), MAX_TOLD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_a_complaint_is_told_in_one_line() {
        let complaint = Complaint::default();
        let long = format!(
            "{}\nTraceback\n\nModuleNotFoundError: no x\n",
            "x\n".repeat(5_000)
        );
        listen(long.as_bytes(), complaint.clone()).await;
        let told = complaint.behind("it ended").await;
        assert_eq!(
            told,
            "it ended; it said: x / Traceback / ModuleNotFoundError: no x"
        );
        assert_eq!(Complaint::default().behind("it ended").await, "it ended");
    }
}
