//! The QQ adapter against OneBot implementations over real sockets, in each of the three ways.

#![cfg(test)]

mod connections;
mod counterpart;
mod endings;
mod extras;
mod forward;
mod http;
mod media;
mod missed;
mod moderation;
mod official;
pub mod official_whole;
mod outcomes;
mod requests;
mod sharing;
mod whole;
mod words;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::task::JoinHandle;
use weirgate_qq::{Qq, Settings, settings::Transport};
use weirgate_sdk::{
    Adapter, AdapterError, Connection, ConversationKey, Event, Outgoing, ReplyTarget, SendError,
    Sent, Setup, Stop, Stopper, UserKey, answer::Rendered,
};
use weirgate_testkit::{
    ingress::RecordingIngress,
    onebot::{FakeOneBot, Options, Refused},
};

const LIMIT: Duration = Duration::from_secs(10);
const BOT: u64 = 10_001;

/// A running adapter.
struct Rig {
    qq: Arc<Qq>,
    ingress: Arc<RecordingIngress>,
    stopper: Stopper,
    run: JoinHandle<Result<(), AdapterError>>,
    url: String,
}

impl Rig {
    async fn start(settings: Settings) -> Self {
        let qq = adapter(settings);
        let address = qq.bind().await.expect("binds");
        let mut rig = Self::run(qq, RecordingIngress::new());
        rig.url = format!("ws://{address}/onebot/v11/ws");
        rig.is(&Connection::Waiting).await;
        rig
    }

    /// Runs an account that connects by itself, or is reached by HTTP.
    fn reach(settings: Settings) -> Self {
        Self::run(adapter(settings), RecordingIngress::new())
    }

    fn run(qq: Arc<Qq>, ingress: Arc<RecordingIngress>) -> Self {
        let (stopper, stop) = Stopper::new();
        let run = tokio::spawn(run(Arc::clone(&qq), Arc::clone(&ingress), stop));
        Self {
            qq,
            ingress,
            stopper,
            run,
            url: String::new(),
        }
    }

    async fn connect(&self) -> FakeOneBot {
        let fake = FakeOneBot::connect(&self.url, BOT, None)
            .await
            .expect("connects");
        self.is(&Connection::Up).await;
        fake
    }

    async fn connect_with(&self, options: Options) -> Result<FakeOneBot, Refused> {
        FakeOneBot::connect_with(&self.url, BOT, options).await
    }

    async fn is(&self, wanted: &Connection) {
        let found = self
            .ingress
            .connection_is(LIMIT, |state| state == wanted)
            .await;
        assert!(
            found.is_some(),
            "{wanted:?} in {:?}",
            self.ingress.connections()
        );
    }

    async fn is_down(&self) -> String {
        let down = |state: &Connection| matches!(state, Connection::Down(_));
        match self.ingress.connection_is(LIMIT, down).await {
            Some(Connection::Down(why)) => why,
            _ => panic!("{:?}", self.ingress.connections()),
        }
    }

    async fn say(&self, conversation: &str, text: &str) -> Result<Sent, SendError> {
        self.qq.send(outgoing(conversation, text, None)).await
    }

    async fn stop(self) {
        self.stopper.stop();
        let ended = tokio::time::timeout(LIMIT, self.run)
            .await
            .expect("ends soon");
        ended.expect("no panic").expect("no error");
    }
}

async fn run(qq: Arc<Qq>, ingress: Arc<RecordingIngress>, stop: Stop) -> Result<(), AdapterError> {
    qq.run(ingress, stop).await
}

fn settings() -> Settings {
    listening(SocketAddr::from(([127, 0, 0, 1], 0)))
}

fn listening(listen: SocketAddr) -> Settings {
    with(Transport::Reverse { listen })
}

fn with(transport: Transport) -> Settings {
    Settings {
        transport,
        call_timeout: LIMIT,
        reconnect: Duration::from_millis(50),
        ..Settings::default()
    }
}

fn adapter(settings: Settings) -> Arc<Qq> {
    let setup = Setup {
        account: "main".into(),
        secret: [0; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::default(),
        menu: weirgate_sdk::Menu::default(),
    };
    weirgate_qq::build(setup, settings)
}

fn outgoing(conversation: &str, text: &str, reply: Option<(&str, &str)>) -> Outgoing {
    Outgoing {
        id: 1,
        part: 0,
        parts: 1,
        conversation: ConversationKey {
            platform: "qq".into(),
            account: "main".into(),
            conversation: conversation.into(),
            thread: None,
        },
        turn: None,
        answers: Vec::new(),
        rendered: Rendered {
            text: text.into(),
            marks: Vec::new(),
        },
        reply: reply.map(|(message, author)| ReplyTarget {
            message: message.into(),
            author: UserKey {
                platform: "qq".into(),
                realm: "".into(),
                id: author.into(),
            },
        }),
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

fn texts(events: &[Event]) -> Vec<String> {
    let messages = events.iter().filter_map(|event| match event {
        Event::Message(message) => Some(message.own_text()),
        _ => None,
    });
    messages.collect()
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}
