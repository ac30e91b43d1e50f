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
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    sync::watch,
};
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

/// How long the last words of a program may be on their way: on a busy machine it takes its time to end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The end of what a program complains.
#[derive(Debug, Clone, Default)]
struct Complaint {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Says that there will be no more; an address complains nowhere.
    over: Option<watch::Receiver<()>>,
}

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
    let complaint = child.stderr.take().map(Complaint::of).unwrap_or_default();
    Ok((Family(child), complaint))
}

impl Connection {
    /// Waits for the end of the connection, tells of it at once, and says why it ended, which may take a moment more.
    pub(super) async fn ended(self, tell: impl FnOnce()) -> String {
        let waited = self.service.waiting().await;
        tell();
        match waited {
            Ok(reason) => tracing::debug!(?reason, "a connection to a server ended"),
            Err(error) => tracing::warn!(%error, "a connection to a server ended by a fault"),
        }
        self.complaint.behind("the connection ended").await
    }
}

impl Complaint {
    /// Keeps the end of what is written here, until it ends.
    fn of(mut from: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (end, over) = watch::channel(());
        let complaint = Self {
            kept: Arc::clone(&kept),
            over: Some(over),
        };
        tokio::spawn(async move {
            let _end = end;
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = from.read(&mut buffer).await {
                let mut kept = kept.lock();
                kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let over = kept.len().saturating_sub(MAX_COMPLAINT);
                kept.drain(..over);
            }
        });
        complaint
    }

    /// What happened, and what the program says about it.
    async fn behind(mut self, what: &str) -> String {
        if let Some(over) = &mut self.over {
            // One that lives on with the connection gone says no last words.
            let end = async { while over.changed().await.is_ok() {} };
            let _ = tokio::time::timeout(LAST_WORDS, end).await;
        }
        let complaint = String::from_utf8_lossy(&self.kept.lock()).into_owned();
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
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_complaint_is_told_in_one_line() {
        let long = format!(
            "{}\nTraceback\n\nModuleNotFoundError: no x\n",
            "x\n".repeat(5_000)
        );
        let (mut program, ours) = tokio::io::duplex(64);
        let complaint = Complaint::of(ours);
        // Its words come late and one by one, and still before what is told.
        let says = async {
            tokio::task::yield_now().await;
            program.write_all(long.as_bytes()).await.unwrap();
            drop(program);
        };
        let ((), told) = tokio::join!(says, complaint.behind("it ended"));
        assert_eq!(
            told,
            "it ended; it said: x / Traceback / ModuleNotFoundError: no x"
        );
        assert_eq!(Complaint::default().behind("it ended").await, "it ended");
    }
}
