//! The official bot API of QQ as a server: access tokens, messages, the gateway, and posts to a webhook.
//!
//! Owns a real server on loopback, the people who write to its one bot, and a record of every call. It is strict: it
//! refuses what the platform's documentation or its users say the real one refuses, and it counts what answers a
//! message. Everything ends on drop.

mod gateway;
mod guild;
mod media;
mod post;
mod rest;
mod stream;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};

use crate::{
    discord::session::Sessions,
    server::{bind, serve},
};

pub use guild::GROUP_BOT;
pub use media::HandedFile;
pub use post::sign;
pub use rest::Fault;

/// The id of the app.
pub const APP_ID: &str = "102000001";
/// The secret of the app.
pub const SECRET: &str = "DG5g3B4j9X2KOErG";
/// The bot's own id.
pub const BOT: &str = "4900001";
/// A group in which the bot is.
pub const GROUP: &str = "C9F778FE6ADF9D1D1DBE395BF744A33A";
/// A channel in which the bot is.
pub const CHANNEL: &str = "100001";
/// How many messages may answer one.
const REPLIES: usize = 5;
/// A character of no width, which people do not see.
const UNSEEN: char = '\u{200B}';

/// Where somebody says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// To the bot alone.
    Private,
    /// In the group, to the bot.
    Group,
    /// In the channel, to the bot.
    Channel,
    /// In the guild's direct messages.
    Direct,
}

/// The platform, for one bot.
#[derive(Debug)]
pub struct FakeQq {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// A message that the bot sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The path to which it was posted, without `/messages`.
    pub to: String,
    /// Its text.
    pub text: String,
    /// Everything that was said.
    pub said: Value,
}

#[derive(Debug)]
struct Shared {
    address: SocketAddr,
    state: Mutex<State>,
    /// Counts changes, so that waits wake.
    changed: watch::Sender<u64>,
    /// Whether clients are let in.
    open: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    /// The sessions of each connection.
    lines: Vec<Sessions>,
    /// Members, and what was done to them.
    guild: guild::Guild,
    /// Files that were handed over, and messages that grow.
    files: media::Files,
    streams: stream::Streams,
    sent: Vec<Message>,
    /// Messages that tests have read.
    read: usize,
    said: u64,
    /// Messages of the bot that it took back.
    recalled: HashSet<String>,
    /// What people said: the id of the message, where it can be answered, and how often it was.
    heard: HashMap<String, (String, usize)>,
    /// The numbers that were used for a message.
    numbers: Vec<(String, i64)>,
    calls: Vec<(String, Value)>,
    faults: HashMap<String, VecDeque<Fault>>,
    /// How many tokens were issued; the last one is valid.
    tokens: u64,
    policy: Policy,
    /// Heartbeats get no answer.
    silent: bool,
    violations: Vec<String>,
}

/// What the platform allows the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How many messages may answer one.
    pub replies: usize,
    /// Markdown.
    pub markdown: bool,
    /// Addresses in texts.
    pub links: bool,
    /// Messages that answer nothing.
    pub push: bool,
    /// Every message of channels.
    pub all_channels: bool,
    /// Buttons under Markdown, and to hear of presses.
    pub buttons: bool,
    /// To moderate groups.
    pub groups: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            replies: REPLIES,
            markdown: false,
            links: true,
            push: false,
            all_channels: false,
            buttons: false,
            groups: false,
        }
    }
}

impl FakeQq {
    /// Listens at a port that is free.
    pub async fn start() -> Self {
        let (listener, address) = bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let shared = Arc::new(Shared {
            address,
            state: Mutex::new(State {
                lines: vec![Sessions::of(0)],
                ..State::default()
            }),
            changed: watch::Sender::new(0),
            open: watch::Sender::new(true),
        });
        let router = rest::router(Arc::clone(&shared));
        let task = tokio::spawn(serve(router, listener, shared.open.subscribe()));
        Self { shared, task }
    }

    /// The address, as in `api_url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.shared.address)
    }

    /// Where access tokens are issued, as in `token_url`.
    #[must_use]
    pub fn token_url(&self) -> String {
        format!("{}/app/getAppAccessToken", self.url())
    }

    /// Lets clients in, or cuts all connections and takes no more.
    pub fn reachable(&self, reachable: bool) {
        self.shared.open.send_replace(reachable);
    }

    /// What the bot may do from now on.
    pub fn allow(&self, policy: Policy) {
        self.change(|state| state.policy = policy);
    }

    /// The next call of this kind meets a fault.
    pub fn fail(&self, call: &str, fault: Fault) {
        let mut state = self.shared.state.lock();
        let faults = state.faults.entry(call.to_owned()).or_default();
        faults.push_back(fault);
    }

    /// A person says something; `changes` are laid over the message. Gives its id.
    pub fn say(&self, place: Where, person: u64, text: &str, changes: &Value) -> String {
        let (kind, message) = self.message(place, person, text, changes);
        let id = message["id"].as_str().unwrap_or_default().to_owned();
        self.change(|state| state.tell(kind, message, Some(person)));
        id
    }

    /// The platform wants so many connections. Private chats and groups are the first one's, guilds the last one's.
    pub fn shards(&self, count: usize) {
        self.change(|state| state.lines = (0..count).map(Sessions::of).collect());
    }

    /// A person presses a button with these data. Gives the id of the press.
    pub fn press(&self, place: Where, person: u64, data: &str) -> String {
        self.change(|state| {
            let (id, press) = state.press(place, person, data);
            let event = format!("{}:{id}", "INTERACTION_CREATE");
            let target = (target(place, person), 0);
            state.heard.insert(event.clone(), target);
            let frame = json!({ "op": 0, "id": event, "t": "INTERACTION_CREATE", "d": press });
            state.line(place).push_frame(frame, Some(person));
            id
        })
    }

    /// What a person says, as the platform tells it: the kind of event, and the message.
    pub fn message(
        &self,
        place: Where,
        person: u64,
        text: &str,
        changes: &Value,
    ) -> (&'static str, Value) {
        self.change(|state| state.message(place, person, text, changes))
    }

    /// An event as it is.
    pub fn event(&self, kind: &str, data: Value) {
        self.change(|state| state.tell(kind, data, None));
    }

    /// A frame exactly as it is, a binary one if it is no text.
    pub fn raw(&self, frame: &[u8]) {
        self.change(|state| state.lines[0].raw(frame.to_vec()));
    }

    /// Delivers the newest message of a person again.
    pub fn repeat(&self, person: u64) {
        self.change(|state| state.lines[0].repeat(person));
    }

    /// Ends the connection with a close code.
    pub fn close(&self, code: u16) {
        self.change(|state| state.lines[0].close(code));
    }

    /// The session is over: it cannot be resumed.
    pub fn forget_session(&self) {
        self.change(|state| state.lines.iter_mut().for_each(Sessions::forget));
    }

    /// Heartbeats get no answer from now on, or one again.
    pub fn silent(&self, silent: bool) {
        self.change(|state| state.silent = silent);
    }

    /// No token that was issued is valid any more.
    pub fn expire_tokens(&self) {
        self.change(|state| state.tokens += 1);
    }

    /// How many sessions were begun, and how many resumed.
    #[must_use]
    pub fn sessions(&self) -> (usize, usize) {
        let state = self.shared.state.lock();
        let sum = |count: fn(&Sessions) -> usize| state.lines.iter().map(count).sum();
        (sum(|line| line.begun), sum(|line| line.resumed))
    }

    /// Waits until so many messages of a person lie before the position that the bot tells; how many do.
    pub async fn acknowledged(&self, person: u64, wanted: usize, limit: Duration) -> usize {
        let enough = |state: &mut State| {
            let count = state.lines[0].acknowledged(person);
            (count >= wanted).then_some(count)
        };
        let found = self.wait(limit, enough).await;
        found.unwrap_or_else(|| self.shared.state.lock().lines[0].acknowledged(person))
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

    /// What was said with all calls of a kind.
    #[must_use]
    pub fn calls(&self, call: &str) -> Vec<Value> {
        let state = self.shared.state.lock();
        let of = state.calls.iter().filter(|(name, _)| name == call);
        of.map(|(_, said)| said.clone()).collect()
    }

    /// What the bot did that the platform forbids. Empty for a good bot.
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

impl Drop for FakeQq {
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

/// A person's id in private chats.
#[must_use]
pub fn openid(person: u64) -> String {
    format!("{person:032X}")
}

/// The same person's id in the group: another one.
#[must_use]
pub fn member(person: u64) -> String {
    format!("A{person:031X}")
}

/// Where answers to what is said somewhere go.
#[must_use]
pub fn target(place: Where, person: u64) -> String {
    match place {
        Where::Private => format!("/v2/users/{}", openid(person)),
        Where::Group => format!("/v2/groups/{GROUP}"),
        Where::Channel => format!("/channels/{CHANNEL}"),
        Where::Direct => format!("/dms/{}", 7_000_000 + person),
    }
}

/// What people see of a text: a mark that begins like a mention is shown as what it does, and of Markdown the
/// escaped signs are themselves while marks are gone.
#[must_use]
pub fn visible(text: &str, markdown: bool) -> String {
    let mut seen = if markdown {
        crate::discord::visible(text)
    } else {
        text.to_owned()
    };
    for mark in ["<@", "<#", "<qqbot-", "<emoji", "<faceType", "@everyone"] {
        seen = seen.replace(mark, "(mark)");
    }
    seen.replace(UNSEEN, "")
}

/// The time, in seconds since the epoch.
#[must_use]
pub fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

impl State {
    /// The connection over which a place is told of.
    fn line(&mut self, place: Where) -> &mut Sessions {
        let last = self.lines.len() - 1;
        match place {
            Where::Private | Where::Group => &mut self.lines[0],
            Where::Channel | Where::Direct => &mut self.lines[last],
        }
    }

    /// Tells of an event.
    fn tell(&mut self, kind: &str, data: Value, person: Option<u64>) {
        let of_guild =
            kind.starts_with("AT_") || kind.starts_with("DIRECT") || kind.contains("GUILD");
        let place = if of_guild {
            Where::Channel
        } else {
            Where::Private
        };
        self.line(place).push(kind, data, person);
    }

    /// A press of a button: its id, and what is told of it.
    fn press(&mut self, place: Where, person: u64, data: &str) -> (String, Value) {
        self.said += 1;
        let id = format!("30540ff7-9d8f-4737-83f1-{:012}", self.said);
        let mut press = json!({
            "id": id, "type": 11, "version": 1, "timestamp": seconds(),
            "data": { "type": 11, "resolved": { "button_id": "0", "button_data": data } },
        });
        match place {
            Where::Private => press["user_openid"] = openid(person).into(),
            Where::Group => {
                press["group_openid"] = GROUP.into();
                press["group_member_openid"] = member(person).into();
            }
            Where::Channel | Where::Direct => {
                press["channel_id"] = CHANNEL.into();
                press["guild_id"] = "50".into();
                press["data"]["resolved"]["user_id"] = person.to_string().into();
                press["data"]["resolved"]["message_id"] = "08ab".into();
            }
        }
        (id, press)
    }

    fn message(
        &mut self,
        place: Where,
        person: u64,
        text: &str,
        changes: &Value,
    ) -> (&'static str, Value) {
        self.said += 1;
        let id = format!("ROBOT1.0_{:06}.x-y!!", self.said);
        self.heard.insert(id.clone(), (target(place, person), 0));
        let named =
            json!({ "id": person.to_string(), "username": format!("user {person}"), "bot": false });
        let (kind, mut message) = match place {
            Where::Private => {
                let author = json!({ "id": openid(person), "user_openid": openid(person) });
                ("C2C_MESSAGE_CREATE", json!({ "author": author }))
            }
            Where::Group => {
                let author = json!({ "id": member(person), "member_openid": member(person) });
                let message = json!({ "author": author, "group_openid": GROUP, "group_id": GROUP });
                ("GROUP_AT_MESSAGE_CREATE", message)
            }
            Where::Channel => {
                let message = json!({ "author": named, "channel_id": CHANNEL, "guild_id": "50",
                    "member": { "nick": "", "roles": ["1"] } });
                ("AT_MESSAGE_CREATE", message)
            }
            Where::Direct => {
                let guild = (7_000_000 + person).to_string();
                let message = json!({ "author": named, "channel_id": "9", "guild_id": guild, "direct_message": true });
                ("DIRECT_MESSAGE_CREATE", message)
            }
        };
        message["id"] = id.into();
        // The mark of the mention is gone, its space is not.
        let space = if place == Where::Group { " " } else { "" };
        message["content"] = format!("{space}{text}").into();
        message["timestamp"] = seconds().into();
        for (name, value) in changes.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        (kind, message)
    }
}
