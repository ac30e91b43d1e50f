//! The fault script with Discord.

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    discord::{self, FakeDiscord, direct},
    model::FakeModel,
};

use super::{Fault, Gateway, LIMIT, Service};
use crate::gateway::{merge, until};

const TOKEN: &str = "MTAwMDE.TEST-x.secret_value";
const PERSON: u64 = 7;

pub(super) struct Discord(FakeDiscord);

#[async_trait]
impl Service for Discord {
    const IDEMPOTENT: bool = true;

    async fn start(model: &FakeModel, mut changes: Value) -> (Self, Gateway) {
        let fake = FakeDiscord::start(TOKEN).await;
        let off = json!({ "account_per_second": 0, "conversation_interval": 0 });
        let account = json!({ "token": TOKEN, "api_url": fake.url(), "reconnect": 0.1, "call_timeout": 1, "limits": off });
        let accounts = json!({ "discord": { "accounts": { "main": account } } });
        merge(&mut changes, json!({ "platforms": accounts }));
        let gateway = Gateway::start(model, changes).await;
        assert!(until(|| fake.sessions().0 > 0).await, "{}", gateway.log());
        (Self(fake), gateway)
    }

    fn meet(&mut self, fault: Fault) -> bool {
        let told = json!({ "message": "You are being rate limited." });
        let met = match fault {
            Fault::FloodFor => discord::Fault::flood(0.5, false),
            Fault::Flood => discord::Fault::Refused(429, told),
            Fault::Server => discord::Fault::Status(502, "<html>Bad Gateway</html>".into()),
            Fault::Cut => discord::Fault::Broken,
            Fault::Lost => discord::Fault::Lost,
            Fault::Late => discord::Fault::Silent,
            Fault::Garbled => discord::Fault::Status(200, "{\"id\":".into()),
        };
        self.0.fail("send", met);
        true
    }

    async fn say(&mut self, text: &str) {
        self.0.say(direct(PERSON), PERSON, text, &Value::Null);
    }

    async fn repeat(&mut self) {
        self.0.repeat(PERSON);
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        let id = self.0.say(direct(PERSON), PERSON, second, &Value::Null);
        // Between what was said before and that one.
        let earlier = json!({ "id": (id - 1).to_string() });
        self.0.say(direct(PERSON), PERSON, first, &earlier);
    }

    async fn malformed(&mut self) {
        for frame in [
            r#"{"op":0,"t":"MESSAGE_CREATE","d":{"id":5,"channel_id":7}}"#,
            r#"{"op":0,"t":"SOME_NEW_KIND","d":{"a":[1]}}"#,
            r#"{"op":0,"t":"MESSAGE_UPDATE","d":{"id":"2","channel_id":"9"}}"#,
        ] {
            self.0.raw(frame.as_bytes());
        }
    }

    async fn cut(&mut self) {
        self.0.close(4_000);
    }

    async fn seen(&mut self) -> Option<String> {
        Some(self.0.next_message(LIMIT).await?.text)
    }
}

super::script!(session: super::Discord);
