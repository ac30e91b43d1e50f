//! A OneBot v11 implementation, reached in each of the three ways: it connects to the gateway, the gateway
//! connects to it, or both post to each other.
//!
//! Owns real sockets, what people say over them, and a record of every send it was asked for. It parses CQ
//! strings as real implementations do, so that a gateway which sends strings is found out. Everything is
//! on loopback and ends when the handle is dropped.

mod api;
mod client;
mod events;
mod history;
mod http;
mod media;
mod members;
mod server;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinHandle,
};
use tokio_tungstenite::tungstenite::Message;

pub use api::{Reply, Script, Target};
pub use members::Kicks;
pub use server::Door;

/// The most sends that are kept on record; later ones are counted only.
const MAX_REPLIES: usize = 200_000;

/// How the fake behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// `X-Client-Role`: `Universal`, `Event` or `API`.
    pub role: &'static str,
    /// The token, sent as `Authorization: Bearer`.
    pub token: Option<String>,
    /// Connect again so long after the connection ended; `None` stays away.
    pub reconnect: Option<Duration>,
    /// Write messages as CQ strings instead of arrays.
    pub strings: bool,
    /// The program that it says it is.
    pub app_name: &'static str,
    /// It shows people that the bot is typing.
    pub typing: bool,
    /// Further headers, which replace those of the same name; an empty value leaves one out.
    pub headers: Vec<(&'static str, String)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            role: "Universal",
            token: None,
            reconnect: None,
            strings: false,
            app_name: "fake",
            typing: false,
            headers: Vec::new(),
        }
    }
}

/// The gateway did not take the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// It answered with this HTTP status.
    Status(u16),
    /// There was no connection.
    Failed(String),
}

/// One OneBot implementation with one bot.
#[derive(Debug)]
pub struct FakeOneBot {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    url: String,
    self_id: u64,
    options: Options,
    last_id: AtomicI64,
    replies: Mutex<Replies>,
    replied: Notify,
    script: Mutex<VecDeque<Script>>,
    /// The way to the socket; `None` while not connected.
    socket: watch::Sender<Option<mpsc::Sender<Message>>>,
    drop_now: Notify,
    /// What a client meets, if this is the server.
    doors: Mutex<VecDeque<Door>>,
    open: watch::Sender<bool>,
    /// Where events are posted, if they are.
    post: Mutex<Option<http::Target>>,
    /// Messages that the platform keeps, oldest first.
    history: Mutex<Vec<Value>>,
    /// What people said of late and the gateway was told.
    said: Mutex<VecDeque<Value>>,
    groups: Mutex<members::Groups>,
    media: Mutex<media::Files>,
    /// The actions that were called, in order.
    called: Mutex<Vec<String>>,
    /// What answered requests, in order.
    requests: Mutex<Vec<Value>>,
    /// To whom it showed that the bot is typing, in order.
    typing: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct Replies {
    all: Vec<Reply>,
    next: usize,
    total: u64,
}

impl FakeOneBot {
    /// Connects as a bot, for both calls and events, and announces itself.
    ///
    /// # Errors
    /// [`Refused`] if the gateway does not take the connection.
    pub async fn connect(url: &str, self_id: u64, token: Option<&str>) -> Result<Self, Refused> {
        let options = Options {
            token: token.map(str::to_owned),
            ..Options::default()
        };
        Self::connect_with(url, self_id, options).await
    }

    /// Connects with further options.
    ///
    /// # Errors
    /// [`Refused`] if the gateway does not take the first connection.
    pub async fn connect_with(url: &str, self_id: u64, options: Options) -> Result<Self, Refused> {
        let shared = Shared::new(url.to_owned(), self_id, options);
        let socket = client::open(&shared).await?;
        let task = tokio::spawn(client::serve(Arc::clone(&shared), socket));
        let fake = Self { shared, task };
        // The task publishes the socket first thing; without one there is nothing to wait for.
        fake.connection_is(true, Duration::from_secs(5)).await;
        Ok(fake)
    }

    /// Listens for WebSockets of the gateway; each new connection replaces the one before.
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn listen(self_id: u64, options: Options) -> Self {
        let (listener, address) = server::bind().await;
        let shared = Shared::new(format!("ws://{address}/"), self_id, options);
        let task = tokio::spawn(server::serve(Arc::clone(&shared), listener));
        Self { shared, task }
    }

    /// Listens for calls by HTTP. Events go nowhere until [`FakeOneBot::post_to`].
    ///
    /// # Panics
    /// If no port can be had.
    pub async fn listen_http(self_id: u64, options: Options) -> Self {
        let (listener, address) = server::bind().await;
        let shared = Shared::new(format!("http://{address}"), self_id, options);
        let task = tokio::spawn(http::serve(Arc::clone(&shared), listener));
        Self { shared, task }
    }

    /// Posts events from now on to `http://ADDRESS/PATH`, signed with the secret.
    ///
    /// # Panics
    /// If the address is not of that form.
    pub fn post_to(&self, url: &str, secret: &str) {
        *self.shared.post.lock() = Some(http::Target::new(url, secret));
    }

    /// Posts a body with this signature; gives the status of the answer, 0 if there is none.
    ///
    /// # Panics
    /// If there is no address to post to.
    pub async fn post(&self, body: &str, signature: Option<&str>) -> u16 {
        let target = self.shared.post.lock().clone();
        let target = target.expect("post_to() was called");
        http::post(&target, self.shared.self_id, body, signature).await
    }

    /// The signature of a body.
    ///
    /// # Panics
    /// If there is no address to post to.
    #[must_use]
    pub fn sign(&self, body: &str) -> String {
        let target = self.shared.post.lock().clone();
        target.expect("post_to() was called").sign(body)
    }

    /// Where the gateway reaches it, if this is the server.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// What the next clients meet, one after the other; after that they are let in.
    pub fn doors(&self, doors: impl IntoIterator<Item = Door>) {
        self.shared.doors.lock().extend(doors);
    }

    /// Whether clients are answered at all. While not, their connections are taken and nothing is said, as
    /// by a machine that is busy or gone; when it begins to answer again those are broken.
    pub fn reachable(&self, open: bool) {
        self.shared.open.send_replace(open);
    }

    /// The platform keeps a message that nobody was told of; gives its id.
    pub fn past(&self, group: Option<u64>, user: u64, text: &str, seconds_ago: u64) -> i64 {
        history::keep(&self.shared, group, user, text, seconds_ago)
    }

    /// Somebody is in a group, as `owner`, `admin` or `member`, or no more.
    pub fn member(&self, group: u64, user: u64, role: Option<&'static str>) {
        self.shared.groups.lock().set(group, user, role);
    }

    /// Whether somebody is in a group.
    #[must_use]
    pub fn is_member(&self, group: u64, user: u64) -> bool {
        self.shared.groups.lock().has(group, user)
    }

    /// What happens at kicks from now on.
    pub fn kicks(&self, kicks: Kicks) {
        self.shared.groups.lock().kicks = kicks;
    }

    /// The actions that were called so far, in order.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        self.shared.called.lock().clone()
    }

    /// How requests were answered so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().clone()
    }

    /// Waits until an action was called so many times; whether it was in time.
    pub async fn was_called(&self, action: &str, times: usize, limit: Duration) -> bool {
        let wait = async {
            loop {
                let called = self.shared.replied.notified();
                let so_far = self.called();
                if so_far.iter().filter(|name| *name == action).count() >= times {
                    return;
                }
                called.await;
            }
        };
        tokio::time::timeout(limit, wait).await.is_ok()
    }

    /// A friend writes to the bot; gives the message's id.
    pub async fn send_private(&self, user: u64, text: &str) -> i64 {
        let id = self.shared.new_id();
        self.raw(events::private(
            &self.shared,
            id,
            user,
            &[events::text(text)],
        ))
        .await;
        id
    }

    /// A member writes in a group, mentioning the bot or not; gives the message's id.
    pub async fn send_group(&self, group: u64, user: u64, text: &str, at_bot: bool) -> i64 {
        let mut segments = Vec::new();
        if at_bot {
            segments.push(events::at(self.shared.self_id));
            segments.push(events::text(&format!(" {text}")));
        } else {
            segments.push(events::text(text));
        }
        self.send_segments(Some(group), user, &segments).await
    }

    /// Somebody writes segments, in a group or in private; gives the message's id.
    pub async fn send_segments(&self, group: Option<u64>, user: u64, segments: &[Value]) -> i64 {
        let id = self.shared.new_id();
        let event = match group {
            Some(group) => events::group(&self.shared, id, group, user, segments),
            None => events::private(&self.shared, id, user, segments),
        };
        history::heard(&self.shared, &event);
        self.raw(event).await;
        id
    }

    /// A message is recalled.
    pub async fn recall(&self, group: Option<u64>, user: u64, message: i64) {
        self.raw(events::recall(&self.shared, group, user, message))
            .await;
    }

    /// Sends any frame. Waits while there is no connection and a new one is to come; without one the
    /// frame is lost, as OneBot loses events.
    pub async fn raw(&self, frame: Value) {
        self.raw_text(&frame.to_string()).await;
    }

    /// Sends any text as a frame, like [`FakeOneBot::raw`].
    pub async fn raw_text(&self, frame: &str) {
        let target = self.shared.post.lock().clone();
        if let Some(target) = target {
            let signature = target.sign(frame);
            http::post(&target, self.shared.self_id, frame, Some(&signature)).await;
            return;
        }
        loop {
            let Some(socket) = self.shared.connected().await else {
                return;
            };
            if socket.send(Message::text(frame)).await.is_ok() {
                return;
            }
            if self.shared.options.reconnect.is_none() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Announces itself, as implementations do after connecting.
    pub async fn lifecycle(&self) {
        self.raw(events::lifecycle(&self.shared)).await;
    }

    /// A heartbeat that announces the next one.
    pub async fn heartbeat(&self, interval: Duration, online: bool) {
        self.raw(events::heartbeat(&self.shared, interval, online))
            .await;
    }

    /// What happens at the next send that has no script yet.
    pub fn script(&self, script: Script) {
        self.shared.script.lock().push_back(script);
    }

    /// The next send that this method did not return yet, in the order of arrival; `None` if none comes
    /// in time.
    pub async fn next_reply(&self, limit: Duration) -> Option<Reply> {
        let wait = async {
            loop {
                let replied = self.shared.replied.notified();
                {
                    let mut replies = self.shared.replies.lock();
                    if let Some(reply) = replies.all.get(replies.next).cloned() {
                        replies.next += 1;
                        return reply;
                    }
                }
                replied.await;
            }
        };
        tokio::time::timeout(limit, wait).await.ok()
    }

    /// Every send so far, in the order of arrival (the first 200,000).
    #[must_use]
    pub fn replies(&self) -> Vec<Reply> {
        self.shared.replies.lock().all.clone()
    }

    /// How many sends came so far.
    #[must_use]
    pub fn reply_count(&self) -> u64 {
        self.shared.replies.lock().total
    }

    /// Waits until `count` sends came; whether they did in time.
    pub async fn replied(&self, count: u64, limit: Duration) -> bool {
        let wait = async {
            loop {
                let replied = self.shared.replied.notified();
                if self.reply_count() >= count {
                    return;
                }
                replied.await;
            }
        };
        tokio::time::timeout(limit, wait).await.is_ok()
    }

    /// Breaks the connection without a word.
    pub fn drop_connection(&self) {
        self.shared.drop_now.notify_one();
    }

    /// Whether it is connected now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.shared.socket.borrow().is_some()
    }

    /// Waits until it is connected or not; whether that came in time.
    pub async fn connection_is(&self, connected: bool, limit: Duration) -> bool {
        let mut socket = self.shared.socket.subscribe();
        let wait = socket.wait_for(|socket| socket.is_some() == connected);
        matches!(tokio::time::timeout(limit, wait).await, Ok(Ok(_)))
    }

    /// The bot's id.
    #[must_use]
    pub fn self_id(&self) -> u64 {
        self.shared.self_id
    }
}

impl Drop for FakeOneBot {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn new(url: String, self_id: u64, options: Options) -> Arc<Self> {
        Arc::new(Self {
            url,
            self_id,
            options,
            last_id: AtomicI64::new(1_000),
            replies: Mutex::default(),
            replied: Notify::new(),
            script: Mutex::default(),
            socket: watch::Sender::new(None),
            drop_now: Notify::new(),
            doors: Mutex::default(),
            open: watch::Sender::new(true),
            post: Mutex::default(),
            history: Mutex::default(),
            said: Mutex::default(),
            groups: Mutex::default(),
            media: Mutex::default(),
            called: Mutex::default(),
            requests: Mutex::default(),
            typing: Mutex::default(),
        })
    }

    fn new_id(&self) -> i64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn record(&self, reply: Reply) {
        let mut replies = self.replies.lock();
        replies.total += 1;
        if replies.all.len() < MAX_REPLIES {
            replies.all.push(reply);
        }
        drop(replies);
        self.replied.notify_waiters();
    }

    /// The way to the socket, now or once it is connected again.
    async fn connected(&self) -> Option<mpsc::Sender<Message>> {
        if self.options.reconnect.is_none() {
            return self.socket.borrow().clone();
        }
        let mut socket = self.socket.subscribe();
        let found = socket.wait_for(Option::is_some).await.ok()?;
        found.clone()
    }
}

/// A text segment, for [`FakeOneBot::send_segments`].
#[must_use]
pub fn text(text: &str) -> Value {
    events::text(text)
}

/// A mention, for [`FakeOneBot::send_segments`].
#[must_use]
pub fn at(user: u64) -> Value {
    events::at(user)
}

/// A reply, for [`FakeOneBot::send_segments`].
#[must_use]
pub fn reply_to(message: i64) -> Value {
    json!({ "type": "reply", "data": { "id": message.to_string() } })
}
