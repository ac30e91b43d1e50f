//! The fault script with a visitor of a site, whose browser is what fails.

use std::collections::VecDeque;

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{model::FakeModel, webchat::WebChatClient};

use super::{Fault, Gateway, LIMIT, Service};

pub(super) struct Site {
    address: std::net::SocketAddr,
    client: WebChatClient,
    messages: u32,
    last: (String, String),
    /// The socket breaks when the message is on its way.
    breaks: bool,
    /// What was seen and is not told yet.
    read: VecDeque<String>,
}

impl Site {
    async fn tell(&mut self, id: &str, text: &str) {
        self.last = (id.to_owned(), text.to_owned());
        self.client.say(id, text).await;
    }

    /// Takes in the next frame; its type.
    async fn take(&mut self) -> Option<String> {
        let frame = self.client.next_within(LIMIT).await?;
        if frame.get("closed").is_some() {
            self.come_back().await;
        }
        if frame["type"] == "text" && frame["final"] == true {
            let text = frame["text"].as_str().unwrap_or_default();
            self.read.push_back(text.to_owned());
        }
        Some(frame["type"].as_str().unwrap_or_default().to_owned())
    }

    /// Comes back as browsers do, and takes what was missed.
    async fn come_back(&mut self) {
        let mut client = WebChatClient::connect(self.address).await;
        client.resume(&self.client).await;
        self.client = client;
    }
}

#[async_trait]
impl Service for Site {
    const IDEMPOTENT: bool = true;

    async fn start(model: &FakeModel, changes: Value) -> (Self, Gateway) {
        let gateway = Gateway::start(model, changes).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        let site = Self {
            address: gateway.http(),
            client,
            messages: 0,
            last: Default::default(),
            breaks: false,
            read: VecDeque::new(),
        };
        (site, gateway)
    }

    fn meet(&mut self, fault: Fault) -> bool {
        // What is sent waits for whoever comes; only the way to him can break.
        self.breaks = matches!(fault, Fault::Cut | Fault::Lost);
        self.breaks
    }

    async fn say(&mut self, text: &str) {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        self.tell(&id, text).await;
        if std::mem::take(&mut self.breaks) {
            // The answer may be faster than the word that the question is stored.
            while self.take().await.as_deref() != Some("ack") {}
            self.come_back().await;
        }
    }

    async fn repeat(&mut self) {
        let (id, text) = self.last.clone();
        self.tell(&id, &text).await;
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        // The order of a visitor is the one in which he is heard.
        self.say(second).await;
        self.say(first).await;
    }

    async fn malformed(&mut self) {
        for frame in [
            "nonsense",
            "[]",
            r#"{"type":7}"#,
            r#"{"type":"text","content":{}}"#,
            r#"{"type":"something_new"}"#,
        ] {
            self.client.send_text(frame).await;
        }
        self.client.send(json!({ "type": "ping" })).await;
    }

    async fn cut(&mut self) {
        self.come_back().await;
    }

    async fn seen(&mut self) -> Option<String> {
        while self.read.is_empty() {
            self.take().await?;
        }
        self.read.pop_front()
    }
}

super::script!(visitor: super::Site);
