//! A server over its whole life: started in the background, kept, started again.
//!
//! Owns when it is tried again, and what is offered of it meanwhile. How it is reached is `connect`'s.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use rmcp::RoleClient;
use tokio::{task::JoinHandle, time::Instant};

pub use super::line::State;
use super::{
    config::{self, Link},
    connect::{Connection, connect},
    line::Line,
    list,
    offer::offered_of,
};
use crate::{agent::tool::registry::Entry, clock::doubled, current::Current};

/// The first and the longest pause before a server is tried again.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// A program that ended so often before it had worked for a while is not tried again by itself: it would fail in the
/// same way for ever.
const MOST_STARTS: u32 = 8;
/// After so many failures its tools are not offered any more.
const PATIENCE: u32 = 3;
/// Who could be used for so long has worked. The time until then does not count: it may be long because nothing comes.
const STEADY: Duration = Duration::from_secs(30);
/// How long a list may take.
const LISTING: Duration = Duration::from_secs(60);

/// A server that is kept running.
pub struct Server {
    settings: config::Server,
    line: Arc<Line>,
    entries: Arc<Current<Vec<Arc<Entry>>>>,
    task: JoinHandle<()>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.settings.name).finish()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts it in the background. `folder` is its own, unless its settings name one.
    pub(super) fn start(settings: config::Server, folder: PathBuf) -> Arc<Self> {
        let folder = settings.folder.clone().unwrap_or(folder);
        let line = Arc::new(Line::new(settings.name.clone(), folder));
        let entries = Arc::new(Current::new(Vec::new()));
        let keep = Keep {
            settings: settings.clone(),
            line: Arc::clone(&line),
            entries: Arc::clone(&entries),
        };
        Arc::new(Self {
            settings,
            line,
            entries,
            task: tokio::spawn(keep.run()),
        })
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &config::Server {
        &self.settings
    }

    /// How it is doing.
    #[must_use]
    pub fn state(&self) -> State {
        self.line.state()
    }

    /// What is offered of it now.
    #[must_use]
    pub fn entries(&self) -> Arc<Vec<Arc<Entry>>> {
        self.entries.get()
    }

    /// Has it tried now, also if it has failed for good.
    pub fn restart(&self) {
        self.line.restart();
    }

    /// Waits until it can be used, or has failed.
    ///
    /// # Errors
    /// Why it cannot.
    pub async fn ready(&self) -> Result<(), String> {
        self.line.peer().await.map(drop)
    }
}

/// What keeps a server.
struct Keep {
    settings: config::Server,
    line: Arc<Line>,
    entries: Arc<Current<Vec<Arc<Entry>>>>,
}

impl Keep {
    async fn run(self) {
        let mut failures = 0_u32;
        loop {
            self.line.set(State::Starting, None);
            let mut ready = None;
            let error = self.once(&mut ready).await;
            let has_worked = ready.is_some_and(|since: Instant| since.elapsed() >= STEADY);
            failures = if has_worked {
                1
            } else {
                failures.saturating_add(1)
            };
            if failures >= PATIENCE {
                self.entries.set(Vec::new());
            }
            let server = &self.settings.name;
            match pause(failures, &self.settings.link) {
                Some(pause) => {
                    tracing::warn!(
                        server,
                        error,
                        failures,
                        "a server of tools failed; it is tried again"
                    );
                    self.line.set(State::Waiting { error }, None);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.line.wake.notified() => {}
                    }
                }
                None => {
                    tracing::error!(
                        server,
                        error,
                        "a server of tools failed again and again; it is left alone"
                    );
                    self.line.set(State::Stopped { error }, None);
                    self.line.wake.notified().await;
                    failures = 0;
                }
            }
        }
    }

    /// From a start to its end; says why it ended. Notes when it could be used.
    async fn once(&self, ready: &mut Option<Instant>) -> String {
        let connected = connect(&self.settings, &self.line);
        let connection = match tokio::time::timeout(self.settings.start_timeout, connected).await {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return error,
            Err(_) => return "it did not greet in time".to_owned(),
        };
        let peer = connection.service.peer().clone();
        if let Err(error) = self.list(&peer).await {
            return format!("its tools cannot be listed: {error}");
        }
        *ready = Some(Instant::now());
        self.serve(connection, &peer).await
    }

    /// Follows what it offers until the connection ends, or somebody wants a new one.
    async fn serve(&self, connection: Connection, peer: &rmcp::Peer<RoleClient>) -> String {
        // Whoever calls from then on waits for the next one.
        let tell = || self.line.set(State::Starting, None);
        let mut ended = Box::pin(connection.ended(tell));
        loop {
            tokio::select! {
                why = &mut ended => return why,
                () = self.line.restarted() => return "it is started again".to_owned(),
                () = self.line.changed.notified() => {}
            }
            if let Err(error) = self.list(peer).await {
                tracing::warn!(server = self.settings.name, %error, "the new list of tools cannot be read");
            }
        }
    }

    /// Takes what it offers now.
    async fn list(&self, peer: &rmcp::Peer<RoleClient>) -> Result<(), String> {
        // One more than are taken, so that it is seen that there are more.
        let most = self.settings.max_tools.saturating_add(1);
        let listed = match tokio::time::timeout(LISTING, list::tools(peer, most)).await {
            Ok(Ok(listed)) => listed,
            Ok(Err(error)) => return Err(error.to_string()),
            Err(_) => return Err("it took too long".to_owned()),
        };
        let has = peer.peer_info().map_or((false, false), |info| {
            let can = &info.capabilities;
            (can.resources.is_some(), can.prompts.is_some())
        });
        let offered = offered_of(&self.settings, &self.line, &listed, has);
        let (tools, left_out) = (offered.tools, offered.left_out);
        self.entries.set(offered.entries);
        let server = &self.settings.name;
        tracing::info!(server, tools, left_out, "a server of tools is ready");
        let state = State::Ready { tools, left_out };
        self.line.set(state, Some(peer.clone()));
        Ok(())
    }
}

/// How long to wait after so many failures in a row; nothing for a program that only an operator can help.
fn pause(failures: u32, link: &Link) -> Option<Duration> {
    if failures >= MOST_STARTS && matches!(link, Link::Program { .. }) {
        return None;
    }
    Some(doubled(PAUSE, failures))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_always_fails_is_left_alone_and_an_address_is_not() {
        let program = Link::Program {
            command: vec!["x".into()],
            env: Vec::new(),
        };
        let pauses: Vec<u64> = (1..)
            .map_while(|failures| pause(failures, &program))
            .map(|pause| pause.as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60]);
        let address = Link::Http {
            url: String::new(),
            headers: Vec::new(),
        };
        assert_eq!(pause(1_000, &address), Some(PAUSE.1));
    }
    #[tokio::test(start_paused = true)]
    async fn a_program_that_takes_long_to_say_nothing_has_not_worked() {
        let settings = config::Server {
            name: "s".into(),
            enabled: true,
            link: Link::Program {
                command: vec!["sleep".into(), "1000000".into()],
                env: Vec::new(),
            },
            required: false,
            tools: Vec::new(),
            max_tools: 1,
            access: None,
            global: false,
            approval: config::Approval::Auto,
            resources: false,
            prompts: false,
            send_files: false,
            start_timeout: 2 * STEADY,
            folder: None,
        };
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(settings, folder.path().to_owned());
        let is_stopped = || matches!(server.state(), State::Stopped { .. });
        let most = u64::from(MOST_STARTS) * (2 * STEADY + PAUSE.1).as_secs();
        for _ in 0..most {
            if is_stopped() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        assert!(is_stopped(), "{:?}", server.state());
    }
}
