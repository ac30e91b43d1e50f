//! The connections of one account and what they add up to.
//!
//! Owns which connection takes calls, which bot the account is, and the state that the gateway is told.
//! A new connection of a role replaces the old one: the implementation reconnects long before the
//! gateway can notice that the old socket is dead.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use weirgate_sdk::{AccountName, Connection, Ingress, Platform, SendError, Sent};

/// Requests that wait for one socket.
const OUTBOX: usize = 256;
/// Unknown outcomes in a row after which the account counts as degraded.
const UNSURE: u32 = 3;

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Calls only.
    Api,
    /// Events only.
    Event,
    /// Both.
    Universal,
}

impl Role {
    /// The role in a handshake; a client that names none does both.
    #[must_use]
    pub fn parse(text: Option<&str>) -> Option<Self> {
        match text.map(str::trim).map(str::to_ascii_lowercase).as_deref() {
            None | Some("universal") => Some(Self::Universal),
            Some("event") => Some(Self::Event),
            Some("api") => Some(Self::Api),
            Some(_) => None,
        }
    }

    /// Events come over it.
    #[must_use]
    pub fn receives(self) -> bool {
        self != Self::Api
    }

    /// Calls go over it.
    #[must_use]
    pub fn calls(self) -> bool {
        self != Self::Event
    }
}

/// A request on its way to the socket.
#[derive(Debug)]
pub struct Request {
    /// Which call.
    pub echo: u64,
    /// The frame.
    pub text: String,
}

/// A connection's own end.
#[derive(Debug)]
pub struct Joined {
    /// Its number, never used twice.
    pub id: u64,
    /// What to write.
    pub requests: mpsc::Receiver<Request>,
    /// Resolves when the connection is to end.
    pub closed: oneshot::Receiver<()>,
    /// Resolves when everything that came over the earlier connection of this role is handed in; events
    /// of this one come after it.
    pub after: oneshot::Receiver<()>,
    /// Dropped when everything that came over this connection is handed in.
    pub finished: oneshot::Sender<()>,
}

#[derive(Debug)]
struct Link {
    id: u64,
    role: Role,
    requests: mpsc::Sender<Request>,
    /// Dropping it ends the connection.
    _open: oneshot::Sender<()>,
    online: bool,
    silent: bool,
}

/// The connections of one account.
pub struct Links {
    platform: Platform,
    account: AccountName,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ingress: Option<Arc<dyn Ingress>>,
    links: Vec<Link>,
    /// For each role that ever connected: when its newest connection has handed everything in.
    finished: Vec<(Role, oneshot::Receiver<()>)>,
    last_id: u64,
    bot: Option<String>,
    was_up: bool,
    lost: String,
    unsure: u32,
    reported: Option<Connection>,
}

impl Links {
    /// No connections yet; none are taken before [`Links::open`].
    #[must_use]
    pub fn new(platform: Platform, account: AccountName) -> Self {
        Self {
            platform,
            account,
            state: Mutex::default(),
        }
    }

    /// Begins to take connections and to report to the gateway.
    pub fn open(&self, ingress: Arc<dyn Ingress>) {
        let mut state = self.state.lock();
        *state = State {
            ingress: Some(ingress),
            last_id: state.last_id,
            ..State::default()
        };
        self.report(&mut state);
    }

    /// Ends all connections and takes no more.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.links.clear();
        state.lost = "stopped".into();
        state.was_up = true;
        self.report(&mut state);
        state.ingress = None;
    }

    /// Whether a connection of this bot would be taken: another bot of the same account is not, while
    /// the first is connected.
    #[must_use]
    pub fn admits(&self, bot: &str) -> bool {
        self.state.lock().admits(bot)
    }

    /// Adds a connection and ends an older one of the same role; `None` if it is not taken.
    #[must_use]
    pub fn join(&self, role: Role, bot: &str) -> Option<Joined> {
        let mut state = self.state.lock();
        if !state.admits(bot) || state.ingress.is_none() {
            return None;
        }
        if let Some(earlier) = state
            .bot
            .replace(bot.to_owned())
            .filter(|earlier| earlier != bot)
        {
            tracing::warn!(account = %self.account, earlier, bot, "another bot took the account over");
        }
        state.links.retain(|link| link.role != role);
        state.last_id += 1;
        let (requests, receiver) = mpsc::channel(OUTBOX);
        let (open, closed) = oneshot::channel();
        let (finished, after) = state.line_up(role);
        let id = state.last_id;
        state.links.push(Link {
            id,
            role,
            requests,
            _open: open,
            online: true,
            silent: false,
        });
        state.was_up |= role.receives();
        self.report(&mut state);
        Some(Joined {
            id,
            requests: receiver,
            closed,
            after,
            finished,
        })
    }

    /// A connection ended, for a reason that is shown while there is no other.
    pub fn leave(&self, id: u64, reason: &str) {
        let mut state = self.state.lock();
        let before = state.links.len();
        state.links.retain(|link| link.id != id);
        if state.links.len() < before {
            reason.clone_into(&mut state.lost);
            self.report(&mut state);
        }
    }

    /// There is no connection and an attempt to make one failed.
    pub fn failed(&self, reason: &str) {
        let mut state = self.state.lock();
        state.was_up = true;
        reason.clone_into(&mut state.lost);
        self.report(&mut state);
    }

    /// Which bot is connected, or was last.
    #[must_use]
    pub fn bot(&self) -> Option<String> {
        self.state.lock().bot.clone()
    }

    /// Whether events, which are announced at a pace, stopped coming.
    pub fn silent(&self, id: u64, silent: bool) {
        self.change(id, |link| &mut link.silent, silent);
    }

    /// A heartbeat told whether the account is logged in.
    pub fn online(&self, id: u64, online: bool) {
        self.change(id, |link| &mut link.online, online);
    }

    fn change(&self, id: u64, field: impl Fn(&mut Link) -> &mut bool, value: bool) {
        let mut state = self.state.lock();
        if let Some(link) = state.links.iter_mut().find(|link| link.id == id) {
            *field(link) = value;
            self.report(&mut state);
        }
    }

    /// Where a call goes: the newest connection that takes calls.
    #[must_use]
    pub fn route(&self) -> Option<(u64, mpsc::Sender<Request>)> {
        let state = self.state.lock();
        let link = state.links.iter().rev().find(|link| link.role.calls())?;
        Some((link.id, link.requests.clone()))
    }

    /// Whether sends end without a known outcome.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        self.state.lock().unsure >= UNSURE
    }

    /// Counts unknown outcomes in a row: several mean that the platform swallows what is sent.
    pub fn outcome(&self, result: &Result<Sent, SendError>) {
        let mut state = self.state.lock();
        match result {
            Err(SendError::Ambiguous(_)) => {
                state.unsure = state.unsure.saturating_add(1);
                if state.unsure == UNSURE {
                    let unsure = state.unsure;
                    tracing::warn!(
                        account = %self.account, unsure,
                        "sends end without a known outcome; the platform may be blocking the account: it sends slowly until one is answered"
                    );
                }
            }
            Err(SendError::Unavailable(_)) => return,
            _ if state.unsure == 0 => return,
            _ => state.unsure = 0,
        }
        self.report(&mut state);
    }

    fn report(&self, state: &mut State) {
        let now = state.connection();
        if let Some(ingress) = &state.ingress
            && state.reported.as_ref() != Some(&now)
        {
            ingress.connection(&self.platform, &self.account, now.clone());
            state.reported = Some(now);
        }
    }
}

impl State {
    fn admits(&self, bot: &str) -> bool {
        self.links.is_empty() || self.bot.as_deref().is_none_or(|current| current == bot)
    }

    /// Puts a connection behind the earlier one of its role.
    fn line_up(&mut self, role: Role) -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
        let (finished, mine) = oneshot::channel();
        let earlier = self.finished.iter_mut().find(|(of, _)| *of == role);
        let after = match earlier {
            Some((_, earlier)) => std::mem::replace(earlier, mine),
            None => {
                self.finished.push((role, mine));
                // There is none: its sender is gone, which is what is waited for.
                oneshot::channel().1
            }
        };
        (finished, after)
    }

    fn connection(&self) -> Connection {
        let receives = self.links.iter().any(|link| link.role.receives());
        let calls = self.links.iter().any(|link| link.role.calls());
        match (receives, calls) {
            (false, false) if !self.was_up => Connection::Waiting,
            (false, false) => Connection::Down(self.lost.clone()),
            (false, true) => Connection::Degraded("no connection for events".into()),
            (true, false) => Connection::Degraded("no connection for calls".into()),
            (true, true) if self.links.iter().any(|link| !link.online) => {
                Connection::Degraded("the account is logged out".into())
            }
            (true, true) if self.links.iter().any(|link| link.silent) => {
                Connection::Degraded("no more events come".into())
            }
            (true, true) if self.unsure >= UNSURE => {
                Connection::Degraded("sends end without a known outcome".into())
            }
            (true, true) => Connection::Up,
        }
    }
}

#[cfg(test)]
mod tests;
