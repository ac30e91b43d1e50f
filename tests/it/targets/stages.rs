//! The same group on three platforms.
//!
//! Owns how somebody is pointed at on each. The fakes keep who is muted.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use weirgate_testkit::{
    discord::{
        CHANNEL, FakeDiscord,
        guild::{ADMIN_ROLE, OWNER, ROLE},
    },
    model::FakeModel,
    onebot::{self, FakeOneBot},
    telegram::{BOT_NAME, FakeTelegram, Standing},
};

use super::{Stage, Who, Whom};
use crate::{
    discord,
    gateway::{BOT, Chat as _, Gateway, LIMIT},
    telegram::{self, GROUP},
};

/// Numbers of messages that the fake of QQ does not give out itself.
static NEXT: AtomicI64 = AtomicI64::new(9_000_000);
/// The group of QQ.
const QQ_GROUP: u64 = 50;

/// A group of QQ.
pub(super) struct OneBot {
    fake: FakeOneBot,
    _gateway: Gateway,
}

impl OneBot {
    fn number(who: Who) -> u64 {
        match who {
            Who::Boss => 100_001,
            Who::Chief => 100_002,
            Who::Bob => 100_003,
            Who::Ann => 100_004,
            Who::Eve => 100_005,
            Who::Gone => 100_006,
            Who::Bot => BOT,
        }
    }

    async fn said(&self, segments: &[Value]) -> String {
        let chief = Self::number(Who::Chief);
        self.fake
            .group_segments("admin", QQ_GROUP, chief, segments)
            .await;
        self.fake.answer().await.text()
    }
}

#[async_trait]
impl Stage for OneBot {
    async fn start() -> Self {
        let model = FakeModel::start().await;
        let gateway = Gateway::start(&model, json!({})).await;
        let fake = gateway.onebot().await;
        for (who, role) in [
            (Who::Boss, "owner"),
            (Who::Chief, "admin"),
            (Who::Bob, "member"),
            (Who::Ann, "member"),
            (Who::Eve, "member"),
            (Who::Gone, "member"),
            (Who::Bot, "admin"),
        ] {
            fake.member(QQ_GROUP, Self::number(who), Some(role));
        }
        Self {
            fake,
            _gateway: gateway,
        }
    }

    fn id(&self, who: Who) -> String {
        Self::number(who).to_string()
    }

    async fn says(&self, who: Who, name: &str) {
        let user = Self::number(who);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.fake
            .raw(json!({
                "time": 1_700_000_000, "self_id": BOT, "post_type": "message", "message_type": "group",
                "sub_type": "normal", "message_id": number, "user_id": user, "group_id": QQ_GROUP,
                "sender": { "user_id": user, "nickname": name, "card": "", "role": "member" },
                "message": [onebot::text("hello")],
            }))
            .await;
    }

    async fn leaves(&self, who: Who) {
        self.fake.member(QQ_GROUP, Self::number(who), None);
    }

    async fn mute(&self, whom: Whom) -> String {
        let named = |who: Who, name: &str| json!({ "type": "at", "data": { "qq": self.id(who), "name": name } });
        let command = || onebot::text(" /mute ");
        let segments = match whom {
            Whom::Mention(who) => vec![command(), onebot::at(Self::number(who))],
            Whom::Nameless(who) => vec![command(), named(who, "@ ")],
            Whom::Posing(who, name) => vec![command(), named(who, &format!("@{name}"))],
            Whom::Code(who) => {
                vec![onebot::text(&format!(" /mute [CQ:at,qq={}]", self.id(who)))]
            }
            Whom::Answer(who) => {
                let spam = self.fake.past(Some(QQ_GROUP), Self::number(who), "buy", 5);
                vec![onebot::reply_to(spam), command()]
            }
            Whom::Id(who) => vec![onebot::text(&format!(" /mute {}", self.id(who)))],
            Whom::Written(text) => vec![onebot::text(&format!(" /mute {text}"))],
        };
        self.said(&[segments, vec![onebot::text(" 5m")]].concat())
            .await
    }

    async fn command(&self, text: &str) -> String {
        self.said(&[onebot::text(&format!(" {text}"))]).await
    }

    fn is_muted(&self, who: Who) -> bool {
        let standing = self.fake.standing(QQ_GROUP, Self::number(who));
        standing.is_some_and(|(_, until)| until > 0)
    }
}

/// A group of Telegram.
pub(super) struct Telegram {
    fake: FakeTelegram,
    _model: FakeModel,
    _gateway: Gateway,
}

impl Telegram {
    fn number(who: Who) -> i64 {
        match who {
            Who::Boss => 20_001,
            Who::Chief => 20_002,
            Who::Bob => 20_003,
            Who::Ann => 20_004,
            Who::Eve => 20_005,
            Who::Gone => 20_006,
            Who::Bot => weirgate_testkit::telegram::BOT,
        }
    }

    /// Somebody says something under this name, and this user name.
    pub(super) fn says_as(&self, who: Who, name: &str, username: Option<&str>) {
        let user = Self::number(who);
        let mut from = json!({ "id": user, "is_bot": false, "first_name": name });
        if let Some(username) = username {
            from["username"] = username.into();
        }
        self.fake
            .say(GROUP, user, "hello", &json!({ "from": from }));
    }

    /// Words of the admin with the entities that the platform makes of user names.
    async fn said(&self, text: &str, mut changes: Value) -> String {
        if changes["entities"].is_null() {
            changes["entities"] = user_names(text).into();
        }
        let chief = Self::number(Who::Chief);
        self.fake.say(GROUP, chief, text, &changes);
        let message = self.fake.next_message(LIMIT).await;
        message.expect("an answer in time").text
    }
}

/// Words that the platform takes for user names: of five signs and more.
fn user_names(text: &str) -> Vec<Value> {
    let is_name = |word: &&str| {
        let name = word.strip_prefix('@').unwrap_or_default();
        name.len() >= 5 && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
    };
    let found = text.split(' ').filter(is_name);
    found
        .map(|word| {
            let offset = text.find(word).unwrap_or_default();
            json!({ "type": "mention", "offset": offset, "length": word.len() })
        })
        .collect()
}

#[async_trait]
impl Stage for Telegram {
    async fn start() -> Self {
        let fake = FakeTelegram::start(telegram::TOKEN).await;
        for (who, standing) in [
            (Who::Boss, Standing::Creator),
            (Who::Chief, Standing::Administrator),
            (Who::Bob, Standing::Member),
            (Who::Ann, Standing::Member),
            (Who::Eve, Standing::Member),
            (Who::Gone, Standing::Member),
            (Who::Bot, Standing::Administrator),
        ] {
            fake.member(GROUP, Self::number(who), standing);
        }
        let (model, gateway) = telegram::whole::gateway(&fake, json!({})).await;
        Self {
            fake,
            _model: model,
            _gateway: gateway,
        }
    }

    fn id(&self, who: Who) -> String {
        Self::number(who).to_string()
    }

    async fn says(&self, who: Who, name: &str) {
        self.says_as(who, name, None);
    }

    async fn leaves(&self, who: Who) {
        self.fake.member(GROUP, Self::number(who), Standing::Left);
    }

    async fn mute(&self, whom: Whom) -> String {
        let shown = |who: Who, name: &str| {
            let user = json!({ "id": Self::number(who), "is_bot": false, "first_name": "x" });
            let length = name.chars().count();
            let entity =
                json!({ "type": "text_mention", "offset": 6, "length": length, "user": user });
            (format!("/mute {name} 5m"), json!({ "entities": [entity] }))
        };
        let plain = |text: String| (text, json!({}));
        let (text, changes) = match whom {
            Whom::Mention(Who::Bot) => plain(format!("/mute @{BOT_NAME} 5m")),
            Whom::Mention(who) => shown(who, "somebody"),
            Whom::Nameless(who) => shown(who, "\u{200b}"),
            Whom::Posing(who, name) => shown(who, name),
            Whom::Code(who) => plain(format!("/mute [Ann](tg://user?id={}) 5m", self.id(who))),
            Whom::Answer(who) => {
                let user = Self::number(who);
                let from = json!({ "id": user, "is_bot": false, "first_name": who.name() });
                let spam = self.fake.say(GROUP, user, "buy", &json!({ "from": from }));
                let replied = json!({ "message_id": spam, "from": from, "text": "buy" });
                (
                    "/mute 5m".to_owned(),
                    json!({ "reply_to_message": replied }),
                )
            }
            Whom::Id(who) => plain(format!("/mute {} 5m", self.id(who))),
            Whom::Written(text) => plain(format!("/mute {text} 5m")),
        };
        self.said(&text, changes).await
    }

    async fn command(&self, text: &str) -> String {
        self.said(text, json!({})).await
    }

    fn is_muted(&self, who: Who) -> bool {
        let standing = self.fake.standing(GROUP, Self::number(who));
        standing.is_some_and(|record| record["can_send_messages"] == false)
    }
}

/// A channel of Discord.
pub(super) struct Discord {
    fake: FakeDiscord,
    _model: FakeModel,
    _gateway: Gateway,
}

impl Discord {
    fn number(who: Who) -> u64 {
        match who {
            Who::Boss => OWNER,
            Who::Chief => 70_002,
            Who::Bob => 70_003,
            Who::Ann => 70_004,
            Who::Eve => 70_005,
            Who::Gone => 70_006,
            Who::Bot => weirgate_testkit::discord::BOT,
        }
    }

    /// Words of the admin that mention the bot in front, and these people.
    async fn said(&self, text: &str, people: &[(Who, &str)], mut changes: Value) -> String {
        let bot = weirgate_testkit::discord::BOT;
        let mention = |id: u64, name: &str| json!({ "id": id.to_string(), "username": name });
        let others = people
            .iter()
            .map(|(who, name)| mention(Self::number(*who), name));
        let mentions: Vec<Value> = std::iter::once(mention(bot, "weir"))
            .chain(others)
            .collect();
        changes["mentions"] = mentions.into();
        changes["member"] = json!({ "roles": [ADMIN_ROLE.to_string()] });
        let chief = Self::number(Who::Chief);
        self.fake
            .say(CHANNEL, chief, &format!("<@{bot}> {text}"), &changes);
        let message = self.fake.next_message(LIMIT).await;
        message.expect("an answer in time").text
    }
}

#[async_trait]
impl Stage for Discord {
    async fn start() -> Self {
        let fake = FakeDiscord::start(discord::TOKEN).await;
        for who in [Who::Bob, Who::Ann, Who::Eve, Who::Gone] {
            fake.join(Self::number(who), &[ROLE]);
        }
        fake.join(Self::number(Who::Chief), &[ADMIN_ROLE]);
        let (model, gateway) = discord::whole::gateway(&fake, json!({})).await;
        Self {
            fake,
            _model: model,
            _gateway: gateway,
        }
    }

    fn id(&self, who: Who) -> String {
        match who {
            // Short numbers are no ids by themselves.
            Who::Boss => format!("id:{OWNER}"),
            who => Self::number(who).to_string(),
        }
    }

    async fn says(&self, who: Who, name: &str) {
        let member = json!({ "member": { "nick": name, "roles": [] } });
        self.fake.say(CHANNEL, Self::number(who), "hello", &member);
    }

    async fn leaves(&self, who: Who) {
        self.fake.leave(Self::number(who));
    }

    async fn mute(&self, whom: Whom) -> String {
        let code = |who: Who| format!("/mute <@{}> 5m", Self::number(who));
        let none = json!({});
        match whom {
            Whom::Mention(who) => self.said(&code(who), &[(who, "somebody")], none).await,
            Whom::Nameless(who) => self.said(&code(who), &[(who, "")], none).await,
            Whom::Posing(who, name) => self.said(&code(who), &[(who, name)], none).await,
            Whom::Code(who) => self.said(&code(who), &[], none).await,
            Whom::Answer(who) => {
                let user = Self::number(who);
                let author = json!({ "id": user.to_string(), "username": who.name() });
                let spam = json!({ "author": author });
                let spam = self.fake.say(CHANNEL, user, "buy", &spam);
                let changes = json!({
                    "type": 19, "message_reference": { "message_id": spam.to_string() },
                    "referenced_message": { "id": spam.to_string(), "content": "buy", "author": author },
                });
                self.said("/mute 5m", &[], changes).await
            }
            Whom::Id(who) => self.command(&format!("/mute {} 5m", self.id(who))).await,
            Whom::Written(text) => self.command(&format!("/mute {text} 5m")).await,
        }
    }

    async fn command(&self, text: &str) -> String {
        self.said(text, &[], json!({})).await
    }

    fn is_muted(&self, who: Who) -> bool {
        self.fake.standing(Self::number(who)).2
    }
}
