//! The connection over which events come: begun, kept alive, resumed, begun anew, for ever.
//!
//! Owns heartbeats, which session is resumed and when a new one is begun, and the pauses between. A heartbeat tells
//! the platform of events that are accepted, never of more.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until, timeout},
};
use weirgate_sdk::{AdapterError, Connection, Event, Stop, backoff::Backoff};

use super::{
    api::CallError,
    bot::{Shared, unix_time},
    intake::{Mark, Parcel, Session},
    settings::Events,
    socket::{After, Item, Socket, ended},
};

/// How long the platform may take for its first frame.
const HELLO_LIMIT: Duration = Duration::from_secs(15);
/// The longest pause between two heartbeats that is believed.
const LONGEST_BEAT: Duration = Duration::from_secs(600);
/// The longest pause before the next session that is believed: sessions are counted by the day.
const LONGEST_REST: Duration = Duration::from_secs(24 * 3_600);
/// A session whose address cannot be reached so often is given up.
const MAX_DIALS: u32 = 3;

/// What frames are (bot-docs, opcodes).
mod op {
    pub const DISPATCH: u64 = 0;
    pub const HEARTBEAT: u64 = 1;
    pub const IDENTIFY: u64 = 2;
    pub const RESUME: u64 = 6;
    pub const RECONNECT: u64 = 7;
    pub const INVALID_SESSION: u64 = 9;
    pub const HELLO: u64 = 10;
    pub const HEARTBEAT_ACK: u64 = 11;
}

/// Receives until `stop`, or until nobody takes events any more.
///
/// # Errors
/// What no reconnecting can mend.
pub async fn run(
    shared: &Shared,
    events: mpsc::Sender<Parcel>,
    resume: Option<Session>,
    stop: &Stop,
) -> Result<(), AdapterError> {
    let mut line = Line {
        shared,
        events,
        session: resume,
        backoff: Backoff::new(shared.settings.reconnect),
        begun: None,
        dials: 0,
    };
    tokio::select! {
        biased;
        // The connection breaks without a word, so that the platform keeps the session for the next start.
        () = stop.stopped() => Ok(()),
        ended = line.keep() => ended,
    }
}

struct Line<'a> {
    shared: &'a Shared,
    events: mpsc::Sender<Parcel>,
    /// The session, and how far it was read.
    session: Option<Session>,
    backoff: Backoff,
    /// When a session was begun last.
    begun: Option<Instant>,
    /// How often the session's address was not reached.
    dials: u32,
}

/// What an item of the connection asks for.
enum Step {
    /// To be handed in.
    Hand(Parcel),
    /// A heartbeat, now.
    Beat,
    /// Nothing: the last heartbeat was heard, or a session began.
    Alive,
    /// Another connection, or none.
    End(After, String),
}

impl Line<'_> {
    async fn keep(&mut self) -> Result<(), AdapterError> {
        loop {
            let (after, why) = match self.connect().await {
                Ok((socket, url)) => self.attend(socket, &url).await,
                Err(end) => end,
            };
            let mut pause = self.backoff.pause(rand::random());
            match after {
                After::Resume | After::Token => {}
                After::Later(least) => pause = pause.max(least),
                After::Anew => self.session = None,
                After::Never(error) => return Err(error),
                After::Stopping => return Ok(()),
            }
            self.shared.report(Connection::Down(why));
            sleep(pause).await;
        }
    }

    /// A connection, to the session's address or to the one that the platform names.
    async fn connect(&mut self) -> Result<(Socket, String), (After, String)> {
        let url = match &self.session {
            Some(session) => session.url.clone(),
            None => self.ask().await?,
        };
        let encrypted = self.shared.settings.api_url.starts_with("https:");
        match Socket::dial(&url, encrypted).await {
            Ok(socket) => {
                self.dials = 0;
                Ok((socket, url))
            }
            Err(why) => {
                self.dials += 1;
                let is_lost = self.dials >= MAX_DIALS && self.session.is_some();
                Err((if is_lost { After::Anew } else { After::Resume }, why))
            }
        }
    }

    /// Where a new session is begun, once it may be.
    async fn ask(&mut self) -> Result<String, (After, String)> {
        if let Some(begun) = self.begun {
            sleep_until(begun + self.shared.settings.session_pause).await;
        }
        let api = self
            .shared
            .calls()
            .map_err(|error| (After::Never(error), String::new()))?;
        let answer = api.get("/gateway/bot").await.map_err(failed)?;
        let left = &answer["session_start_limit"];
        if left["remaining"] == 0 {
            let after = Duration::from_millis(left["reset_after"].as_u64().unwrap_or(60_000));
            let after = after.min(LONGEST_REST);
            let why = format!(
                "no session may be begun for {after:?}: the platform's daily limit is used up"
            );
            return Err((After::Later(after), why));
        }
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| {
            (
                After::Resume,
                "the platform names no address for events".into(),
            )
        })
    }

    /// Serves a connection until it ends.
    async fn attend(&mut self, mut socket: Socket, url: &str) -> (After, String) {
        let hello = match timeout(HELLO_LIMIT, socket.next()).await {
            Ok(Item::Frame(frame)) if frame["op"] == op::HELLO => frame,
            Ok(Item::End(code, why)) => return ended(code, &why),
            _ => return (After::Resume, "the platform does not greet".into()),
        };
        let beat = hello["d"]["heartbeat_interval"].as_u64().unwrap_or(0);
        let beat = Duration::from_millis(beat).min(LONGEST_BEAT);
        if beat.is_zero() {
            return (After::Resume, "the platform names no heartbeat".into());
        }
        let token = match self.shared.calls() {
            Ok(api) => api.token().await.map_err(failed),
            Err(error) => Err((After::Never(error), String::new())),
        };
        let token = match token {
            Ok(token) => token,
            Err(end) => return end,
        };
        let first = match &self.session {
            Some(session) => json!({ "op": op::RESUME, "d": {
                "token": token, "session_id": session.id, "seq": session.sequence,
            }}),
            None => {
                self.begun = Some(Instant::now());
                self.identify(&token)
            }
        };
        if let Err(why) = socket.send(&first).await {
            return (After::Resume, why);
        }
        let (after, why) = self.read(&mut socket, beat, url).await;
        if after == After::Token
            && let Ok(api) = self.shared.calls()
        {
            api.token_refused(&token);
        }
        (after, why)
    }

    fn identify(&self, token: &str) -> Value {
        let intents = self
            .shared
            .settings
            .events
            .iter()
            .copied()
            .map(Events::intent);
        json!({ "op": op::IDENTIFY, "d": {
            "token": token,
            "intents": intents.fold(0, |all, intent| all | intent),
            "shard": [0, 1],
            "properties": { "$os": std::env::consts::OS, "$browser": "weirgate", "$device": "weirgate" },
        }})
    }

    async fn read(&mut self, socket: &mut Socket, beat: Duration, url: &str) -> (After, String) {
        let events = self.events.clone();
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
                reserved = events.reserve(), if place.is_none() => match reserved {
                    Ok(reserved) => {
                        place = Some(reserved);
                        alive = true;
                    }
                    Err(_) => return (After::Stopping, String::new()),
                },
                item = socket.next(), if place.is_some() => match self.step(item, url) {
                    Step::Hand(parcel) => {
                        if let Some(place) = place.take() {
                            place.send(parcel);
                        }
                    }
                    Step::Beat => {
                        if let Err(why) = self.beat(socket).await {
                            return (After::Resume, why);
                        }
                    }
                    Step::Alive => {
                        alive = true;
                        self.backoff.reset();
                    }
                    Step::End(after, why) => return (after, why),
                },
            }
        }
    }

    /// What an item of the connection asks for.
    fn step(&mut self, item: Item, url: &str) -> Step {
        let mut frame = match item {
            Item::Frame(frame) => frame,
            Item::Unreadable => return Step::Hand(self.unreadable()),
            Item::End(code, why) => {
                let (after, why) = ended(code, &why);
                return Step::End(after, why);
            }
        };
        match frame["op"].as_u64() {
            Some(op::DISPATCH) => self.event(&mut frame, url),
            Some(op::HEARTBEAT_ACK) => Step::Alive,
            Some(op::HEARTBEAT) => Step::Beat,
            Some(op::RECONNECT) => Step::End(
                After::Resume,
                "the platform asks for a new connection".into(),
            ),
            Some(op::INVALID_SESSION) => {
                let goes_on = frame["d"] == true;
                let after = if goes_on { After::Resume } else { After::Anew };
                Step::End(after, "the session is over".into())
            }
            _ => Step::Hand(self.unreadable()),
        }
    }

    /// An event came.
    fn event(&mut self, frame: &mut Value, url: &str) -> Step {
        let data = frame["d"].take();
        let Some(kind) = frame["t"].as_str() else {
            return Step::Hand(self.unreadable());
        };
        if kind == "READY" {
            self.session = data["session_id"].as_str().map(|id| Session {
                id: id.to_owned(),
                url: url.to_owned(),
                sequence: 0,
            });
            if let Some(bot) = data["user"]["id"].as_str() {
                self.shared.is_bot(bot);
            }
        }
        if let Some((session, sequence)) = self.session.as_mut().zip(frame["s"].as_u64()) {
            session.sequence = sequence;
        }
        if matches!(kind, "READY" | "RESUMED") {
            self.shared.report(Connection::Up);
            return Step::Alive;
        }
        let event = self.shared.read(kind, &data, unix_time());
        Step::Hand(self.parcel(event))
    }

    fn unreadable(&self) -> Parcel {
        self.parcel(Event::Malformed {
            name: "unreadable frame".into(),
        })
    }

    fn parcel(&self, event: Event) -> Parcel {
        Parcel {
            events: vec![event],
            mark: self.session.clone().map(Mark::Read),
        }
    }

    async fn beat(&self, socket: &mut Socket) -> Result<(), String> {
        let session = self.session.as_ref();
        let accepted = session.and_then(|session| self.shared.accepted_of(session));
        socket
            .send(&json!({ "op": op::HEARTBEAT, "d": accepted }))
            .await
    }
}

/// What follows a call that failed.
fn failed(error: CallError) -> (After, String) {
    let text = error.to_string();
    match error {
        CallError::Secret(_) => (After::Never(AdapterError::Config(text)), String::new()),
        _ => (After::Resume, text),
    }
}
