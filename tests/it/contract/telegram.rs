//! Telegram in the contract suite: one bot that asks the service for its updates, or to which they are posted.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};
use weirgate_sdk::{Adapter, AdapterError, ConversationKey, MessageId, Setup, settings::Secret};
use weirgate_telegram::{Settings, Telegram, settings::Mode};
use weirgate_testkit::{
    contract::{Ground, Platform, Presses, Scene, Seen, moderation::said},
    ingress::RecordingIngress,
    telegram::{BOT, FakeTelegram, Message, Standing},
};

use super::{Life, setup};

const TOKEN: &str = "10001:TEST-secret_value_abcdef";
const PEOPLE: [i64; 2] = [20_001, 4_503_599_627_370_001];

/// A bot, and the service.
pub(super) struct Receiving<const POSTED: bool> {
    life: Life,
    bot: Arc<Telegram>,
    fake: FakeTelegram,
    read: [VecDeque<Seen>; 2],
    /// Answers to presses that the check has seen.
    told: usize,
    /// Messages of the group that a check names, and how many the bot said itself.
    named: Vec<i64>,
    answers: i64,
}

fn bot(url: String, posted: bool) -> Arc<Telegram> {
    let settings = Settings {
        token: Some(Secret::new(TOKEN)),
        api_url: url,
        reconnect: Duration::from_millis(50),
        poll_timeout: Duration::from_secs(1),
        mode: if posted { Mode::Webhook } else { Mode::Polling },
        ..Settings::default()
    };
    let setup = Setup {
        public_origin: Some("https://bot.example".into()),
        ..setup("main")
    };
    weirgate_telegram::build(setup, settings)
}

/// Things in the place of an update that the service should not send.
fn odd_updates() -> Vec<Value> {
    vec![
        Value::Null,
        json!([]),
        json!(7),
        json!("nonsense"),
        json!({}),
        json!({ "update_id": "x" }),
        json!({ "update_id": 1 }),
        json!({ "update_id": 2, "message": null }),
        json!({ "update_id": 3, "message": [] }),
        json!({ "update_id": 4, "some_new_kind": { "a": [1] } }),
        json!({ "update_id": 5, "message": { "message_id": 1, "date": 1, "chat": { "id": 5, "type": "private" },
            "from": { "id": 5, "is_bot": false, "first_name": "A" } } }),
        json!({ "update_id": 6, "message": { "message_id": "1", "chat": { "id": 1.5 }, "text": 7 } }),
        json!({ "update_id": 7, "message": { "message_id": 1, "chat": { "id": 0 }, "from": {}, "text": "x" } }),
        json!({ "update_id": 8, "message": { "message_id": 1, "date": "x", "chat": { "id": 5, "type": 9 },
            "from": { "id": 5 }, "text": "😀", "entities": [{ "type": "mention", "offset": 1, "length": 1 }, 5] } }),
        json!({ "update_id": 9, "my_chat_member": { "chat": {} }, "message": 5 }),
        json!({ "update_id": -1, "callback_query": { "id": "x" } }),
        json!({ "update_id": 10, "message": { "message_id": 1, "chat": { "id": 5 }, "from": { "id": 5 },
            "media_group_id": "a", "photo": [[]] } }),
    ]
}

#[async_trait]
impl<const POSTED: bool> Platform for Receiving<POSTED> {
    const ACKNOWLEDGES: bool = true;
    const ODD_FRAMES: usize = 17;

    async fn start() -> Self {
        let fake = FakeTelegram::start(TOKEN).await;
        fake.reachable(false);
        let bot = bot(fake.url(), POSTED);
        let mut life = Life::new();
        life.run(bot.clone()).await;
        Self {
            life,
            bot,
            fake,
            read: Default::default(),
            told: 0,
            named: Vec::new(),
            answers: 0,
        }
    }

    fn adapter(&self) -> Arc<dyn Adapter> {
        self.bot.clone()
    }

    fn gateway(&self) -> Arc<RecordingIngress> {
        self.life.gateway.clone()
    }

    async fn connect(&mut self) {
        self.fake.reachable(true);
        self.life.comes_up().await;
        if let Some(router) = self.bot.router() {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(async move { axum::serve(listener, router).await });
            self.fake.post_to(address);
        }
    }

    async fn disconnect(&mut self) {
        self.fake.reachable(false);
        self.life.goes_down().await;
    }

    async fn is_connected(&mut self) -> bool {
        self.life.is_up()
    }

    async fn say(&mut self, person: usize, text: &str) -> String {
        let user = PEOPLE[person];
        let name = json!({ "id": user, "is_bot": false, "first_name": "n".repeat(300) });
        let id = self.fake.say(user, user, text, &json!({ "from": name }));
        id.to_string()
    }

    async fn repeat(&mut self, person: usize) {
        self.fake.repeat(PEOPLE[person]);
    }

    async fn acknowledged(&mut self, person: usize, wanted: usize, limit: Duration) -> usize {
        self.fake.confirmed(PEOPLE[person], wanted, limit).await
    }

    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen> {
        let until = Instant::now() + limit;
        loop {
            if let Some(seen) = self.read[person].pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            let message = self.fake.next_message(left).await?;
            let known = PEOPLE.iter().position(|person| *person == message.chat);
            if let Some(person) = known {
                let (form, visible) = (message.text.clone(), message.text);
                self.read[person].push_back(Seen { form, visible });
            }
        }
    }

    async fn seen_files(&mut self, _person: usize, limit: Duration) -> Option<Vec<usize>> {
        let first = self.fake.next_message(limit).await?;
        let is_of = |other: &Message| other.album.is_some() && other.album == first.album;
        let album = self.fake.messages().into_iter().filter(is_of).count();
        let mut sizes = vec![first.file?.1.len()];
        for _ in 1..album.max(1) {
            let next = self.fake.next_message(limit).await?;
            sizes.push(next.file?.1.len());
        }
        Some(sizes)
    }

    async fn odd(&mut self, number: usize) {
        self.fake.raw(odd_updates()[number].clone());
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let ended = self.life.stop(limit).await;
        assert_eq!(self.fake.violations(), Vec::<String>::new());
        self.fake.reachable(false);
        ended
    }

    async fn restart(&mut self) {
        self.bot = bot(self.fake.url(), POSTED);
        self.life.run(self.bot.clone()).await;
    }

    fn ground(&mut self) -> Option<&mut dyn Ground> {
        Some(self)
    }

    fn presses(&mut self) -> Option<&mut dyn Presses> {
        Some(self)
    }
}

const GROUP: i64 = -1_001_234_567_890;
const OWNER: i64 = 40_001;
const ADMIN: i64 = 40_002;
const MEMBER: i64 = 40_003;
const LEFT: i64 = 40_004;
const MUTED: i64 = 40_005;
const BANNED: i64 = 40_006;
const STRANGER: i64 = 40_009;
/// What the bot is in the group.
const STANDINGS: [Standing; 4] = [
    Standing::Administrator,
    Standing::PowerlessAdministrator,
    Standing::Member,
    Standing::Left,
];

#[async_trait]
impl<const POSTED: bool> Ground for Receiving<POSTED> {
    fn scenes(&self) -> usize {
        STANDINGS.len()
    }

    async fn set(&mut self, scene: usize) -> Scene {
        let fake = &self.fake;
        // As long as it is there it says something.
        for (user, standing) in [
            (BOT, Standing::Member),
            (OWNER, Standing::Creator),
            (ADMIN, Standing::Administrator),
            (MEMBER, Standing::Member),
            (LEFT, Standing::Left),
            (MUTED, Standing::Restricted(0)),
            (BANNED, Standing::Kicked(0)),
        ] {
            fake.member(GROUP, user, standing);
        }
        let place = ConversationKey {
            platform: "telegram".into(),
            account: "main".into(),
            conversation: GROUP.to_string().into(),
            thread: None,
        };
        self.answers += 1;
        let own = said(&*self.bot, &place, self.answers).await;
        let mut messages = vec![number(&own)];
        for user in [OWNER, MEMBER] {
            messages.push(fake.say(GROUP, user, "hi", &Value::Null));
        }
        let old = fake.say(GROUP, MEMBER, "long ago", &Value::Null);
        fake.age(GROUP, old);
        messages.extend([old, 999_999]);
        fake.member(GROUP, BOT, STANDINGS[scene]);
        let people = [OWNER, ADMIN, BOT, LEFT, MUTED, BANNED, STRANGER, -1_007];
        let odd = ["x".into(), "9007199254740993000".into()];
        let ids = messages.iter().map(|id| id.to_string().into());
        let scene = Scene {
            place,
            member: MEMBER.to_string().into(),
            others: people
                .map(|user| user.to_string().into())
                .into_iter()
                .chain(odd)
                .collect(),
            messages: ids.chain(["x".into()]).collect(),
        };
        self.named = messages;
        scene
    }

    fn state(&self) -> String {
        let people = [
            BOT, OWNER, ADMIN, MEMBER, LEFT, MUTED, BANNED, STRANGER, -1_007,
        ];
        let people = people.map(|user| self.fake.standing(GROUP, user));
        let sent = self.fake.messages();
        let is_gone = |id: &i64| {
            let own = sent.iter().any(|own| own.id == *id && own.deleted);
            own || self.fake.is_deleted(GROUP, *id)
        };
        let gone: Vec<bool> = self.named.iter().map(is_gone).collect();
        format!("{people:?} {gone:?}")
    }
}

fn number(message: &MessageId) -> i64 {
    message.as_str().parse().expect("a number")
}

#[async_trait]
impl<const POSTED: bool> Presses for Receiving<POSTED> {
    async fn shown(&mut self, _: usize, message: &MessageId) -> Vec<(String, String)> {
        let messages = self.fake.messages();
        let found = messages
            .into_iter()
            .find(|known| known.id == number(message));
        found.expect("it is there").buttons
    }

    async fn press(&mut self, person: usize, message: &MessageId, id: &str) {
        let user = PEOPLE[person];
        self.fake.press(user, user, number(message), id);
    }

    async fn told(&mut self, person: usize, limit: Duration) -> Option<String> {
        self.told += 1;
        let shown = self.fake.pressed(self.told, limit).await;
        let (user, text, alert) = shown.get(self.told - 1)?.clone();
        assert!(alert && user == PEOPLE[person]);
        Some(text)
    }
}
