//! The fault script with an official bot of QQ.

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    model::FakeModel,
    qq::{self, APP_ID, FakeQq, SECRET, Where},
};

use super::{Fault, Gateway, LIMIT, Service};
use crate::gateway::{merge, until};

const PERSON: u64 = 7;

pub(super) struct Official(FakeQq);

#[async_trait]
impl Service for Official {
    const IDEMPOTENT: bool = true;

    async fn start(model: &FakeModel, mut changes: Value) -> (Self, Gateway) {
        let fake = FakeQq::start().await;
        let account = json!({ "official": {
            "app_id": APP_ID, "app_secret": SECRET, "api_url": fake.url(), "token_url": fake.token_url(),
            "reconnect": 0.1, "call_timeout": 5,
            "limits": { "account_per_second": 0, "conversation_interval": 0 },
        }});
        let accounts = json!({ "qq": { "accounts": { "bot": account } } });
        merge(&mut changes, json!({ "platforms": accounts }));
        let gateway = Gateway::start(model, changes).await;
        assert!(until(|| fake.sessions().0 > 0).await, "{}", gateway.log());
        (Self(fake), gateway)
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
        self.0.fail("send", met);
        true
    }

    async fn say(&mut self, text: &str) {
        self.0.say(Where::Private, PERSON, text, &Value::Null);
    }

    async fn repeat(&mut self) {
        self.0.repeat(PERSON);
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        // An id says nothing of the order here; the time does.
        let now = qq::seconds();
        for (text, time) in [(second, now), (first, now - 1)] {
            let changes = json!({ "timestamp": time });
            self.0.say(Where::Private, PERSON, text, &changes);
        }
    }

    async fn malformed(&mut self) {
        for frame in [
            r#"{"op":0,"t":"C2C_MESSAGE_CREATE","d":{"id":5,"author":[]}}"#,
            r#"{"op":0,"t":"SOME_NEW_KIND","d":{"a":[1]}}"#,
        ] {
            self.0.raw(frame.as_bytes());
        }
    }

    async fn cut(&mut self) {
        self.0.close(4_009);
    }

    async fn seen(&mut self) -> Option<String> {
        Some(self.0.next_message(LIMIT).await?.text)
    }
}

super::script!(session: super::Official);
