//! What was said while no session could be resumed.
//!
//! Owns which channels are asked, from which message on and how much of each: the platform repeats the events of a
//! session, but not what happened between two. Messages are fetched where the platform describes a server, before
//! anything newer from it is read, so that the order in each channel holds. Bounded in channels, messages and time.

use std::{collections::HashSet, time::Duration};

use serde_json::Value;
use tokio::time::{Instant, sleep};
use weirgate_sdk::{Timestamp, backoff::Backoff};

use crate::{
    api::{Call, CallError, Trouble},
    channels::id,
    discord::unix_time,
    intake::Intake,
    places::{Snowflake, first_of},
    position::Position,
    receive::server_key,
};

/// Channels of one server that are asked; those in which was written last come first.
const MAX_CHANNELS: usize = 100;
/// Messages of one answer; the platform gives no more.
const PAGE: u8 = 100;
/// Answers for one channel.
const MAX_PAGES: usize = 5;
/// How long a server is asked for its roles.
const SERVER_LIMIT: Duration = Duration::from_secs(2);
/// Calls for one answer.
const MAX_TRIES: usize = 4;
/// After a session began: how long its servers may take to be described before the gap counts as closed.
const OPEN_LIMIT: Duration = Duration::from_secs(120);

/// The time between two sessions.
#[derive(Debug)]
pub struct Gap {
    /// Everything up to here was read.
    since: Snowflake,
    /// Servers that are not described yet.
    servers: HashSet<Snowflake>,
    until: Instant,
}

impl Intake<'_> {
    /// The position to be stored: until a gap is closed that of its beginning.
    pub(crate) fn stored(&mut self) -> Position {
        let mut position = self.position.clone();
        let is_over = |gap: &Gap| gap.servers.is_empty() || gap.until < Instant::now();
        self.gaps.retain(|_, gap| !is_over(gap));
        for (shard, gap) in &self.gaps {
            position.back_to(*shard, gap.since);
        }
        position
    }

    /// Takes in what an event tells of channels, and fetches what was missed in them.
    pub(crate) async fn learn(&mut self, kind: &str, data: &Value) {
        if kind == "READY" {
            // What happened meanwhile was told to nobody.
            self.shared.admins.forget();
        }
        if self.shared.servers.lock().learn(kind, data) {
            let server = match kind {
                "GUILD_CREATE" | "GUILD_UPDATE" | "GUILD_DELETE" => id(&data["id"]),
                _ => id(&data["guild_id"]),
            };
            if let Some(server) = server {
                let (platform, account) = (&self.shared.platform, &self.shared.account);
                self.shared
                    .admins
                    .forget_group(&server_key(platform, account, server));
            }
        }
        match kind {
            "READY" => self.begun(data).await,
            "GUILD_CREATE" => self.described(data).await,
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                self.channels.learn(data);
            }
            "THREAD_LIST_SYNC" => {
                for thread in data["threads"].as_array().into_iter().flatten() {
                    self.channels.learn(thread);
                }
            }
            _ => {}
        }
    }

    /// A session began that is not the one before.
    async fn begun(&mut self, ready: &Value) {
        let now = unix_time();
        let shard = self.shard;
        let Some(since) = self.position.newest(shard) else {
            // The first start: what was said before is not meant for this gateway.
            self.position.heard(shard, first_of(now));
            return;
        };
        let Some(after) = self.reaches_back(now) else {
            return;
        };
        let servers = ready["guilds"].as_array().into_iter().flatten();
        let since = self
            .gaps
            .get(&shard)
            .map_or(since, |gap| gap.since.min(since));
        let gap = Gap {
            since,
            servers: servers.filter_map(|server| id(&server["id"])).collect(),
            until: Instant::now() + OPEN_LIMIT,
        };
        self.gaps.insert(shard, gap);
        tracing::info!(account = %self.shared.account, shard, since, "a new session: looking for what was missed");
        if shard != 0 {
            // Direct messages come over the first connection.
            return;
        }
        for channel in self.position.direct.clone() {
            self.channels.is_direct(channel);
            self.fetch(channel, since.max(after)).await;
        }
    }

    /// A server is described: its channels, its threads that are open.
    async fn described(&mut self, server: &Value) {
        let list = |field: &str| server[field].as_array().into_iter().flatten();
        let mut written = Vec::new();
        for channel in list("channels").chain(list("threads")) {
            if let Some((channel, Some(newest))) = self.channels.learn(channel) {
                written.push((newest, channel));
            }
        }
        let after = self.reaches_back(unix_time());
        let Some((since, after)) = self.gaps.get(&self.shard).map(|gap| gap.since).zip(after)
        else {
            return;
        };
        let since = since.max(after);
        written.retain(|(newest, _)| *newest > since);
        written.sort_unstable_by(|one, other| other.cmp(one));
        if written.len() > MAX_CHANNELS {
            let left = written.len() - MAX_CHANNELS;
            tracing::warn!(account = %self.shared.account, left, "too many channels to fetch what was missed in all");
        }
        for (_, channel) in written.into_iter().take(MAX_CHANNELS) {
            self.fetch(channel, since).await;
        }
        if let Some((gap, server)) = self.gaps.get_mut(&self.shard).zip(id(&server["id"])) {
            gap.servers.remove(&server);
        }
    }

    /// The oldest message that is fetched; `None` if none is.
    fn reaches_back(&self, now: Timestamp) -> Option<Snowflake> {
        let window = self.shared.settings.catch_up;
        let window = Timestamp::try_from(window.as_millis()).ok()?;
        (window > 0).then(|| first_of(now.saturating_sub(window)))
    }

    /// Fetches what was said in a channel after a message, and hands it in, oldest first.
    async fn fetch(&mut self, channel: Snowflake, after: Snowflake) {
        let mut after = after;
        for _ in 0..MAX_PAGES {
            let call = Call::Messages {
                channel,
                after,
                limit: PAGE,
            };
            let mut messages = match self.ask(call).await {
                Ok(Value::Array(messages)) => messages,
                Ok(_) => return,
                Err(error) => {
                    tracing::debug!(account = %self.shared.account, channel, %error, "what was missed cannot be read");
                    return;
                }
            };
            messages.sort_by_key(|message| id(&message["id"]));
            let newest = messages.last().and_then(|message| id(&message["id"]));
            for message in &messages {
                self.read("MESSAGE_CREATE", message);
            }
            self.flush().await;
            match newest {
                Some(newest) if messages.len() >= usize::from(PAGE) => after = newest,
                _ => return,
            }
        }
        tracing::warn!(account = %self.shared.account, channel, "more was missed than is fetched");
    }

    /// Finds out what a channel is, if nobody told: a thread that was opened before the start. Waits while the platform
    /// is out of reach, because a message in the wrong place is worse than a late one.
    pub(crate) async fn know(&mut self, channel: Snowflake) {
        let mut backoff = Backoff::new(self.shared.settings.reconnect);
        while self.channels.get(channel).is_none() {
            match self.ask(Call::Channel(channel)).await {
                Ok(described) => {
                    if self
                        .channels
                        .learn(&described)
                        .is_none_or(|(id, _)| id != channel)
                    {
                        self.channels.is_plain(channel);
                    }
                }
                Err(CallError::Refused(refusal))
                    if !matches!(refusal.trouble(), Trouble::Flood(..)) =>
                {
                    self.channels.is_plain(channel);
                }
                Err(error) => {
                    tracing::warn!(account = %self.shared.account, channel, %error, "cannot find out what a channel is");
                    sleep(backoff.pause(rand::random())).await;
                }
            }
        }
    }

    /// Finds out who administers a server, if nobody told: one that was described before the start. Only the standing of
    /// whoever speaks depends on it, so that nothing waits for long.
    pub(crate) async fn know_server(&self, server: Snowflake) {
        let shared = self.shared;
        let now = std::time::Instant::now();
        if shared.servers.lock().is_known(server) || shared.patience.is_lost(now) {
            return;
        }
        let Ok(api) = shared.calls() else { return };
        match api.get(Call::Server(server), SERVER_LIMIT).await {
            Ok(described) => {
                shared.servers.lock().learn("GUILD_UPDATE", &described);
            }
            Err(error) => {
                tracing::debug!(account = %shared.account, server, %error, "the roles of a server are not known");
                shared.patience.lose(now);
            }
        }
    }

    /// Asks until there is an answer, a few times, with the pauses that the platform demands.
    async fn ask(&self, call: Call<'_>) -> Result<Value, CallError> {
        let mut backoff = Backoff::new(self.shared.settings.reconnect);
        let limit = self.shared.settings.call_timeout;
        let api = self.shared.calls();
        let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
        for _ in 1..MAX_TRIES {
            let error = match api.get(call, limit).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = match error.trouble() {
                Some(Trouble::Flood(after, _)) => after,
                Some(_) => return Err(error),
                None => backoff.pause(rand::random()),
            };
            sleep(pause).await;
        }
        api.get(call, limit).await
    }
}
