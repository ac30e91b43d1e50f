//! The five doors of the gateway, and how somebody comes through each.

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use weirgate_testkit::{
    discord::{BOT as DISCORD_BOT, CHANNEL, FakeDiscord, THREAD, direct, guild::ADMIN_ROLE},
    model::{FakeModel, Script},
    onebot::{self, FakeOneBot},
    qq::{self, FakeQq, Where},
    telegram::{BOT as TELEGRAM_BOT, BOT_NAME, FakeTelegram, Standing},
    webchat::WebChatClient,
};

use super::{Door, Path, Role};
use crate::{
    discord,
    gateway::{BOT, Chat as _, Gateway, LIMIT, until},
    qq::official_whole,
    telegram::{self, GROUP},
    webchat_adapter::doors::{ANN, SECRET},
};

/// The group of QQ.
const QQ_GROUP: u64 = 50;

/// The number of somebody, on whatever platform.
fn number(role: Role) -> u32 {
    match role {
        Role::Member => 70_003,
        Role::Admin => 70_002,
        Role::Owner => 70_009,
    }
}

/// What an edited message says first.
const WORDS: &str = "words that stand";

/// A personal account of QQ.
pub(super) struct OneBot {
    fake: FakeOneBot,
    _gateway: Gateway,
}

#[async_trait]
impl Door for OneBot {
    const PATHS: &'static [(Path, &'static str)] = &[
        (Path::Group, "·✓✓"),
        (Path::Reply, "·✓✓"),
        (Path::Private, "··✓"),
    ];

    async fn start() -> Self {
        let model = FakeModel::start().await;
        let owners = json!({ "permissions": { "owners": { "qq": [number(Role::Owner)] } } });
        let gateway = Gateway::start(&model, owners).await;
        let fake = gateway.onebot().await;
        for (role, standing) in [
            (Role::Member, "member"),
            (Role::Admin, "admin"),
            (Role::Owner, "member"),
        ] {
            fake.member(QQ_GROUP, number(role).into(), Some(standing));
        }
        Self {
            fake,
            _gateway: gateway,
        }
    }

    async fn say(&self, path: Path, role: Role, text: &str) -> String {
        let user = number(role).into();
        let standing = if role == Role::Admin {
            "admin"
        } else {
            "member"
        };
        match path {
            Path::Private => return self.fake.ask(user, text).await,
            Path::Reply => {
                let said = self.fake.past(Some(QQ_GROUP), BOT, "hello", 5);
                let segments = [onebot::reply_to(said), onebot::text(text)];
                self.fake
                    .group_segments(standing, QQ_GROUP, user, &segments)
                    .await;
            }
            _ => {
                self.fake.group_as(standing, QQ_GROUP, user, text).await;
            }
        }
        self.fake.answer().await.text()
    }
}

/// An official bot of QQ.
pub(super) struct Official {
    fake: FakeQq,
    _model: FakeModel,
    _gateway: Gateway,
}

#[async_trait]
impl Door for Official {
    const PATHS: &'static [(Path, &'static str)] = &[
        (Path::Group, "·✓✓"),
        (Path::Topic, "·✓✓"),
        (Path::Private, "··✓"),
        (Path::PrivateMenu, "··✓"),
    ];

    async fn start() -> Self {
        let fake = FakeQq::start().await;
        // In each kind of place he has another id.
        let owner = number(Role::Owner);
        let ids = json!([
            qq::openid(owner.into()),
            qq::member(owner.into()),
            owner.to_string()
        ]);
        let owners = json!({ "permissions": { "owners": { "qq": ids } } });
        let (model, gateway) = official_whole::gateway(&fake, json!({}), owners).await;
        assert!(until(|| fake.sessions().0 > 0).await, "{}", gateway.log());
        Self {
            fake,
            _model: model,
            _gateway: gateway,
        }
    }

    async fn say(&self, path: Path, role: Role, text: &str) -> String {
        let user = u64::from(number(role));
        let (place, changes) = match (path, role) {
            (Path::Group, Role::Admin) => {
                let id = qq::member(user);
                let author = json!({ "id": id, "member_openid": id, "member_role": "admin" });
                (Where::Group, json!({ "author": author }))
            }
            (Path::Topic, Role::Admin) => {
                let member = json!({ "nick": "", "roles": ["2"] });
                (Where::Channel, json!({ "member": member }))
            }
            (Path::Group, _) => (Where::Group, Value::Null),
            (Path::Topic, _) => (Where::Channel, Value::Null),
            // Direct messages of a guild; what they say of a role in it counts nothing there.
            (Path::PrivateMenu, _) => {
                let member = json!({ "nick": "", "roles": ["2"] });
                (Where::Direct, json!({ "member": member }))
            }
            _ => (Where::Private, Value::Null),
        };
        self.fake.say(place, user, text, &changes);
        let message = self.fake.next_message(LIMIT).await;
        message.expect("an answer in time").text
    }
}

/// A bot of Telegram.
pub(super) struct Telegram {
    fake: FakeTelegram,
    model: FakeModel,
    _gateway: Gateway,
}

impl Telegram {
    async fn answer(&self) -> String {
        let message = self.fake.next_message(LIMIT).await;
        message.expect("an answer in time").text
    }
}

#[async_trait]
impl Door for Telegram {
    const PATHS: &'static [(Path, &'static str)] = &[
        (Path::Group, "·✓✓"),
        (Path::Named, "·✓✓"),
        (Path::Topic, "·✓✓"),
        (Path::Reply, "·✓✓"),
        (Path::Private, "··✓"),
        (Path::Edited, "···"),
    ];

    async fn start() -> Self {
        let fake = FakeTelegram::start(telegram::TOKEN).await;
        for (role, standing) in [
            (Role::Member, Standing::Member),
            (Role::Admin, Standing::Administrator),
            (Role::Owner, Standing::Member),
        ] {
            fake.member(GROUP, number(role).into(), standing);
        }
        fake.member(GROUP, TELEGRAM_BOT, Standing::Administrator);
        let owners = json!({ "permissions": { "owners": { "telegram": [number(Role::Owner)] } } });
        let (model, gateway) = telegram::whole::gateway(&fake, owners).await;
        Self {
            fake,
            model,
            _gateway: gateway,
        }
    }

    async fn say(&self, path: Path, role: Role, text: &str) -> String {
        let user = i64::from(number(role));
        let topic = json!({ "message_thread_id": 77, "is_topic_message": true });
        let named = || {
            let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
            format!("{name}@{BOT_NAME} {rest}")
        };
        match path {
            Path::Private => self.fake.say(user, user, text, &Value::Null),
            Path::Named => self.fake.say(GROUP, user, &named(), &Value::Null),
            Path::Topic => self.fake.say(GROUP, user, &named(), &topic),
            Path::Reply => {
                let from = json!({ "id": TELEGRAM_BOT, "is_bot": true });
                let replied = json!({ "message_id": 5, "from": from, "text": "hello" });
                let replied = json!({ "reply_to_message": replied });
                self.fake.say(GROUP, user, text, &replied)
            }
            Path::Edited => {
                let count = self.model.count();
                self.model.push(Script::hang());
                self.fake.say(user, user, "first", &Value::Null);
                self.model.wait_for(count + 1).await;
                let waiting = self.fake.say(user, user, WORDS, &Value::Null);
                self.fake.edit(user, user, waiting, text);
                for _ in 0..2 {
                    self.fake.say(8, 8, "/ping", &Value::Null);
                    assert_eq!(self.answer().await, "pong");
                }
                self.fake.say(user, user, "/stop", &Value::Null);
                loop {
                    let told = self.answer().await;
                    if told.contains(WORDS) || told.contains("waits") {
                        return told;
                    }
                }
            }
            _ => self.fake.say(GROUP, user, text, &Value::Null),
        };
        self.answer().await
    }
}

/// A bot of Discord.
pub(super) struct Discord {
    fake: FakeDiscord,
    model: FakeModel,
    _gateway: Gateway,
}

impl Discord {
    async fn answer(&self) -> String {
        let message = self.fake.next_message(LIMIT).await;
        message.expect("an answer in time").text
    }
}

#[async_trait]
impl Door for Discord {
    const PATHS: &'static [(Path, &'static str)] = &[
        (Path::Group, "·✓✓"),
        (Path::Topic, "·✓✓"),
        (Path::Reply, "·✓✓"),
        (Path::Menu, "·✓✓"),
        (Path::Private, "··✓"),
        (Path::PrivateMenu, "··✓"),
        (Path::Edited, "···"),
    ];

    async fn start() -> Self {
        let fake = FakeDiscord::start(discord::TOKEN).await;
        fake.join(number(Role::Member).into(), &[]);
        fake.join(number(Role::Owner).into(), &[]);
        fake.join(number(Role::Admin).into(), &[ADMIN_ROLE]);
        let owners = json!({ "permissions": { "owners": { "discord": [number(Role::Owner)] } } });
        let (model, gateway) = discord::whole::gateway(&fake, owners).await;
        Self {
            fake,
            model,
            _gateway: gateway,
        }
    }

    async fn say(&self, path: Path, role: Role, text: &str) -> String {
        let user = u64::from(number(role));
        let roles = if role == Role::Admin {
            json!([ADMIN_ROLE.to_string()])
        } else {
            json!([])
        };
        let mention = json!([{ "id": DISCORD_BOT.to_string(), "username": "weir" }]);
        let member = json!({ "roles": roles });
        let meant = format!("<@{DISCORD_BOT}> {text}");
        let said = json!({ "mentions": mention, "member": member });
        // From the menu come the name and what stands in its one field.
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let name = name.trim_start_matches('/');
        let options = if rest.is_empty() {
            json!([])
        } else {
            json!([{ "name": "text", "type": 3, "value": rest }])
        };
        match path {
            Path::Private => self.fake.say(direct(user), user, text, &Value::Null),
            Path::Topic => self.fake.say(THREAD, user, &meant, &said),
            Path::Menu => {
                let rights = if role == Role::Admin { "8" } else { "0" };
                let member = json!({
                    "user": { "id": user.to_string(), "username": "x" },
                    "roles": roles, "permissions": rights,
                });
                let changes = json!({ "member": member });
                self.fake.slash(CHANNEL, user, name, &options, &changes)
            }
            Path::PrivateMenu => self
                .fake
                .slash(direct(user), user, name, &options, &Value::Null),
            Path::Reply => {
                let author = json!({ "id": DISCORD_BOT.to_string() });
                let replied = json!({
                    "type": 19, "message_reference": { "message_id": "5" }, "member": member,
                    "referenced_message": { "id": "5", "content": "hello", "author": author },
                });
                self.fake.say(CHANNEL, user, text, &replied)
            }
            Path::Edited => {
                let count = self.model.count();
                self.model.push(Script::hang());
                self.fake.say(direct(user), user, "first", &Value::Null);
                self.model.wait_for(count + 1).await;
                let waiting = self.fake.say(direct(user), user, WORDS, &Value::Null);
                self.fake.event(
                    "MESSAGE_UPDATE",
                    json!({
                        "id": waiting.to_string(), "channel_id": direct(user).to_string(), "type": 0,
                        "content": text, "edited_timestamp": "2026-12-01T00:00:01+00:00",
                        "author": { "id": user.to_string(), "username": "x" },
                    }),
                );
                for _ in 0..2 {
                    self.fake.say(direct(8), 8, "/ping", &Value::Null);
                    assert_eq!(self.answer().await, "pong");
                }
                self.fake.say(direct(user), user, "/stop", &Value::Null);
                loop {
                    let told = self.answer().await;
                    if told.contains(WORDS) || told.contains("waits") {
                        return told;
                    }
                }
            }
            _ => self.fake.say(CHANNEL, user, &meant, &said),
        };
        self.answer().await
    }
}

/// The web chat: a stranger, somebody else whom the site vouches for, and an owner whom it vouches for.
pub(super) struct WebChat {
    clients: Mutex<[WebChatClient; 3]>,
    _gateway: Gateway,
}

/// What somebody says who only claims to be another, beside his words.
fn claims(id: &str) -> Value {
    json!({ "user_id": id, "userId": id, "role": "owner", "sender": { "id": id, "role": "owner" } })
}

/// Says something in the web chat, whatever else stands in the frame; the text of the answer.
async fn ask(client: &mut WebChatClient, text: &str, beside: Value) -> String {
    let mut frame = json!({
        "type": "text", "messageId": format!("m{}", rand_id()), "content": { "text": text },
    });
    crate::gateway::merge(&mut frame, beside);
    client.send(frame).await;
    let mut answer = String::new();
    loop {
        let frame = client.next().await;
        if frame["final"] == true {
            frame["text"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut answer);
        }
        match frame["type"].as_str() {
            Some("end") => return answer,
            Some("error") => return frame.to_string(),
            _ => {}
        }
    }
}

/// Numbers that are used once.
fn rand_id() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// A connection of somebody whom the site vouches for.
async fn signed(gateway: &Gateway, identity: &str) -> WebChatClient {
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.hello(json!({ "identity": identity })).await;
    client.next_of("history").await;
    client
}

#[async_trait]
impl Door for WebChat {
    const PATHS: &'static [(Path, &'static str)] = &[(Path::Private, "··✓")];

    async fn start() -> Self {
        let model = FakeModel::start().await;
        let site = |owners: Value| {
            json!({
                "platforms": { "webchat": { "accounts": { "default": { "identity_secret": SECRET } } } },
                "permissions": { "owners": owners },
            })
        };
        // Who owns it tells who he is: that stays the same.
        let mut gateway = Gateway::start(&model, site(json!({ "discord": [123] }))).await;
        let told = ask(&mut signed(&gateway, ANN).await, "/whoami", json!({})).await;
        let id = told
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("You: "));
        let id = id.expect("an id").to_owned();
        gateway.term().await;
        gateway.configure(&model, site(json!({ "discord": [123], "webchat": [id] })));
        gateway.up().await;
        let mut stranger = WebChatClient::connect(gateway.http()).await;
        let mut hello = claims(&id);
        hello["token"] = Value::Null;
        stranger.hello(hello).await;
        stranger.next_of("history").await;
        let clients = [
            stranger,
            signed(&gateway, crate::webchat_adapter::doors::BOB).await,
            signed(&gateway, ANN).await,
        ];
        for who in ["discord:123", "discord//123", &id] {
            let mut client = WebChatClient::connect(gateway.http()).await;
            client.enter(None).await;
            let told = ask(&mut client, "/backup", claims(who)).await;
            assert_eq!(told, "Only an owner of the gateway may do that.", "{who}");
        }
        Self {
            clients: Mutex::new(clients),
            _gateway: gateway,
        }
    }

    async fn say(&self, _: Path, role: Role, text: &str) -> String {
        let mut clients = self.clients.lock().await;
        let [stranger, other, owner] = &mut *clients;
        match role {
            Role::Member => ask(stranger, text, claims("discord:123")).await,
            Role::Admin => ask(other, text, json!({ "role": "admin" })).await,
            Role::Owner => ask(owner, text, json!({})).await,
        }
    }
}
