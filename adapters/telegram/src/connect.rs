//! What receiving begins with, however updates come.
//!
//! Owns finding out who the bot is, what a failure means for the account, and what is looked up before events are handed
//! in.

use std::{sync::Arc, time::Duration};

use teloxide_core::payloads::GetMe;
use tokio::time::sleep;
use weirgate_sdk::{AdapterError, Connection, Event, backoff::Backoff};

use crate::{
    api::{CallError, Trouble},
    members, menu,
    receive::Bot,
    telegram::Shared,
};

/// Finds out who the bot is, for as long as it takes, and shows its commands.
///
/// # Errors
/// [`AdapterError::Config`] if the platform does not take the token.
pub async fn introduce(shared: &Shared) -> Result<Arc<Bot>, AdapterError> {
    let mut backoff = Backoff::new(shared.settings.reconnect);
    loop {
        let limit = shared.settings.call_timeout;
        let error = match shared.calls()?.call(&GetMe::new(), limit).await {
            Ok(me) => match me["id"].as_i64() {
                Some(id) => {
                    let username = me["username"].as_str().unwrap_or_default().to_owned();
                    tracing::info!(account = %shared.account, bot = id, username, "the platform knows the bot");
                    let bot = shared.introduce(Bot { id, username });
                    menu::offer(shared).await;
                    return Ok(bot);
                }
                None => CallError::Lost("the answer is not one of the platform".into()),
            },
            Err(error) => error,
        };
        let pause = backoff.pause(rand::random());
        sleep(failed(shared, &error, pause)?).await;
    }
}

/// Reports a failure, and says how long to wait.
///
/// # Errors
/// If no waiting helps.
pub fn failed(
    shared: &Shared,
    error: &CallError,
    pause: Duration,
) -> Result<Duration, AdapterError> {
    let trouble = match error {
        CallError::Refused(refusal) => refusal.trouble(),
        CallError::Unreachable(_) | CallError::Lost(_) => Trouble::Other,
    };
    let pause = match trouble {
        Trouble::Token => {
            let text = format!("the platform does not take the token: {error}");
            return Err(AdapterError::Config(text));
        }
        Trouble::Flood(after) => after.max(pause),
        _ => pause,
    };
    shared.reporter.report(Connection::Down(error.to_string()));
    Ok(pause)
}

/// Looks up what events lack, and notes what they change.
pub async fn prepare(shared: &Shared, events: &mut [Event]) {
    for event in &*events {
        shared.admins.heard(event);
    }
    members::fill(shared, events).await;
}
