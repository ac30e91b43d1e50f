//! HTTP: the OneBot implementation posts events to the gateway, and the gateway posts calls to it.
//!
//! Owns finding out whether the implementation is there, since no connection tells. Answers to posted
//! events never carry instructions (OneBot's quick operations): whatever the gateway does, it does by calls.

pub mod call;
pub mod post;

use std::time::Duration;

use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use weirgate_sdk::{SendError, Stop, backoff::Backoff};

use self::{call::HttpCalls, post::Inbox};
use super::{
    CALLS_LIMIT,
    answer::Data,
    call::Answer,
    intake::Parcel,
    links::{Joined, Links, Role},
    send::Call,
    version, welcome,
    wire::{self, WireStatus},
};
use crate::qq::Shared;

/// Longest pause between two looks whether the implementation is still there.
const PROBE_PAUSE: Duration = Duration::from_secs(20);
/// How long one look may take.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Both directions of one account.
#[derive(Debug)]
pub struct Http {
    /// The way out.
    pub calls: HttpCalls,
    /// The way in.
    pub inbox: Inbox,
}

impl Http {
    /// Makes a call if the implementation is known to be there.
    ///
    /// # Errors
    /// As [`HttpCalls::call`]; [`SendError::Unavailable`] if it is not.
    pub async fn call(&self, links: &Links, call: &Call, limit: Duration) -> Answer {
        if links.route().is_none() {
            return Err(SendError::Unavailable("not connected".into()));
        }
        self.calls.call(call, limit).await
    }
}

/// Takes events and keeps looking for the implementation until `stop`.
pub async fn run(shared: &Shared, http: &Http, events: mpsc::Sender<Parcel>, stop: &Stop) {
    http.inbox.open(events.clone());
    {
        let mut watch = std::pin::pin!(watch(shared, http, &events));
        tokio::select! {
            () = &mut watch => {}
            () = stop.stopped() => {}
        }
    }
    drop(events);
    http.inbox.close();
    let _ = timeout(CALLS_LIMIT, http.calls.idle()).await;
    shared.links.close();
}

async fn watch(shared: &Shared, http: &Http, events: &mpsc::Sender<Parcel>) {
    let mut backoff = Backoff::new(shared.settings.reconnect);
    let mut link: Option<(Joined, String)> = None;
    // Events may come before the implementation is found; what was missed lies before them.
    let mut mark = shared.seen.mark();
    loop {
        let pause = match probe(shared, http).await {
            Ok((bot, online)) => {
                backoff.reset();
                if link.as_ref().is_some_and(|(_, known)| *known != bot) {
                    leave(shared, &mut link, "another bot answers");
                }
                if link.is_none()
                    && let Some(joined) = shared.links.join(Role::Universal, &bot)
                {
                    tracing::info!(account = %shared.account, bot, "connected");
                    link = Some((joined, bot.clone()));
                    let since = mark.take().filter(|(of, _)| *of == bot);
                    welcome::ask(shared, &bot, since.map(|(_, time)| time), events).await;
                }
                if let Some((joined, _)) = &link {
                    shared.links.online(joined.id, online);
                    let silent = http.inbox.is_silent(Instant::now());
                    shared.links.silent(joined.id, silent);
                }
                PROBE_PAUSE.min(shared.settings.reconnect)
            }
            Err(reason) => {
                if link.is_some() {
                    mark = shared.seen.mark();
                    leave(shared, &mut link, &reason);
                } else {
                    shared.links.failed(&reason);
                }
                backoff.pause(rand::random())
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = http.calls.failed() => {}
        }
    }
}

fn leave(shared: &Shared, link: &mut Option<(Joined, String)>, reason: &str) {
    if let Some((joined, _)) = link.take() {
        shared.links.leave(joined.id, reason);
    }
}

/// Which bot is there, and whether it is logged in.
///
/// # Errors
/// Why it cannot be told, for the operator, in one short line.
pub async fn probe(shared: &Shared, http: &Http) -> Result<(String, bool), String> {
    let ask = async |action| {
        let params = json!({});
        http.calls.call(&Call { action, params }, PROBE_LIMIT).await
    };
    let said: Data = ask(version::LOGIN).await.map_err(|error| match error {
        SendError::Unavailable(why) | SendError::Ambiguous(why) => why,
        other => other.to_string(),
    })?;
    let expected = shared.settings.self_id.as_deref();
    let bot = version::login(said.raw());
    let bot = bot.as_deref().or(expected).map(str::to_owned);
    let bot = bot.ok_or("it does not say which bot it serves")?;
    if expected.is_some_and(|expected| expected != bot) {
        let expected = expected.unwrap_or_default();
        return Err(format!("it serves the bot {bot}, self_id says {expected}"));
    }
    let status = ask("get_status").await.unwrap_or_default();
    let status: WireStatus<'_> = wire::object(status.raw());
    Ok((bot, wire::boolean(status.online).unwrap_or(true)))
}
