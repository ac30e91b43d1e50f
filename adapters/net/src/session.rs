//! Sessions of events at platforms that hand them out over WebSocket gateways.
//!
//! Owns how many connections there are, that they begin their sessions one after the other as such platforms want it, and
//! how far each session is accepted. A heartbeat tells the platform of events that are accepted, never of more. What the
//! platform is asked, and what its events mean, is for its [`Gateway`] to say.

mod line;

use std::{pin::Pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use parking_lot::Mutex as Quick;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    sync::{Mutex, mpsc},
    time::{Instant, sleep},
};
use weirgate_sdk::{AdapterError, Connection, Stop, backoff::Backoff, settings::Fields};

use crate::report::Reporter;
use line::Line;

/// The kind of what cannot be read.
pub const UNREADABLE: &str = "unreadable frame";
/// Connections that can be set, and that are made at the most.
pub const MAX_SHARDS: u16 = 64;

/// A session and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The platform's name for it.
    pub id: String,
    /// Where it is resumed.
    pub url: String,
    /// The number of its last event.
    pub sequence: u64,
}

/// An event, and how far its session is read with it.
#[derive(Debug)]
pub struct Frame {
    /// The connection over which it came.
    pub shard: u16,
    /// Its kind, by the platform's name; [`UNREADABLE`] if it has none.
    pub kind: String,
    /// The platform's id of the event itself, where it gives one beside what the event says.
    pub id: Option<String>,
    /// What it says.
    pub data: Value,
    /// The session after it; `None` before one began.
    pub session: Option<Session>,
}

/// One of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub index: u16,
    /// Of how many.
    pub count: u16,
}

/// How many connections for events there are, as agent.yaml says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shards {
    /// As many as the platform says.
    #[default]
    Auto,
    /// So many.
    Count(u16),
}

impl Shards {
    /// Reads `shards` of an account.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let text = fields.text("shards", "auto");
        match text.parse() {
            _ if text == "auto" => Self::Auto,
            Ok(count) if (1..=MAX_SHARDS).contains(&count) => Self::Count(count),
            _ => {
                let what = "neither auto nor a number of connections";
                let hint = "auto asks the platform; otherwise 1 to 64";
                fields.invalid("shards", what, Some(hint));
                Self::Auto
            }
        }
    }
}

/// How many connections there are, and how many of them may begin a session at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Connections.
    pub count: u16,
    /// Sessions at once.
    pub at_once: u16,
}

/// What follows the end of a connection, or a question that got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// The session goes on over a new connection, if there is one.
    Resume,
    /// The same, not before this time is over.
    Later(Duration),
    /// The same, with another token.
    Token,
    /// A new session.
    Anew,
    /// Nothing: somebody has to change something.
    Never(AdapterError),
    /// Nothing: the gateway ends.
    Stopping,
}

/// What follows, and why, for the operator.
pub type End = (After, String);

/// What a platform is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Who the bot is.
    Me,
    /// Where events are, over how many connections, and how many sessions may be begun.
    Gateway,
}

/// How quickly an account connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The longest pause between two attempts to reach the platform.
    pub reconnect: Duration,
    /// Least time between two sessions that are begun by connections which may not begin one at once.
    pub begin: Duration,
}

/// Something that is done beside reading.
pub type Beside = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A platform's side of the sessions of one account.
#[async_trait]
pub trait Gateway: Send + Sync + 'static {
    /// What an event is handed on as.
    type Parcel: Send;

    /// How quickly the account connects.
    fn pace(&self) -> Pace;

    /// Whether the platform's HTTP interface is encrypted, and connections have to be.
    fn is_encrypted(&self) -> bool;

    /// What is written behind the address of a connection.
    fn query(&self) -> &'static str {
        ""
    }

    /// Tells of the connections.
    fn reporter(&self) -> &Reporter;

    /// How far events are accepted.
    fn accepted(&self) -> &Accepted;

    /// Asks the platform. Bounded in time.
    ///
    /// # Errors
    /// What follows, and why.
    async fn ask(&self, question: Question) -> Result<Value, End>;

    /// What a connection proves itself with.
    ///
    /// # Errors
    /// What follows, and why.
    async fn token(&self) -> Result<String, End>;

    /// The platform did not take what [`Gateway::token`] gave.
    fn token_refused(&self, _token: &str) {}

    /// What is said at the beginning of a session beside the token and the connection's number.
    fn identify(&self) -> Value;

    /// Where a session is resumed that began with `ready` at the address `dialled`.
    fn resumes_at(&self, ready: &Value, dialled: &str) -> Option<String>;

    /// What a frame is handed on as; `None` if it is this connection's own business alone. Quick.
    fn parcel(&self, frame: Frame) -> Option<Self::Parcel>;

    /// What an event asks for that cannot wait until it is handed in. Quick.
    fn beside(self: &Arc<Self>, _shard: u16, _kind: &str, _data: &Value) -> Option<Beside> {
        None
    }

    /// What the end of a connection with this code means.
    fn ended(&self, code: Option<u16>, why: &str) -> End;
}

/// How far the sessions of an account's connections are accepted.
#[derive(Debug, Default)]
pub struct Accepted(Quick<Vec<Option<Session>>>);

impl Accepted {
    /// So far, for all connections.
    pub fn set(&self, sessions: Vec<Option<Session>>) {
        *self.0.lock() = sessions;
    }

    /// The session of one connection is accepted up to here.
    pub fn advance(&self, shard: u16, session: Session) {
        if let Some(known) = self.0.lock().get_mut(usize::from(shard)) {
            *known = Some(session);
        }
    }

    /// The number of the last event of a connection's session that is accepted.
    #[must_use]
    pub fn of(&self, shard: u16, session: &Session) -> Option<u64> {
        let all = self.0.lock();
        let accepted = all.get(usize::from(shard))?.as_ref();
        accepted
            .filter(|accepted| accepted.id == session.id)
            .map(|accepted| accepted.sequence)
    }
}

/// Finds out who the bot is, for as long as it takes.
///
/// # Errors
/// What no waiting can mend.
pub async fn introduce<G: Gateway>(gateway: &G) -> Result<Value, AdapterError> {
    persist(gateway, Question::Me).await
}

/// Finds out how many connections there are to be, for as long as it takes.
///
/// # Errors
/// What no waiting can mend.
pub async fn plan<G: Gateway>(gateway: &G, wanted: Shards) -> Result<Plan, AdapterError> {
    if wanted == Shards::Count(1) {
        let (count, at_once) = (1, 1);
        return Ok(Plan { count, at_once });
    }
    let answer = persist(gateway, Question::Gateway).await?;
    planned(&answer, wanted)
}

async fn persist<G: Gateway>(gateway: &G, question: Question) -> Result<Value, AdapterError> {
    let mut backoff = Backoff::new(gateway.pace().reconnect);
    loop {
        let (after, why) = match gateway.ask(question).await {
            Ok(answer) => return Ok(answer),
            Err((After::Never(error), _)) => return Err(error),
            Err(end) => end,
        };
        let pause = backoff.pause(rand::random());
        gateway.reporter().report(Connection::Down(why));
        sleep(match after {
            After::Later(least) => pause.max(least),
            _ => pause,
        })
        .await;
    }
}

/// What the platform says of connections.
fn planned(answer: &Value, wanted: Shards) -> Result<Plan, AdapterError> {
    let number = |value: &Value| value.as_u64().and_then(|number| u16::try_from(number).ok());
    let count = match wanted {
        Shards::Count(count) => count,
        Shards::Auto => number(&answer["shards"]).unwrap_or(1).max(1),
    };
    if count > MAX_SHARDS {
        return Err(AdapterError::Config(format!(
            "the platform wants {count} connections for this bot; this gateway makes at most {MAX_SHARDS}"
        )));
    }
    let at_once = number(&answer["session_start_limit"]["max_concurrency"]);
    Ok(Plan {
        count,
        at_once: at_once.unwrap_or(1).clamp(1, MAX_SHARDS),
    })
}

/// Receives over all connections until `stop`, or until nobody takes events any more. `resume` has the session of each
/// connection that goes on.
///
/// # Errors
/// What no reconnecting can mend.
pub async fn run<G: Gateway>(
    gateway: &Arc<G>,
    parcels: mpsc::Sender<G::Parcel>,
    resume: Vec<Option<Session>>,
    plan: Plan,
    stop: &Stop,
) -> Result<(), AdapterError> {
    let gates: Vec<Mutex<Option<Instant>>> = (0..plan.at_once).map(|_| Mutex::default()).collect();
    let sessions = resume.into_iter().chain(std::iter::repeat(None));
    let lines =
        (0..plan.count)
            .zip(sessions)
            .zip(gates.iter().cycle())
            .map(|((index, session), gate)| {
                let count = plan.count;
                let shard = Shard { index, count };
                let mut line = Line::new(gateway, shard, parcels.clone(), session, gate);
                async move { line.keep().await }
            });
    let lines = try_join_all(lines);
    // The intake ends when the last of them does.
    drop(parcels);
    tokio::select! {
        biased;
        // The connections break without a word, so that the platform keeps the sessions for the next start.
        () = stop.stopped() => Ok(()),
        ended = lines => ended.map(|_| ()),
    }
}

#[cfg(test)]
mod tests;
