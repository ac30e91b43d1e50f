//! The fault script with an official bot of QQ, whose events come over a connection or are posted.

use std::net::SocketAddr;

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    model::FakeModel,
    qq::{self, APP_ID, FakeQq, SECRET, Where},
};

use super::{Fault, Gateway, LIMIT, Service};
use crate::gateway::{merge, until};

const PERSON: u64 = 7;

/// Where events are posted.
const PATH: &str = "/qq/bot";

pub(super) struct Official<const POSTED: bool> {
    fake: FakeQq,
    to: SocketAddr,
    last: (&'static str, Value),
}

impl<const POSTED: bool> Official<POSTED> {
    /// Somebody says something, and the platform tells of it.
    async fn tell(&mut self, text: &str, changes: &Value) {
        if POSTED {
            self.last = self.fake.message(Where::Private, PERSON, text, changes);
            self.post().await;
        } else {
            self.fake.say(Where::Private, PERSON, text, changes);
        }
    }

    /// The platform posts until it is heard.
    async fn post(&self) {
        let (kind, message) = &self.last;
        while self.fake.post(self.to, PATH, kind, message).await.0 != 200 {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl<const POSTED: bool> Service for Official<POSTED> {
    const IDEMPOTENT: bool = true;

    async fn start(model: &FakeModel, mut changes: Value) -> (Self, Gateway) {
        let fake = FakeQq::start().await;
        let mut account = json!({ "official": {
            "app_id": APP_ID, "app_secret": SECRET, "api_url": fake.url(), "token_url": fake.token_url(),
            "reconnect": 0.1, "call_timeout": 5,
            "limits": { "account_per_second": 0, "conversation_interval": 0 },
        }});
        if POSTED {
            account["official"]["connection"] = "webhook".into();
        }
        let accounts = json!({ "qq": { "accounts": { "bot": account } } });
        merge(&mut changes, json!({ "platforms": accounts }));
        let gateway = Gateway::start(model, changes).await;
        let begun = || POSTED || fake.sessions().0 > 0;
        assert!(until(begun).await, "{}", gateway.log());
        let (to, last) = (gateway.http(), ("", Value::Null));
        (Self { fake, to, last }, gateway)
    }

    fn meet(&mut self, fault: Fault) -> bool {
        let met = match fault {
            // What it says of too many calls never says how long.
            Fault::FloodFor => return false,
            Fault::Flood => qq::Fault::Refused(429, json!({ "message": "slow" })),
            Fault::Server => qq::Fault::Refused(502, Value::Null),
            Fault::Cut => qq::Fault::Broken,
            Fault::Lost => qq::Fault::Lost,
            Fault::Late => qq::Fault::Silent,
            Fault::Garbled => qq::Fault::Garbled,
        };
        self.fake.fail("send", met);
        true
    }

    async fn say(&mut self, text: &str) {
        self.tell(text, &Value::Null).await;
    }

    async fn repeat(&mut self) {
        if POSTED {
            self.post().await;
        } else {
            self.fake.repeat(PERSON);
        }
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        // An id says nothing of the order here; the time does.
        let now = qq::seconds();
        for (text, time) in [(second, now), (first, now - 1)] {
            let changes = json!({ "timestamp": time });
            self.tell(text, &changes).await;
        }
    }

    async fn malformed(&mut self) {
        for frame in [
            r#"{"op":0,"t":"C2C_MESSAGE_CREATE","d":{"id":5,"author":[]}}"#,
            r#"{"op":0,"t":"SOME_NEW_KIND","d":{"a":[1]}}"#,
        ] {
            if POSTED {
                let time = qq::seconds().to_string();
                let signature = qq::sign(&time, frame);
                let posted = self.fake.post_raw(self.to, PATH, frame, &time, &signature);
                assert_eq!(posted.await.0, 200, "it is not posted again");
            } else {
                self.fake.raw(frame.as_bytes());
            }
        }
    }

    async fn cut(&mut self) {
        if !POSTED {
            self.fake.close(4_009);
        }
    }

    async fn seen(&mut self) -> Option<String> {
        Some(self.fake.next_message(LIMIT).await?.text)
    }
}

super::script!(session: super::Official<false>, webhook: super::Official<true>);
