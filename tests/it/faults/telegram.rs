//! The fault script with Telegram, whose updates the gateway asks for, or which posts them.

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    model::FakeModel,
    telegram::{self, FakeTelegram},
};

use super::{Fault, Gateway, LIMIT, Service};
use crate::gateway::{free_port, merge};

const TOKEN: &str = "10001:TEST-secret_value_abcdef";
const PERSON: i64 = 7;

pub(super) struct Telegram<const POSTED: bool>(FakeTelegram);

#[async_trait]
impl<const POSTED: bool> Service for Telegram<POSTED> {
    const IDEMPOTENT: bool = false;

    async fn start(model: &FakeModel, mut changes: Value) -> (Self, Gateway) {
        let fake = FakeTelegram::start(TOKEN).await;
        let mut account = json!({
            "token": TOKEN, "api_url": fake.url(), "reconnect": 0.1, "call_timeout": 1,
            "limits": { "account_per_second": 0, "conversation_interval": 0 },
        });
        if POSTED {
            account["mode"] = "webhook".into();
            let address = format!("127.0.0.1:{}", free_port());
            let http = json!({ "listen": address, "public_url": format!("http://{address}") });
            merge(&mut changes, json!({ "http": http }));
        } else {
            account["poll_timeout"] = 1.into();
        }
        let accounts = json!({ "telegram": { "accounts": { "main": account } } });
        merge(&mut changes, json!({ "platforms": accounts }));
        let gateway = Gateway::start(model, changes).await;
        if POSTED {
            fake.post_to(gateway.http());
        }
        (Self(fake), gateway)
    }

    fn meet(&mut self, fault: Fault) -> bool {
        let met = match fault {
            Fault::FloodFor => telegram::Fault::Flood(1),
            Fault::Flood => telegram::Fault::refused(429, "Too Many Requests"),
            Fault::Server => telegram::Fault::Status(502, "<html>Bad Gateway</html>".into()),
            Fault::Cut => telegram::Fault::Broken,
            Fault::Lost => telegram::Fault::Lost,
            Fault::Late => telegram::Fault::Silent,
            Fault::Garbled => telegram::Fault::Status(200, "{\"ok\":tr".into()),
        };
        self.0.fail("sendMessage", met);
        true
    }

    async fn say(&mut self, text: &str) {
        self.0.say(PERSON, PERSON, text, &Value::Null);
    }

    async fn repeat(&mut self) {
        self.0.repeat(PERSON);
    }

    async fn say_swapped(&mut self, first: &str, second: &str) {
        let id = self
            .0
            .say(PERSON, PERSON, second, &json!({ "message_id": 901 }));
        self.0
            .say(PERSON, PERSON, first, &json!({ "message_id": id - 1 }));
    }

    async fn malformed(&mut self) {
        for update in [
            json!("nonsense"),
            json!({ "update_id": 4, "some_new_kind": { "a": [1] } }),
            json!({ "update_id": 6, "message": { "message_id": "1", "chat": { "id": 1.5 }, "text": 7 } }),
        ] {
            self.0.raw(update);
        }
    }

    async fn cut(&mut self) {
        self.0.reachable(false);
        self.0.reachable(true);
    }

    async fn seen(&mut self) -> Option<String> {
        Some(self.0.next_message(LIMIT).await?.text)
    }
}

super::script!(polling: super::Telegram<false>, webhook: super::Telegram<true>);
