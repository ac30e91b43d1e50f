//! Sessions over real connections to a platform that does what it is told.

use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};
use weirgate_sdk::{Stopper, settings::Secret};
use weirgate_testkit::ingress::RecordingIngress;

use super::*;

const LIMIT: Duration = Duration::from_secs(10);

/// A platform's side without a platform.
struct Bot {
    address: String,
    token: Secret,
    begin: Duration,
    reporter: Reporter,
    accepted: Accepted,
}

#[async_trait]
impl Gateway for Bot {
    type Parcel = Frame;

    fn pace(&self) -> Pace {
        Pace {
            reconnect: Duration::from_millis(20),
            begin: self.begin,
        }
    }

    fn is_encrypted(&self) -> bool {
        false
    }

    fn reporter(&self) -> &Reporter {
        &self.reporter
    }

    fn accepted(&self) -> &Accepted {
        &self.accepted
    }

    async fn ask(&self, _: Question) -> Result<Value, End> {
        Ok(json!({ "url": self.address, "session_start_limit": { "remaining": 9 } }))
    }

    async fn token(&self) -> Result<String, End> {
        Ok(self.token.expose().to_owned())
    }

    fn identify(&self) -> Value {
        json!({ "intents": 1 })
    }

    fn resumes_at(&self, _: &Value, dialled: &str) -> Option<String> {
        Some(dialled.to_owned())
    }

    fn parcel(&self, frame: Frame) -> Option<Frame> {
        (frame.kind != "READY").then_some(frame)
    }

    fn ended(&self, code: Option<u16>, why: &str) -> End {
        let after = match code {
            Some(4_009) => After::Anew,
            Some(4_004) => After::Never(AdapterError::Config("no".into())),
            _ => After::Resume,
        };
        (after, why.to_owned())
    }
}

/// A bot that runs, and the platform to which it connects.
struct Rig {
    listener: TcpListener,
    bot: Arc<Bot>,
    parcels: mpsc::Receiver<Frame>,
    stopper: Stopper,
    run: tokio::task::JoinHandle<Result<(), AdapterError>>,
}

type Client = WebSocketStream<TcpStream>;

impl Rig {
    async fn start(count: u16) -> Self {
        Self::start_with(count, Duration::ZERO).await
    }

    /// The same with a pause between the beginnings of two sessions.
    async fn start_with(count: u16, begin: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("an address");
        let bot = Arc::new(Bot {
            address: format!("ws://{address}"),
            token: Secret::new("s3cret"),
            begin,
            reporter: Reporter::new("p".into(), "a".into()),
            accepted: Accepted::default(),
        });
        bot.reporter.begin(RecordingIngress::new());
        bot.reporter.divide(count);
        bot.accepted.set(vec![None; usize::from(count)]);
        let (sender, parcels) = mpsc::channel(8);
        let (stopper, stop) = Stopper::new();
        let run = tokio::spawn({
            let bot = Arc::clone(&bot);
            let plan = Plan { count, at_once: 1 };
            async move { run(&bot, sender, Vec::new(), plan, &stop).await }
        });
        Self {
            listener,
            bot,
            parcels,
            stopper,
            run,
        }
    }

    /// The next connection, greeted, and the bot's first frame that is no heartbeat.
    async fn connection(&self) -> (Client, Value) {
        self.connection_with(20).await
    }

    /// The same with another pause between heartbeats, in milliseconds.
    async fn connection_with(&self, beat: u32) -> (Client, Value) {
        let taken = tokio::time::timeout(LIMIT, self.listener.accept()).await;
        let (stream, _) = taken.expect("in time").expect("a connection");
        let mut client = accept_async(stream).await.expect("a WebSocket");
        let hello = json!({ "op": 10, "d": { "heartbeat_interval": beat } });
        send(&mut client, &hello).await;
        let first = frame(&mut client, |frame| frame["op"] != 1).await;
        (client, first)
    }

    async fn parcel(&mut self) -> Frame {
        let frame = tokio::time::timeout(LIMIT, self.parcels.recv()).await;
        frame.expect("in time").expect("an event")
    }

    async fn stopped(self) {
        self.stopper.stop();
        assert_eq!(self.run.await.expect("no panic"), Ok(()));
    }
}

async fn send(client: &mut Client, frame: &Value) {
    let sent = client.send(Message::text(frame.to_string())).await;
    sent.expect("sent");
}

/// The bot's next frame that is `wanted`.
async fn frame(client: &mut Client, wanted: impl Fn(&Value) -> bool) -> Value {
    let found = async {
        loop {
            let message = client.next().await.expect("a frame").expect("readable");
            let Message::Text(text) = message else {
                continue;
            };
            let frame: Value = serde_json::from_str(text.as_str()).expect("JSON");
            if frame["op"] == 1 {
                send(client, &json!({ "op": 11 })).await;
            }
            if wanted(&frame) {
                return frame;
            }
        }
    };
    tokio::time::timeout(LIMIT, found).await.expect("in time")
}

fn event(kind: &str, number: u64, data: Value) -> Value {
    json!({ "op": 0, "t": kind, "s": number, "d": data })
}

#[tokio::test]
async fn the_pause_between_sessions_counts_from_when_the_platform_saw_the_first() {
    let pause = Duration::from_millis(100);
    let rig = Rig::start_with(2, pause).await;
    // No heartbeat comes in between.
    let (mut client, _) = rig.connection_with(600_000).await;
    let early = tokio::time::timeout(3 * pause, rig.listener.accept()).await;
    assert!(early.is_err(), "the platform may not have seen the first");
    let seen = Instant::now();
    let ready = event("READY", 1, json!({ "session_id": "x" }));
    send(&mut client, &ready).await;
    rig.connection_with(600_000).await;
    assert!(seen.elapsed() >= pause, "{:?}", seen.elapsed());
    rig.stopped().await;
}

#[tokio::test]
async fn a_session_is_begun_acknowledged_as_accepted_and_resumed() {
    let mut rig = Rig::start(1).await;
    let (mut client, first) = rig.connection().await;
    let begun = json!({ "op": 2, "d": { "intents": 1, "token": "s3cret", "shard": [0, 1] } });
    assert_eq!(first, begun);
    send(
        &mut client,
        &event("READY", 1, json!({ "session_id": "x" })),
    )
    .await;
    send(&mut client, &event("SAID", 2, json!("one"))).await;
    let one = rig.parcel().await;
    let session = one.session.clone().expect("a session");
    assert_eq!(
        (&*one.kind, one.data, session.sequence),
        ("SAID", json!("one"), 2)
    );
    // It is read and not accepted.
    let beat = frame(&mut client, |frame| frame["op"] == 1).await;
    assert_eq!(beat["d"], Value::Null);
    rig.bot.accepted.advance(0, session);
    frame(&mut client, |frame| frame["op"] == 1 && frame["d"] == 2).await;
    drop(client);
    let (mut client, first) = rig.connection().await;
    let resumed = json!({ "op": 6, "d": { "token": "s3cret", "session_id": "x", "seq": 2 } });
    assert_eq!(first, resumed);
    // What cannot be read is told, and a session that is over is not resumed again.
    client.send(Message::text("nonsense")).await.expect("sent");
    assert_eq!(rig.parcel().await.kind, UNREADABLE);
    send(&mut client, &json!({ "op": 9, "d": false })).await;
    let (_client, first) = rig.connection().await;
    assert_eq!(first["op"], 2);
    rig.stopped().await;
}

#[tokio::test]
async fn a_session_that_is_resumed_in_vain_is_given_up() {
    let rig = Rig::start(1).await;
    let (mut client, _) = rig.connection().await;
    send(
        &mut client,
        &event("READY", 1, json!({ "session_id": "x" })),
    )
    .await;
    drop(client);
    for _ in 0..3 {
        let (_client, first) = rig.connection().await;
        assert_eq!(first["op"], 6);
    }
    let (_client, first) = rig.connection().await;
    assert_eq!(first["op"], 2);
    rig.stopped().await;
}

#[tokio::test]
async fn several_connections_have_a_session_each_and_one_that_may_not_connect_ends_all() {
    let rig = Rig::start(2).await;
    // Nobody answers the heartbeats of one while the other connects: none is due by then.
    let (mut one, first) = rig.connection_with(60_000).await;
    let ready = event("READY", 1, json!({ "session_id": "x" }));
    send(&mut one, &ready).await;
    let (_two, second) = rig.connection_with(60_000).await;
    let mut shards = [&first, &second].map(|frame| frame["d"]["shard"].clone());
    shards.sort_by_key(ToString::to_string);
    assert_eq!(shards, [json!([0, 2]), json!([1, 2])]);
    let close = tokio_tungstenite::tungstenite::protocol::CloseFrame {
        code: 4_004.into(),
        reason: "no".into(),
    };
    let closed = one.send(Message::Close(Some(close))).await;
    closed.expect("sent");
    let ended = tokio::time::timeout(LIMIT, rig.run).await;
    let ended = ended.expect("in time").expect("no panic");
    assert_eq!(ended, Err(AdapterError::Config("no".into())));
}

#[test]
fn the_platform_says_how_many_connections_there_are_unless_somebody_else_does() {
    let answer = json!({ "shards": 4, "session_start_limit": { "max_concurrency": 2 } });
    let plan = |count, at_once| Ok(Plan { count, at_once });
    assert_eq!(planned(&answer, Shards::Auto), plan(4, 2));
    assert_eq!(planned(&answer, Shards::Count(2)), plan(2, 2));
    assert_eq!(planned(&json!({}), Shards::Auto), plan(1, 1));
    assert!(planned(&json!({ "shards": 1_000 }), Shards::Auto).is_err());
}

#[test]
fn what_is_accepted_is_told_of_its_own_session_alone() {
    let accepted = Accepted::default();
    let session = |id: &str, sequence| Session {
        id: id.into(),
        url: "wss://example.com".into(),
        sequence,
    };
    accepted.set(vec![None, Some(session("b", 3))]);
    accepted.advance(0, session("a", 7));
    assert_eq!(accepted.of(0, &session("a", 9)), Some(7));
    assert_eq!(accepted.of(0, &session("b", 9)), None);
    assert_eq!(accepted.of(1, &session("b", 9)), Some(3));
    assert_eq!(accepted.of(2, &session("b", 9)), None);
}
