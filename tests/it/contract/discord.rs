//! Discord in the contract suite: one bot and two people who write to it directly.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::time::Instant;
use weirgate_discord::{Discord, Settings};
use weirgate_sdk::{Adapter, AdapterError, ConversationKey, MessageId, settings::Secret};
use weirgate_testkit::{
    contract::{Ground, Platform, Presses, Scene, Seen},
    discord::{
        BOT, CHANNEL, FakeDiscord, THREAD, direct,
        guild::{
            ADMIN_ROLE, ADMINISTRATOR, BAN, BOT_ROLE, HIGH_ROLE, KICK, MANAGE_MESSAGES, MODERATE,
            OWNER, ROLE,
        },
        visible,
    },
    ingress::RecordingIngress,
};

use super::{Life, setup};

const TOKEN: &str = "MTAwMDE.TEST-x.secret_value";
const PEOPLE: [u64; 2] = [20_001, 9_007_199_254_740_993];

/// A bot, and the platform.
pub(super) struct Session {
    life: Life,
    bot: Arc<Discord>,
    fake: FakeDiscord,
    read: [VecDeque<Seen>; 2],
    /// Messages of the channel that a check names.
    named: Vec<u64>,
}

fn bot(url: String) -> Arc<Discord> {
    let settings = Settings {
        token: Some(Secret::new(TOKEN)),
        api_url: url,
        reconnect: Duration::from_millis(50),
        identify_pause: Duration::ZERO,
        ..Settings::default()
    };
    weirgate_discord::build(setup("main"), settings)
}

/// Frames that the platform should not send.
fn odd_frames() -> Vec<Vec<u8>> {
    let texts = [
        "",
        "nonsense",
        "null",
        "[]",
        "{}",
        "7",
        r#"{"op":"0"}"#,
        r#"{"op":99,"d":{}}"#,
        r#"{"op":-1}"#,
        r#"{"op":0}"#,
        r#"{"op":0,"t":7,"s":"x","d":[]}"#,
        r#"{"op":0,"t":"SOME_NEW_KIND","d":{"a":[1]}}"#,
        r#"{"op":0,"t":"MESSAGE_CREATE","d":null}"#,
        r#"{"op":0,"t":"MESSAGE_CREATE","d":{"id":5,"channel_id":7}}"#,
        r#"{"op":0,"t":"MESSAGE_CREATE","d":{"id":"1","channel_id":"9","author":[]}}"#,
        r#"{"op":0,"t":"MESSAGE_CREATE","d":{"id":"2","channel_id":"9","author":{"id":"5"},"content":7,"mentions":5}}"#,
        r#"{"op":0,"t":"MESSAGE_UPDATE","d":{"id":"2","channel_id":"9"}}"#,
        r#"{"op":0,"t":"MESSAGE_DELETE_BULK","d":{"channel_id":"9","ids":{}}}"#,
        r#"{"op":0,"t":"GUILD_CREATE","d":{"id":"x","channels":[null,5,{"id":1}],"threads":7}}"#,
        r#"{"op":0,"t":"THREAD_LIST_SYNC","d":[]}"#,
        r#"{"op":11}"#,
    ];
    let mut frames: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    frames.push(vec![0, 159, 146, 150]);
    frames.push(format!(r#"{{"op":0,"d":{}"#, "[".repeat(20_000)).into_bytes());
    frames
}

#[async_trait]
impl Platform for Session {
    const ACKNOWLEDGES: bool = true;
    const ODD_FRAMES: usize = 23;

    async fn start() -> Self {
        let fake = FakeDiscord::start(TOKEN).await;
        fake.reachable(false);
        let bot = bot(fake.url());
        let mut life = Life::new();
        life.run(bot.clone()).await;
        Self {
            life,
            bot,
            fake,
            read: Default::default(),
            named: Vec::new(),
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
        let author = json!({ "id": user.to_string(), "username": "n".repeat(300) });
        let changes = json!({ "author": author });
        self.fake
            .say(direct(user), user, text, &changes)
            .to_string()
    }

    async fn repeat(&mut self, person: usize) {
        self.fake.repeat(PEOPLE[person]);
    }

    async fn acknowledged(&mut self, person: usize, wanted: usize, limit: Duration) -> usize {
        self.fake.acknowledged(PEOPLE[person], wanted, limit).await
    }

    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen> {
        let until = Instant::now() + limit;
        loop {
            if let Some(seen) = self.read[person].pop_front() {
                return Some(seen);
            }
            let left = until.saturating_duration_since(Instant::now());
            let message = self.fake.next_message(left).await?;
            let known = PEOPLE
                .iter()
                .position(|person| direct(*person) == message.channel);
            if let Some(person) = known {
                self.read[person].push_back(Seen {
                    visible: visible(&message.text),
                    form: message.text,
                });
            }
        }
    }

    async fn seen_files(&mut self, _person: usize, limit: Duration) -> Option<Vec<usize>> {
        let message = self.fake.next_message(limit).await?;
        let files = message.files.iter().map(|file| file.content.len());
        Some(files.collect())
    }

    async fn odd(&mut self, number: usize) {
        self.fake.raw(&odd_frames()[number]);
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let ended = self.life.stop(limit).await;
        assert_eq!(self.fake.violations(), Vec::<String>::new());
        self.fake.reachable(false);
        ended
    }

    async fn restart(&mut self) {
        self.bot = bot(self.fake.url());
        self.life.run(self.bot.clone()).await;
    }

    fn ground(&mut self) -> Option<&mut dyn Ground> {
        Some(self)
    }

    fn presses(&mut self) -> Option<&mut dyn Presses> {
        Some(self)
    }
}

const MEMBER: u64 = 40_003;
const ADMIN: u64 = 40_002;
const EQUAL: u64 = 40_004;
const ABOVE: u64 = 40_005;
const LEFT: u64 = 40_006;
const STRANGER: u64 = 40_009;
/// What the bot may do in the server.
const RIGHTS: [u64; 5] = [
    KICK | BAN | MODERATE | MANAGE_MESSAGES,
    ADMINISTRATOR,
    KICK | MANAGE_MESSAGES,
    MODERATE,
    0,
];

#[async_trait]
impl Ground for Session {
    fn scenes(&self) -> usize {
        RIGHTS.len()
    }

    async fn set(&mut self, scene: usize) -> Scene {
        let fake = &self.fake;
        fake.bot_may(RIGHTS[scene], true);
        for (user, roles) in [
            (MEMBER, &[ROLE][..]),
            (ADMIN, &[ADMIN_ROLE]),
            (EQUAL, &[BOT_ROLE]),
            (ABOVE, &[HIGH_ROLE]),
            (OWNER, &[]),
            (LEFT, &[ROLE]),
            (STRANGER, &[]),
        ] {
            fake.join(user, roles);
        }
        fake.leave(LEFT);
        fake.leave(STRANGER);
        let say = |channel, user| fake.say(channel, user, "hi", &Value::Null);
        let mut messages = vec![say(CHANNEL, BOT), say(CHANNEL, MEMBER), say(CHANNEL, OWNER)];
        // Of another place, and of none.
        messages.extend([say(THREAD, MEMBER), 999_999]);
        let place = ConversationKey {
            platform: "discord".into(),
            account: "main".into(),
            conversation: CHANNEL.to_string().into(),
            thread: None,
        };
        let ids = messages.iter().map(|id| id.to_string().into());
        let scene = Scene {
            place,
            member: MEMBER.to_string().into(),
            others: [OWNER, ADMIN, EQUAL, ABOVE, BOT, LEFT, STRANGER]
                .map(|user| user.to_string().into())
                .into_iter()
                .chain(["x".into()])
                .collect(),
            messages: ids.chain(["x".into()]).collect(),
        };
        self.named = messages;
        scene
    }

    fn state(&self) -> String {
        let people = [OWNER, ADMIN, MEMBER, EQUAL, ABOVE, BOT, LEFT, STRANGER];
        let people = people.map(|user| self.fake.standing(user));
        let has =
            |id: &u64| self.fake.has_message(CHANNEL, *id) || self.fake.has_message(THREAD, *id);
        let messages: Vec<bool> = self.named.iter().map(has).collect();
        format!("{people:?} {messages:?}")
    }
}

fn number(message: &MessageId) -> u64 {
    message.as_str().parse().expect("a number")
}

#[async_trait]
impl Presses for Session {
    async fn shown(&mut self, _: usize, message: &MessageId) -> Vec<(String, String)> {
        self.fake.buttons(number(message))
    }

    async fn press(&mut self, person: usize, message: &MessageId, id: &str) {
        let user = PEOPLE[person];
        self.fake.press(direct(user), user, number(message), id);
    }

    async fn told(&mut self, person: usize, limit: Duration) -> Option<String> {
        let message = self.fake.next_message(limit).await?;
        assert!(message.private && message.channel == direct(PEOPLE[person]));
        Some(visible(&message.text))
    }
}
