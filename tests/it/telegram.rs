//! The adapter for Telegram against the service over real sockets, alone and in the real gateway.

#![cfg(test)]

mod buttons;
mod counterpart;
mod demoted;
mod files;
mod guarded;
mod long;
mod media;
mod moderation;
mod moved;
mod receiving;
mod sending;
mod streaming;
mod topics;
mod webhook;
pub mod whole;

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::task::JoinHandle;
use weirgate_sdk::{
    Adapter, AdapterError, Connection, ConversationKey, Event, InboundMessage, Outgoing,
    ReplyTarget, SendError, Sent, Setup, Stopper, UserKey, answer::Block, answer::Inline,
    settings::Secret,
};
use weirgate_telegram::{Settings, Telegram};
use weirgate_testkit::{ingress::RecordingIngress, telegram::FakeTelegram};

const LIMIT: Duration = Duration::from_secs(10);
pub const TOKEN: &str = "10001:TEST-secret_value_abcdef";
pub const GROUP: i64 = -1_001_234_567_890;

/// A running adapter and the service.
struct Rig {
    fake: FakeTelegram,
    bot: Arc<Telegram>,
    ingress: Arc<RecordingIngress>,
    stopper: Stopper,
    run: JoinHandle<Result<(), AdapterError>>,
}

impl Rig {
    /// Starts the adapter and waits until it is connected.
    async fn start() -> Self {
        let fake = FakeTelegram::start(TOKEN).await;
        let rig = Self::run(fake, RecordingIngress::new());
        rig.is_up().await;
        rig
    }

    fn run(fake: FakeTelegram, ingress: Arc<RecordingIngress>) -> Self {
        let bot = weirgate_telegram::build(setup(), settings(&fake));
        let (stopper, stop) = Stopper::new();
        let run = tokio::spawn({
            let (bot, ingress) = (Arc::clone(&bot), Arc::clone(&ingress));
            async move { bot.run(ingress, stop).await }
        });
        Self {
            fake,
            bot,
            ingress,
            stopper,
            run,
        }
    }

    /// Stops the adapter and starts another one in its place, as after a restart of the gateway.
    async fn again(self) -> Self {
        let Self {
            fake,
            ingress,
            stopper,
            run,
            ..
        } = self;
        stopper.stop();
        run.await.expect("no panic").expect("no error");
        Self::run(fake, ingress)
    }

    async fn is_up(&self) {
        let up = |state: &Connection| *state == Connection::Up;
        let told = self.ingress.connection_is(LIMIT, up).await;
        assert!(told.is_some(), "{:?}", self.ingress.connections());
    }

    /// The next message that the gateway gets.
    async fn heard(&self) -> InboundMessage {
        let message = self.ingress.next_message(LIMIT).await;
        message.expect("a message reaches the gateway")
    }

    async fn say(&self, conversation: &ConversationKey, text: &str) -> Result<Sent, SendError> {
        self.bot.send(self.outgoing(conversation, text)).await
    }

    fn outgoing(&self, conversation: &ConversationKey, text: &str) -> Outgoing {
        let content = vec![Inline::Text(text.to_owned())];
        let rendered = self.bot.render().render(&[Block::Paragraph(content)]);
        Outgoing {
            id: 1,
            part: 0,
            parts: 1,
            conversation: conversation.clone(),
            turn: None,
            answers: Vec::new(),
            rendered,
            reply: None,
            reply_context: None,
            buttons: Vec::new(),
            files: Vec::new(),
            private: false,
        }
    }

    async fn stop(self) {
        self.stopper.stop();
        let ended = tokio::time::timeout(LIMIT, self.run).await;
        let ended = ended.expect("ends soon").expect("no panic");
        assert_eq!(ended, Ok(()));
        assert_eq!(self.fake.violations(), Vec::<String>::new());
    }
}

fn setup() -> Setup {
    Setup {
        account: "main".into(),
        secret: [7; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::default(),
        menu: weirgate_sdk::Menu::default(),
    }
}

fn settings(fake: &FakeTelegram) -> Settings {
    Settings {
        token: Some(Secret::new(TOKEN)),
        api_url: fake.url(),
        reconnect: Duration::from_millis(50),
        poll_timeout: Duration::from_secs(1),
        ..Settings::default()
    }
}

fn place(chat: i64, topic: Option<&str>) -> ConversationKey {
    ConversationKey {
        platform: "telegram".into(),
        account: "main".into(),
        conversation: chat.to_string().into(),
        thread: topic.map(Into::into),
    }
}

fn reply_to(message: &InboundMessage) -> ReplyTarget {
    ReplyTarget {
        message: message.id.clone(),
        author: UserKey {
            platform: "telegram".into(),
            realm: "".into(),
            id: "7".into(),
        },
    }
}

/// Fields of a message in a topic.
fn in_topic(topic: i64) -> serde_json::Value {
    json!({ "message_thread_id": topic, "is_topic_message": true })
}

fn texts(events: &[Event]) -> Vec<String> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Message(message) => Some(message.own_text()),
        _ => None,
    });
    messages.collect()
}
