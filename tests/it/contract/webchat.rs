//! Web chat in the contract suite: a site and two visitors.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};
use weirgate_sdk::{Adapter, AdapterError, MessageId};
use weirgate_testkit::{
    contract::{LIMIT, Platform, Presses, Seen},
    ingress::RecordingIngress,
    webchat::WebChatClient,
};
use weirgate_webchat::WebChat;

use super::{Life, odd, setup};

/// A site and two visitors.
pub(super) struct Site {
    life: Life,
    chat: Arc<WebChat>,
    address: SocketAddr,
    visitors: Vec<Visitor>,
    tokens: [Option<String>; 2],
    messages: usize,
    last: [(String, String); 2],
}

/// A socket and what came through it.
struct Visitor {
    client: WebChatClient,
    acknowledged: HashSet<String>,
    read: VecDeque<Seen>,
    files: VecDeque<Vec<usize>>,
    /// The buttons under each answer that has some, as label and id.
    buttons: HashMap<String, Vec<(String, String)>>,
    closed: bool,
}

async fn site_at_any_port() -> (Arc<WebChat>, SocketAddr) {
    let chat = weirgate_webchat::build(setup("site"), weirgate_webchat::Settings::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("an address");
    let router = chat.router(true);
    tokio::spawn(async move { axum::serve(listener, router).await });
    (chat, address)
}

impl Visitor {
    /// Takes in the next frame; its type, if one came in time.
    async fn take(&mut self, limit: Duration) -> Option<String> {
        if self.closed {
            return None;
        }
        let frame = self.client.next_within(limit).await?;
        self.closed = frame.get("closed").is_some();
        let text = |name: &str| frame[name].as_str().unwrap_or_default().to_owned();
        match frame["type"].as_str() {
            Some("ack") => {
                self.acknowledged.insert(text("messageId"));
            }
            Some("text") if frame["final"] == true && frame["files"].is_array() => {
                let files = frame["files"].as_array().into_iter().flatten();
                let sizes = files.filter_map(|file| file["size"].as_u64()?.try_into().ok());
                self.files.push_back(sizes.collect());
            }
            Some("settled") => {
                self.buttons.remove(&frame["id"].to_string());
            }
            Some("text") if frame["final"] == true => {
                let buttons = frame["buttons"].as_array().into_iter().flatten();
                let named =
                    |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
                let buttons = buttons.map(|it| (named(it, "label"), named(it, "id")));
                self.buttons
                    .insert(frame["id"].to_string(), buttons.collect());
                self.read.push_back(Seen {
                    form: text("html"),
                    visible: text("text"),
                });
            }
            _ => {}
        }
        Some(text("type"))
    }
}

#[async_trait]
impl Platform for Site {
    const ACKNOWLEDGES: bool = true;
    const NAMES_FILES: bool = true;
    const ODD_FRAMES: usize = odd::site_frames().len() + 2;

    async fn start() -> Self {
        let (chat, address) = site_at_any_port().await;
        let mut life = Life::new();
        life.run(chat.clone()).await;
        let (tokens, last) = Default::default();
        Self {
            life,
            chat,
            address,
            visitors: vec![],
            tokens,
            messages: 0,
            last,
        }
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        self.chat.clone()
    }

    fn gateway(&self) -> Arc<RecordingIngress> {
        self.life.gateway.clone()
    }

    async fn connect(&mut self) {
        self.visitors.clear();
        for token in &mut self.tokens {
            let mut client = WebChatClient::connect(self.address).await;
            client.enter(token.as_deref()).await;
            *token = Some(client.token.clone());
            let (acknowledged, read) = Default::default();
            self.visitors.push(Visitor {
                client,
                acknowledged,
                read,
                files: VecDeque::new(),
                buttons: HashMap::new(),
                closed: false,
            });
        }
    }

    async fn disconnect(&mut self) {
        self.visitors.clear();
    }

    async fn is_connected(&mut self) -> bool {
        let visitor = &mut self.visitors[0];
        visitor.client.send(json!({ "type": "ping" })).await;
        loop {
            match visitor.take(LIMIT).await.as_deref() {
                Some("pong") => return true,
                Some(_) if !visitor.closed => {}
                _ => return false,
            }
        }
    }

    async fn say(&mut self, person: usize, text: &str) -> String {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        self.last[person] = (id.clone(), text.to_owned());
        self.repeat(person).await;
        id
    }

    async fn repeat(&mut self, person: usize) {
        let (id, text) = &self.last[person];
        self.visitors[person].client.say(id, text).await;
    }

    async fn acknowledged(&mut self, person: usize, wanted: usize, limit: Duration) -> usize {
        let until = Instant::now() + limit;
        let visitor = &mut self.visitors[person];
        while visitor.acknowledged.len() < wanted {
            let left = until.saturating_duration_since(Instant::now());
            if visitor.take(left).await.is_none() {
                break;
            }
        }
        visitor.acknowledged.len()
    }

    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen> {
        let until = Instant::now() + limit;
        let visitor = &mut self.visitors[person];
        loop {
            if let Some(seen) = visitor.read.pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            visitor.take(left).await?;
        }
    }

    async fn seen_files(&mut self, person: usize, limit: Duration) -> Option<Vec<usize>> {
        let until = Instant::now() + limit;
        let visitor = &mut self.visitors[person];
        loop {
            if let Some(seen) = visitor.files.pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            visitor.take(left).await?;
        }
    }

    async fn odd(&mut self, number: usize) {
        let client = &mut self.visitors[0].client;
        match odd::site_frames().get(number) {
            Some(frame) => client.send_text(frame).await,
            None if number == odd::site_frames().len() => {
                client.send_binary(vec![0, 159, 146, 150]).await;
            }
            None => {
                let deep = "[".repeat(20_000);
                client
                    .send_text(&format!(r#"{{"type":"text","content":{deep}"#))
                    .await;
            }
        }
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        // Browsers answer the close of their sockets by themselves; so do these, once they read.
        let mut visitors = std::mem::take(&mut self.visitors);
        let reading = tokio::spawn(async move {
            for visitor in &mut visitors {
                while visitor.take(LIMIT).await.is_some() {}
            }
        });
        let ended = self.life.stop(limit).await;
        reading.abort();
        ended
    }

    async fn restart(&mut self) {
        (self.chat, self.address) = site_at_any_port().await;
        self.life.run(self.chat.clone()).await;
    }

    fn presses(&mut self) -> Option<&mut dyn Presses> {
        Some(self)
    }
}

#[async_trait]
impl Presses for Site {
    async fn shown(&mut self, person: usize, message: &MessageId) -> Vec<(String, String)> {
        let visitor = &mut self.visitors[person];
        while visitor.take(Duration::from_millis(20)).await.is_some() {}
        let shown = visitor.buttons.get(message.as_str());
        shown.cloned().unwrap_or_default()
    }

    async fn press(&mut self, person: usize, message: &MessageId, id: &str) {
        self.messages += 1;
        let answer: i64 = message.as_str().parse().expect("a number");
        let press = json!({
            "type": "press", "messageId": format!("m{}", self.messages), "id": answer, "button": id,
        });
        self.visitors[person].client.send(press).await;
    }

    async fn told(&mut self, person: usize, limit: Duration) -> Option<String> {
        // Nobody else reads the conversation.
        Some(self.seen(person, limit).await?.visible)
    }
}
