//! One connection over which events come: begun, kept alive, resumed, begun anew, for ever.
//!
//! Owns the protocol that such platforms share: the greeting, heartbeats, and which session is resumed and when a new
//! one is begun. It never looks into an event beyond its kind and number.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, MutexGuard, mpsc},
    task::JoinSet,
    time::{Instant, sleep, sleep_until, timeout},
};
use weirgate_sdk::{AdapterError, Connection, backoff::Backoff};

use super::{After, End, Frame, Gateway, Question, Session, Shard, UNREADABLE};
use crate::socket::{Item, Socket};

/// How long the platform may take for its first frame.
const HELLO_LIMIT: Duration = Duration::from_secs(15);
/// The longest pause between two heartbeats that is believed.
const LONGEST_BEAT: Duration = Duration::from_secs(600);
/// The longest pause before the next session that is believed: sessions are counted by the day.
const LONGEST_REST: Duration = Duration::from_secs(24 * 3_600);
/// So many sessions are kept for when they are needed: with fewer left, new ones are spread over the time until there are
/// more. One more than allowed, and a platform may take the token away.
const FEW: u64 = 20;
/// A session whose address cannot be reached so often, or that is not resumed so often, is given up.
const MAX_TRIES: u32 = 3;
/// What is done at once beside reading; what comes beyond that is not done.
const MAX_BESIDE: usize = 64;

/// What frames are.
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

/// One connection.
pub(super) struct Line<'a, G: Gateway> {
    gateway: &'a Arc<G>,
    shard: Shard,
    parcels: mpsc::Sender<G::Parcel>,
    /// The session, and how far it was read.
    session: Option<Session>,
    backoff: Backoff,
    /// When a session was begun last by those that may not begin one at once.
    gate: &'a Mutex<Option<Instant>>,
    /// Held from the question where to connect until a session is begun.
    turn: Option<MutexGuard<'a, Option<Instant>>>,
    /// Held from the request for a session until the platform has certainly seen it: the pause before the next one counts
    /// from there, for the platform counts by when requests arrive.
    asked: Option<MutexGuard<'a, Option<Instant>>>,
    /// How often the session was not reached or not resumed.
    tries: u32,
    /// What is done beside reading.
    beside: JoinSet<()>,
}

/// What an item of the connection asks for.
enum Step<P> {
    /// To be handed in.
    Hand(P),
    /// A heartbeat, now.
    Beat,
    /// Nothing: the last heartbeat was heard.
    Alive,
    /// Nothing at all.
    Pass,
    /// Another connection, or none.
    End(End),
}

impl<'a, G: Gateway> Line<'a, G> {
    /// A connection that resumes a session, if there is one.
    pub(super) fn new(
        gateway: &'a Arc<G>,
        shard: Shard,
        parcels: mpsc::Sender<G::Parcel>,
        resume: Option<Session>,
        gate: &'a Mutex<Option<Instant>>,
    ) -> Self {
        Self {
            gateway,
            shard,
            parcels,
            session: resume,
            backoff: Backoff::new(gateway.pace().reconnect),
            gate,
            turn: None,
            asked: None,
            tries: 0,
            beside: JoinSet::new(),
        }
    }

    /// Receives until nobody takes events any more.
    ///
    /// # Errors
    /// What no reconnecting can mend.
    pub(super) async fn keep(&mut self) -> Result<(), AdapterError> {
        loop {
            let (after, why) = match self.connect().await {
                Ok((mut socket, url)) => self.attend(&mut socket, &url).await,
                Err(end) => end,
            };
            self.turn = None;
            self.was_asked();
            let mut pause = self.backoff.pause(rand::random());
            match after {
                After::Later(least) => pause = pause.max(least),
                After::Resume | After::Token if self.tries < MAX_TRIES => {}
                After::Resume | After::Token | After::Anew => {
                    self.session = None;
                    self.tries = 0;
                    // Platforms want a random pause before another session is begun (Discord: one to five seconds).
                    let rest = self.gateway.pace().begin;
                    pause = pause.max(rest.mul_f64(0.2 + 0.8 * rand::random::<f64>()));
                }
                After::Never(error) => return Err(error),
                After::Stopping => return Ok(()),
            }
            self.report(Connection::Down(why));
            sleep(pause).await;
        }
    }

    fn report(&self, connection: Connection) {
        let reporter = self.gateway.reporter();
        reporter.report_line(self.shard.index, connection);
    }

    /// A connection, to the session's address or to the one that the platform names, and the address.
    async fn connect(&mut self) -> Result<(Socket, String), End> {
        let url = match &self.session {
            Some(session) => session.url.clone(),
            None => self.begin().await?,
        };
        let query = self.gateway.query();
        let dialled = if query.is_empty() {
            url.clone()
        } else {
            format!("{}{query}", url.trim_end_matches('/'))
        };
        match Socket::dial(&dialled, self.gateway.is_encrypted()).await {
            Ok(socket) => Ok((socket, url)),
            Err(why) => {
                self.tries += 1;
                Err((After::Resume, why))
            }
        }
    }

    /// Where a new session is begun, once it may be.
    async fn begin(&mut self) -> Result<String, End> {
        // Dropped first, so that it is not waited for here.
        self.turn = None;
        let turn = self.gate.lock().await;
        let begun = *turn;
        if let Some(begun) = begun {
            sleep_until(begun + self.gateway.pace().begin).await;
        }
        self.turn = Some(turn);
        let answer = self.gateway.ask(Question::Gateway).await?;
        if let Some(end) = spared(&answer["session_start_limit"], begun) {
            return Err(end);
        }
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| resume("the platform names no address for events"))
    }

    /// Serves a connection until it ends.
    async fn attend(&mut self, socket: &mut Socket, url: &str) -> End {
        let hello = match timeout(HELLO_LIMIT, socket.next()).await {
            Ok(Item::Frame(frame)) if frame["op"] == op::HELLO => frame,
            Ok(Item::End(code, why)) => return self.gateway.ended(code, &why),
            _ => return resume("the platform does not greet"),
        };
        let beat = hello["d"]["heartbeat_interval"].as_u64().unwrap_or(0);
        let beat = Duration::from_millis(beat).min(LONGEST_BEAT);
        if beat.is_zero() {
            return resume("the platform names no heartbeat");
        }
        let token = match self.gateway.token().await {
            Ok(token) => token,
            Err(end) => return end,
        };
        if let Err(why) = socket.send(&self.first(&token)).await {
            return (After::Resume, why);
        }
        let end = self.read(socket, beat, url).await;
        if end.0 == After::Token {
            self.gateway.token_refused(&token);
        }
        end
    }

    /// The first frame: the session goes on, or another one begins.
    fn first(&mut self, token: &str) -> Value {
        if let Some(session) = &self.session {
            self.tries += 1;
            return json!({ "op": op::RESUME, "d": {
                "token": token, "session_id": session.id, "seq": session.sequence,
            }});
        }
        if let Some(mut turn) = self.turn.take() {
            *turn = Some(Instant::now());
            self.asked = Some(turn);
        }
        let mut said = self.gateway.identify();
        said["token"] = token.into();
        said["shard"] = json!([self.shard.index, self.shard.count]);
        json!({ "op": op::IDENTIFY, "d": said })
    }

    /// The request for a session has been seen, or will not be: others may begin one, after the pause.
    fn was_asked(&mut self) {
        if let Some(mut asked) = self.asked.take() {
            *asked = Some(Instant::now());
        }
    }

    async fn read(&mut self, socket: &mut Socket, beat: Duration, url: &str) -> End {
        let parcels = self.parcels.clone();
        let mut next = Instant::now() + beat.mul_f64(rand::random());
        let mut alive = true;
        let mut place = None;
        loop {
            tokio::select! {
                biased;
                () = sleep_until(next) => {
                    // Others wait no longer for a platform that says nothing.
                    self.was_asked();
                    // What is not read because the gateway is busy is no silence.
                    if !alive && place.is_some() {
                        return resume("no sign of life");
                    }
                    alive = false;
                    next = Instant::now() + beat;
                    if let Err(why) = self.beat(socket).await {
                        return (After::Resume, why);
                    }
                }
                reserved = parcels.reserve(), if place.is_none() => match reserved {
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
                    Step::Alive => alive = true,
                    Step::Pass => {}
                    Step::End(end) => return end,
                },
            }
        }
    }

    /// What an item of the connection asks for.
    fn step(&mut self, item: Item, url: &str) -> Step<G::Parcel> {
        let frame = match item {
            Item::Frame(frame) => frame,
            Item::Unreadable => return self.unreadable(),
            Item::End(code, why) => return Step::End(self.gateway.ended(code, &why)),
        };
        match frame["op"].as_u64() {
            Some(op::DISPATCH) => self.event(frame, url),
            Some(op::HEARTBEAT_ACK) => Step::Alive,
            Some(op::HEARTBEAT) => Step::Beat,
            Some(op::RECONNECT) => Step::End(resume("the platform asks for a new connection")),
            Some(op::INVALID_SESSION) => {
                let goes_on = frame["d"] == true;
                let after = if goes_on { After::Resume } else { After::Anew };
                Step::End((after, "the session is over".into()))
            }
            _ => self.unreadable(),
        }
    }

    /// An event came.
    fn event(&mut self, mut frame: Value, url: &str) -> Step<G::Parcel> {
        let data = frame["d"].take();
        let kind = frame["t"].as_str().unwrap_or(UNREADABLE);
        if kind == "READY" {
            let id = data["session_id"].as_str().map(str::to_owned);
            self.session = id
                .zip(self.gateway.resumes_at(&data, url))
                .map(|(id, url)| Session {
                    id,
                    url,
                    sequence: 0,
                });
        }
        while self.beside.try_join_next().is_some() {}
        if self.beside.len() < MAX_BESIDE
            && let Some(chore) = self.gateway.beside(self.shard.index, kind, &data)
        {
            self.beside.spawn(chore);
        }
        if let Some((session, sequence)) = self.session.as_mut().zip(frame["s"].as_u64()) {
            session.sequence = sequence;
        }
        if matches!(kind, "READY" | "RESUMED") {
            self.was_asked();
            self.tries = 0;
            self.backoff.reset();
            self.report(Connection::Up);
        }
        self.hand(kind, frame["id"].as_str().map(str::to_owned), data)
    }

    fn unreadable(&self) -> Step<G::Parcel> {
        self.hand(UNREADABLE, None, Value::Null)
    }

    fn hand(&self, kind: &str, id: Option<String>, data: Value) -> Step<G::Parcel> {
        let frame = Frame {
            shard: self.shard.index,
            kind: kind.to_owned(),
            id,
            data,
            session: self.session.clone(),
        };
        match self.gateway.parcel(frame) {
            Some(parcel) => Step::Hand(parcel),
            None => Step::Pass,
        }
    }

    async fn beat(&self, socket: &mut Socket) -> Result<(), String> {
        let session = self.session.as_ref();
        let accepted =
            session.and_then(|session| self.gateway.accepted().of(self.shard.index, session));
        let beat = json!({ "op": op::HEARTBEAT, "d": accepted });
        socket.send(&beat).await
    }
}

/// Why no session is begun now although it could be, when the last one was begun then.
fn spared(limit: &Value, begun: Option<Instant>) -> Option<End> {
    let left = limit["remaining"].as_u64().filter(|left| *left < FEW)?;
    let until_more = Duration::from_millis(limit["reset_after"].as_u64().unwrap_or(60_000));
    let until_more = until_more.min(LONGEST_REST);
    if left == 0 {
        let why = format!(
            "no session may be begun for {until_more:?}: the platform's daily limit is used up"
        );
        return Some((After::Later(until_more), why));
    }
    let share = until_more / u32::try_from(left + 1).unwrap_or(u32::MAX);
    let rest = (begun? + share).checked_duration_since(Instant::now())?;
    let rest = Some(rest).filter(|rest| !rest.is_zero())?;
    let why = format!(
        "only {left} sessions may be begun for {until_more:?} (the platform's daily limit): the next in {rest:?}"
    );
    Some((After::Later(rest), why))
}

fn resume(why: &str) -> End {
    (After::Resume, why.to_owned())
}
