//! A group that becomes a supergroup while the gateway works for it.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    telegram::{BOT, BOT_NAME, FakeTelegram, Message, Standing},
};

use super::TOKEN;
use crate::gateway::{Gateway, LIMIT, free_port, rows, until};

const BEFORE: i64 = -42;
const AFTER: i64 = -1_007;

/// How updates come.
#[derive(Clone, Copy)]
enum Way {
    Polling,
    Webhook,
}

struct Group {
    fake: FakeTelegram,
    model: FakeModel,
    gateway: Gateway,
    way: Way,
}

impl Group {
    async fn start(way: Way) -> Self {
        let fake = FakeTelegram::start(TOKEN).await;
        let model = FakeModel::start().await;
        let off = json!({
            "account_per_second": 0, "conversation_interval": 0, "group_interval": 0,
        });
        let mut account = json!({
            "token": TOKEN, "api_url": fake.url(), "reconnect": 0.1, "limits": off,
        });
        let address = format!("127.0.0.1:{}", free_port());
        let mut changes = json!({
            "http": { "listen": address, "public_url": format!("http://{address}") },
        });
        match way {
            Way::Polling => account["poll_timeout"] = 1.into(),
            Way::Webhook => account["mode"] = "webhook".into(),
        }
        changes["platforms"] = json!({ "telegram": { "accounts": { "main": account } } });
        let gateway = Gateway::prepare(&model, changes);
        for (user, standing) in [
            (BOT, Standing::Administrator),
            (1, Standing::Creator),
            (2, Standing::Member),
            (3, Standing::Member),
        ] {
            fake.member(BEFORE, user, standing);
        }
        let mut group = Self {
            fake,
            model,
            gateway,
            way,
        };
        group.up().await;
        group
    }

    async fn up(&mut self) {
        self.gateway.up().await;
        if matches!(self.way, Way::Webhook) {
            self.fake.post_to(self.gateway.http());
        }
    }

    fn say(&self, chat: i64, user: i64, text: &str) -> i64 {
        let text = format!("@{BOT_NAME} {text}");
        let mention = json!([{ "type": "mention", "offset": 0, "length": 1 + BOT_NAME.len() }]);
        self.fake
            .say(chat, user, &text, &json!({ "entities": mention }))
    }

    /// Somebody says something about the message of somebody else; the answer.
    async fn about(&self, chat: i64, user: i64, text: &str, (id, of): (i64, i64)) -> String {
        let from = json!({ "id": of, "is_bot": false, "first_name": format!("user {of}") });
        let about = json!({ "reply_to_message": { "message_id": id, "from": from, "text": "x" } });
        self.fake.say(chat, user, text, &about);
        let answer = self.answer().await;
        assert_eq!(answer.chat, chat, "{answer:?}");
        answer.text
    }

    async fn answer(&self) -> Message {
        let message = self.fake.next_message(LIMIT).await;
        message.unwrap_or_else(|| panic!("an answer in time: {}", self.gateway.log()))
    }

    /// Everything that hangs on the conversation is there, and stays when only a refused send tells of the move.
    async fn moves_with_all_that_it_has(mut self) {
        let spam = (self.fake.say(BEFORE, 3, "buy this", &Value::Null), 3);
        let told = self.about(BEFORE, 1, "/warn", spam).await;
        assert!(told.contains("1 of 3"), "{told}");
        let word = (self.fake.say(BEFORE, 2, "a word", &Value::Null), 2);
        let told = self.about(BEFORE, 1, "/role admin", word).await;
        assert!(told.contains("is admin now"), "{told}");
        self.say(BEFORE, 2, "my colour is teal");
        assert_eq!(self.answer().await.text, "re: user 2: my colour is teal");
        // It moves while an answer is written.
        self.model
            .push(Script::answer("first").first(Duration::from_secs(2)));
        self.model.push(Script::hang());
        self.say(BEFORE, 2, "one");
        self.model.wait_for(2).await;
        self.fake.migrate(BEFORE, AFTER);
        let first = self.answer().await;
        assert_eq!((&*first.text, first.chat), ("first", AFTER));
        self.say(AFTER, 2, "two");
        self.model.wait_for(3).await;
        self.say(AFTER, 2, "three");
        let database = self.gateway.database();
        let journaled = "SELECT json_extract(body, '$.t') FROM inbox";
        let comes = || {
            rows(&database, journaled)
                .iter()
                .any(|text| text == "three")
        };
        assert!(until(comes).await, "the third waits");
        let stored = || {
            let cursors = rows(&database, "SELECT cursor FROM account");
            cursors.iter().any(|cursor| cursor.contains("-42>-1007"))
        };
        assert!(
            until(stored).await,
            "{:?}",
            rows(&database, "SELECT * FROM account")
        );
        self.gateway.kill().await;
        self.up().await;
        for text in ["re: user 2: two", "re: user 2: three"] {
            let answer = self.answer().await;
            assert_eq!((&*answer.text, answer.chat), (text, AFTER));
        }
        // The notes of the platform come late and change nothing.
        let chat = |id: i64| json!({ "id": id, "type": "supergroup", "title": "g" });
        for (here, note, there) in [
            (AFTER, "migrate_from_chat_id", BEFORE),
            (BEFORE, "migrate_to_chat_id", AFTER),
        ] {
            self.fake.update(json!({ "message": {
                "message_id": 900_000, "date": 1_790_000_000, "chat": chat(here), note: there,
                "from": { "id": 1, "is_bot": false, "first_name": "user 1" },
            }}));
        }
        let told = self.about(AFTER, 2, "/warn", spam).await;
        assert!(
            told.contains("2 of 3"),
            "his role and the first warning are here: {told}"
        );
        self.say(AFTER, 2, "which colour");
        assert_eq!(self.answer().await.text, "re: user 2: which colour");
        let asked = self.model.requests().pop().expect("a request");
        assert!(asked.body.to_string().contains("my colour is teal"));
        let places = rows(&database, "SELECT DISTINCT conversation FROM inbox");
        assert_eq!(places.len(), 1, "one conversation");
        assert_eq!(self.fake.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_group_moves_with_all_that_it_has() {
    let group = Group::start(Way::Polling).await;
    group.moves_with_all_that_it_has().await;
}

#[tokio::test]
async fn a_group_moves_with_all_that_it_has_behind_a_webhook() {
    let group = Group::start(Way::Webhook).await;
    group.moves_with_all_that_it_has().await;
}
