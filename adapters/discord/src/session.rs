//! The connections over which events come.
//!
//! Owns how many there are, and that they begin their sessions one after the other, as the platform wants it. A heartbeat
//! tells the platform of events that are accepted, never of more. Events are looked into only where one cannot wait until
//! it is handed in.

mod close;
mod line;

use std::{sync::Arc, time::Duration};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::{
    sync::{Mutex, mpsc},
    time::{Instant, sleep},
};
use weirgate_sdk::{AdapterError, Connection, Stop, backoff::Backoff};

use crate::{
    api::{Call, CallError, Trouble},
    channels::id,
    discord::Shared,
    places::Snowflake,
    position::{Position, Session},
    settings::{MAX_SHARDS, Shards},
};

use line::Line;

/// The kind of what cannot be read.
pub const UNREADABLE: &str = "unreadable frame";

/// An event, and how far its session is read with it.
#[derive(Debug)]
pub struct Frame {
    /// The connection over which it came.
    pub shard: u16,
    /// Its kind, by the platform's name.
    pub kind: String,
    /// What it says.
    pub data: Value,
    /// The session after it; `None` before one began.
    pub session: Option<Session>,
}

/// Finds out who the bot is, for as long as it takes.
///
/// # Errors
/// If the platform does not take the token.
pub async fn introduce(shared: &Shared) -> Result<Snowflake, AdapterError> {
    let mut backoff = Backoff::new(shared.settings.reconnect);
    loop {
        let limit = shared.settings.call_timeout;
        let error = match shared.calls()?.get(Call::Me, limit).await {
            Ok(me) => match id(&me["id"]) {
                Some(bot) => {
                    tracing::info!(account = %shared.account, bot, "the platform knows the bot");
                    return Ok(bot);
                }
                None => CallError::Lost("the answer is not one of the platform".into()),
            },
            Err(error) => error,
        };
        let pause = backoff.pause(rand::random());
        let pause = failed(&error, pause)?;
        shared.report(Connection::Down(error.to_string()));
        sleep(pause).await;
    }
}

/// One of the connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 0.
    pub index: u16,
    /// Of how many.
    pub count: u16,
}

/// How many connections there are, and how many of them may begin a session at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Connections.
    pub count: u16,
    /// Sessions at once.
    pub at_once: u16,
}

/// Finds out how many connections there are to be, for as long as it takes.
///
/// # Errors
/// If the platform does not take the token.
pub async fn plan(shared: &Shared) -> Result<Plan, AdapterError> {
    if shared.settings.shards == Shards::Count(1) {
        let (count, at_once) = (1, 1);
        return Ok(Plan { count, at_once });
    }
    let mut backoff = Backoff::new(shared.settings.reconnect);
    loop {
        let limit = shared.settings.call_timeout;
        let error = match shared.calls()?.get(Call::Gateway, limit).await {
            Ok(answer) => return planned(&answer, shared.settings.shards),
            Err(error) => error,
        };
        let pause = failed(&error, backoff.pause(rand::random()))?;
        shared.report(Connection::Down(error.to_string()));
        sleep(pause).await;
    }
}

/// What the platform says of connections (Gateway, Get Gateway Bot).
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

/// How long to wait after a failed call.
///
/// # Errors
/// If no waiting helps.
fn failed(error: &CallError, pause: Duration) -> Result<Duration, AdapterError> {
    match error.trouble() {
        Some(Trouble::Token) => Err(close::token_refused()),
        Some(Trouble::Flood(after, _)) => Ok(after.max(pause)),
        _ => Ok(pause),
    }
}

/// Receives until `stop`, or until nobody takes events any more.
///
/// # Errors
/// What no reconnecting can mend.
pub async fn run(
    shared: &Arc<Shared>,
    frames: mpsc::Sender<Frame>,
    position: &Position,
    plan: Plan,
    stop: &Stop,
) -> Result<(), AdapterError> {
    let gates: Vec<Mutex<Option<Instant>>> = (0..plan.at_once).map(|_| Mutex::default()).collect();
    let lines = (0..plan.count)
        .zip(gates.iter().cycle())
        .map(|(index, gate)| {
            let count = plan.count;
            let resume = position.session(index);
            let mut line = Line::new(shared, Shard { index, count }, frames.clone(), resume, gate);
            async move { line.keep().await }
        });
    let lines = try_join_all(lines);
    // The intake ends when the last of them does.
    drop(frames);
    tokio::select! {
        biased;
        // The connections break without a word, so that the platform keeps the sessions for the next start.
        () = stop.stopped() => Ok(()),
        ended = lines => ended.map(|_| ()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_platform_says_how_many_connections_there_are_unless_somebody_else_does() {
        let answer = json!({ "shards": 4, "session_start_limit": { "max_concurrency": 2 } });
        let plan = |count, at_once| Ok(Plan { count, at_once });
        assert_eq!(planned(&answer, Shards::Auto), plan(4, 2));
        assert_eq!(planned(&answer, Shards::Count(2)), plan(2, 2));
        assert_eq!(planned(&json!({}), Shards::Auto), plan(1, 1));
        assert!(planned(&json!({ "shards": 1_000 }), Shards::Auto).is_err());
    }
}
