//! The official API over real sockets: tokens, sessions, places.

mod buttons;
mod media;
mod moderation;
mod refusals;
mod streaming;
mod webhook;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use weirgate_qq::{
    Official,
    official::settings::{Events, Settings, Shards},
};
use weirgate_sdk::{
    Adapter, AdapterError, Connection, Event, Finding, InboundMessage, Outgoing, ReplyTarget,
    SendError, Sent, Setup, Stopper,
    answer::{Block, Inline},
    settings::Secret,
};
use weirgate_testkit::{
    ingress::RecordingIngress,
    qq::{APP_ID, FakeQq, Fault, GROUP, SECRET, Where, target},
};

use super::LIMIT;

/// A running adapter and the platform.
struct Rig {
    fake: FakeQq,
    bot: Arc<Official>,
    ingress: Arc<RecordingIngress>,
    stopper: Stopper,
    run: JoinHandle<Result<(), AdapterError>>,
}

impl Rig {
    async fn start() -> Self {
        let fake = FakeQq::start().await;
        let settings = settings(&fake);
        Self::with(fake, settings).await
    }

    /// Runs the adapter and waits until it is connected.
    async fn with(fake: FakeQq, settings: Settings) -> Self {
        let rig = Self::run(fake, settings);
        rig.is_up().await;
        rig
    }

    fn run(fake: FakeQq, settings: Settings) -> Self {
        let bot = weirgate_qq::official(&setup(), settings);
        let ingress = RecordingIngress::new();
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

    /// Somebody says something, and the gateway hears it.
    async fn hear(&self, place: Where, text: &str) -> InboundMessage {
        self.fake.say(place, 7, text, &Value::Null);
        let heard = self.ingress.next_message(LIMIT).await;
        heard.expect("a message reaches the gateway")
    }

    async fn send(&self, to: &InboundMessage, id: i64, text: &str) -> Result<Sent, SendError> {
        self.bot.send(self.outgoing(to, id, text)).await
    }

    fn outgoing(&self, to: &InboundMessage, id: i64, text: &str) -> Outgoing {
        let content = vec![Inline::Text(text.to_owned())];
        Outgoing {
            id,
            part: 0,
            parts: 1,
            conversation: to.conversation.clone(),
            turn: None,
            answers: vec![to.id.clone()],
            rendered: self.bot.render().render(&[Block::Paragraph(content)]),
            reply: Some(ReplyTarget {
                message: to.id.clone(),
                author: to.sender.key.clone(),
            }),
            reply_context: to.reply_context.clone(),
            buttons: Vec::new(),
            files: Vec::new(),
            private: false,
        }
    }

    async fn failed(self) -> String {
        let ended = tokio::time::timeout(LIMIT, self.run).await;
        match ended.expect("ends").expect("no panic") {
            Err(AdapterError::Config(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    async fn ended(self) {
        self.stopper.stop();
        let ended = tokio::time::timeout(LIMIT, self.run).await;
        assert_eq!(ended.expect("ends soon").expect("no panic"), Ok(()));
        assert_eq!(self.fake.violations(), Vec::<String>::new());
    }
}

fn setup() -> Setup {
    Setup {
        account: "bot".into(),
        secret: [7; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::default(),
        menu: weirgate_sdk::Menu::default(),
    }
}

fn settings(fake: &FakeQq) -> Settings {
    Settings {
        app_id: APP_ID.into(),
        app_secret: Some(Secret::new(SECRET)),
        api_url: fake.url(),
        token_url: fake.token_url(),
        reconnect: Duration::from_millis(50),
        session_pause: Duration::ZERO,
        ..Settings::default()
    }
}

#[tokio::test]
async fn each_kind_of_place_is_answered_where_it_is() {
    let rig = Rig::start().await;
    for (id, place) in (1..).zip([Where::Private, Where::Group, Where::Channel, Where::Direct]) {
        let heard = rig.hear(place, "hi").await;
        assert_eq!(heard.own_text(), "hi");
        let sent = rig.send(&heard, id, "yes").await.expect("sent");
        assert!(sent.message.is_some());
        let seen = rig.fake.next_message(LIMIT).await.expect("seen");
        assert_eq!((&*seen.text, seen.to), ("yes", target(place, 7)));
        assert_eq!(seen.said["msg_id"], heard.id.as_str());
        let quotes = seen.said["message_reference"]["message_id"] == heard.id.as_str();
        assert_eq!(quotes, matches!(place, Where::Channel | Where::Direct));
    }
    rig.ended().await;
}

#[tokio::test]
async fn one_token_serves_many_calls_and_a_refused_one_is_renewed_once() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Private, "hi").await;
    let many = (1..=5).map(|id| rig.send(&heard, id, "x"));
    for sent in futures_util::future::join_all(many).await {
        sent.expect("sent");
    }
    assert_eq!(rig.fake.calls("token").len(), 1);
    rig.fake.expire_tokens();
    let heard = rig.hear(Where::Private, "again").await;
    let both = [1, 2].map(|id| rig.send(&heard, id, "y"));
    for sent in futures_util::future::join_all(both).await {
        sent.expect("sent with a new token");
    }
    assert_eq!(rig.fake.calls("token").len(), 2);
    rig.ended().await;
}

#[tokio::test]
async fn a_secret_that_is_not_the_apps_ends_the_account() {
    let fake = FakeQq::start().await;
    let settings = Settings {
        app_secret: Some(Secret::new("another-secret")),
        ..settings(&fake)
    };
    let rig = Rig::run(fake, settings);
    let address = rig.fake.url();
    let findings = rig.bot.check(false).await;
    assert_eq!(findings, [Finding::TokenRefused { address }]);
    let why = rig.failed().await;
    assert!(
        why.contains("app_secret") && !why.contains("another-secret"),
        "{why}"
    );
}

#[tokio::test]
async fn an_address_that_is_not_on_the_list_is_told_with_what_to_do() {
    let fake = FakeQq::start().await;
    fake.fail("me", Fault::code(401, 11_298));
    let settings = settings(&fake);
    let rig = Rig::run(fake, settings);
    assert!(rig.is_down().await.contains("IP whitelist"));
    // Once it is on the list, the account comes up by itself.
    rig.is_up().await;
    rig.fake.fail("me", Fault::code(401, 11_298));
    let findings = rig.bot.check(false).await;
    let told = |finding: &Finding| matches!(finding, Finding::NotReached { error, .. } if error.contains("IP whitelist"));
    assert!(findings.iter().any(told), "{findings:?}");
    rig.ended().await;
}

#[tokio::test]
async fn an_operator_is_told_when_events_cannot_be_heard() {
    let rig = Rig::start().await;
    rig.fake.fail("gateway", Fault::code(403, 11_253));
    let findings = rig.bot.check(false).await;
    assert!(
        matches!(
            &*findings,
            [Finding::Reached { .. }, Finding::NotReached { error, .. }] if error.contains("11253")
        ),
        "{findings:?}"
    );
    assert!(rig.bot.check(true).await.is_empty());
    rig.ended().await;
}

#[tokio::test]
async fn sessions_are_resumed_or_begun_anew_as_the_platform_says() {
    let rig = Rig::start().await;
    rig.hear(Where::Private, "one").await;
    for code in [4_009, 1_000] {
        rig.fake.close(code);
        rig.is_down().await;
        rig.fake.say(Where::Private, 7, "meanwhile", &Value::Null);
        rig.is_up().await;
        let heard = rig.ingress.next_message(LIMIT).await.expect("heard");
        assert_eq!(heard.own_text(), "meanwhile");
    }
    assert_eq!(rig.fake.sessions(), (1, 2));
    rig.fake.close(4_900);
    rig.is_down().await;
    rig.is_up().await;
    assert_eq!(rig.fake.sessions().0, 2);
    // A token that ended before its time is asked for anew.
    rig.fake.expire_tokens();
    rig.fake.close(4_009);
    rig.is_down().await;
    rig.is_up().await;
    rig.hear(Where::Private, "two").await;
    assert_eq!(rig.fake.calls("token").len(), 2);
    rig.ended().await;
}

#[tokio::test]
async fn an_intent_that_is_not_granted_is_told() {
    let fake = FakeQq::start().await;
    let settings = Settings {
        events: vec![Events::Groups, Events::AllChannels],
        ..settings(&fake)
    };
    let rig = Rig::run(fake, settings);
    let why = rig.failed().await;
    assert!(
        why.contains("all_channels") && why.contains("4014"),
        "{why}"
    );
}

#[tokio::test]
async fn a_platform_that_falls_silent_is_left() {
    let rig = Rig::start().await;
    rig.fake.silent(true);
    assert!(rig.is_down().await.contains("no sign of life"));
    rig.fake.silent(false);
    rig.is_up().await;
    rig.hear(Where::Private, "hi").await;
    rig.ended().await;
}

#[tokio::test]
async fn a_group_that_takes_the_bot_in_and_puts_it_out_is_told() {
    let rig = Rig::start().await;
    for kind in ["GROUP_ADD_ROBOT", "GROUP_DEL_ROBOT", "FRIEND_ADD"] {
        rig.fake
            .event(kind, json!({ "group_openid": GROUP, "timestamp": 1 }));
    }
    rig.hear(Where::Private, "end").await;
    let events = rig.ingress.accepted();
    let is = |wanted: fn(&Event) -> bool| events.iter().any(wanted);
    assert!(is(|event| matches!(event, Event::BotAdded { .. })));
    assert!(is(|event| matches!(event, Event::BotRemoved { .. })));
    assert!(is(
        |event| matches!(event, Event::Other { name } if name == "FRIEND_ADD")
    ));
    rig.ended().await;
}

#[tokio::test]
async fn several_connections_hear_everything_and_each_goes_on_where_it_was() {
    let fake = FakeQq::start().await;
    fake.shards(2);
    let settings = settings(&fake);
    let rig = Rig::with(fake, settings).await;
    for place in [Where::Private, Where::Channel] {
        rig.hear(place, "one").await;
    }
    assert_eq!(rig.fake.sessions(), (2, 0));
    assert_eq!(rig.fake.acknowledged(7, 1, LIMIT).await, 1);
    // The first one is cut; the other one does not notice.
    rig.fake.close(4_009);
    let lost = |state: &Connection| matches!(state, Connection::Degraded(_));
    assert!(rig.ingress.connection_is(LIMIT, lost).await.is_some());
    rig.is_up().await;
    for place in [Where::Private, Where::Channel] {
        rig.hear(place, "two").await;
    }
    assert_eq!(rig.fake.sessions(), (2, 1));
    rig.ended().await;
}

#[tokio::test]
async fn a_number_of_connections_that_the_platform_does_not_want_is_told() {
    let fake = FakeQq::start().await;
    fake.shards(2);
    let settings = Settings {
        shards: Shards::Count(1),
        ..settings(&fake)
    };
    let why = Rig::run(fake, settings).failed().await;
    assert!(
        why.contains("shards: auto") && why.contains("4010"),
        "{why}"
    );
}
