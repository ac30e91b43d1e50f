//! Telegram's Bot API as a server, with the people who write to its bot.
//!
//! Owns a real HTTP server, the updates that wait for the bot, and a record of every call. It is strict: a call is
//! checked against what the documentation says of its parameters ([`table`]), and texts against the limits of the
//! service, so that it takes nothing that the real one refuses. Everything is on loopback and ends on drop.

mod answer;
mod api;
mod chats;
mod fault;
mod media;
mod post;
mod presses;
mod server;
pub mod table;
mod text;
mod updates;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};

use crate::upload::Upload;

pub use chats::Standing;
pub use fault::Fault;
pub use text::Message;

/// The bot's id.
pub const BOT: i64 = 10_001;
/// Its user name.
pub const BOT_NAME: &str = "WeirBot";

/// The service, for one bot.
#[derive(Debug)]
pub struct FakeTelegram {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    posting: Mutex<Option<JoinHandle<()>>>,
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
    /// Counts requests for updates: a new one ends the one before.
    polls: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    updates: updates::Updates,
    chats: chats::Chats,
    messages: Vec<Message>,
    /// Messages that tests have read.
    read: usize,
    last_message: i64,
    calls: Vec<(String, Value)>,
    faults: HashMap<String, VecDeque<Fault>>,
    webhook: Option<Webhook>,
    drafts: Vec<Value>,
    commands: Vec<Value>,
    files: HashMap<String, Bytes>,
    /// The files in the call that is carried out, by their fields.
    uploaded: HashMap<String, Upload>,
    violations: Vec<String>,
    refused_posts: Vec<u16>,
    presses: presses::Presses,
    left: Vec<i64>,
    /// Messages of people that were deleted, and messages that are too old for that, by chat and number.
    deleted: HashSet<(i64, i64)>,
    aged: HashSet<(i64, i64)>,
}

/// Where updates are posted to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Webhook {
    url: String,
    secret: String,
}

impl FakeTelegram {
    /// Listens at a port that is free, for a bot with this token.
    pub async fn start(token: &str) -> Self {
        let (listener, address) = server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let shared = Arc::new(Shared {
            address,
            token: token.to_owned(),
            state: Mutex::default(),
            changed: watch::Sender::new(0),
            open: watch::Sender::new(true),
            polls: watch::Sender::new(0),
        });
        let task = tokio::spawn(server::serve(Arc::clone(&shared), listener));
        Self {
            shared,
            task,
            posting: Mutex::default(),
        }
    }

    /// The address, as in `api_url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.shared.address)
    }

    /// Lets clients in, or cuts all connections and takes no more.
    pub fn reachable(&self, reachable: bool) {
        self.shared.open.send_replace(reachable);
    }

    /// The next call of this method (`*` is any) meets a fault.
    pub fn fail(&self, method: &str, fault: Fault) {
        let mut state = self.shared.state.lock();
        let faults = state.faults.entry(method.to_owned()).or_default();
        faults.push_back(fault);
    }

    /// Everything that is said in a chat answers for so long that it is too much.
    pub fn flood(&self, chat: i64, time: Duration) {
        let until = tokio::time::Instant::now() + time;
        self.shared.state.lock().chats.flood(chat, until);
    }

    /// Somebody says something; `changes` are laid over the message. Gives the message's id.
    pub fn say(&self, chat: i64, user: i64, text: &str, changes: &Value) -> i64 {
        let mut state = self.shared.state.lock();
        let id = state.message(chat, user, text, changes, "message");
        drop(state);
        self.shared.changed();
        id
    }

    /// A file of this content can be had under this id.
    pub fn file(&self, id: &str, content: &[u8]) {
        let content = Bytes::copy_from_slice(content);
        self.shared
            .state
            .lock()
            .files
            .insert(id.to_owned(), content);
    }

    /// Somebody changes a message.
    pub fn edit(&self, chat: i64, user: i64, id: i64, text: &str) {
        let mut state = self.shared.state.lock();
        let changes = json!({ "message_id": id, "edit_date": 1_790_000_000 });
        state.message(chat, user, text, &changes, "edited_message");
        drop(state);
        self.shared.changed();
    }

    /// An update as it is, under a number of its own.
    pub fn update(&self, update: Value) {
        let mut state = self.shared.state.lock();
        state.updates.push(update, None);
        drop(state);
        self.shared.changed();
    }

    /// Something in the place of an update, exactly as it is.
    pub fn raw(&self, update: Value) {
        self.shared.state.lock().updates.insist(update);
        self.shared.changed();
    }

    /// Delivers the newest update about a person again, although it was confirmed.
    pub fn repeat(&self, user: i64) {
        self.shared.state.lock().updates.repeat(user);
        self.shared.changed();
    }

    /// From now on updates have numbers from here.
    pub fn number_from(&self, id: i64) {
        self.shared.state.lock().updates.number_from(id);
    }

    /// Waits until so many updates were given to the bot, confirmed or not; whether they were in time.
    pub async fn given(&self, wanted: usize, limit: Duration) -> bool {
        let enough = |state: &mut State| (state.updates.given() >= wanted).then_some(());
        self.wait(limit, enough).await.is_some()
    }

    /// Waits until so many updates about a person are confirmed; how many are.
    pub async fn confirmed(&self, user: i64, wanted: usize, limit: Duration) -> usize {
        let enough = |state: &mut State| {
            let count = state.updates.confirmed(user);
            (count >= wanted).then_some(count)
        };
        let found = self.wait(limit, enough).await;
        found.unwrap_or_else(|| self.shared.state.lock().updates.confirmed(user))
    }

    /// The next message that the bot sent and no test has read; `None` if none comes in time.
    pub async fn next_message(&self, limit: Duration) -> Option<Message> {
        self.wait(limit, |state| {
            let message = state.messages.get(state.read).cloned()?;
            state.read += 1;
            Some(message)
        })
        .await
    }

    /// Every message of the bot as it is now.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.shared.state.lock().messages.clone()
    }

    /// Waits until the record of calls holds what is looked for.
    pub async fn called<T>(
        &self,
        limit: Duration,
        found: impl Fn(&[(String, Value)]) -> Option<T>,
    ) -> Option<T> {
        self.wait(limit, |state| found(&state.calls)).await
    }

    /// The parameters of all calls of a method.
    #[must_use]
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let state = self.shared.state.lock();
        let of = state.calls.iter().filter(|(name, _)| name == method);
        of.map(|(_, parameters)| parameters.clone()).collect()
    }

    /// What the drafts showed, in order: the parameters of their calls.
    #[must_use]
    pub fn drafts(&self) -> Vec<Value> {
        self.shared.state.lock().drafts.clone()
    }

    /// What the bot did that the service forbids or punishes. Empty for a good bot.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.shared.state.lock().violations.clone()
    }

    /// Where updates are posted to, if they are: the address and the secret.
    #[must_use]
    pub fn webhook(&self) -> Option<(String, String)> {
        let state = self.shared.state.lock();
        let webhook = state.webhook.clone()?;
        Some((webhook.url, webhook.secret))
    }

    /// Posts updates to the webhook, at this address in the place of its host.
    pub fn post_to(&self, address: SocketAddr) {
        let task = tokio::spawn(post::run(Arc::clone(&self.shared), address));
        if let Some(before) = self.posting.lock().replace(task) {
            before.abort();
        }
    }

    /// Posts something once, as somebody who may not be the service; the status of the answer.
    pub async fn post_once(address: SocketAddr, path: &str, secret: &str, body: &str) -> u16 {
        post::post(address, &format!("http://{address}{path}"), secret, body).await
    }

    /// The statuses of posts that were not taken.
    #[must_use]
    pub fn refused_posts(&self) -> Vec<u16> {
        self.shared.state.lock().refused_posts.clone()
    }

    /// The menus of commands that were set.
    #[must_use]
    pub fn commands(&self) -> Vec<Value> {
        self.shared.state.lock().commands.clone()
    }

    /// Sets a webhook behind the bot's back.
    pub fn set_webhook(&self, url: &str) {
        self.shared.state.lock().webhook = Some(Webhook {
            url: url.to_owned(),
            secret: String::new(),
        });
    }

    /// Somebody else asks for the bot's updates, which ends the bot's own request.
    pub fn poll_beside(&self) {
        self.shared.polls.send_modify(|count| *count += 1);
    }

    /// Somebody's standing in a group.
    pub fn member(&self, chat: i64, user: i64, standing: Standing) {
        self.shared.state.lock().chats.set(chat, user, standing);
    }

    /// The standing of somebody in a group.
    #[must_use]
    pub fn standing(&self, chat: i64, user: i64) -> Option<Value> {
        self.shared.state.lock().chats.member(chat, user)
    }

    /// The topics of a forum are these.
    pub fn topics(&self, chat: i64, topics: &[i64]) {
        self.shared.state.lock().chats.topics(chat, topics);
    }

    /// The groups that the bot left.
    #[must_use]
    pub fn left(&self) -> Vec<i64> {
        self.shared.state.lock().left.clone()
    }

    /// A group is a supergroup of another number from now on. People are told of it only by [`FakeTelegram::update`].
    pub fn migrate(&self, from: i64, to: i64) {
        self.shared.state.lock().chats.migrate(from, to);
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

impl Drop for FakeTelegram {
    fn drop(&mut self) {
        self.task.abort();
        if let Some(posting) = self.posting.lock().take() {
            posting.abort();
        }
        self.shared.open.send_replace(false);
    }
}

impl Shared {
    fn changed(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}
