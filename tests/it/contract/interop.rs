//! The gateway as an agent in the contract suite: two callers, each with a token and a connection.

use std::{
    collections::{HashSet, VecDeque},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;
use weirgate_interop::{Interop, Settings, settings::Listen};
use weirgate_sdk::{Adapter, AdapterError, settings::Secret};
use weirgate_testkit::{
    contract::{LIMIT, Platform, Seen},
    ingress::RecordingIngress,
    lines::LineClient,
};

use super::{Life, odd, setup};

const TOKENS: [&str; 2] = ["token-of-the-first-caller", "token-of-the-second-caller"];

/// An agent and two callers.
pub(super) struct Lines {
    life: Life,
    agent: Arc<Interop>,
    address: SocketAddr,
    callers: Vec<Caller>,
    messages: usize,
    last: [(String, String); 2],
}

/// A connection and what came through it.
struct Caller {
    client: LineClient,
    acknowledged: HashSet<String>,
    read: VecDeque<Seen>,
    pongs: usize,
}

async fn agent_at_any_port() -> (Arc<Interop>, SocketAddr) {
    let caller = |(at, token): (usize, &&str)| (format!("caller{at}"), Secret::new(*token));
    let settings = Settings {
        callers: TOKENS.iter().enumerate().map(caller).collect(),
        acp: Some(Listen::Tcp("127.0.0.1:0".into())),
        ..Settings::default()
    };
    let agent = weirgate_interop::build(setup("desk"), settings);
    let address = agent.bind().await.expect("binds").expect("an address");
    (agent, address)
}

impl Caller {
    async fn connect(address: SocketAddr, token: &str) -> Self {
        let mut client = LineClient::tcp(address).await;
        let greeted = client.answer("auth", json!({ "token": token })).await;
        assert_eq!(greeted, Ok(json!({})));
        let watches = client
            .answer("agent/watch", json!({ "session": "s" }))
            .await;
        assert_eq!(watches, Ok(json!({})));
        Self {
            client,
            acknowledged: HashSet::new(),
            read: VecDeque::new(),
            pongs: 0,
        }
    }

    /// Takes in the next line; whether one came in time.
    async fn take(&mut self, limit: Duration) -> bool {
        let Some(line) = self.client.next_within(limit).await else {
            return false;
        };
        let params = &line["params"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match line["method"].as_str() {
            Some("agent/event") if params["type"] == "accepted" => {
                self.acknowledged.insert(text(&params["message"]));
            }
            Some("agent/message") => self.read.push_back(Seen {
                form: text(&params["text"]),
                visible: text(&params["text"]),
            }),
            _ if line["result"]["agents"].is_array() => self.pongs += 1,
            _ => {}
        }
        true
    }
}

#[async_trait]
impl Platform for Lines {
    const ACKNOWLEDGES: bool = true;
    const ODD_FRAMES: usize = odd::agent_lines().len() + 2;

    async fn start() -> Self {
        let (agent, address) = agent_at_any_port().await;
        let mut life = Life::new();
        life.run(agent.clone()).await;
        Self {
            life,
            agent,
            address,
            callers: Vec::new(),
            messages: 0,
            last: Default::default(),
        }
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        self.agent.clone()
    }

    fn gateway(&self) -> Arc<RecordingIngress> {
        self.life.gateway.clone()
    }

    async fn connect(&mut self) {
        self.callers.clear();
        for token in TOKENS {
            self.callers
                .push(Caller::connect(self.address, token).await);
        }
    }

    async fn disconnect(&mut self) {
        self.callers.clear();
    }

    async fn is_connected(&mut self) -> bool {
        let caller = &mut self.callers[0];
        let pongs = caller.pongs;
        caller.client.ask("agent/list", json!({})).await;
        while caller.pongs == pongs {
            if !caller.take(LIMIT).await {
                return false;
            }
        }
        true
    }

    async fn say(&mut self, person: usize, text: &str) -> String {
        self.messages += 1;
        let message = format!("m{}", self.messages);
        self.last[person] = (message.clone(), text.to_owned());
        self.repeat(person).await;
        message
    }

    async fn repeat(&mut self, person: usize) {
        let (message, task) = &self.last[person];
        let call = json!({ "args": { "task": task }, "stream": true, "session": "s",
            "message": message });
        self.callers[person].client.ask("agent/call", call).await;
    }

    async fn acknowledged(&mut self, person: usize, wanted: usize, limit: Duration) -> usize {
        let until = Instant::now() + limit;
        let caller = &mut self.callers[person];
        while caller.acknowledged.len() < wanted {
            let left = until.saturating_duration_since(Instant::now());
            if !caller.take(left).await {
                break;
            }
        }
        caller.acknowledged.len()
    }

    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen> {
        let until = Instant::now() + limit;
        let caller = &mut self.callers[person];
        loop {
            if let Some(seen) = caller.read.pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            if !caller.take(left).await {
                return None;
            }
        }
    }

    async fn odd(&mut self, number: usize) {
        let client = &mut self.callers[0].client;
        match odd::agent_lines().get(number) {
            Some(line) => client.raw(format!("{line}\n").as_bytes()).await,
            None if number == odd::agent_lines().len() => {
                client.raw(&[0, 159, 146, 150, b'\n']).await;
            }
            None => {
                let deep = format!(r#"{{"id":1,"params":{}"#, "[".repeat(20_000));
                client.raw(format!("{deep}\n").as_bytes()).await;
            }
        }
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let ended = self.life.stop(limit).await;
        self.callers.clear();
        ended
    }

    async fn restart(&mut self) {
        (self.agent, self.address) = agent_at_any_port().await;
        self.life.run(self.agent.clone()).await;
    }
}
