//! Discord as a server: its HTTP API and its gateway, with the people who write to its bot.
//!
//! Owns a real server on loopback, the events of the bot's session, and a record of every call. It is strict: a call and
//! a frame are held to what the platform's documentation says of them, so that it takes nothing that the real one
//! refuses. Everything ends on drop.

mod fields;
mod files;
mod gateway;
pub mod guild;
mod interact;
mod presses;
mod rest;
mod server;
pub(crate) mod session;
mod text;

use std::{
    collections::{HashMap, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};

use crate::server::{bind, serve};
use crate::upload::Upload;

pub use fields::{REQUESTS, Request};
pub use rest::Fault;
pub use text::visible;

/// The bot's id.
pub const BOT: u64 = 10_001;
/// A server in which the bot is.
pub const SERVER: u64 = 50;
/// Another one, which belongs to the second of two connections.
pub const OTHER_SERVER: u64 = (1 << 22) + 51;
/// A channel of that one.
pub const OTHER_CHANNEL: u64 = 200;
/// A channel of it.
pub const CHANNEL: u64 = 100;
/// A thread of that channel, which is open.
pub const THREAD: u64 = 101;

/// The platform, for one bot.
#[derive(Debug)]
pub struct FakeDiscord {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// A message that the bot sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its number.
    pub id: u64,
    /// Where it is.
    pub channel: u64,
    /// What was sent.
    pub text: String,
    /// The buttons under it, as label and id.
    pub buttons: Vec<(String, String)>,
    /// Its files.
    pub files: Vec<Upload>,
    /// The message that it is a reply to.
    pub reply_to: Option<u64>,
    /// What it is known by when it comes again.
    pub nonce: String,
    /// The interaction that it answers.
    pub interaction: Option<u64>,
    /// Only the person of that interaction sees it.
    pub private: bool,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    token: String,
    state: Mutex<State>,
    /// Counts changes, so that waits wake.
    changed: watch::Sender<u64>,
    /// Whether clients are let in.
    open: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    /// The connections that the bot has to make; no entry is one.
    lines: Vec<session::Sessions>,
    /// When sessions were begun.
    begun: Vec<std::time::Instant>,
    channels: HashMap<u64, Value>,
    /// What people and the bot said, in order.
    history: Vec<Value>,
    sent: Vec<Message>,
    interactions: interact::Interactions,
    guild: guild::Guild,
    /// Messages of the bot whose text was changed, each time.
    edits: Vec<u64>,
    /// Where the bot showed that it is writing, in order.
    typing: Vec<u64>,
    /// Messages that tests have read.
    read: usize,
    last_id: u64,
    files: files::Files,
    calls: Vec<(String, Value)>,
    faults: HashMap<String, VecDeque<Fault>>,
    /// The bot may not read messages that do not name it.
    no_content: bool,
    /// Heartbeats get no answer.
    silent: bool,
    no_resume: Option<u16>,
    /// The next attempts to resume are told that the session is invalid, and whether it may be resumed later.
    invalid: VecDeque<bool>,
    /// Threads that are archived, and whether the bot may open them.
    archived: HashMap<u64, bool>,
    sessions_left: Option<u64>,
    /// In how many milliseconds there are more.
    sessions_reset: Option<u64>,
    violations: Vec<String>,
}

impl FakeDiscord {
    /// Listens at a port that is free, for a bot with this token.
    pub async fn start(token: &str) -> Self {
        let (listener, address) = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let mut state = State::default();
        let channel =
            json!({ "id": CHANNEL.to_string(), "type": 0, "guild_id": SERVER.to_string() });
        state.channels.insert(CHANNEL, channel);
        state.thread(THREAD, CHANNEL);
        state.files = files::Files::at(format!("http://{address}"));
        state.divide(1);
        let shared = Arc::new(Shared {
            address,
            token: token.to_owned(),
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            open: watch::Sender::new(true),
        });
        let router = server::router(Arc::clone(&shared));
        let task = tokio::spawn(serve(router, listener, shared.open.subscribe()));
        Self { shared, task }
    }

    /// The address, as in `api_url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/api/v10", self.shared.address)
    }

    /// A file of this content and type, as a message in the channel has it among its attachments.
    pub fn file(&self, channel: u64, name: &str, kind: &str, content: &[u8]) -> Value {
        self.shared
            .state
            .lock()
            .files
            .keep(channel, name, kind, content)
    }

    /// All addresses of files that were given out are worth nothing any more.
    pub fn expire_files(&self) {
        self.shared.state.lock().files.expire();
    }

    /// The platform wants so many connections, of which so many may begin a session at once; there is a second server.
    pub fn divide(&self, count: usize) {
        self.change(|state| state.divide(count));
    }

    /// Every attempt to resume a session ends with this close code.
    pub fn refuse_resumes(&self, code: u16) {
        self.change(|state| state.no_resume = Some(code));
    }

    /// The next attempt to resume a session is told that it is invalid, and whether it may be resumed later.
    pub fn invalidate(&self, goes_on: bool) {
        self.change(|state| state.invalid.push_back(goes_on));
    }

    /// A thread is archived and locked; the bot may open it again, or not.
    pub fn archive(&self, thread: u64, may_open: bool) {
        self.change(|state| state.archived.insert(thread, may_open));
    }

    /// Ends one of the connections with a close code; 1005 is none at all.
    pub fn close_one(&self, shard: usize, code: u16) {
        self.change(|state| state.lines[shard].close(code));
    }

    /// How many sessions each connection began, and how many it resumed.
    #[must_use]
    pub fn sessions_of_each(&self) -> Vec<(usize, usize)> {
        let state = self.shared.state.lock();
        let lines = state.lines.iter();
        lines.map(|line| (line.begun, line.resumed)).collect()
    }

    /// The least time between the beginnings of two sessions.
    #[must_use]
    pub fn least_pause(&self) -> Option<Duration> {
        let state = self.shared.state.lock();
        let pauses = state.begun.windows(2).map(|two| two[1] - two[0]);
        pauses.min()
    }

    /// Lets clients in, or cuts all connections and takes no more.
    pub fn reachable(&self, reachable: bool) {
        self.shared.open.send_replace(reachable);
    }

    /// The next call of this kind meets a fault.
    pub fn fail(&self, call: &str, fault: Fault) {
        let mut state = self.shared.state.lock();
        let faults = state.faults.entry(call.to_owned()).or_default();
        faults.push_back(fault);
    }

    /// Somebody says something in a channel of the server, or in the direct channel of [`direct`]; `changes` are laid
    /// over the message. Gives its number.
    pub fn say(&self, channel: u64, user: u64, text: &str, changes: &Value) -> u64 {
        let id = self.change(|state| {
            let message = state.message(channel, user, text, changes);
            let id = message["id"].as_str().and_then(|id| id.parse().ok());
            state.push("MESSAGE_CREATE", message, Some(user));
            id
        });
        id.unwrap_or_default()
    }

    /// An event as it is.
    pub fn event(&self, kind: &str, data: Value) {
        self.change(|state| state.push(kind, data, None));
    }

    /// A frame exactly as it is, a binary one if it is no text.
    pub fn raw(&self, frame: &[u8]) {
        self.change(|state| state.lines[0].raw(frame.to_vec()));
    }

    /// Delivers the newest message of a person again.
    pub fn repeat(&self, user: u64) {
        self.change(|state| state.lines[0].repeat(user));
    }

    /// Another thread is open from now on, of which nobody was told.
    pub fn open_thread(&self, thread: u64) {
        self.change(|state| state.thread(thread, CHANNEL));
    }

    /// Somebody opens a post in a forum; gives the id of its first message, which is that of the post.
    pub fn open_post(&self, forum: u64, user: u64, text: &str) -> u64 {
        self.change(|state| {
            let described = json!({
                "id": forum.to_string(), "type": rest::FORUM, "guild_id": SERVER.to_string(),
            });
            state.channels.insert(forum, described);
            let post = state.next_id();
            state.thread(post, forum);
            let described = state.channels[&post].clone();
            state.push("THREAD_CREATE", described, None);
            let id = json!({ "id": post.to_string() });
            let message = state.message(post, user, text, &id);
            state.push("MESSAGE_CREATE", message, Some(user));
            post
        })
    }

    /// Ends the connection with a close code.
    pub fn close(&self, code: u16) {
        self.close_one(0, code);
    }

    /// The session is over: it cannot be resumed, and what happens is told to nobody until the next one.
    pub fn forget_session(&self) {
        self.change(|state| state.lines.iter_mut().for_each(session::Sessions::forget));
    }

    /// The bot may not read messages that do not name it.
    pub fn forbid_content(&self) {
        self.change(|state| state.no_content = true);
    }

    /// Heartbeats get no answer from now on, or one again.
    pub fn silent(&self, silent: bool) {
        self.change(|state| state.silent = silent);
    }

    /// So many sessions may still be begun.
    pub fn sessions_left(&self, left: Option<u64>) {
        self.change(|state| state.sessions_left = left);
    }

    /// How many sessions were begun, and how many resumed.
    #[must_use]
    pub fn sessions(&self) -> (usize, usize) {
        let each = self.sessions_of_each();
        let sum = |(one, other): (usize, usize), (begun, resumed)| (one + begun, other + resumed);
        each.into_iter().fold((0, 0), sum)
    }

    /// Waits until so many messages of a person lie before the position that the bot tells; how many do.
    pub async fn acknowledged(&self, user: u64, wanted: usize, limit: Duration) -> usize {
        let enough = |state: &mut State| {
            let count = state.lines[0].acknowledged(user);
            (count >= wanted).then_some(count)
        };
        let found = self.wait(limit, enough).await;
        found.unwrap_or_else(|| self.shared.state.lock().lines[0].acknowledged(user))
    }

    /// The next message that the bot sent and no test has read; `None` if none comes in time.
    pub async fn next_message(&self, limit: Duration) -> Option<Message> {
        self.wait(limit, |state| {
            let message = state.sent.get(state.read).cloned()?;
            state.read += 1;
            Some(message)
        })
        .await
    }

    /// Every message of the bot.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.shared.state.lock().sent.clone()
    }

    /// How often the text of a message of the bot was changed.
    #[must_use]
    pub fn edits(&self, message: u64) -> usize {
        let state = self.shared.state.lock();
        state
            .edits
            .iter()
            .filter(|edited| **edited == message)
            .count()
    }

    /// Waits until the bot has sent so many messages that are still there; whether it has.
    pub async fn has_messages(&self, count: usize, limit: Duration) -> bool {
        let enough = |state: &mut State| (state.sent.len() == count).then_some(());
        self.wait(limit, enough).await.is_some()
    }

    /// Where the bot showed that it is writing, in order.
    #[must_use]
    pub fn typing(&self) -> Vec<u64> {
        self.shared.state.lock().typing.clone()
    }

    /// What was said with all calls of a kind.
    #[must_use]
    pub fn calls(&self, call: &str) -> Vec<Value> {
        let state = self.shared.state.lock();
        let of = state.calls.iter().filter(|(name, _)| name == call);
        of.map(|(_, said)| said.clone()).collect()
    }

    /// Waits until a kind of call was made so often; whether it was.
    pub async fn called(&self, call: &str, times: usize, limit: Duration) -> bool {
        let enough = |state: &mut State| {
            let calls = state.calls.iter().filter(|(name, _)| name == call);
            (calls.count() >= times).then_some(())
        };
        self.wait(limit, enough).await.is_some()
    }

    /// What the bot did that the platform forbids or punishes. Empty for a good bot.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.shared.state.lock().violations.clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.shared.state.lock());
        self.shared.changed();
        result
    }

    async fn wait<T>(
        &self,
        limit: Duration,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut changed = self.shared.changed.subscribe();
        let wait = async {
            loop {
                if let Some(item) = found(&mut self.shared.state.lock()) {
                    return Some(item);
                }
                changed.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, wait).await.ok().flatten()
    }
}

impl Drop for FakeDiscord {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.open.send_replace(false);
    }
}

impl Shared {
    fn changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

/// The direct channel of a person.
#[must_use]
pub fn direct(user: u64) -> u64 {
    user + 7_000_000
}

impl State {
    fn divide(&mut self, count: usize) {
        self.lines = (0..count).map(session::Sessions::of).collect();
        if count > 1 {
            let server = OTHER_SERVER.to_string();
            let channel = json!({ "id": OTHER_CHANNEL.to_string(), "type": 0, "guild_id": server });
            self.channels.insert(OTHER_CHANNEL, channel);
        }
    }

    /// The connection over which what happens in a server is told (Gateway, Sharding).
    fn line_of(&self, server: u64) -> usize {
        let count = u64::try_from(self.lines.len()).unwrap_or(1);
        usize::try_from((server >> 22) % count.max(1)).unwrap_or(0)
    }

    /// Tells an event over its connection.
    fn push(&mut self, kind: &str, data: Value, user: Option<u64>) {
        let server = data["guild_id"].as_str().and_then(|id| id.parse().ok());
        let line = self.line_of(server.unwrap_or(0));
        self.lines[line].push(kind, data, user);
    }

    fn thread(&mut self, thread: u64, of: u64) {
        let described = json!({
            "id": thread.to_string(), "type": 11, "guild_id": SERVER.to_string(), "parent_id": of.to_string(),
        });
        self.channels.insert(thread, described);
    }

    /// A number that is greater than all before.
    fn next_id(&mut self) -> u64 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_millis());
        let now = u64::try_from(now)
            .unwrap_or(0)
            .saturating_sub(1_420_070_400_000)
            << 22;
        self.last_id = now.max(self.last_id + 1);
        self.last_id
    }

    /// A message, as its event describes it.
    fn message(&mut self, channel: u64, user: u64, text: &str, changes: &Value) -> Value {
        let id = self.next_id();
        let mut message = json!({
            "id": id.to_string(), "channel_id": channel.to_string(), "type": 0, "content": text, "tts": false,
            "author": { "id": user.to_string(), "username": format!("user {user}"), "global_name": null },
            "timestamp": "2026-12-01T00:00:00.000000+00:00", "edited_timestamp": null, "mention_everyone": false,
            "mentions": [], "mention_roles": [], "attachments": [], "embeds": [], "pinned": false,
        });
        if channel == direct(user) {
            let person = json!({ "id": channel.to_string(), "type": 1 });
            self.channels.insert(channel, person);
        } else {
            let server = self
                .channels
                .get(&channel)
                .map(|channel| channel["guild_id"].clone());
            message["guild_id"] = server.unwrap_or_else(|| SERVER.to_string().into());
        }
        for (name, value) in changes.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        let mut kept = message.clone();
        if let Some(kept) = kept.as_object_mut() {
            // Only events name the server.
            kept.remove("guild_id");
        }
        self.history.push(kept);
        if let Some(described) = self.channels.get_mut(&channel) {
            described["last_message_id"] = id.to_string().into();
        }
        message
    }
}
