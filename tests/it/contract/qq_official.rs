//! The official API of QQ in the contract suite: one bot and two people who write to it in private.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};
use weirgate_qq::{
    Official,
    official::settings::{Settings, Way},
};
use weirgate_sdk::{Adapter, AdapterError, ConversationKey, settings::Secret};
use weirgate_testkit::{
    contract::{Ground, Platform, Scene, Seen},
    ingress::RecordingIngress,
    qq::{
        APP_ID, BOT, FakeQq, GROUP_BOT, Policy, SECRET, Where, member, seconds, sign, target,
        visible,
    },
};

use super::{LIMIT, Life, setup};

const PEOPLE: [u64; 2] = [20_001, 9_007_199_254_740_993];

/// A bot, and the platform, which gives it Markdown and answers that grow, or neither. Its buttons have tests of their own:
/// a press does not say under which message it was.
/// Its events come over a connection, or are posted.
pub(super) struct Session<const ENTITLED: bool, const POSTED: bool> {
    life: Life,
    bot: Arc<Official>,
    fake: FakeQq,
    read: [VecDeque<Seen>; 2],
    /// Where events are posted, and the last one of each person.
    to: Option<SocketAddr>,
    last: [(&'static str, Value); 2],
    /// The channel of the guild, and the group.
    places: Vec<ConversationKey>,
}

/// The path at which events are posted.
const PATH: &str = "/qq/main";

fn bot(fake: &FakeQq, entitled: bool, posted: bool) -> Arc<Official> {
    let settings = Settings {
        way: if posted { Way::Webhook } else { Way::Gateway },
        app_id: APP_ID.into(),
        app_secret: Some(Secret::new(SECRET)),
        api_url: fake.url(),
        token_url: fake.token_url(),
        reconnect: Duration::from_millis(50),
        session_pause: Duration::ZERO,
        markdown: entitled,
        streaming: entitled,
        ..Settings::default()
    };
    weirgate_qq::official(&setup("main"), settings)
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
        r#"{"op":0,"t":"C2C_MESSAGE_CREATE","d":null}"#,
        r#"{"op":0,"t":"C2C_MESSAGE_CREATE","d":{"id":5,"author":7}}"#,
        r#"{"op":0,"t":"GROUP_AT_MESSAGE_CREATE","d":{"id":"m","group_openid":"../..","author":{"member_openid":"A"}}}"#,
        r#"{"op":0,"t":"AT_MESSAGE_CREATE","d":{"id":"m","channel_id":"1","author":[]}}"#,
        r#"{"op":0,"t":"MESSAGE_DELETE","d":{"message":[]}}"#,
        r#"{"op":11}"#,
    ];
    let mut frames: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    frames.push(vec![0, 159, 146, 150]);
    frames.push(format!(r#"{{"op":0,"d":{}"#, "[".repeat(20_000)).into_bytes());
    frames
}

#[async_trait]
impl<const ENTITLED: bool, const POSTED: bool> Platform for Session<ENTITLED, POSTED> {
    const ACKNOWLEDGES: bool = true;
    const ODD_FRAMES: usize = 20;

    async fn start() -> Self {
        let fake = FakeQq::start().await;
        // The suite sends more than one message allows.
        fake.allow(Policy {
            replies: usize::MAX,
            markdown: ENTITLED,
            ..Policy::default()
        });
        fake.reachable(false);
        let bot = bot(&fake, ENTITLED, POSTED);
        let mut life = Life::new();
        life.run(bot.clone()).await;
        Self {
            life,
            bot,
            fake,
            read: Default::default(),
            to: None,
            last: Default::default(),
            places: Vec::new(),
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
            self.to = listener.local_addr().ok();
            tokio::spawn(async move { axum::serve(listener, router).await });
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
        let number = person;
        let person = PEOPLE[person];
        let id = weirgate_testkit::qq::openid(person);
        let author = json!({ "id": id, "user_openid": id, "username": "n".repeat(300) });
        let changes = json!({ "author": author });
        if !POSTED {
            return self.fake.say(Where::Private, person, text, &changes);
        }
        self.last[number] = self.fake.message(Where::Private, person, text, &changes);
        self.repeat(number).await;
        let id = self.last[number].1["id"].as_str();
        id.unwrap_or_default().to_owned()
    }

    async fn repeat(&mut self, person: usize) {
        let Some(to) = self.to else {
            return self.fake.repeat(PEOPLE[person]);
        };
        let (kind, message) = &self.last[person];
        let posted = self.fake.post(to, PATH, kind, message);
        assert_eq!(posted.await.0, 200);
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
            let is_for = |person: &u64| target(Where::Private, *person) == message.to;
            if let Some(person) = PEOPLE.iter().position(is_for) {
                self.read[person].push_back(Seen {
                    visible: visible(&message.text, ENTITLED),
                    form: message.text,
                });
            }
        }
    }

    async fn seen_files(&mut self, _person: usize, limit: Duration) -> Option<Vec<usize>> {
        let message = self.fake.next_message(limit).await?;
        Some(vec![self.fake.file_of(&message.said)?.content.len()])
    }

    async fn odd(&mut self, number: usize) {
        let frame = &odd_frames()[number];
        let Some(to) = self.to else {
            return self.fake.raw(frame);
        };
        let (frame, time) = (String::from_utf8_lossy(frame), seconds().to_string());
        let signature = sign(&time, &frame);
        self.fake
            .post_raw(to, PATH, &frame, &time, &signature)
            .await;
    }

    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>> {
        let ended = self.life.stop(limit).await;
        assert_eq!(self.fake.violations(), Vec::<String>::new());
        self.fake.reachable(false);
        ended
    }

    async fn restart(&mut self) {
        self.bot = bot(&self.fake, ENTITLED, POSTED);
        self.life.run(self.bot.clone()).await;
    }

    fn ground(&mut self) -> Option<&mut dyn Ground> {
        Some(self)
    }
}

/// Guild and group, in each of which the bot is an admin, and a member.
#[async_trait]
impl<const ENTITLED: bool, const POSTED: bool> Ground for Session<ENTITLED, POSTED> {
    fn scenes(&self) -> usize {
        4
    }

    async fn set(&mut self, scene: usize) -> Scene {
        let fake = &self.fake;
        fake.allow(Policy {
            groups: true,
            markdown: ENTITLED,
            ..Policy::default()
        });
        if self.places.is_empty() {
            for place in [Where::Channel, Where::Group] {
                fake.say(place, 7, "hi", &Value::Null);
                let heard = self.life.gateway.next_message(LIMIT).await;
                self.places.push(heard.expect("heard").conversation);
            }
        }
        fake.gather();
        fake.promote(scene.is_multiple_of(2));
        let is_group = scene >= 2;
        let id = |person: u64| match is_group {
            true => member(person),
            false => person.to_string(),
        };
        let bot = if is_group { GROUP_BOT } else { BOT };
        let others = [id(1), id(2), bot.to_owned(), id(99), "../x".to_owned()];
        let messages = ["BOT1.0_7", "ROBOT1.0_7", "gone", "../x"];
        Scene {
            place: self.places[usize::from(is_group)].clone(),
            member: id(7).as_str().into(),
            others: others.map(|id| id.as_str().into()).into(),
            messages: messages.map(Into::into).into(),
        }
    }

    fn state(&self) -> String {
        let people = [1, 2, 7, 8, 99].map(|person: u64| [person.to_string(), member(person)]);
        let people = people.as_flattened().iter();
        let people: Vec<_> = people
            .map(|id| (self.fake.presence(id), self.fake.quiet(id).is_some()))
            .collect();
        format!("{people:?} {}", self.fake.recalled())
    }
}
