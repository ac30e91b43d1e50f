//! The word of how an account's connection stands.
//!
//! Owns whether the account runs, what the gateway was told last, and what several connections are together. The gateway
//! and the log are told of changes alone.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;
use weirgate_sdk::{AccountName, Connection, Ingress, Platform, SendError};

/// Tells of the connection of one account.
pub struct Reporter {
    platform: Platform,
    account: AccountName,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Who is told, while the account runs.
    ingress: Option<Arc<dyn Ingress>>,
    /// What was told last.
    told: Option<Connection>,
    /// How each of several connections stands.
    lines: Vec<Connection>,
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("account", &self.account)
            .field("told", &self.state.lock().told)
            .finish_non_exhaustive()
    }
}

impl Reporter {
    /// For an account that does not run yet.
    #[must_use]
    pub fn new(platform: Platform, account: AccountName) -> Self {
        Self {
            platform,
            account,
            state: Mutex::default(),
        }
    }

    /// The account runs from now on, and hands in there.
    pub fn begin(&self, ingress: Arc<dyn Ingress>) {
        *self.state.lock() = State {
            ingress: Some(ingress),
            ..State::default()
        };
        self.report(Connection::Waiting);
    }

    /// The account does not run any more.
    pub fn end(&self) {
        let ingress = self.state.lock().ingress.take();
        if let Some(ingress) = ingress {
            let end = Connection::Down("the account was stopped".into());
            ingress.connection(&self.platform, &self.account, end);
        }
    }

    /// The gateway, while the account runs.
    #[must_use]
    pub fn ingress(&self) -> Option<Arc<dyn Ingress>> {
        self.state.lock().ingress.clone()
    }

    /// That the account runs.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if it does not.
    pub fn running(&self) -> Result<(), SendError> {
        match self.state.lock().ingress {
            Some(_) => Ok(()),
            None => Err(SendError::Unavailable("the account does not run".into())),
        }
    }

    /// So many connections begin.
    pub fn divide(&self, count: u16) {
        self.state.lock().lines = vec![Connection::Waiting; usize::from(count)];
    }

    /// One of several connections stands so now.
    pub fn report_line(&self, index: u16, connection: Connection) {
        let all = {
            let mut state = self.state.lock();
            if let Some(line) = state.lines.get_mut(usize::from(index)) {
                *line = connection;
            }
            together(&state.lines)
        };
        self.report(all);
    }

    /// The connection stands so now.
    pub fn report(&self, connection: Connection) {
        let ingress = {
            let mut state = self.state.lock();
            if state.told.as_ref() == Some(&connection) {
                return;
            }
            state.told = Some(connection.clone());
            state.ingress.clone()
        };
        let account = &self.account;
        match &connection {
            Connection::Waiting => {}
            Connection::Up => tracing::info!(%account, "connected"),
            Connection::Degraded(why) => tracing::warn!(%account, why, "connected, with trouble"),
            Connection::Down(why) => tracing::warn!(%account, why, "not connected"),
        }
        if let Some(ingress) = ingress {
            ingress.connection(&self.platform, account, connection);
        }
    }
}

/// How all connections stand together.
fn together(lines: &[Connection]) -> Connection {
    let is_up = |line: &Connection| matches!(line, Connection::Up);
    if lines.iter().all(is_up) {
        return Connection::Up;
    }
    let count = lines.len();
    let any_up = lines.iter().any(is_up);
    let mut numbered = lines.iter().enumerate();
    let lost = numbered.find_map(|(number, line)| match line {
        Connection::Down(why) if count > 1 => {
            Some(format!("connection {} of {count}: {why}", number + 1))
        }
        Connection::Down(why) => Some(why.clone()),
        _ => None,
    });
    match (any_up, lost) {
        (true, lost) => {
            Connection::Degraded(lost.unwrap_or_else(|| "not all connections stand yet".into()))
        }
        (false, Some(why)) => Connection::Down(why),
        (false, None) => Connection::Waiting,
    }
}

#[cfg(test)]
mod tests;
