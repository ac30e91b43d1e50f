//! One connection over which events come: begun, kept alive, resumed, begun anew, for ever.
//!
//! Owns heartbeats, and which session is resumed and when a new one is begun.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use serenity::{constants::Opcode, model::gateway::GatewayIntents};
use tokio::{
    sync::{Mutex, MutexGuard, mpsc},
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};
use weirgate_sdk::{AdapterError, Connection, backoff::Backoff};

use super::{
    Frame, Shard, UNREADABLE,
    close::{self, After},
    failed,
};
use crate::{
    api::Call,
    channels::id,
    discord::Shared,
    interaction, menu,
    position::Session,
    receive::INTERACTION,
    socket::{Item, Socket},
};

/// How long the platform may take for its first frame.
const HELLO_LIMIT: Duration = Duration::from_secs(15);
/// The longest pause between two heartbeats that is believed.
const LONGEST_BEAT: Duration = Duration::from_secs(600);
/// A session whose address cannot be reached so often, or that is not resumed so often, is given up.
const MAX_TRIES: u32 = 3;
/// What is done at once beside reading; a further interaction is answered by a message.
const MAX_BESIDE: usize = 64;

/// One connection.
pub struct Line<'a> {
    shared: &'a Arc<Shared>,
    shard: Shard,
    frames: mpsc::Sender<Frame>,
    /// The session, and how far it was read.
    session: Option<Session>,
    backoff: Backoff,
    /// When a session was begun last by those that may not begin one at once.
    gate: &'a Mutex<Option<Instant>>,
    /// Held from the question where to connect until a session is begun.
    turn: Option<MutexGuard<'a, Option<Instant>>>,
    /// How often the session was not reached or not resumed.
    tries: u32,
    /// What is done beside reading: first signs, the menu.
    beside: JoinSet<()>,
}

/// What an item of the connection asks for.
enum Step {
    /// To be handed in.
    Hand(Frame),
    /// A heartbeat, now.
    Beat,
    /// Nothing: the last heartbeat was heard.
    Alive,
    /// Another connection, or none.
    End(After, String),
}

impl<'a> Line<'a> {
    /// A connection that resumes a session, if there is one.
    pub fn new(
        shared: &'a Arc<Shared>,
        shard: Shard,
        frames: mpsc::Sender<Frame>,
        resume: Option<Session>,
        gate: &'a Mutex<Option<Instant>>,
    ) -> Self {
        Self {
            shared,
            shard,
            frames,
            session: resume,
            backoff: Backoff::new(shared.settings.reconnect),
            gate,
            turn: None,
            tries: 0,
            beside: JoinSet::new(),
        }
    }

    /// Receives until nobody takes events any more.
    ///
    /// # Errors
    /// What no reconnecting can mend.
    pub async fn keep(&mut self) -> Result<(), AdapterError> {
        loop {
            let (after, why) = match self.connect().await {
                Ok(mut socket) => self.attend(&mut socket).await,
                Err(Some(end)) => end,
                Err(None) => continue,
            };
            self.turn = None;
            match after {
                After::Resume if self.tries < MAX_TRIES => {}
                After::Resume | After::Anew => {
                    self.session = None;
                    self.tries = 0;
                }
                After::Never(error) => return Err(error),
                After::Stopping => return Ok(()),
            }
            self.shared
                .report_line(self.shard.index, Connection::Down(why));
            sleep(self.backoff.pause(rand::random())).await;
        }
    }

    /// A connection, to the session's address or to the one that the platform names. `Err(None)` is to be repeated
    /// at once.
    async fn connect(&mut self) -> Result<Socket, Option<(After, String)>> {
        let url = match &self.session {
            Some(session) => session.url.clone(),
            None => self.ask().await?,
        };
        let encrypted = self.shared.settings.api_url.starts_with("https:");
        match Socket::dial(&url, encrypted).await {
            Ok(socket) => Ok(socket),
            Err(why) => {
                self.tries += 1;
                Err(Some((After::Resume, why)))
            }
        }
    }

    /// Where a new session is begun, once it may be.
    async fn ask(&mut self) -> Result<String, Option<(After, String)>> {
        // Dropped first, so that it is not waited for here.
        self.turn = None;
        let turn = self.gate.lock().await;
        if let Some(begun) = *turn {
            sleep_until(begun + self.shared.settings.identify_pause).await;
        }
        self.turn = Some(turn);
        let limit = self.shared.settings.call_timeout;
        let calls = self.shared.calls();
        let answer = match calls {
            Ok(api) => api.get(Call::Gateway, limit).await,
            Err(error) => return Err(Some((After::Never(error), String::new()))),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                let pause = self.backoff.pause(rand::random());
                return Err(match failed(&error, pause) {
                    Ok(pause) => {
                        let down = Connection::Down(error.to_string());
                        self.shared.report_line(self.shard.index, down);
                        sleep(pause).await;
                        None
                    }
                    Err(error) => Some((After::Never(error), String::new())),
                });
            }
        };
        let left = &answer["session_start_limit"];
        if left["remaining"] == 0 {
            // One session more than allowed, and the platform takes the token away.
            let after = Duration::from_millis(left["reset_after"].as_u64().unwrap_or(60_000));
            let why = format!(
                "no session may be begun for {after:?}: the platform's daily limit is used up"
            );
            self.shared
                .report_line(self.shard.index, Connection::Down(why));
            sleep(after).await;
            return Err(None);
        }
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| {
            Some((
                After::Resume,
                "the platform names no address for events".into(),
            ))
        })
    }

    /// Serves a connection until it ends.
    async fn attend(&mut self, socket: &mut Socket) -> (After, String) {
        let hello = match timeout(HELLO_LIMIT, socket.next()).await {
            Ok(Item::Frame(frame)) if opcode(&frame) == Some(Opcode::Hello) => frame,
            Ok(Item::End(code, why)) => return close::read(code, &why),
            _ => return (After::Resume, "the platform does not greet".into()),
        };
        let beat = hello["d"]["heartbeat_interval"].as_u64().unwrap_or(0);
        let beat = Duration::from_millis(beat).min(LONGEST_BEAT);
        if beat.is_zero() {
            return (After::Resume, "the platform names no heartbeat".into());
        }
        let first = match &self.session {
            Some(session) => {
                self.tries += 1;
                self.resume(session)
            }
            None => {
                if let Some(mut turn) = self.turn.take() {
                    *turn = Some(Instant::now());
                }
                self.identify()
            }
        };
        if let Err(why) = socket.send(&first).await {
            return (After::Resume, why);
        }
        self.read(socket, beat).await
    }

    async fn read(&mut self, socket: &mut Socket, beat: Duration) -> (After, String) {
        let frames = self.frames.clone();
        let mut next = Instant::now() + beat.mul_f64(rand::random());
        let mut alive = true;
        let mut place = None;
        loop {
            tokio::select! {
                biased;
                () = sleep_until(next) => {
                    // What is not read because the gateway is busy is no silence.
                    if !alive && place.is_some() {
                        return (After::Resume, "no sign of life".into());
                    }
                    alive = false;
                    next = Instant::now() + beat;
                    if let Err(why) = self.beat(socket).await {
                        return (After::Resume, why);
                    }
                }
                reserved = frames.reserve(), if place.is_none() => match reserved {
                    Ok(reserved) => {
                        place = Some(reserved);
                        alive = true;
                    }
                    Err(_) => return (After::Stopping, String::new()),
                },
                item = socket.next(), if place.is_some() => match self.step(item) {
                    Step::Hand(frame) => {
                        if let Some(place) = place.take() {
                            place.send(frame);
                        }
                    }
                    Step::Beat => {
                        if let Err(why) = self.beat(socket).await {
                            return (After::Resume, why);
                        }
                    }
                    Step::Alive => alive = true,
                    Step::End(after, why) => return (after, why),
                },
            }
        }
    }

    /// What an item of the connection asks for.
    fn step(&mut self, item: Item) -> Step {
        let frame = match item {
            Item::Frame(frame) => frame,
            Item::Unreadable => return Step::Hand(self.unreadable()),
            Item::End(code, why) => {
                let (after, why) = close::read(code, &why);
                return Step::End(after, why);
            }
        };
        match opcode(&frame) {
            Some(Opcode::Dispatch) => Step::Hand(self.event(frame)),
            Some(Opcode::HeartbeatAck) => Step::Alive,
            Some(Opcode::Heartbeat) => Step::Beat,
            Some(Opcode::Reconnect) => Step::End(
                After::Resume,
                "the platform asks for a new connection".into(),
            ),
            Some(Opcode::InvalidSession) => {
                let goes_on = frame["d"] == true;
                let after = if goes_on { After::Resume } else { After::Anew };
                Step::End(after, "the session is over".into())
            }
            _ => Step::Hand(self.unreadable()),
        }
    }

    /// An event came.
    fn event(&mut self, mut frame: Value) -> Frame {
        let kind = frame["t"].as_str().unwrap_or(UNREADABLE).to_owned();
        let sequence = frame["s"].as_u64();
        let data = frame["d"].take();
        if kind == "READY" {
            let text = |field: &str| data[field].as_str().map(str::to_owned);
            self.session = text("session_id")
                .zip(text("resume_gateway_url"))
                .map(|(id, url)| Session {
                    id,
                    url,
                    sequence: 0,
                });
        }
        self.answer(&kind, &data);
        if let Some((session, sequence)) = self.session.as_mut().zip(sequence) {
            session.sequence = sequence;
        }
        if matches!(kind.as_str(), "READY" | "RESUMED") {
            self.tries = 0;
            self.backoff.reset();
            self.shared.report_line(self.shard.index, Connection::Up);
        }
        Frame {
            shard: self.shard.index,
            kind,
            data,
            session: self.session.clone(),
        }
    }

    /// Begins what an event asks for that cannot wait until it is handed in.
    fn answer(&mut self, kind: &str, data: &Value) {
        while self.beside.try_join_next().is_some() {}
        if self.beside.len() >= MAX_BESIDE {
            return;
        }
        match kind {
            INTERACTION => {
                if let Some(sign) = interaction::acknowledge(self.shared, data) {
                    self.beside.spawn(sign);
                }
            }
            // One menu for all connections.
            "READY" if self.shard.index == 0 => {
                if let Some(application) = id(&data["application"]["id"]) {
                    self.beside
                        .spawn(menu::offer(Arc::clone(self.shared), application));
                }
            }
            _ => {}
        }
    }

    fn unreadable(&self) -> Frame {
        Frame {
            shard: self.shard.index,
            kind: UNREADABLE.to_owned(),
            data: Value::Null,
            session: self.session.clone(),
        }
    }

    async fn beat(&self, socket: &mut Socket) -> Result<(), String> {
        let session = self.session.as_ref();
        let accepted =
            session.and_then(|session| self.shared.accepted_of(self.shard.index, session));
        let beat = json!({ "op": u8::from(Opcode::Heartbeat), "d": accepted });
        socket.send(&beat).await
    }

    fn resume(&self, session: &Session) -> Value {
        json!({ "op": u8::from(Opcode::Resume), "d": {
            "token": self.token(), "session_id": session.id, "seq": session.sequence,
        }})
    }

    fn identify(&self) -> Value {
        let mut intents = GatewayIntents::GUILDS
            | GatewayIntents::GUILD_MESSAGES
            | GatewayIntents::DIRECT_MESSAGES;
        intents.set(
            GatewayIntents::MESSAGE_CONTENT,
            self.shared.settings.message_content,
        );
        intents.set(GatewayIntents::GUILD_MEMBERS, self.shared.settings.members);
        json!({ "op": u8::from(Opcode::Identify), "d": {
            "token": self.token(), "intents": intents.bits(), "shard": [self.shard.index, self.shard.count],
            "properties": { "os": std::env::consts::OS, "browser": "weirgate", "device": "weirgate" },
        }})
    }

    fn token(&self) -> &str {
        let token = self.shared.settings.token.as_ref();
        token.map_or("", |token| token.expose())
    }
}

fn opcode(frame: &Value) -> Option<Opcode> {
    let code = u8::try_from(frame["op"].as_u64()?).ok()?;
    Some(Opcode::from(code))
}
