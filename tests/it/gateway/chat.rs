//! Short ways to say something over OneBot and to wait for what is answered.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use weirgate_testkit::onebot::{self, FakeOneBot, Reply, Target};

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
    /// The same, with segments of one's own behind the mention of the bot.
    fn group_segments(
        &self,
        role: &str,
        group: u64,
        user: u64,
        segments: &[Value],
    ) -> impl Future<Output = i64>;
    /// Gives the text of the answer to a group message of a member with this role, who mentions the people
    /// that `text` names as `@id`.
    fn ask_as(&self, role: &str, group: u64, user: u64, text: &str)
    -> impl Future<Output = String>;
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
        self.group_segments(role, group, user, &[onebot::text(&format!(" {text}"))])
            .await
    }

    async fn ask_as(&self, role: &str, group: u64, user: u64, text: &str) -> String {
        let segment = |word: &str| match word.strip_prefix('@').map(str::parse) {
            Some(Ok(id)) => onebot::at(id),
            _ => onebot::text(&format!(" {word} ")),
        };
        let segments: Vec<Value> = text.split(' ').map(segment).collect();
        self.group_segments(role, group, user, &segments).await;
        self.answer().await.text()
    }

    async fn group_segments(&self, role: &str, group: u64, user: u64, segments: &[Value]) -> i64 {
        let mut message = vec![onebot::at(BOT)];
        message.extend_from_slice(segments);
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
            "message": message,
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
