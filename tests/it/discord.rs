//! The adapter for Discord against the platform over real sockets, alone and in the real gateway.

#![cfg(test)]

mod buttons;
mod counterpart;
mod media;
mod moderation;
mod receiving;
mod sending;
mod sessions;
mod slash;
mod streaming;
mod threads;
mod waiting;
pub mod whole;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use weirgate_discord::{Discord, Settings};
use weirgate_sdk::{
    Adapter, AdapterError, Connection, ConversationKey, Event, InboundMessage, Outgoing, SendError,
    Sent, Setup, Stopper, answer::Block, answer::Inline, settings::Secret,
};
use weirgate_testkit::{
    discord::{CHANNEL, FakeDiscord, THREAD, direct},
    ingress::RecordingIngress,
};

const LIMIT: Duration = Duration::from_secs(10);
pub const TOKEN: &str = "MTAwMDE.TEST-x.secret_value";

/// A running adapter and the platform.
struct Rig {
    fake: FakeDiscord,
    bot: Arc<Discord>,
    ingress: Arc<RecordingIngress>,
    stopper: Stopper,
    run: JoinHandle<Result<(), AdapterError>>,
}

impl Rig {
    /// Starts the adapter and waits until it is connected.
    async fn start() -> Self {
        let fake = FakeDiscord::start(TOKEN).await;
        let rig = Self::run(fake, RecordingIngress::new());
        rig.is_up().await;
        rig
    }

    fn run(fake: FakeDiscord, ingress: Arc<RecordingIngress>) -> Self {
        let settings = settings(&fake);
        Self::run_with(fake, ingress, settings)
    }

    fn run_with(fake: FakeDiscord, ingress: Arc<RecordingIngress>, settings: Settings) -> Self {
        Self::of(fake, ingress, weirgate_discord::build(setup(), settings))
    }

    fn of(fake: FakeDiscord, ingress: Arc<RecordingIngress>, bot: Arc<Discord>) -> Self {
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

    async fn is_up(&self) {
        let up = |state: &Connection| *state == Connection::Up;
        let told = self.ingress.connection_is(LIMIT, up).await;
        assert!(told.is_some(), "{:?}", self.ingress.connections());
    }

    async fn is_down(&self) -> String {
        let down = |state: &Connection| matches!(state, Connection::Down(_));
        match self.ingress.connection_is(LIMIT, down).await {
            Some(Connection::Down(why)) => why,
            _ => panic!("{:?}", self.ingress.connections()),
        }
    }

    /// The next message that the gateway gets.
    async fn heard(&self) -> InboundMessage {
        let message = self.ingress.next_message(LIMIT).await;
        message.expect("a message reaches the gateway")
    }

    /// Somebody says something directly.
    fn say(&self, text: &str) -> u64 {
        self.fake.say(direct(7), 7, text, &Value::Null)
    }

    async fn send(&self, conversation: &ConversationKey, id: i64) -> Result<Sent, SendError> {
        self.bot.send(self.outgoing(conversation, id, "x")).await
    }

    fn outgoing(&self, conversation: &ConversationKey, id: i64, text: &str) -> Outgoing {
        let content = vec![Inline::Text(text.to_owned())];
        let rendered = self.bot.render().render(&[Block::Paragraph(content)]);
        Outgoing {
            id,
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

    /// The reason for which the adapter ended by itself.
    async fn failed(self) -> String {
        let ended = tokio::time::timeout(LIMIT, self.run).await;
        match ended.expect("ends").expect("no panic") {
            Err(AdapterError::Config(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    /// Stops the adapter; the platform and the store are left.
    async fn ended(self) -> (FakeDiscord, Arc<RecordingIngress>) {
        self.stopper.stop();
        let ended = tokio::time::timeout(LIMIT, self.run).await;
        let ended = ended.expect("ends soon").expect("no panic");
        assert_eq!(ended, Ok(()));
        assert_eq!(self.fake.violations(), Vec::<String>::new());
        (self.fake, self.ingress)
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

fn settings(fake: &FakeDiscord) -> Settings {
    Settings {
        token: Some(Secret::new(TOKEN)),
        api_url: fake.url(),
        reconnect: Duration::from_millis(50),
        identify_pause: Duration::ZERO,
        ..Settings::default()
    }
}

fn place(channel: u64, thread: Option<u64>) -> ConversationKey {
    ConversationKey {
        platform: "discord".into(),
        account: "main".into(),
        conversation: channel.to_string().into(),
        thread: thread.map(|thread| thread.to_string().into()),
    }
}

fn texts(events: &[Event]) -> Vec<String> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Message(message) => Some(message.own_text()),
        _ => None,
    });
    messages.collect()
}
