//! Short ways to say something over OneBot and to wait for what is answered.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use weirgate_testkit::onebot::{FakeOneBot, Reply, Target};

use super::{BOT, LIMIT};

/// Ids of messages that the fake did not number itself; its own begin elsewhere.
static NEXT: AtomicI64 = AtomicI64::new(5_000_000);

/// What tests do with a OneBot implementation.
pub trait Chat {
    /// The next send of the gateway.
    fn answer(&self) -> impl Future<Output = Reply>;
    /// The texts of the next sends, in order.
    fn answers(&self, count: usize) -> impl Future<Output = Vec<String>>;
    /// A friend says something; the text of the next send.
    fn ask(&self, user: u64, text: &str) -> impl Future<Output = String>;
    /// Somebody with a role in a group says something to the bot; gives the message's id.
    fn group_as(&self, role: &str, group: u64, user: u64, text: &str) -> impl Future<Output = i64>;
    /// The message `id` of a friend, with a time of one's own.
    fn private_at(&self, id: i64, user: u64, text: &str, time: i64) -> impl Future<Output = ()>;
}

impl Chat for FakeOneBot {
    async fn answer(&self) -> Reply {
        let reply = self.next_reply(LIMIT).await;
        reply.expect("an answer in time")
    }

    async fn answers(&self, count: usize) -> Vec<String> {
        let mut texts = Vec::new();
        while texts.len() < count {
            match self.next_reply(LIMIT).await {
                Some(reply) => texts.push(reply.text()),
                None => panic!("{count} answers expected, came {texts:?}"),
            }
        }
        texts
    }

    async fn ask(&self, user: u64, text: &str) -> String {
        self.send_private(user, text).await;
        self.answer().await.text()
    }

    async fn group_as(&self, role: &str, group: u64, user: u64, text: &str) -> i64 {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{role} {user}");
        self.raw(json!({
            "time": 1_700_000_000 + id,
            "self_id": BOT,
            "post_type": "message",
            "message_type": "group",
            "sub_type": "normal",
            "message_id": id,
            "user_id": user,
            "group_id": group,
            "sender": { "user_id": user, "nickname": name, "card": "", "role": role },
            "message": [
                { "type": "at", "data": { "qq": BOT.to_string() } },
                { "type": "text", "data": { "text": format!(" {text}") } },
            ],
        }))
        .await;
        id
    }

    async fn private_at(&self, id: i64, user: u64, text: &str, time: i64) {
        let content: Value = json!([{ "type": "text", "data": { "text": text } }]);
        self.raw(json!({
            "time": time,
            "self_id": BOT,
            "post_type": "message",
            "message_type": "private",
            "sub_type": "friend",
            "message_id": id,
            "user_id": user,
            "sender": { "user_id": user, "nickname": "somebody" },
            "message": content,
        }))
        .await;
    }
}

/// The person to whom a send goes; empty for a group.
pub fn person(reply: &Reply) -> &str {
    match &reply.target {
        Target::Private { user, .. } => user,
        Target::Group(_) => "",
    }
}
