//! The fault script with OneBot, whoever connects to whom.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    model::FakeModel,
    onebot::{FakeOneBot, Options, Script},
};

use super::{Fault, Gateway, LIMIT, Service};
use crate::gateway::{BOT, Chat as _, merge};

const PERSON: u64 = 20_001;

/// The three ways.
pub(super) const REVERSE: u8 = 0;
pub(super) const FORWARD: u8 = 1;
pub(super) const HTTP: u8 = 2;

pub(super) struct OneBot<const WAY: u8> {
    fake: FakeOneBot,
    messages: i64,
    last: (i64, String),
    /// When it began, in seconds: a posted event that is older than a while is not taken.
    since: i64,
    /// How many more times something is said before the connection has broken and come back.
    breaks_after: u8,
    /// How often it came back.
    returns: usize,
}

impl<const WAY: u8> OneBot<WAY> {
    async fn tell(&mut self, id: i64, text: &str) {
        self.last = (id, text.to_owned());
        let time = self.since + id;
        self.fake.private_at(id, PERSON, text, time).await;
    }
}

#[async_trait]
impl<const WAY: u8> Service for OneBot<WAY> {
    const IDEMPOTENT: bool = false;

    async fn start(model: &FakeModel, mut changes: Value) -> (Self, Gateway) {
        let options = Options {
            reconnect: Some(Duration::from_millis(50)),
            ..Options::default()
        };
        let off = json!({ "account_per_minute": 0, "conversation_interval": 0 });
        let account = |fake: &FakeOneBot, connection: &str| {
            json!({ "connection": connection, "url": fake.url(), "reconnect": 0.1, "call_timeout": 1,
                "limits": off })
        };
        let (fake, name, account) = match WAY {
            FORWARD => {
                let fake = FakeOneBot::listen(BOT, options.clone()).await;
                let account = account(&fake, "forward");
                (Some(fake), "dialled", account)
            }
            HTTP => {
                let fake = FakeOneBot::listen_http(BOT, options.clone()).await;
                let mut account = account(&fake, "http");
                account["secret"] = "secret-of-events".into();
                (Some(fake), "posted", account)
            }
            _ => (None, "main", json!({ "call_timeout": 1 })),
        };
        let accounts = json!({ "qq": { "accounts": { name: account } } });
        merge(&mut changes, json!({ "platforms": accounts }));
        let gateway = Gateway::start(model, changes).await;
        let fake = match fake {
            Some(fake) => fake,
            None => gateway.onebot_with(options).await,
        };
        if WAY == HTTP {
            let url = format!("http://{}/onebot/posted", gateway.http());
            fake.post_to(&url, "secret-of-events");
        } else {
            assert!(fake.connection_is(true, LIMIT).await);
        }
        let service = Self {
            fake,
            messages: 0,
            last: (0, String::new()),
            breaks_after: 0,
            returns: 0,
            since: i64::try_from(weirgate_testkit::qq::seconds()).unwrap_or_default(),
        };
        (service, gateway)
    }

    fn meet(&mut self, fault: Fault) -> bool {
        let script = match fault {
            // Implementations say of nothing that it is too much, and what they refuse is refused for good.
            Fault::FloodFor | Fault::Flood => return false,
            // There is no server between over a socket.
            Fault::Server if WAY != HTTP => return false,
            Fault::Server => Script::Status(502),
            Fault::Cut => Script::Cut,
            Fault::Garbled => Script::Garbled,
            Fault::Lost => Script::Drop,
            Fault::Late => Script::Silent,
        };
        if matches!(script, Script::Drop | Script::Cut) && WAY != HTTP {
            self.breaks_after = 2;
        }
        self.fake.script(script);
        true
    }

    async fn say(&mut self, text: &str) {
        if self.breaks_after > 0 {
            self.breaks_after -= 1;
        }
        if self.breaks_after == 1 {
            // The question; its answer breaks the connection.
            self.returns += 1;
        } else if self.returns > 0 {
            // What is told into a connection that breaks is told to nobody: this platform keeps nothing.
            let back = self.returns + 1;
            let welcomed = self.fake.was_called("get_version_info", back, LIMIT);
            assert!(welcomed.await, "nobody came back");
        }
        self.messages += 1;
        self.tell(self.messages, text).await;
    }

    async fn repeat(&mut self) {
        let (id, text) = self.last.clone();
        self.tell(id, &text).await;
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        self.messages += 2;
        self.tell(self.messages, second).await;
        self.tell(self.messages - 1, first).await;
    }

    async fn malformed(&mut self) {
        for frame in [
            "nonsense",
            "[]",
            r#"{"post_type":"message","message_type":"private","user_id":[],"message":7}"#,
            r#"{"post_type":"something_new","a":[1]}"#,
        ] {
            self.fake.raw_text(frame).await;
        }
    }

    async fn cut(&mut self) {
        if WAY == HTTP {
            return;
        }
        self.fake.drop_connection();
        assert!(self.fake.connection_is(false, LIMIT).await);
        assert!(self.fake.connection_is(true, LIMIT).await);
    }

    async fn seen(&mut self) -> Option<String> {
        loop {
            let reply = self.fake.next_reply(LIMIT).await?;
            if reply.delivered() {
                return Some(reply.text());
            }
        }
    }
}

super::script!(
    reverse: super::OneBot<{ super::REVERSE }>,
    forward: super::OneBot<{ super::FORWARD }>,
    http: super::OneBot<{ super::HTTP }>,
);
