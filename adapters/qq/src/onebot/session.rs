//! One connection from its first frame to its last.
//!
//! Owns the socket. It reads what the socket has, hands events on in one go and answers to the calls
//! that wait for them; it writes requests and pings. A frame that cannot be read is passed over. Who is
//! told to go is listened to until he is gone, because OneBot sends nothing twice.

use std::{
    pin::pin,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use futures_util::{
    FutureExt, SinkExt, Stream, StreamExt,
    future::FusedFuture,
    stream::{self, SplitSink},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
    time::{Instant, MissedTickBehavior, interval_at, timeout, timeout_at},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Bytes, Error, Message,
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};
use weirgate_sdk::{Event, Stop, Timestamp, text::line};

use super::{
    answer,
    dial::TOKEN_REFUSED,
    intake::{GATHER, Parcel},
    life::{CALLING_PING, Life, PING},
    links::{Joined, Request, Role},
    receive::{Received, Receiver},
    welcome,
    wire::{self, Frame},
};
use crate::qq::Shared;

/// Frames handled before events are handed on, whatever they are.
const ROUND: usize = 256;
/// How long the other side may take to go after it was told to; what it sent meanwhile is read.
pub const DRAIN_LIMIT: Duration = Duration::from_secs(1);
/// The longest frame and message, in bytes.
const MAX_FRAME: usize = 16 * 1024 * 1024;

/// What every socket is held to.
#[must_use]
pub fn limits() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME))
}

/// One connection.
pub struct Session<'a> {
    /// The account.
    pub shared: &'a Shared,
    /// The number of the connection.
    pub id: u64,
    /// What it is for.
    pub role: Role,
    /// The bot that it serves.
    pub bot: &'a str,
    /// Where events go.
    pub events: &'a mpsc::Sender<Parcel>,
}

impl Session<'_> {
    /// Serves until the connection ends, and meanwhile asks the implementation what it is and what was
    /// said before. `early` was read already.
    pub async fn attend<S>(
        &self,
        socket: WebSocketStream<S>,
        joined: Joined,
        early: Vec<Message>,
        stop: &Stop,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        // Before anything new is read: what is missing lies between then and now.
        let since = self.shared.seen.newest(self.bot);
        let mut run = pin!(self.run(socket, joined, early));
        if self.role.calls() {
            tokio::select! {
                () = &mut run => return,
                () = stop.stopped() => {}
                () = welcome::ask(self.shared, self.bot, since, self.events) => {}
            }
        }
        run.await;
    }

    /// Serves until the connection ends, for whatever reason; nothing that was read is lost, and what
    /// the other side had already sent when it is told to go is read as well.
    async fn run<S>(&self, socket: WebSocketStream<S>, joined: Joined, early: Vec<Message>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let (mut sink, stream) = socket.split();
        let stream = stream::iter(early.into_iter().map(Ok)).chain(stream);
        let Joined {
            requests,
            closed,
            after,
            finished,
            ..
        } = joined;
        let mut gathered = Vec::new();
        let mut after = after.fuse();
        let reason = {
            let mut read = pin!(async {
                let _ = (&mut after).await;
                self.read(stream, &mut gathered).await
            });
            let end = tokio::select! {
                reason = &mut read => Err(reason),
                reason = self.write(&mut sink, requests) => Ok(reason),
                _ = closed => Ok("replaced or closed".to_owned()),
            };
            match end {
                Err(reason) => reason,
                Ok(reason) => {
                    let part = async { tokio::join!(sink.send(goodbye()), read) };
                    let _ = timeout(DRAIN_LIMIT, part).await;
                    reason
                }
            }
        };
        tracing::info!(account = %self.shared.account, role = ?self.role, reason, "connection ended");
        self.shared.links.leave(self.id, &reason);
        self.shared.calls.lost(self.id);
        if !after.is_terminated() {
            // The next connection must not overtake the one before this.
            let _ = after.await;
        }
        if !gathered.is_empty() {
            // The connection broke while the gateway was busy.
            let _ = self.events.send(gathered.into()).await;
        }
        drop(finished);
        // The other side's close is answered; a broken connection cannot be closed any better.
        let _ = timeout(DRAIN_LIMIT, sink.close()).await;
    }

    async fn read(
        &self,
        mut stream: impl Stream<Item = Result<Message, Error>> + Unpin,
        gathered: &mut Vec<Event>,
    ) -> String {
        let fixed = self
            .shared
            .settings
            .heartbeat_timeout
            .filter(|_| self.role.receives());
        let mut life = Life::new(Instant::now(), fixed);
        loop {
            let Ok(mut item) = timeout_at(life.deadline(), stream.next()).await else {
                return "no sign of life".to_owned();
            };
            if self.role.calls() {
                self.shared.calls.reading();
            }
            let mut handled = 0;
            let ended = loop {
                if let Err(reason) = self.item(item, &mut life, gathered) {
                    break Some(reason);
                }
                handled += 1;
                if handled >= ROUND || gathered.len() >= GATHER {
                    break None;
                }
                match stream.next().now_or_never() {
                    Some(next) => item = next,
                    None => {
                        // Without a budget it only looks as if there were nothing.
                        if self.role.calls() && tokio::task::coop::has_budget_remaining() {
                            self.shared.calls.caught_up();
                        }
                        break None;
                    }
                }
            };
            if !gathered.is_empty() {
                let Ok(place) = self.events.reserve().await else {
                    return "the gateway is stopping".to_owned();
                };
                place.send(std::mem::take(gathered).into());
                // Time in which nothing was read is not silence.
                life.spoken(Instant::now());
            }
            if let Some(reason) = ended {
                return reason;
            }
        }
    }

    /// Handles one item of the socket.
    ///
    /// # Errors
    /// Why the connection is at its end.
    fn item(
        &self,
        item: Option<Result<Message, Error>>,
        life: &mut Life,
        gathered: &mut Vec<Event>,
    ) -> Result<(), String> {
        let message = match item {
            None => return Err("closed".to_owned()),
            Some(Err(error)) => return Err(line(&error.to_string(), 120)),
            Some(Ok(message)) => message,
        };
        let now = Instant::now();
        match &message {
            Message::Text(text) => {
                life.spoken(now);
                self.frame(text, life, gathered)?;
            }
            Message::Binary(bytes) => {
                life.spoken(now);
                match std::str::from_utf8(bytes) {
                    Ok(text) => self.frame(text, life, gathered)?,
                    Err(_) => gathered.push(no_frame()),
                }
            }
            Message::Close(_) => return Err("closed by the other side".to_owned()),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => life.heard(now),
        }
        Ok(())
    }

    fn frame(&self, text: &str, life: &mut Life, gathered: &mut Vec<Event>) -> Result<(), String> {
        let shared = self.shared;
        let frame: Frame<'_> = match serde_json::from_str(text) {
            Ok(frame) => frame,
            Err(error) => {
                tracing::warn!(account = %shared.account, %error, "a frame that is no event passed over");
                gathered.push(no_frame());
                return Ok(());
            }
        };
        let receiver = Receiver::new(shared, self.bot);
        match receiver.read(&frame, unix_time(), shared.known()) {
            Received::Event(event) => {
                shared.heard(self.bot, &event);
                shared.requested(self.bot, &frame);
                gathered.push(event);
            }
            Received::Heartbeat { interval, online } => {
                if let Some(interval) = interval {
                    life.announced(interval);
                }
                if let Some(online) = online {
                    shared.links.online(self.id, online);
                }
            }
            Received::Answer if answer::refuses_token(&frame) => {
                return Err(TOKEN_REFUSED.to_owned());
            }
            Received::Answer => {
                let echo = wire::integer(frame.echo).and_then(|echo| u64::try_from(echo).ok());
                let waited =
                    echo.is_some_and(|echo| shared.calls.answered(echo, answer::outcome(&frame)));
                if !waited {
                    tracing::debug!(account = %shared.account, "an answer that nobody waits for");
                }
            }
            Received::Nothing => {}
        }
        Ok(())
    }

    async fn write<S>(
        &self,
        sink: &mut SplitSink<WebSocketStream<S>, Message>,
        mut requests: mpsc::Receiver<Request>,
    ) -> String
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let mut ping = interval_at(Instant::now() + CALLING_PING, CALLING_PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pinged = Instant::now();
        let failed = |error: Error| line(&error.to_string(), 120);
        loop {
            let request = tokio::select! {
                request = requests.recv() => request,
                now = ping.tick() => {
                    if !self.shared.calls.sending() && now - pinged < PING {
                        continue;
                    }
                    pinged = now;
                    if let Err(error) = sink.send(Message::Ping(Bytes::new())).await {
                        return failed(error);
                    }
                    continue;
                }
            };
            let Some(request) = request else {
                return "replaced or closed".to_owned();
            };
            let mut next = Some(request);
            while let Some(request) = next {
                if self.shared.calls.begin(request.echo)
                    && let Err(error) = sink.feed(Message::text(request.text)).await
                {
                    return failed(error);
                }
                next = requests.try_recv().ok();
            }
            if let Err(error) = sink.flush().await {
                return failed(error);
            }
        }
    }
}

/// What came is no frame of the protocol at all.
#[must_use]
pub fn no_frame() -> Event {
    Event::Malformed {
        name: "not a frame".to_owned(),
    }
}

/// Tells the other side to go.
fn goodbye() -> Message {
    Message::Close(Some(CloseFrame {
        code: CloseCode::Away,
        reason: "replaced or stopping".into(),
    }))
}

/// Milliseconds since the Unix epoch.
#[must_use]
pub fn unix_time() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
}
