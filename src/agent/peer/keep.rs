//! An endpoint over its whole life: asked in the background what it has, again and again.
//!
//! Owns when it is asked, and what is offered of it meanwhile. How it is asked is `remote`'s.

use std::{fmt, sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

use super::{card::offered_of, config::Endpoint, remote};
use crate::{
    agent::{mcp::State, tool::registry::Entry},
    clock::doubled,
    current::Current,
};

/// The first and the longest pause before an endpoint that failed is asked again; it is never longer than the usual one.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// After so many failures its agents are not offered any more.
const PATIENCE: u32 = 3;

/// What calls and whoever looks need of an endpoint.
#[derive(Debug)]
pub(super) struct Line {
    state: watch::Sender<State>,
    /// Told when it is to be asked now.
    pub(super) wake: Notify,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(State::Starting),
            wake: Notify::new(),
        }
    }
}

/// An endpoint that is kept.
pub struct Peer {
    endpoint: Arc<Endpoint>,
    line: Arc<Line>,
    entries: Arc<Current<Vec<Arc<Entry>>>>,
    task: JoinHandle<()>,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Peer").field(&self.endpoint.name).finish()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Peer {
    /// Keeps it in the background.
    pub(super) fn start(endpoint: Endpoint) -> Arc<Self> {
        let endpoint = Arc::new(endpoint);
        let line = Arc::new(Line::default());
        let entries = Arc::new(Current::new(Vec::new()));
        let keep = Keep {
            endpoint: Arc::clone(&endpoint),
            line: Arc::clone(&line),
            entries: Arc::clone(&entries),
        };
        Arc::new(Self {
            endpoint,
            line,
            entries,
            task: tokio::spawn(keep.run()),
        })
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &Endpoint {
        &self.endpoint
    }

    /// How it is doing.
    #[must_use]
    pub fn state(&self) -> State {
        self.line.state.borrow().clone()
    }

    /// What is offered of it now.
    #[must_use]
    pub fn entries(&self) -> Arc<Vec<Arc<Entry>>> {
        self.entries.get()
    }

    /// Has it asked now.
    pub fn restart(&self) {
        self.line.wake.notify_one();
    }
}

/// What keeps an endpoint.
struct Keep {
    endpoint: Arc<Endpoint>,
    line: Arc<Line>,
    entries: Arc<Current<Vec<Arc<Entry>>>>,
}

impl Keep {
    async fn run(self) {
        let mut failures = 0_u32;
        loop {
            failures = match remote::list(&self.endpoint).await {
                Ok((cards, odd)) => {
                    self.took(&cards, odd);
                    0
                }
                Err(failed) => {
                    self.failed(&failed.to_string(), failures);
                    failures.saturating_add(1)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause(failures, self.endpoint.refresh)) => {}
                () = self.line.wake.notified() => {}
            }
        }
    }

    fn took(&self, cards: &[super::card::Card], odd: usize) {
        let (entries, left_out) = offered_of(&self.endpoint, &self.line, cards);
        let state = State::Ready {
            tools: entries.len(),
            left_out: left_out + odd,
        };
        let is_new = *self.line.state.borrow() != state;
        if is_new {
            let (endpoint, agents) = (&self.endpoint.name, entries.len());
            tracing::info!(endpoint, agents, left_out, "an endpoint of agents is ready");
        }
        self.entries.set(entries);
        self.line.state.send_replace(state);
    }

    fn failed(&self, error: &str, before: u32) {
        if before == 0 {
            let endpoint = &self.endpoint.name;
            tracing::warn!(
                endpoint,
                error,
                "an endpoint of agents failed; it is tried again"
            );
        }
        if before + 1 >= PATIENCE {
            self.entries.set(Vec::new());
        }
        let error = error.to_owned();
        self.line.state.send_replace(State::Waiting { error });
    }
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32, refresh: Duration) -> Duration {
    if failures == 0 {
        return refresh;
    }
    doubled(PAUSE, failures).min(refresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_fails_is_asked_again_ever_later_and_never_later_than_others() {
        let refresh = Duration::from_secs(20);
        let pauses: Vec<u64> = (0..8).map(|n| pause(n, refresh).as_secs()).collect();
        assert_eq!(pauses, [20, 1, 2, 4, 8, 16, 20, 20]);
        let day = Duration::from_secs(86_400);
        assert_eq!(pause(u32::MAX, day), PAUSE.1);
    }
}
