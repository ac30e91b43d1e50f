//! Every adapter passes the contract suite against a real peer, QQ whoever connects to whom.

#![cfg(test)]

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle, time::Instant};
use weirgate_qq::{Qq, settings::Transport};
use weirgate_sdk::{Adapter, AdapterError, Connection, Ingress, Setup, Stopper, settings::Secret};
use weirgate_testkit::{
    contract::{Ground, LIMIT, Platform, Seen},
    ingress::RecordingIngress,
    onebot::{FakeOneBot, Options, Target},
};

mod discord;
mod interop;
mod odd;
mod onebot_ground;
mod qq_official;
mod telegram;
mod webchat;

mod discord_session {
    weirgate_testkit::contract_suite!(super::discord::Session);
}

mod qq {
    weirgate_testkit::contract_suite!(super::OneBot<{ super::REVERSE }>);
}

mod qq_forward {
    weirgate_testkit::contract_suite!(super::OneBot<{ super::FORWARD }>);
}

/// The client posts one event after the other, so that never many are open, and a connection is whatever answers.
mod qq_http {
    weirgate_testkit::contract_suite!(@ super::OneBot<{ super::HTTP }>;
        inbound::a_message_arrives_with_its_keys,
        inbound::people_are_told_apart_and_stay_the_same,
        inbound::hostile_words_arrive_as_they_are,
        inbound::a_repeated_event_has_the_same_dedupe_key,
        inbound::a_repeated_event_is_known_after_a_restart,
        inbound::a_burst_keeps_its_order,
        inbound::odd_frames_harm_nobody,
        outbound::people_see_exactly_what_was_rendered,
        outbound::the_longest_texts_arrive_whole,
        outbound::parts_keep_their_order,
        outbound::conversations_do_not_mix,
        outbound::a_second_send_of_a_part_is_seen_as_promised,
        outbound::nobody_connected_is_classified,
        outbound::an_unknown_place_is_no_disaster,
        media::files_arrive_as_promised,
        moderation::a_dry_run_says_what_comes_of_it,
        moderation::a_refusal_to_delete_is_the_acts_own,
        life::the_connection_is_reported,
        life::run_ends_soon_after_the_signal,
        life::a_stopped_adapter_sends_nothing,
    );
}

mod qq_official_session {
    weirgate_testkit::contract_suite!(super::qq_official::Session<false, false>);
}

mod qq_official_markdown {
    weirgate_testkit::contract_suite!(super::qq_official::Session<true, false>);
}

/// The way in alone, as with the other webhook.
mod qq_official_webhook {
    weirgate_testkit::contract_suite!(@ super::qq_official::Session<false, true>;
        inbound::a_message_arrives_with_its_keys,
        inbound::people_are_told_apart_and_stay_the_same,
        inbound::hostile_words_arrive_as_they_are,
        inbound::a_repeated_event_has_the_same_dedupe_key,
        inbound::a_repeated_event_is_known_after_a_restart,
        inbound::a_burst_keeps_its_order,
        inbound::odd_frames_harm_nobody,
        life::a_stopped_adapter_sends_nothing,
    );
}

mod telegram_polling {
    weirgate_testkit::contract_suite!(super::telegram::Receiving<false>);
}

/// The way in alone. The service posts one update after the other, each when the one before is accepted, so that never many
/// are open, and nobody tells of a break; the way out is the same.
mod telegram_webhook {
    weirgate_testkit::contract_suite!(@ super::telegram::Receiving<true>;
        inbound::a_message_arrives_with_its_keys,
        inbound::people_are_told_apart_and_stay_the_same,
        inbound::hostile_words_arrive_as_they_are,
        inbound::a_repeated_event_has_the_same_dedupe_key,
        inbound::a_repeated_event_is_known_after_a_restart,
        inbound::a_burst_keeps_its_order,
        inbound::odd_frames_harm_nobody,
        buttons::a_press_arrives_with_its_keys,
        life::a_stopped_adapter_sends_nothing,
    );
}

mod agent_lines {
    weirgate_testkit::contract_suite!(super::interop::Lines);
}

mod site {
    weirgate_testkit::contract_suite!(super::webchat::Site);
}

/// What both need: the gateway's end and a running adapter.
struct Life {
    gateway: Arc<RecordingIngress>,
    running: Option<(Stopper, JoinHandle<Result<(), AdapterError>>)>,
}

impl Life {
    fn new() -> Self {
        Self {
            gateway: RecordingIngress::new(),
            running: None,
        }
    }

    async fn run(&mut self, adapter: Arc<dyn Adapter>) {
        let (stopper, stop) = Stopper::new();
        let gateway: Arc<dyn Ingress> = self.gateway.clone();
        let run = tokio::spawn(async move { adapter.run(gateway, stop).await });
        self.running = Some((stopper, run));
        let starts = |state: &Connection| matches!(state, Connection::Waiting | Connection::Up);
        let told = self.gateway.connection_is(LIMIT, starts).await;
        assert!(told.is_some(), "nothing reported after the start");
    }

    /// Waits until the adapter reports that it is connected.
    async fn comes_up(&self) {
        let up = |state: &Connection| *state == Connection::Up;
        let told = self.gateway.connection_is(LIMIT, up).await;
        assert!(told.is_some(), "a connection that is not reported");
    }

    /// Waits until the adapter reports that it is not connected any more.
    async fn goes_down(&self) {
        let down = |state: &Connection| matches!(state, Connection::Down(_));
        let told = self.gateway.connection_is(LIMIT, down).await;
        assert!(told.is_some(), "an end that is not reported");
    }

    fn is_up(&self) -> bool {
        self.gateway.connections().last() == Some(&Connection::Up)
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let (stopper, run) = self.running.take()?;
        stopper.stop();
        let ended = tokio::time::timeout(limit, run).await.ok()?;
        Some(ended.expect("the adapter panicked"))
    }
}

fn setup(account: &str) -> Setup {
    Setup {
        account: account.into(),
        secret: [7; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::new(vec!["a/b".into()]),
        menu: weirgate_sdk::Menu::default(),
    }
}

/// The three ways to a OneBot implementation.
const REVERSE: u8 = 0;
const FORWARD: u8 = 1;
const HTTP: u8 = 2;

/// What posted events are signed with.
const EVENTS_SECRET: &str = "secret-of-events";

/// One QQ account and the OneBot implementation that connects to it, or that it connects to, or both post to each other.
struct OneBot<const WAY: u8> {
    life: Life,
    qq: Arc<Qq>,
    url: String,
    fake: Option<FakeOneBot>,
    messages: i64,
    /// Messages of groups that a check names, and how many the bot said itself.
    named: Vec<i64>,
    answers: i64,
    last: [Value; 2],
    read: [VecDeque<Seen>; 2],
}

const BOT: u64 = 10_001;
const PEOPLE: [u64; 2] = [20_001, 9_007_199_254_740_993];

async fn qq_at_any_port() -> (Arc<Qq>, String) {
    let settings = weirgate_qq::Settings {
        transport: Transport::Reverse {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        },
        ..weirgate_qq::Settings::default()
    };
    let qq = weirgate_qq::build(setup("main"), settings);
    let address = qq.bind().await.expect("binds");
    (qq, format!("ws://{address}/onebot/v11/ws"))
}

fn qq_towards(url: &str, way: u8) -> Arc<Qq> {
    let url = url.to_owned();
    let secret = Secret::new(EVENTS_SECRET);
    let settings = weirgate_qq::Settings {
        transport: match way {
            HTTP => Transport::Http { url, secret },
            _ => Transport::Forward { url },
        },
        reconnect: Duration::from_millis(50),
        ..weirgate_qq::Settings::default()
    };
    weirgate_qq::build(setup("main"), settings)
}

#[async_trait]
impl<const WAY: u8> Platform for OneBot<WAY> {
    const ACKNOWLEDGES: bool = false;
    const ODD_FRAMES: usize = odd::onebot_frames().len();

    async fn start() -> Self {
        let (qq, url, fake) = if WAY != REVERSE {
            let fake = match WAY {
                HTTP => FakeOneBot::listen_http(BOT, Options::default()).await,
                _ => FakeOneBot::listen(BOT, Options::default()).await,
            };
            fake.reachable(false);
            let url = fake.url().to_owned();
            (qq_towards(&url, WAY), url, Some(fake))
        } else {
            let (qq, url) = qq_at_any_port().await;
            (qq, url, None)
        };
        let mut life = Life::new();
        life.run(qq.clone()).await;
        let (last, read) = Default::default();
        Self {
            life,
            qq,
            url,
            fake,
            messages: 0,
            named: Vec::new(),
            answers: 0,
            last,
            read,
        }
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        self.qq.clone()
    }

    fn gateway(&self) -> Arc<RecordingIngress> {
        self.life.gateway.clone()
    }

    async fn connect(&mut self) {
        if WAY != REVERSE {
            self.fake().reachable(true);
        } else {
            let fake = FakeOneBot::connect(&self.url, BOT, None).await;
            self.fake = Some(fake.expect("connects"));
        }
        self.life.comes_up().await;
        if let Some(router) = self.qq.router() {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(async move { axum::serve(listener, router).await });
            let url = format!("http://{address}/onebot/main");
            self.fake().post_to(&url, EVENTS_SECRET);
        }
    }

    async fn disconnect(&mut self) {
        self.close();
        self.life.goes_down().await;
    }

    async fn is_connected(&mut self) -> bool {
        if WAY == HTTP {
            self.life.is_up()
        } else {
            self.fake().is_connected()
        }
    }

    async fn say(&mut self, person: usize, text: &str) -> String {
        self.messages += 1;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let user = PEOPLE[person];
        self.last[person] = json!({
            "time": now.as_secs(),
            "self_id": BOT,
            "post_type": "message",
            "message_type": "private",
            "sub_type": "friend",
            "message_id": self.messages,
            "user_id": user,
            "message": [{ "type": "text", "data": { "text": text } }],
            "raw_message": "not to be read",
            "sender": { "user_id": user, "nickname": "n".repeat(300) },
        });
        self.repeat(person).await;
        self.messages.to_string()
    }

    async fn repeat(&mut self, person: usize) {
        self.fake().raw(self.last[person].clone()).await;
    }

    async fn acknowledged(&mut self, _person: usize, _wanted: usize, limit: Duration) -> usize {
        // This platform hears nothing of it; time passes all the same.
        tokio::time::sleep(limit).await;
        0
    }

    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen> {
        let until = Instant::now() + limit;
        loop {
            if let Some(seen) = self.read[person].pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            let reply = self.fake().next_reply(left).await?;
            let plain = reply
                .segments
                .iter()
                .all(|segment| segment["type"] == "text");
            assert!(plain, "more than text: {:?}", reply.segments);
            let Target::Private { user, .. } = &reply.target else {
                continue;
            };
            let known = PEOPLE.iter().position(|person| person.to_string() == *user);
            if let Some(person) = known {
                let (form, visible) = (reply.text(), reply.text());
                self.read[person].push_back(Seen { form, visible });
            }
        }
    }

    async fn seen_files(&mut self, _person: usize, limit: Duration) -> Option<Vec<usize>> {
        let reply = self.fake().next_reply(limit).await?;
        let size = |segment: &Value| {
            let file = segment["data"]["file"]
                .as_str()?
                .strip_prefix("base64://")?;
            Some(STANDARD.decode(file).ok()?.len())
        };
        reply.segments.iter().map(size).collect()
    }

    async fn odd(&mut self, number: usize) {
        self.fake().raw_text(odd::onebot_frames()[number]).await;
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let ended = self.life.stop(limit).await;
        self.close();
        ended
    }

    async fn restart(&mut self) {
        if WAY != REVERSE {
            self.qq = qq_towards(&self.url, WAY);
        } else {
            (self.qq, self.url) = qq_at_any_port().await;
        }
        self.life.run(self.qq.clone()).await;
    }

    fn ground(&mut self) -> Option<&mut dyn Ground> {
        Some(self)
    }
}

impl<const WAY: u8> OneBot<WAY> {
    fn close(&mut self) {
        if WAY != REVERSE {
            self.fake().reachable(false);
        } else {
            self.fake = None;
        }
    }

    fn fake(&self) -> &FakeOneBot {
        self.fake.as_ref().expect("connected")
    }
}
